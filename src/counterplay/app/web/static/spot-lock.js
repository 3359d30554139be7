// Locks of a spot: what one player is believed to do, and the answers to it by their risk.
import { get, post } from "./api.js";
import { h, percent, plain, quiet_button, show, signed, toggle_button } from "./dom.js";
import { chart } from "./chart.js";
import { until_done } from "./wait.js";

// `state.locks` has texts; `answered` is called with the key of the answers and one of them.
export function spot_locks({ key, state, answered }) {
  const list = h("div.stack"),
    waiting = h("div"),
    result = h("div.stack.answers"),
    why = h("p.down.small", { role: "alert" });
  let drawn = null;

  // The panel of a decision, in which one of its actions is locked.
  function panel(data) {
    const option = (name, k) => h("option", { value: k }, name);
    const action = h("select", { "aria-label": "Action" }, data.actions.map(option));
    const now = () => Math.round(100 * (data.one.mean?.[action.value] ?? 0));
    const bar = (label, value) => {
      const out = h("output");
      const tell = () => (out.textContent = `${input.value}%`);
      const range = { type: "range", min: 0, max: 100, value, "aria-label": label, oninput: tell };
      const input = h("input", range);
      tell();
      return { input, node: h("label", label, h("div.row", input, out)), tell };
    };
    const share = bar("How often in all", now()),
      trust = bar("How far you believe it", 100),
      hands = h("input", { placeholder: "all, or flush draws, pairs, QQ+,AK" });
    action.addEventListener("change", () => {
      share.input.value = now();
      share.tell();
    });
    function add() {
      const whose = hands.value.trim();
      const text =
        `${data.history} ${data.actions[action.value]} ${share.input.value / 100}` +
        (whose && whose !== "all" ? ` with ${whose}` : "") +
        (trust.input.value < 100 ? ` trust ${trust.input.value / 100}` : "");
      state.locks = [...state.locks, text];
      draw();
    }
    return h(
      "section.panel.lock",
      h("h2", "What if he plays differently?"),
      h(
        "div.stack",
        action,
        share.node,
        h("label", "With which hands", hands),
        trust.node,
        h("button", { onclick: add }, "Lock it"),
      ),
    );
  }
  function draw() {
    why.textContent = "";
    const take = (k) => {
      state.locks = state.locks.filter((_, n) => n !== k);
      draw();
    };
    const row = (text, k) =>
      h("div.row.spread", h("code", text), quiet_button("Take it away", () => take(k)));
    const button = h("button.main", { onclick: answer }, "The answers to it");
    const lead = "What to do against it, and what that risks. The other decisions are his own.";
    show(
      list,
      state.locks.length
        ? h(
            "section.panel.locks",
            h("h2", "Locks"),
            state.locks.map(row),
            h("p.muted.small", lead),
            button,
            why,
            waiting,
            result,
          )
        : null,
    );
  }
  async function answer() {
    why.textContent = "";
    show(result);
    try {
      const job = await post(`spots/${key}/locks`, { locks: state.locks });
      await until_done(job.key, waiting);
      draw_answers(job.key, await get(`spots/answers/${job.key}`));
    } catch (error) {
      show(waiting);
      why.textContent = error.message;
    }
  }
  function draw_answers(answers, { points, pot, player }) {
    const rows = points.map((p) => ({ ...p, x: (100 * p.risk) / pot, y: (100 * p.gain) / pot }));
    const marks = rows.map((p) => [p.x, p.y, `trust ${p.trust}`]);
    const most = Math.max(...rows.map((p) => p.x), 0.001);
    let at = 0;
    const best = (limit) =>
      rows.reduce((k, p, n) => (p.x <= limit + 1e-9 && p.y >= rows[k].y ? n : k), 0);
    const out = h("output"),
      facts = h("div.facts");
    const stops = h("div.row.stops", { role: "group", "aria-label": "Trust" });
    const range = h("input", {
      type: "range",
      min: 0,
      max: 1000,
      value: 300,
      "aria-label": "Risk at most",
      oninput: () => pick(best((most * range.value) / 1000), (most * range.value) / 1000),
    });
    drawn = chart({
      label: "answers",
      lines: [{ name: "answers", points: marks, marks: true }],
      x: { name: "at risk (percent of the pot)", short: "at risk, %" },
      y: { name: "gained from him (percent of the pot)", short: "gained, %" },
      picked: () => marks[at],
      onpick: (mark) => pick(marks.indexOf(mark)),
    });
    function pick(k, limit = rows[k].x) {
      at = k;
      const fact = (value, text) => h("div", h("b", value), h("span", text));
      out.textContent = `${plain(limit, 2)}% of the pot`;
      range.value = Math.round((1000 * limit) / most);
      show(
        facts,
        fact(percent(rows[k].trust), "trust"),
        fact(`${signed(rows[k].y, 2)}%`, "of the pot gained, if he follows the locks"),
        fact(`${plain(rows[k].x, 2)}%`, "of the pot at risk, whatever he does"),
      );
      show(
        stops,
        rows.map((p, n) => toggle_button(n === k, () => pick(n), {}, percent(p.trust))),
      );
      drawn.draw();
      answered(answers, k, rows[k], player);
    }
    const slider = h("div.slider", h("h3", "Risk at most"), out, range, stops, facts);
    show(result, h("div.beside", slider, drawn.node));
    const limit = 0.3 * most;
    pick(best(limit), limit);
  }
  // The answers that were kept, after a restart.
  async function restore() {
    if (!state.locks.length) return;
    const found = await get(`spots/answers/${key}`).catch(() => null);
    if (found) draw_answers(key, found);
  }
  draw();
  restore();
  return { node: list, panel, redraw: () => drawn?.draw() };
}
