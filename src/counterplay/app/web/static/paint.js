// Pieces of pictures that are saved.
import { colour } from "./grid.js";

export function blank(sheet, pen, wide, high) {
  sheet.width = wide;
  sheet.height = high;
  pen.fillStyle = colour("surface");
  pen.fillRect(0, 0, wide, high);
}
export function heading(pen, text, x, y) {
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.fillStyle = colour("ink");
  pen.font = `600 24px ${colour("serif")}`;
  pen.fillText(text, x, y);
}
export function note(pen, text, x, y) {
  pen.fillStyle = colour("muted");
  pen.font = `16px ${colour("sans")}`;
  pen.fillText(text, x, y);
}
