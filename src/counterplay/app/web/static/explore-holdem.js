// Hold'em in the explorer: the betting, the board, and a grid of all holdings.
import { get } from "./api.js";
import { h, percent, plain, show, signed, sleep, toggle_button } from "./dom.js";
import { board_picker } from "./board-picker.js";
import { ACTIONS, by_strength, canvas_grid, word } from "./grid.js";
import { lock_panel } from "./lock.js";
import { blank, heading, note } from "./paint.js";

const SEATS = ["dealer", "big blind"];
const SIDE = 780; // of a grid in a picture
const REST = 200; // milliseconds that the pointer rests on a holding before it is weighed

export function holdem_view({ asked, body, change, named }) {
  let data = null;
  let drawn = [];

  // What each action is worth comes after the grid, since it takes longer.
  async function add_values() {
    const mine = data;
    if (!mine.one) return;
    const all = get("explore/values", asked).catch(() => null);
    mine.worth = worth_of(mine, all);
    const found = await all;
    if (mine !== data || !found?.mean) return;
    const half = (k) => (found.within?.[k] ? ` ± ${plain(found.within[k], 2)}` : "");
    found.actions.forEach((name, k) => {
      const place = body.querySelector(`.turn:last-child .worth-${name}`);
      if (place) place.textContent = `EV ${signed(found.mean[k], 2)}${half(k)}`;
    });
    const about =
      "EV: sb from here on, all holdings together, when both follow the strategy" +
      (found.within ? "; an estimate, ± is half a 95% interval." : ".");
    const where = body.querySelector(".about-values");
    if (where) where.textContent = about;
  }
  // What each action is worth with one holding, in words: exactly where all holdings have values,
  // else as an estimate that is asked for once the pointer rests.
  function worth_of(mine, all) {
    const asking = new Map();
    let resting = null;
    const rests = async (k) => {
      resting = k;
      await sleep(REST);
      return mine === data && resting === k;
    };
    return async (k, cards) => {
      const values = (await all)?.values;
      if (!values && !asking.has(k)) {
        if (!(await rests(k))) return "";
        if (!asking.has(k)) asking.set(k, get("explore/values", { ...asked, cards }));
      }
      const one = values
        ? { mean: data.actions.map((name) => values[name][k]) }
        : await asking.get(k).catch(() => null);
      if (!one?.mean) return "";
      const half = (a) => (one.within?.[a] ? ` ± ${plain(one.within[a], 2)}` : "");
      const text = (name, a) => `${word(name, data)} ${signed(one.mean[a], 2)}${half(a)}`;
      return `EV ${data.actions.map(text).join(", ")} sb${one.within ? " (estimated, 95%)" : ""}`;
    };
  }
  function draw(found) {
    data = found;
    drawn = [];
    const short = !data.over && data.board.length < data.needed;
    const figures = data.one ? draw_grids() : [];
    const board = short ? data.needed : data.board.length;
    const over = "The hand is over here. Click an earlier action to go back.";
    show(
      body,
      h(
        "div.holdem-view",
        h(
          "div.path",
          steps(),
          board && !short ? picker(board) : null,
          data.one ? lock_panel({ asked, data, change, named }) : null,
        ),
        h(
          "div",
          short ? picker(board) : null,
          data.over ? h("p.muted", over) : null,
          data.one ? legend() : null,
          data.one ? h("p.muted.small.about-values") : null,
          figures.length ? h("div", { class: `grids n${figures.length}` }, figures) : null,
        ),
      ),
    );
    redraw();
    add_values();
  }
  function redraw() {
    for (const { grid } of drawn) grid.draw();
  }

  function draw_grids() {
    const figures = [];
    function add(title, grid, below) {
      drawn.push({ title, grid });
      figures.push(h("figure", h("figcaption", title), grid.node, below));
    }
    const one = named(asked.s)?.name || "This strategy";
    const two = asked.lock && !asked.t ? `With ${asked.lock}` : named(asked.t)?.name || "The other";
    add(one, canvas_grid({ data, title: one, part: data.one }), mean(data.one));
    if (data.two) {
      add(two, canvas_grid({ data, title: two, part: data.two }), mean(data.two));
      const apart = canvas_grid({ data, title: "Difference", mode: "difference" });
      add("Difference", apart, key_of_difference());
    } else {
      const about =
        "Holdings that reach this decision: their number by their strength, which is how often " +
        "they win a showdown against a random holding.";
      add("By strength", by_strength(data, data.one), h("p.muted.small", about));
    }
    return figures;
  }
  const legal = () => ACTIONS.filter((name) => data.actions.includes(name));
  function legend() {
    const keys = legal().map((name) => h("span", h("i", { class: name }), word(name, data)));
    const height = "The height of a colour: how often the holding comes here.";
    return h(
      "div.legend",
      h("b", `${SEATS[data.seat]} to act, ${data.street}`),
      h("span.odds", odds()),
      keys,
      data.betting ? h("span.muted.small", height) : null,
    );
  }
  function odds() {
    const pot = `pot ${plain(data.pot, 1)} sb`;
    if (!data.call) return pot;
    const share = percent(data.call / (data.pot + data.call));
    return `${pot}, ${plain(data.call, 1)} to call: pot odds ${share}`;
  }
  function mean(part) {
    const shares = legal().map((name) => {
      const share = part.mean?.[ACTIONS.indexOf(name)];
      return `${word(name, data)} ${percent(share)}`;
    });
    const text = part.mean ? `of holdings that reach it: ${shares.join(", ")}` : "never reached";
    return h("p.muted.small", text);
  }
  function key_of_difference() {
    const key = (name) => h("i", { class: name });
    const [more, less] = [" the other is more aggressive  ", " more passive"];
    return h("p.muted.small", key("more"), more, key("less"), less);
  }

  const picker = (needed) =>
    board_picker({
      needed,
      chosen: (asked.board || "").match(/../g) || [],
      set: (cards) => change({ board: cards.join("") }),
    });

  // The actions so far and the legal ones now; each can be clicked.
  function steps() {
    const now = { street: data.street, seat: data.seat, history: data.betting, taken: null };
    const all = data.one ? [...data.steps, { ...now, actions: data.actions }] : data.steps;
    const found = [];
    let street = null;
    for (const step of all) {
      if (step.street !== street) {
        street = step.street;
        found.push(h("span.streetname", street));
      }
      found.push(turn(step));
    }
    return h("div.steps-bar", { role: "group", "aria-label": "Betting" }, found);
  }
  function turn(step) {
    const button = (name) =>
      toggle_button(
        name === step.taken,
        () => change({ betting: step.history + name[0] }),
        { class: name },
        h("span.word", word(name, step)),
        step.taken === null ? numbers(name) : null,
      );
    return h("div.turn", h("small", SEATS[step.seat]), step.actions.map(button));
  }
  // How often the strategy takes an action here, and a place for what that is worth.
  const numbers = (name) => [
    h("small.share", percent(data.one.mean?.[ACTIONS.indexOf(name)])),
    h("small", { class: `worth-${name}` }),
  ];
  function picture(canvas, ctx) {
    const room = 70;
    const where = `${SEATS[data.seat]}, ${data.street} ${data.board.join(" ")} ${data.betting}`;
    blank(canvas, ctx, drawn.length * (SIDE + 30) + 30, SIDE + room + 30);
    drawn.forEach(({ title, grid }, k) => {
      const left = 30 + k * (SIDE + 30);
      ctx.save();
      ctx.translate(left, room);
      grid.paint(ctx, SIDE);
      ctx.restore();
      heading(ctx, title, left, 34);
      note(ctx, where, left, 58);
    });
  }
  return { draw, redraw, picture };
}
