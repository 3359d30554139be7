// A board that is typed, clicked or drawn.
import { count, h } from "./dom.js";
import { card } from "./cards.js";
import { pretty, RANKS } from "./grid.js";

const CARDS = [..."shdc"].flatMap((suit) => [...RANKS].map((rank) => rank + suit));

// `chosen`: cards such as "As"; `needed`: how many there are to be, at most five; the first
// `fixed` stay; `set` is called with other cards.
export function board_picker({ chosen, needed, set, fixed = 0 }) {
  const full = chosen.length >= needed;
  function draw_rest() {
    const left = CARDS.filter((text) => !chosen.includes(text));
    const more = [...chosen];
    while (more.length < needed) {
      more.push(left.splice(Math.floor(Math.random() * left.length), 1)[0]);
    }
    set(more);
  }
  const back = (text, k) =>
    h(
      "button",
      {
        title: k < fixed ? null : "take it back",
        disabled: k < fixed,
        "aria-label": k < fixed ? pretty(text) : `take ${pretty(text)} back`,
        onclick: () => set(chosen.slice(0, k)),
      },
      card(text, "small"),
    );
  const take = (text) =>
    h(
      "button",
      {
        class: `suit-${text[1]}`,
        disabled: chosen.includes(text),
        "aria-label": pretty(text),
        onclick: () => set([...chosen, text]),
      },
      pretty(text),
    );
  const missing = needed - chosen.length;
  const more = `${count(missing, "more card")} to pick or draw`;
  const act = full ? () => set(chosen.slice(0, fixed)) : draw_rest;
  const word = fixed ? "Another card" : "Clear the board";
  const button = h("button", { onclick: act }, full ? word : "Draw");
  return h(
    "section.panel.board",
    h("h2", "Board"),
    h("div.picked", chosen.map(back), full ? null : h("span.muted", more), button),
    typed_board({ chosen, needed, set, fixed }),
    full ? null : h("div.deck", CARDS.map(take)),
  );
}

function typed_board({ chosen, needed, set, fixed }) {
  const input = h("input.typed", {
    type: "text",
    value: chosen.join(" "),
    placeholder: needed > 3 ? "As Kd 7c 2h" : "As Kd 7c",
    "aria-label": "Board as text",
    maxlength: 24,
    spellcheck: "false",
  });
  const take = () => {
    const text = input.value.replace(/10/g, "T").replace(/[\s,/]/g, "");
    const pairs = text.match(/../g) || [];
    const cards = pairs.map((one) => one[0].toUpperCase() + one[1].toLowerCase());
    const right = cards.length * 2 === text.length && cards.every((one) => CARDS.includes(one));
    const apart = new Set(cards).size === cards.length && cards.length <= 5;
    const kept = chosen.slice(0, fixed).every((one, k) => one === cards[k]);
    const start = `the board begins with ${chosen.slice(0, fixed).join(" ")}`;
    const wrong = right && apart ? (kept ? "" : start) : "cards such as As Kd 7c, each once";
    input.setCustomValidity(wrong);
    if (input.reportValidity()) set(cards);
  };
  input.addEventListener("change", take);
  return input;
}
