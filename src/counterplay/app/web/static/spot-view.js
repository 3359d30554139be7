// One decision of a spot: the way there, the board, and a grid of all holdings.
import { get } from "./api.js";
import { h, percent, plain, show, toggle_button } from "./dom.js";
import { board_picker } from "./board-picker.js";
import { canvas_grid, colour } from "./grid.js";

const SEATS = ["out of position", "in position"];
const PASSIVE = { fold: "fold", check: "call", call: "call" };

// Each action with a word and a colour: bets from light to dark by their size.
export function kinds_of(actions) {
  const bets = actions.filter((name) => !PASSIVE[name.split(" ")[0]]);
  return actions.map((name) => {
    const passive = PASSIVE[name.split(" ")[0]];
    const share = bets.length > 1 ? bets.indexOf(name) / (bets.length - 1) : 0;
    const mixed = () =>
      `color-mix(in oklab, ${colour("raise")} ${100 - 55 * share}%, ${colour("ink")})`;
    const of_page = `color-mix(in oklab, var(--raise) ${100 - 55 * share}%, var(--ink))`;
    return passive
      ? { name, ink: () => colour(passive), css: `var(--${passive})` }
      : { name, ink: mixed, css: of_page };
  });
}

// `asked`: { history, board, answers, k }; `change` is called with what is to be asked instead;
// `beside`: what to show below the way, for a decision that is drawn.
export function spot_view({ place, key, asked, change, beside, title }) {
  let grid = null,
    seen = 0;

  async function load() {
    const mine = (seen += 1);
    let data;
    try {
      data = await get(`spots/${key}/view`, asked());
    } catch (error) {
      show(place, h("p.down", error.message));
      return;
    }
    if (mine !== seen) return;
    const kinds = kinds_of(data.actions);
    const part = data.one;
    grid = part ? canvas_grid({ data, part, title: title(data.player), kinds }) : null;
    show(
      place,
      h(
        "div.holdem-view",
        h("div.path", steps(data, kinds), later_board(data), data.one ? beside(data) : null),
        h("div", grid ? decision(data, kinds) : h("p.muted", "Pick or draw the next card.")),
      ),
    );
    grid?.draw();
    place.dataset.ready = String(mine);
  }
  function later_board(data) {
    const first = data.steps[0].board_size;
    if (data.needed === first) return null;
    const set = (cards) => change({ board: cards.join("") });
    return board_picker({ chosen: data.board, needed: data.needed, set, fixed: first });
  }
  function decision(data, kinds) {
    const swatch = ({ name, css }, a) =>
      h(
        "span",
        h("i", { style: { background: css } }),
        `${name} `,
        h("b", percent(data.one.mean?.[a])),
      );
    const call = data.call
      ? `, ${plain(data.call, 1)} to call: pot odds ${percent(data.call / (data.pot + data.call))}`
      : "";
    const never = "Nobody comes here: these are what is left of uniform play.";
    return [
      h(
        "div.legend",
        h("b", `${SEATS[data.player]}, ${data.street}`),
        h("span.odds", `pot ${plain(data.pot, 1)}${call}`),
        kinds.map(swatch),
      ),
      h("p.muted.small", data.one.mean ? title(data.player) : never),
      h("div.grids.n1", h("figure", grid.node)),
    ];
  }
  function steps(data, kinds) {
    const found = [];
    let street = null;
    for (const step of data.steps) {
      if (step.street !== street) {
        street = step.street;
        found.push(h("span.streetname", street));
      }
      found.push(turn(step, step === data.steps.at(-1) ? { data, kinds } : null));
    }
    return h("div.steps-bar", { role: "group", "aria-label": "Betting" }, found);
  }
  function turn(step, now) {
    const button = (name, k) =>
      toggle_button(
        name === step.taken,
        () => change({ history: step.after[k] }),
        {
          disabled: !step.after[k],
          title: step.after[k] ? null : "the hand is over after this",
          style: { "border-left-color": kinds_of(step.actions)[k].css },
        },
        h("span.word", name),
        now?.data.one ? h("small.share", percent(now.data.one.mean?.[k])) : null,
      );
    const back = step.taken ? () => change({ history: step.history }) : null;
    const who = SEATS[step.player];
    return h(
      "div.turn",
      back ? h("button.quiet.small", { onclick: back }, who) : h("small", who),
      step.actions.map(button),
    );
  }
  return { load, redraw: () => grid?.draw() };
}
