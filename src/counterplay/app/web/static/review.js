// The review of a hand: the opponent's cards and probabilities, and the cost of the moves.
import { h, percent, plain, signed } from "./dom.js";
import { bare } from "./boards.js";
import { card } from "./cards.js";

const NOTHING = 1e-6; // smaller costs are shown as none

export function review_of(look, opponent) {
  const title = h("h2", {}, "What happened");
  if (look.wait) return [title, h("div", { class: "wait" }, "Computing")];
  const cards = look.cards?.map((text) => card(text, "small"));
  const held = cards ? h("div", { class: "hand" }, cards) : h("b", {}, look.held);
  return [
    title,
    h("div", { class: "row" }, h("span", {}, `${opponent} held`), held),
    h(
      "p",
      {},
      "Against a best response your moves cost ",
      h("b", { class: "number" }, plain(look.cost, 3)),
      look.exact ? " (exact)." : ".",
    ),
    h(
      "div",
      { class: "steps" },
      look.steps.map((step) => step_of(step, opponent)),
    ),
    look.note ? h("p", { class: "muted small" }, look.note) : null,
  ];
}

function step_of(step, opponent) {
  const mine = step.who === "you";
  const said = mine ? `You ${bare(step.text)}` : `${opponent} ${step.text}`;
  const line = h("div", { class: "line" }, h("b", {}, said), mine ? cost(step.cost) : null);
  return h("div", { class: "step" }, line, bars(step, mine));
}

function cost(value) {
  if (value === null || value === undefined) return null;
  const dear = value > NOTHING;
  const text = dear ? `cost ${plain(value, 3)}` : "best";
  return h("span", { class: `number ${dear ? "down" : "up"}` }, text);
}

// The opponent's probabilities, or the value of each action of the person.
function bars(step, mine) {
  const numbers = mine ? step.values : step.shares;
  if (!numbers) return null;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const width_of = (value) => (high > low ? 8 + (92 * (value - low)) / (high - low) : 100);
  const bar = (label, k) => {
    const width = `${mine ? width_of(numbers[k]) : 100 * numbers[k]}%`;
    const style = { width, background: mine ? "var(--accent)" : "var(--call)" };
    return h(
      "div",
      { class: k === step.chosen ? "chosen" : "" },
      h("span", {}, label),
      h("span", { class: "track" }, h("span", { class: "fill", style })),
      h("span", { class: "number" }, mine ? signed(numbers[k], 2) : percent(numbers[k])),
    );
  };
  return h("div", { class: "bars" }, step.choices.map(bar));
}
