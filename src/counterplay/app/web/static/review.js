// The review of a hand: the opponent's cards and probabilities, and the cost of the moves.
import { post } from "./api.js";
import { h, percent, plain, show, signed } from "./dom.js";
import { bare, draw } from "./boards.js";
import { card } from "./cards.js";
import { until_done } from "./wait.js";

const NOTHING = 1e-6; // smaller costs are shown as none
const DIGITS = 3;

// `again` asks for the review once more.
export function review_of(look, opponent, again) {
  const title = h("h2", "What happened");
  if (look.wait) {
    const waits = "Computing, some seconds; you can deal the next hand meanwhile.";
    return [title, h("div.wait", waits)];
  }
  const cards = look.cards?.map((text) => card(text, "small"));
  const held = cards ? h("div.hand", cards) : h("b", look.held);
  return [
    title,
    h("div.row", h("span", `${opponent} had`), held),
    h("p.verdict", verdict(look)),
    h(
      "div.steps",
      look.steps.map((step, k) => [
        step.street && step.street !== look.steps[k - 1]?.street ? street_of(step) : null,
        step_of(step, opponent),
      ]),
    ),
    look.note && look.weighed + look.unweighed ? h("p.muted.small", look.note) : null,
    look.learn ? learning(look.learn, again) : null,
  ];
}

// A model of a program is learnt, which weighs the moves.
function learning(name, again) {
  const place = h("div", { "aria-live": "polite" });
  const act = async (event) => {
    event.target.disabled = true;
    try {
      for (;;) {
        const made = await post(`models/${name}`, {});
        if (made.model) break;
        await until_done(made.job, place, () => place.isConnected);
        if (!place.isConnected) return;
      }
      again();
    } catch (error) {
      show(place, h("p.down", error.message));
      event.target.disabled = false;
    }
  };
  const about = "Learnt from hands with it, once; the bar says how long that takes.";
  const button = h("button", { onclick: act, title: about }, `Learn a model of ${name}`);
  return h("div.stack", button, place);
}

// What the moves cost together; a cost that was not computed is not shown.
function verdict(look) {
  const { weighed, unweighed } = look;
  if (!weighed) return unweighed ? "None of your moves was weighed." : "You had no decision.";
  const unit = look.unit ? ` ${look.unit}` : "";
  const cost = h("b.number", amount(look.cost, look.within) + unit + (look.within ? " (95%)" : ""));
  const moves = weighed === 1 ? "move" : "moves";
  const mine = unweighed ? `${weighed} ${moves} of yours cost ` : `your ${moves} cost `;
  if (look.within === null && look.cost <= NOTHING && !unweighed) {
    return `Against a best response your ${moves} cost nothing.`;
  }
  const against = look.within === null ? `Against a best response ${mine}` : mine;
  const rest = unweighed === 1 ? "1 was not weighed." : `${unweighed} were not weighed.`;
  return [against[0].toUpperCase() + against.slice(1), cost, unweighed ? `; ${rest}` : "."];
}
// At most the upper end of the interval where nothing shows.
const amount = (value, within) => {
  if (within) {
    const digits = (x) => plain(x, DIGITS);
    return value > within
      ? `${digits(value)} ± ${digits(within)}`
      : `less than ${digits(value + within)}`;
  }
  const least = 10 ** -DIGITS;
  return value > NOTHING && value < least / 2 ? `less than ${least}` : plain(value, DIGITS);
};

const street_of = (step) =>
  h(
    "div.row.street",
    h("span", step.street),
    step.board.map((text) => card(text, "small")),
  );
function step_of(step, opponent) {
  const mine = step.who === "you";
  const said = mine ? `You ${bare(step.text)}` : `${opponent} ${step.text}`;
  const line = h("div.line", h("b", said), mine ? cost(step.cost, step.within) : null);
  return h("div.step", line, bars(step, mine));
}

function cost(value, within) {
  if (value === null || value === undefined) return h("span.muted.small", "not weighed");
  if (value <= NOTHING) return h("span.number.up", "best");
  if (within && value <= within) return h("span.muted.small", `cost ${amount(value, within)}`);
  const dear = value >= 0.5 * 10 ** -DIGITS;
  return h("span", { class: `number ${dear ? "down" : "muted"}` }, `cost ${amount(value, within)}`);
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
