// The actions of every holding on a canvas: 13 by 13 cells, each with its holdings.
import { h, percent, plain, point, sharp, unpoint } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const ACTIONS = ["fold", "call", "raise"];
// The word for an action where these are legal: nobody has bet where folding is not.
export function word(name, { actions, street }) {
  if (actions.includes("fold")) return name;
  if (name === "raise" && street !== "preflop") return "bet";
  return name === "call" ? "check" : name;
}
const SUITS = "cdhs",
  SIGNS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const rank_of = (card) => 12 - Math.floor(card / 4);
const text_of = (card) => RANKS[rank_of(card)] + SUITS[card % 4];
export const pretty = (text) => text[0].replace("T", "10") + SIGNS[text[1]];
export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// The holdings of each cell: pairs on the diagonal, suited above it.
const CELLS = Array.from({ length: 169 }, () => []);
export const HOLDINGS = [];
for (let high = 0, k = 0; high < 52; high += 1) {
  for (let low = 0; low < high; low += 1, k += 1) {
    const a = rank_of(high),
      b = rank_of(low),
      suited = high % 4 === low % 4;
    CELLS[suited ? a * 13 + b : b * 13 + a].push(k);
    HOLDINGS.push([high, low]);
  }
}
export const label = (cell) => {
  const row = Math.floor(cell / 13),
    column = cell % 13;
  return (
    RANKS[Math.min(row, column)] +
    RANKS[Math.max(row, column)] +
    (row === column ? "" : row < column ? "s" : "o")
  );
};

const inks = () => ({
  paper: colour("surface"),
  sunk: colour("sunk"),
  ink: colour("ink"),
  halo: colour("surface"),
  flat: colour("muted"),
  line: colour("line"),
  fold: colour("fold"),
  call: colour("call"),
  raise: colour("raise"),
  more: colour("more"),
  less: colour("less"),
  font: getComputedStyle(document.body).fontFamily,
});

// The layout of the holdings in a cell: columns by rows.
const SHAPE = { 1: [1, 1], 4: [2, 2], 6: [3, 2], 12: [4, 3] };

