// Curves on a canvas: straight or logarithmic axes, marks, a value under the pointer.
import { h, point, sharp, unpoint } from "./dom.js";
import { colour } from "./grid.js";

export const INKS = ["accent", "raise", "call", "muted", "heart"];
const DASH = [[], [7, 4], [2, 4], [10, 3, 2, 3], [4, 2]];

function ticks(low, high, log) {
  const found = [];
  if (log) {
    const least = Math.floor(Math.log10(low)),
      most = Math.ceil(Math.log10(high)),
      step = Math.max(1, Math.ceil((most - least) / 6));
    for (let e = least; e <= most; e += step) found.push(10 ** e);
  } else {
    const raw = (high - low) / 5 || 1,
      unit = 10 ** Math.floor(Math.log10(raw)),
      step = [1, 2, 5, 10].map((f) => f * unit).find((s) => s >= raw);
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step)
      found.push(Math.abs(v) < step * 1e-6 ? 0 : v);
  }
  return found.filter(
    (v) =>
      v >= low * (log ? 0.999 : 1) - (log ? 0 : 1e-12) && v <= high * (log ? 1.001 : 1) + 1e-12,
  );
}
export const short = (value) => {
  if (value === 0) return "0";
  const size = Math.abs(value),
    sign = value < 0 ? "−" : "";
  if (size >= 1e9) return `${sign}${+(size / 1e9).toPrecision(3)}G`;
  if (size >= 1e6) return `${sign}${+(size / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${sign}${+(size / 1e3).toPrecision(3)}k`;
  if (size >= 0.001) return `${sign}${+size.toPrecision(3)}`;
  return `${sign}${size.toExponential(0).replace("e-", "e−")}`;
};

// lines: [{ name, points: [[x, y, extra]], marks, thin, tags }]; tags: `extra` beside the point.
export function chart({ lines, x, y, onpick, picked, label }) {
  const node = h("canvas.chart", { role: "img", "aria-label": label || `${y.name} by ${x.name}` });
  const all = lines.flatMap((line) => line.points);
  const ends = (k, log) => {
    const values = all.map((p) => p[k]).filter((v) => !log || v > 0);
    if (!values.length) return [log ? 0.1 : 0, 1];
    let low = Math.min(...values),
      high = Math.max(...values);
    if (log) return low === high ? [low / 2, high * 2] : [low, high];
    if (low === high) return [low - 0.5, high + 0.5];
    const room = 0.06 * (high - low);
    return [Math.min(low - room, 0 <= low && low < 0.3 * high ? 0 : low - room), high + room];
  };
  const [x0, x1] = ends(0, x.log),
    [y0, y1] = ends(1, y.log);
  const share = (v, low, high, log) =>
    log
      ? (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low))
      : (v - low) / (high - low);
  let spots = [];

  function draw() {
    const wide = node.clientWidth || 700,
      high = node.clientHeight || (wide * 9) / 16;
    paint(sharp(node, wide, high), wide, high);
  }
  function paint(ctx, wide, high) {
    const left = 62,
      right = 16,
      top = 12,
      foot = 54,
      w = wide - left - right,
      t = high - top - foot;
    const px = (v) => left + w * share(v, x0, x1, x.log),
      py = (v) => top + t * (1 - share(v, y0, y1, y.log));
    const font = getComputedStyle(document.body).fontFamily;
    ctx.fillStyle = colour("surface");
    ctx.fillRect(0, 0, wide, high);
    ctx.font = `14px ${font}`;
    ctx.lineWidth = 1;
    ctx.strokeStyle = colour("line");
    ctx.fillStyle = colour("muted");
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const v of ticks(x0, x1, x.log)) {
      ctx.beginPath();
      ctx.moveTo(px(v), top);
      ctx.lineTo(px(v), top + t);
      ctx.stroke();
      ctx.fillText(short(v), px(v), top + t + 8);
    }
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const v of ticks(y0, y1, y.log)) {
      ctx.beginPath();
      ctx.moveTo(left, py(v));
      ctx.lineTo(left + w, py(v));
      ctx.stroke();
      ctx.fillText(short(v), left - 9, py(v));
    }
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    ctx.fillText(fitting(ctx, x, w), left + w / 2, high - 4);
    ctx.save();
    ctx.translate(13, top + t / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textBaseline = "middle";
    ctx.fillText(fitting(ctx, y, t), 0, 0);
    ctx.restore();
    spots = [];
    lines.forEach((line, n) => {
      const usable = line.points.filter((p) => (!x.log || p[0] > 0) && (!y.log || p[1] > 0));
      ctx.strokeStyle = ctx.fillStyle = colour(line.thin ? "muted" : INKS[n % INKS.length]);
      ctx.lineWidth = line.thin ? 1.5 : 2.5;
      ctx.setLineDash(line.thin ? [3, 4] : DASH[n % DASH.length]);
      ctx.beginPath();
      usable.forEach((p, k) => {
        if (k) ctx.lineTo(px(p[0]), py(p[1]));
        else ctx.moveTo(px(p[0]), py(p[1]));
      });
      ctx.stroke();
      ctx.setLineDash([]);
      for (const p of usable) {
        if (!line.thin) spots.push({ x: px(p[0]), y: py(p[1]), line, p });
        if (line.marks || usable.length === 1) {
          ctx.beginPath();
          ctx.arc(px(p[0]), py(p[1]), 5, 0, 7);
          ctx.fill();
        }
        if (line.tags && p[2]) {
          const side = px(p[0]) > left + 0.7 * w ? -1 : 1; // off a line that rises
          ctx.fillStyle = colour("ink");
          ctx.textAlign = side < 0 ? "right" : "left";
          ctx.textBaseline = side < 0 ? "bottom" : "top";
          ctx.fillText(p[2], px(p[0]) + 9 * side, py(p[1]) + 6 * side);
          ctx.fillStyle = colour(INKS[n % INKS.length]);
        }
        if (p === picked?.()) {
          ctx.strokeStyle = colour("ink");
          ctx.lineWidth = 2;
          ctx.beginPath();
          ctx.arc(px(p[0]), py(p[1]), 10, 0, 7);
          ctx.stroke();
          ctx.strokeStyle = colour(INKS[n % INKS.length]);
        }
      }
    });
  }
  const fitting = (ctx, axis, room) =>
    ctx.measureText(axis.name).width <= room ? axis.name : axis.short || axis.name;
  const near = (event) => {
    const box = node.getBoundingClientRect(),
      mx = event.clientX - box.left,
      my = event.clientY - box.top;
    return spots.reduce((best, spot) => {
      const d = (spot.x - mx) ** 2 + (spot.y - my) ** 2;
      return d < (best?.d ?? 3600) ? { ...spot, d } : best;
    }, null);
  };
  node.addEventListener("mousemove", (event) => {
    const spot = near(event);
    if (!spot) {
      unpoint();
      return;
    }
    point(
      event,
      h("b", spot.line.name),
      h("div", `${x.name}: ${short(spot.p[0])}`),
      h("div", `${y.name}: ${short(spot.p[1])}`),
      spot.p[2] ? h("div", spot.p[2]) : null,
    );
  });
  node.addEventListener("mouseleave", unpoint);
  if (onpick)
    node.addEventListener("click", (event) => {
      const spot = near(event);
      if (spot) onpick(spot.p);
    });
  return { node, draw, paint, lines };
}
