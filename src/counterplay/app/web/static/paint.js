// Parts of pictures that are saved.
import { save } from "./dom.js";
import { colour } from "./grid.js";

export function blank(canvas, ctx, wide, high) {
  canvas.width = wide;
  canvas.height = high;
  ctx.fillStyle = colour("surface");
  ctx.fillRect(0, 0, wide, high);
}
export function heading(ctx, text, x, y) {
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = colour("ink");
  ctx.font = `600 24px ${colour("serif")}`;
  ctx.fillText(text, x, y);
}
export function note(ctx, text, x, y) {
  ctx.fillStyle = colour("muted");
  ctx.font = `16px ${colour("sans")}`;
  ctx.fillText(text, x, y);
}
// A chart as a PNG file.
export function save_chart(drawn, name) {
  const canvas = document.createElement("canvas");
  canvas.width = 1600;
  canvas.height = 900;
  const ctx = canvas.getContext("2d");
  ctx.scale(2, 2);
  drawn.paint(ctx, 800, 450);
  canvas.toBlob((blob) => save(name, blob));
}
