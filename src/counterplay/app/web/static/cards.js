// Cards, dice and chips, drawn.
import { s } from "./dom.js";

export const SUITS = {
  s:
    "M12 2C15 7 22 10 22 15A4.6 4.6 0 0 1 13.5 17.5C13.7 19.8 14.6 21.3 16 22.5H8" +
    "C9.4 21.3 10.3 19.8 10.5 17.5A4.6 4.6 0 0 1 2 15C2 10 9 7 12 2Z",
  h: "M12 21.5C5 15.5 2 12 2 8A5.2 5.2 0 0 1 12 6.2A5.2 5.2 0 0 1 22 8C22 12 19 15.5 12 21.5Z",
  d:
    "M12 1.5C14.2 5.6 16.8 8.9 20 12C16.8 15.1 14.2 18.4 12 22.5" +
    "C9.8 18.4 7.2 15.1 4 12C7.2 8.9 9.8 5.6 12 1.5Z",
  c:
    "M12 2A4.6 4.6 0 0 1 16 8.9A4.7 4.7 0 1 1 13.4 17.1C13.6 19.4 14.4 21.1 16 22.5H8" +
    "C9.6 21.1 10.4 19.4 10.6 17.1A4.7 4.7 0 1 1 8 8.9A4.6 4.6 0 0 1 12 2Z",
};
export const SUIT_NAMES = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
const RANK_NAMES = { T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };
const frame = (kind, name, ...parts) =>
  s(
    "svg",
    { class: `card ${kind}`, viewBox: "0 0 64 90", role: "img", "aria-label": name },
    ...parts,
  );
const face = () => s("rect.face", { x: 1, y: 1, width: 62, height: 88, rx: 7 });

export const cardName = (text) =>
  text.length === 2 && SUITS[text[1]]
    ? `${RANK_NAMES[text[0]] || text[0]} of ${SUIT_NAMES[text[1]]}`
    : RANK_NAMES[text] || text;

// "As" with a suit, "K" or "11" without one.
export function card(text, kind = "") {
  const suit = text.length === 2 && SUITS[text[1]] ? text[1] : null;
  const rank = suit ? (text[0] === "T" ? "10" : text[0]) : text;
  if (!suit) {
    const size = rank.length > 3 ? 20 : rank.length > 2 ? 26 : rank.length > 1 ? 33 : 42;
    return frame(
      kind,
      cardName(text),
      face(),
      s("text.rank.plain", { x: 8, y: 22, "font-size": rank.length > 2 ? 13 : 17 }, rank),
      s("text.rank.plain", { x: 32, y: 60, "font-size": size, "text-anchor": "middle" }, rank),
    );
  }
  return frame(
    kind,
    cardName(text),
    face(),
    s(
      "text",
      {
        class: `rank ${suit}`,
        x: rank === "10" ? 5 : 8,
        y: 30,
        "font-size": 29,
        "letter-spacing": rank === "10" ? -3 : 0,
      },
      rank,
    ),
    s("path", { class: suit, d: SUITS[suit], transform: "translate(8 36) scale(.62)" }),
    s("path", { class: suit, d: SUITS[suit], transform: "translate(23 45) scale(1.5)" }),
  );
}

export function back(kind = "") {
  const weave = [];
  for (let k = -80; k < 90; k += 9) weave.push(`M${k} 8l74 74M${k + 74} 8l-74 74`);
  return frame(
    kind,
    "a hidden card",
    face(),
    s("rect.back", { x: 5, y: 5, width: 54, height: 80, rx: 4 }),
    s(
      "svg",
      { x: 6, y: 6, width: 52, height: 78, viewBox: "6 6 52 78" },
      s("path.weave", { d: weave.join("") }),
    ),
  );
}
export const empty = (kind = "") => frame(`empty ${kind}`, "no card yet", face());

const PIPS = {
  1: [4],
  2: [0, 8],
  3: [0, 4, 8],
  4: [0, 2, 6, 8],
  5: [0, 2, 4, 6, 8],
  6: [0, 2, 3, 5, 6, 8],
};
export function die(value) {
  const box = s(
    "svg",
    {
      class: value === null ? "die hid" : "die",
      viewBox: "0 0 48 48",
      role: "img",
      "aria-label": value === null ? "a hidden die" : `a die showing ${value}`,
    },
    s("rect", { x: 2, y: 2, width: 44, height: 44, rx: 9 }),
  );
  if (value === null) box.append(s("text", { x: 24, y: 32, "text-anchor": "middle" }, "?"));
  else if (PIPS[value])
    for (const p of PIPS[value])
      box.append(s("circle", { cx: 12 + 12 * (p % 3), cy: 12 + 12 * Math.floor(p / 3), r: 4.2 }));
  else box.append(s("text", { x: 24, y: 32, "text-anchor": "middle" }, value));
  return box;
}

export function chip(colour = "#c9661a") {
  const notch = {
    stroke: "#fff8ea",
    "stroke-width": 5,
    "stroke-dasharray": "6 8.66",
    fill: "none",
  };
  return s(
    "svg",
    { viewBox: "0 0 32 32", "aria-hidden": "true" },
    s("circle", { cx: 16, cy: 16, r: 15, fill: colour }),
    s("circle", { cx: 16, cy: 16, r: 12.6, ...notch }),
    s("circle", { cx: 16, cy: 16, r: 8.5, fill: colour, stroke: "#fff8ea", "stroke-width": 1 }),
  );
}

export const PIECES = {
  princess: "M4 20h16l1.6-11-5 4L12 4l-4.6 9-5-4L4 20zM4.5 22h15v-1.2h-15V22z",
  monster:
    "M12 2C6.8 2 3.5 6 3.5 11v10.5l2.9-2.2 2.8 2.4 2.8-2.4 2.8 2.4 2.8-2.4 2.9 2.2V11" +
    "C20.5 6 17.2 2 12 2zM8.7 13a1.9 2.3 0 1 1 0-4.6 1.9 2.3 0 0 1 0 4.6zm6.6 0" +
    "a1.9 2.3 0 1 1 0-4.6 1.9 2.3 0 0 1 0 4.6z",
};
export const piece = (name) =>
  s(
    "svg",
    { viewBox: "0 0 24 24", role: "img", "aria-label": name },
    s("path", { d: PIECES[name], fill: name === "princess" ? "#f1cf73" : "#f3b27e" }),
  );
