// What if he does something more or less often: a lock, and the safe answer to it.
import { post } from "./api.js";
import { h, show } from "./dom.js";
import { go } from "./app.js";
import { ACTIONS, word } from "./grid.js";

const SEATS = ["dealer", "bb"];
const FIRST = "dealer preflop facing bet"; // the blind
const NAMES = ["the dealer", "the big blind"];

export function lock_panel({ asked, data, change, named }) {
  const parts = /^(.*) (fold|call|raise) ([0-9.]+)$/.exec(asked.lock || "");
  const when = data.street === "preflop" ? "before the flop" : `on the ${data.street}`;
  const places = [
    [data.betting || FIRST, "at this decision"],
    [`${SEATS[data.seat]} ${data.street}`, `${NAMES[data.seat]} ${when}`],
    [data.street, `both ${when}`],
  ];
  const option = (now) => ([value, text]) => h("option", { value, selected: value === now }, text);
  const where = h("select", { "aria-label": "Where" }, places.map(option(parts?.[1])));
  const actions = data.actions.map((name) => [name, `${word(name, data)}s`]);
  const action = h("select", { "aria-label": "Action" }, actions.map(option(parts?.[2])));
  const usual = () => Math.round(100 * (data.one.mean?.[ACTIONS.indexOf(action.value)] ?? 0.5));
  const share = h("input", {
    type: "range",
    min: 0,
    max: 100,
    value: parts ? Math.round(100 * parts[3]) : usual(),
    "aria-label": "How often",
    oninput: () => (out.textContent = `${share.value}%`),
    onchange: set,
  });
  const out = h("output", `${share.value}%`);
  const seconds = h("input", { type: "number", min: 4, max: 3600, value: 60 });
  const why = h("p.down.small", { role: "alert" });
  const text = () => `${where.value} ${action.value} ${share.value / 100}`;
  function set() {
    change({ lock: text(), t: "" }, { keep: true });
  }
  function chosen() {
    if (asked.lock) set();
    else out.textContent = `${(share.value = usual())}%`;
  }
  for (const one of [where, action]) one.addEventListener("change", chosen);
  async function answer(event) {
    event.target.disabled = true;
    show(why, h("progress", { "aria-label": "putting the lock on" }));
    const title = named(asked.s)?.name || "this strategy";
    try {
      const asking = { model: asked.s, title, lock: text(), seconds: Number(seconds.value) };
      const job = await post("jobs", asking);
      go(`/exploit?job=${job.key}`);
    } catch (error) {
      why.textContent = error.message;
      event.target.disabled = false;
    }
  }
  return h(
    "details.panel.lock",
    { open: Boolean(asked.lock) },
    h("summary", "What if he plays differently?"),
    h(
      "div.stack",
      where,
      action,
      h("div.row", share, out),
      asked.lock
        ? h("button.quiet", { onclick: () => change({ lock: "" }) }, "Take the lock away")
        : null,
      h("label", "Seconds of solving", seconds),
      h("button.main", { onclick: answer }, "The safe answer to it"),
      h(
        "p.muted.small",
        "How often: of the holdings that come there, over all boards; on one board it differs. ",
        "The answer has a slider for the trust.",
      ),
      why,
    ),
  );
}
