// Spots: a position of hold'em is described, solved and looked at; locks and what answers them.
import { get, post } from "./api.js";
import { h, on_resize, page_head, plain, quiet_button, show, sleep } from "./dom.js";
import { board_picker } from "./board-picker.js";
import { chart } from "./chart.js";
import { draw_kept, name_field } from "./kept.js";
import { range_painter } from "./range-painter.js";
import { spot_locks } from "./spot-lock.js";
import { spot_view } from "./spot-view.js";
import { bar } from "./wait.js";

export const page = { title: "Spots", order: 4 };

const EVERY = 400; // milliseconds between two requests
const START = {
  board: "QsJh2c5d8s",
  pot: "20",
  stacks: "90",
  one: "22+,A2s+,KTo+:0.5",
  two: "55+,A9s+,KQo,JTs",
  bets: "50,100",
  raises: "",
  cap: "4",
  min_bet: "",
  limit: "",
  rake: "",
  rake_cap: "",
  apart: "",
  percent: "0.5",
  seconds: "60",
};
const NUMBERS = ["pot", "stacks", "cap", "min_bet", "rake", "rake_cap", "percent", "seconds"];

const text_of = (value) => (value === true ? "yes" : value === false ? "" : String(value));

export async function open(place, query) {
  const form = { ...START };
  let key = query.get("key"); // of what is being solved, or was
  const before = key ? await get(`spots/${key}`).catch(() => null) : null;
  for (const name of Object.keys(START)) {
    if (before && name in before.form) form[name] = text_of(before.form[name]);
    if (query.has(name)) form[name] = query.get(name);
  }
  const board = h("div"),
    problem = h("p.down", { role: "alert" }),
    work = h("div.stack"),
    result = h("div.stack"),
    kept = h("section.panel");
  const waiting = h("div"),
    measured = h("div.beside"),
    command = h("code.command");
  const progress = h(
    "section.panel.progress",
    h("h2", "Exploitability"),
    waiting,
    measured,
    h("details", h("summary.muted.small", "The same as a command"), command),
  );
  const shown = { view: null, locks: null, curve: null };
  let here = true;
  const list_kept = () => draw_kept(kept, key, true);

  function keep() {
    const given = Object.entries(form).filter(([name, value]) => value !== START[name]);
    if (key) given.push(["key", key]);
    const text = new URLSearchParams(given).toString();
    history.replaceState(null, "", text ? `/spot?${text}` : "/spot");
  }
  function set(name, value) {
    form[name] = value;
    keep();
  }
  function draw_board() {
    const chosen = form.board.match(/../g) || [];
    const needed = Math.max(3, Math.min(5, chosen.length));
    const more = () => {
      set("board", chosen.join(""));
      show(board, picker(chosen, Math.min(5, needed + 1)));
    };
    const add = quiet_button(needed < 5 ? "One more street" : "", more);
    show(board, picker(chosen, needed), needed < 5 && chosen.length >= 3 ? add : null);
  }
  const picker = (chosen, needed) =>
    board_picker({
      chosen,
      needed,
      set: (cards) => {
        set("board", cards.join(""));
        draw_board();
      },
    });
  const field = (name, text, more = {}) =>
    h(
      "label",
      text,
      h("input", {
        value: form[name],
        name,
        inputmode: NUMBERS.includes(name) ? "decimal" : null,
        onchange: (event) => set(name, event.target.value.trim()),
        ...more,
      }),
    );
  const painters = [
    range_painter({
      title: "Out of position",
      text: form.one,
      changed: (text) => set("one", text),
    }),
    range_painter({ title: "In position", text: form.two, changed: (text) => set("two", text) }),
  ];
  const check = (name, text) => {
    const box = h("input", {
      type: "checkbox",
      checked: form[name] === "yes",
      onchange: () => set(name, box.checked ? "yes" : ""),
    });
    return h("label.check", box, h("span", text));
  };
  const money = h(
    "section.panel.asked",
    h("h2", "Chips and bets"),
    h(
      "div.fields",
      field("pot", "Pot"),
      field("stacks", "Stacks behind"),
      field("bets", "Bets, percent of the pot", { placeholder: "50,100,allin" }),
      field("raises", "Raises", { placeholder: "as bets" }),
      field("cap", "Bets and raises of a street"),
      field("min_bet", "Smallest bet", { placeholder: "any" }),
      field("rake", "Rake, as 0.05", { placeholder: "none" }),
      field("rake_cap", "Rake at most", { placeholder: "any" }),
      field("percent", "Until, percent of the pot"),
      field("seconds", "Seconds at most"),
    ),
    check("limit", "Limit betting: bets are chips"),
    check("apart", "Tell all suits apart, for locks of single hands"),
    h("button.main", { onclick: solve }, "Solve"),
    problem,
  );
  const lead = "A position after the flop: any board, ranges, stacks and bet sizes.";
  show(
    place,
    page_head("Spots", lead),
    h(
      "div.spot-editor",
      h("div.stack", board, money),
      painters.map((one) => one.node),
    ),
    h("div.stack", work, result, kept),
  );
  draw_board();
  list_kept();
  if (key) go_on();

  // What is asked of the server; numbers that are none are named.
  function asked() {
    const found = { ...form, limit: form.limit === "yes", apart: form.apart === "yes" };
    for (const name of NUMBERS) {
      const value = Number(found[name]);
      if (found[name] === "") delete found[name];
      else if (Number.isFinite(value)) found[name] = value;
      else throw new Error(`${name}: ${found[name]} is no number`);
    }
    return found;
  }
  async function solve() {
    problem.textContent = "";
    try {
      const spot = await post("spots", asked());
      key = spot.key;
      keep();
      show(result);
      draw_work(spot, null);
      work.scrollIntoView({ behavior: "smooth" });
      await follow(spot);
    } catch (error) {
      problem.textContent = error.message;
    }
  }
  // After a reload: what was being solved goes on, also while nobody looked.
  async function go_on() {
    try {
      await follow({ key, ...(await get(`spots/${key}`)) });
    } catch (error) {
      problem.textContent = error.message;
    }
  }
  async function follow(spot) {
    for (;;) {
      const job = await get(`jobs/${spot.key}`);
      if (!here) return;
      if (job.state === "failed") throw new Error(job.problem);
      if (job.state === "stopped") throw new Error("Stopped before the first measurement.");
      const facts = await get(`spots/${spot.key}`);
      draw_work({ ...spot, ...facts }, job.state === "running" ? job : null);
      if (job.state === "done") break;
      await sleep(EVERY);
    }
    draw_result(spot.key, await get(`spots/${spot.key}`));
    list_kept();
  }
  function draw_work(spot, job) {
    const last = spot.points.at(-1);
    const gap = last ? `${plain(last[2], 2)}% of the pot` : "not yet measured";
    const fact = (value, text) => h("div", h("b", value), h("span", text));
    const points = spot.points.map(([n, , y]) => [n, y]);
    shown.curve = chart({
      label: "convergence",
      lines: [{ name: "exploitability", points, marks: points.length < 30 }],
      x: { name: "iterations", log: true },
      y: { name: "exploitability, % of the pot", short: "% of the pot", log: true },
    });
    const count = spot.sets.toLocaleString("en");
    show(waiting, job ? bar(job) : null);
    show(
      measured,
      h(
        "div.facts",
        fact(gap, "exploitability (b1 + b2)"),
        fact(last ? last[0] : 0, `iterations, ${plain(last?.[1] ?? 0, 1)} s`),
        fact(count, `information sets, about ${Math.max(1, Math.round(spot.megabytes))} MB`),
      ),
      points.length > 1 ? shown.curve.node : null,
    );
    command.textContent = spot.command;
    show(work, progress);
    if (points.length > 1) shown.curve.draw();
  }
  function draw_result(key, { seats, locks, name }) {
    const state = { history: "start", board: form.board, answers: "", k: "", locks };
    const body = h("div.view", { "aria-live": "polite" }),
      note = h("p.muted");
    const solution = () => "the solution";
    let said = solution;
    shown.locks = spot_locks({
      key,
      state,
      answered: (answers, k, row, player) => {
        Object.assign(state, { answers, k });
        const worst = "the worst that he can do who follows the locks";
        said = (seat) => (seat === player ? `the answer at a trust of ${row.trust}` : worst);
        const undo = quiet_button("Back to the solution", back);
        show(note, `Below: the answer at a trust of ${row.trust}. `, undo);
        shown.view.load();
      },
    });
    function back() {
      Object.assign(state, { answers: "", k: "" });
      said = solution;
      show(note);
      shown.view.load();
    }
    shown.view = spot_view({
      place: body,
      key,
      asked: () => ({
        history: state.history,
        board: state.board,
        answers: state.answers,
        k: state.k,
      }),
      change: (more) => {
        Object.assign(state, more);
        shown.view.load();
      },
      beside: (data) => shown.locks.panel(data),
      title: (seat) => said(seat),
    });
    const heading = h("h2.strategies", `Strategies: ${seats.join(" against ")}`);
    const large = "This spot is too large to be kept: it ends with the server.";
    const file = { href: `/api/kept/made-${key}-solution/strategy`, download: true };
    const naming =
      name === null
        ? h("p.muted", large)
        : h(
            "section.panel.row.spread",
            name_field({ key, name }, list_kept),
            h("a.button.quiet", file, "Download the solution (.npz)"),
          );
    show(result, naming, heading, shown.locks.node, note, body);
    shown.view.load();
  }

  const still = on_resize(() => [shown.view?.redraw(), shown.locks?.redraw(), shown.curve?.draw()]);
  return () => {
    here = false;
    still();
    painters.forEach((one) => one.close());
  };
}
