// The review of a hand: the opponent's cards and probabilities, and the cost of the moves.
import { h, percent, plain, show, signed } from "./dom.js";
import { bare, draw } from "./boards.js";
import { card } from "./cards.js";

const NOTHING = 1e-6; // smaller costs are shown as none
const DIGITS = 3;

export function review_of(look, opponent) {
  const title = h("h2", "What happened");
  if (look.wait) return [title, h("div.wait", "Computing")];
  const cards = look.cards?.map((text) => card(text, "small"));
  const held = cards ? h("div.hand", cards) : h("b", look.held);
  return [
    title,
    h("div.row", h("span", `${opponent} held`), held),
    h("p.verdict", verdict(look)),
    h(
      "div.steps",
      look.steps.map((step) => step_of(step, opponent)),
    ),
    look.note ? h("p.muted.small", look.note) : null,
  ];
}

// What the moves cost together; a cost that was not computed is not shown.
function verdict(look) {
  const { weighed, unweighed } = look;
  if (!weighed) return unweighed ? "None of your moves was weighed." : "You had no decision.";
  const cost = h("b.number", amount(look.cost));
  const moves = weighed === 1 ? "move" : "moves";
  if (!unweighed) return [`Against a best response your ${moves} cost `, cost, "."];
  const rest = unweighed === 1 ? "1 was not weighed." : `${unweighed} were not weighed.`;
  return [`Against a best response ${weighed} ${moves} of yours cost `, cost, `; ${rest}`];
}
const amount = (value) => {
  const least = 10 ** -DIGITS;
  return value > NOTHING && value < least / 2 ? `less than ${least}` : plain(value, DIGITS);
};

function step_of(step, opponent) {
  const mine = step.who === "you";
  const said = mine ? `You ${bare(step.text)}` : `${opponent} ${step.text}`;
  const line = h("div.line", h("b", said), mine ? cost(step.cost) : null);
  return h("div.step", line, bars(step, mine));
}

function cost(value) {
  if (value === null || value === undefined) return h("span.muted.small", "not weighed");
  if (value <= NOTHING) return h("span.number.up", "best");
  const dear = value >= 0.5 * 10 ** -DIGITS;
  return h("span", { class: `number ${dear ? "down" : "muted"}` }, `cost ${amount(value)}`);
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
      h("span", label),
      h("span.track", h("span.fill", { style })),
      h("span.number", mine ? signed(numbers[k], 2) : percent(numbers[k])),
    );
  };
  return h("div.bars", step.choices.map(bar));
}

// The hand again, move by move: a slider over what the person saw.
export function replay_of(look, table) {
  const scenes = look.scenes || [];
  if (scenes.length < 2) return null;
  const last = scenes.length - 1;
  const cloth = h("section.cloth.replay", { "aria-label": "Replay" });
  const step = h("output.small");
  const range = h("input", {
    type: "range",
    min: 0,
    max: last,
    value: last,
    "aria-label": "Move of the hand",
    oninput: redraw,
  });
  function redraw() {
    const k = Number(range.value);
    const end = k === last;
    const { seat, seat_name } = look;
    const then = { scene: scenes[k], over: end, won: end ? look.won : null, choices: [] };
    show(cloth, draw({ ...table, ...then, seat, seat_name }, () => {}));
    const move = scenes[k].log.at(-1);
    const who = move?.who === "you" ? "You" : table.opponent;
    const text = move?.who === "you" ? bare(move.text) : move?.text;
    step.textContent = move ? `${who} ${text}` : "Dealt";
  }
  redraw();
  return h("div.replayed", h("h3", `Hand ${look.hand + 1}`), cloth, range, step);
}