// `kinds`: the rows of `part.shares`, each with a colour and a word, if not those of limit hold'em.
export function canvas_grid({ data, part, title, mode = "shares", onmove, kinds }) {
  const node = h("canvas.grid", { tabindex: 0, role: "img", "aria-label": title });
  let at = null;
  const whole = data.board.length === 0; // before the flop a cell is one thing
  const one = data.one,
    two = data.two;
  // How often a holding comes here, compared with the holding that comes most often.
  const weight_of = (from) => {
    const most = Math.max(...from.reach.filter((_, k) => data.free[k]));
    return (k) => (most > 0 ? from.reach[k] / most : 0);
  };
  const weights = (mode === "difference" ? [one, two] : [part]).map(weight_of);
  const weight = (k) => Math.max(...weights.map((of) => of(k)));
  const difference = (k) => {
    const force = (from) => from.shares[2][k] - from.shares[0][k];
    const apart =
      ACTIONS.reduce((sum, _, a) => sum + Math.abs(one.shares[a][k] - two.shares[a][k]), 0) / 2;
    return [apart, force(two) - force(one)];
  };

  function paint_holding(ctx, k, x, y, wide, high, ink) {
    if (!data.free[k]) return;
    const tall = high * weight(k);
    y += high - tall;
    high = tall;
    if (mode === "difference") {
      const [apart, way] = difference(k);
      ctx.globalAlpha = Math.min(1, apart);
      ctx.fillStyle = Math.abs(way) < 1e-9 ? ink.flat : way > 0 ? ink.more : ink.less;
      ctx.fillRect(x, y, wide, high);
      ctx.globalAlpha = 1;
      return;
    }
    let left = x;
    (kinds || ACTIONS).forEach((kind, a) => {
      const length = wide * part.shares[a][k];
      ctx.fillStyle = kinds ? ink.shades[a] : ink[kind];
      ctx.fillRect(left, y, length, high);
      left += length;
    });
  }

  function paint(ctx, size, ink) {
    ink.shades = kinds?.map((kind) => kind.ink());
    const cell = size / 13,
      gap = Math.max(1, cell * 0.05);
    ctx.fillStyle = ink.paper;
    ctx.fillRect(0, 0, size, size);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (let c = 0; c < 169; c += 1) {
      const x = (c % 13) * cell,
        y = Math.floor(c / 13) * cell,
        inner = cell - gap;
      ctx.fillStyle = ink.sunk;
      ctx.fillRect(x, y, inner, inner);
      const shown = whole ? [CELLS[c].find((k) => data.free[k])] : CELLS[c];
      const [columns, rows] = SHAPE[shown.length];
      shown.forEach((k, n) => {
        const wide = inner / columns,
          high = inner / rows;
        if (k !== undefined)
          paint_holding(
            ctx,
            k,
            x + (n % columns) * wide,
            y + Math.floor(n / columns) * high,
            wide - (columns > 1 ? 0.6 : 0),
            high - (rows > 1 ? 0.6 : 0),
            ink,
          );
      });
      const text = label(c);
      ctx.font = `600 ${Math.max(9, cell * 0.3)}px ${ink.font}`;
      ctx.lineWidth = Math.max(2, cell * 0.075);
      ctx.strokeStyle = ink.halo;
      ctx.lineJoin = "round";
      ctx.strokeText(text, x + inner / 2, y + inner / 2);
      ctx.fillStyle = ink.ink;
      ctx.fillText(text, x + inner / 2, y + inner / 2);
      if (c === at) {
        ctx.strokeStyle = ink.ink;
        ctx.lineWidth = 3;
        ctx.strokeRect(x + 1, y + 1, inner - 2, inner - 2);
      }
    }
  }
  function draw() {
    const side = node.clientWidth || 500;
    paint(sharp(node, side, side), side, inks());
  }

  const rows = (from, k) =>
    kinds?.map(({ name }, a) => [h("b", percent(from.shares[a][k])), ` ${name}  `]) ??
    ACTIONS.filter((name) => data.actions.includes(name)).map((name) => [
      h("b", percent(from.shares[ACTIONS.indexOf(name)][k])),
      ` ${word(name, data)}  `,
    ]);
  function tell(event, cell, k) {
    const names =
      k === undefined ? label(cell) : HOLDINGS[k].map((card) => pretty(text_of(card))).join(" ");
    if (k === undefined || !data.free[k]) {
      point(event, h("b", names), h("div", "on the board"));
      return;
    }
    const lines = [h("b", whole ? label(cell) : names), h("div", rows(part || one, k))];
    if (mode === "difference") lines.push(h("div", "other: ", rows(two, k)));
    if (data.strength)
      lines.push(
        h("div", `strength ${plain(data.strength[k], 3)}, bucket ${(part || one).bucket[k]}`),
      );
    if (data.worth && part === one) {
      const place = h("div");
      lines.push(place);
      data.worth(k, HOLDINGS[k].map(text_of).join("")).then((text) => {
        place.textContent = text;
      });
    }
    if (data.betting)
      lines.push(h("div", `gets here ${percent((part || one).reach[k])} of the time`));
    point(event, lines);
  }
  function find(event) {
    const box = node.getBoundingClientRect(),
      cell = box.width / 13;
    const x = event.clientX - box.left,
      y = event.clientY - box.top;
    const column = Math.floor(x / cell),
      row = Math.floor(y / cell);
    if (column < 0 || row < 0 || column > 12 || row > 12) return [null];
    const c = row * 13 + column,
      shown = whole ? [CELLS[c].find((k) => data.free[k])] : CELLS[c];
    const [columns, lines] = SHAPE[shown.length];
    const n =
      Math.floor((y / cell - row) * lines) * columns + Math.floor((x / cell - column) * columns);
    return [c, shown[Math.min(n, shown.length - 1)]];
  }
  node.addEventListener("mousemove", (event) => {
    const [c, k] = find(event);
    if (c !== null) tell(event, c, k);
  });
  node.addEventListener("mouseleave", unpoint);
  node.addEventListener("blur", () => {
    at = null;
    unpoint();
    draw();
  });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -13, ArrowDown: 13, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    at = at === null ? 0 : Math.max(0, Math.min(168, at + step));
    draw();
    const box = node.getBoundingClientRect(),
      cell = box.width / 13;
    const spot = {
      clientX: box.left + (at % 13) * cell + cell / 2,
      clientY: box.top + Math.floor(at / 13) * cell + cell / 2,
    };
    tell(spot, at, CELLS[at].find((k) => data.free[k]) ?? CELLS[at][0]);
    if (onmove) onmove(at);
  });
  return {
    node,
    draw,
    paint: (ctx, size) => {
      const kept = at;
      at = null;
      paint(ctx, size, inks());
      at = kept;
    },
  };
}

// The holdings by strength: their number and their actions.
export function by_strength(data, part) {
  const node = h("canvas.strength", { role: "img", "aria-label": "actions by strength" }),
    BINS = 25;
  const sums = Array.from({ length: BINS }, () => [0, 0, 0]);
  data.strength.forEach((value, k) => {
    if (!data.free[k]) return;
    const bin = sums[Math.min(BINS - 1, Math.floor(value * BINS))];
    ACTIONS.forEach((_, a) => {
      bin[a] += part.reach[k] * part.shares[a][k];
    });
  });
  const most = Math.max(1e-9, ...sums.map((bin) => bin[0] + bin[1] + bin[2]));
  function paint(ctx, wide, high = wide * 0.75) {
    const ink = inks(),
      room = 30,
      step = wide / BINS;
    ctx.fillStyle = ink.paper;
    ctx.fillRect(0, 0, wide, high);
    sums.forEach((bin, k) => {
      let y = high - room;
      ACTIONS.forEach((name, a) => {
        const tall = ((high - room - 8) * bin[a]) / most;
        ctx.fillStyle = ink[name];
        ctx.fillRect(k * step + 1, y - tall, step - 2, tall);
        y -= tall;
      });
    });
    ctx.fillStyle = ink.line;
    ctx.fillRect(0, high - room, wide, 1);
    ctx.fillStyle = ink.flat;
    ctx.font = `14px ${ink.font}`;
    ctx.textBaseline = "middle";
    ["0", "0.5", "1"].forEach((text, k) => {
      ctx.textAlign = ["left", "center", "right"][k];
      ctx.fillText(text, (wide * k) / 2, high - room / 2);
    });
  }
  function draw() {
    const wide = node.clientWidth || 500;
    paint(sharp(node, wide, wide * 0.75), wide);
  }
  return { node, draw, paint };
}
