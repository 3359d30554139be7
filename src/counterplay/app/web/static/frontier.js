// The frontier of a job: the curve, a slider for the risk, and what the chosen response changes.
// What is won and risked is per hand, the mean of the seats, as a match says it.
import { h, plain, quiet_button, save, show, signed, toggle_button } from "./dom.js";
import { chart } from "./chart.js";
import { save_chart } from "./paint.js";

const BY_PLAY = "by play";
const HOW = {
  "by flops":
    "Estimates from a sample of flops; ± is half a 95% interval, and its upper end counts.",
  [BY_PLAY]:
    "Measured by play: what a response wins from the model in a match, and what a " +
    "counter-strategy wins from it that was trained against it for as long. A better " +
    "counter-strategy wins more, so the real risk is at least this, and may be several times as " +
    "high. ± is half a 95% interval.",
};
const STEPS = 1000; // of the slider, even in risk
const MILLIBETS = 1000; // in a small bet

// `memory.limit` stays while the curve is drawn again.
export function frontier(job, memory) {
  const curve = job.frontier;
  const bound = curve.how === BY_PLAY ? "at least " : "";
  const points = curve.points.map((p) => [p.risks, p.wins, `p = ${p.p}`]);
  const safe = curve.points.map((p) => p.risks + (p.risks_within || 0));
  const [least, most] = [Math.min(...safe), Math.max(...safe)];
  memory.limit ??= least + 0.35 * (most - least);

  // The response that wins most at this risk, or -1.
  function best(limit = memory.limit) {
    const within = points.map((_, k) => k).filter((k) => safe[k] <= limit + 1e-12);
    return within.reduce(
      (found, k) => (found < 0 || points[k][1] > points[found][1] ? k : found),
      -1,
    );
  }
  const place = () =>
    most > least ? Math.round((STEPS * (memory.limit - least)) / (most - least)) : STEPS;
  const millibets = (risk) => (curve.millibets ? ` (${plain(MILLIBETS * risk, 0)} mb/g)` : "");
  const out = h("output");
  const facts = h("div.facts");
  const stops = h("div.row.stops", { role: "group", "aria-label": "Values of p" });
  const range = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    value: place(),
    "aria-label": "Risk at most",
    oninput() {
      memory.limit = least + ((most - least) * range.value) / STEPS;
      update();
    },
  });
  function pick(k) {
    memory.limit = safe[k];
    range.value = place();
    update();
  }
  function stop_at(p, k, at) {
    const beaten = best(safe[k]) !== k;
    const title = beaten ? "another p wins more at no more risk" : "";
    return toggle_button(k === at, () => pick(k), { disabled: beaten, title }, `p = ${p.p}`);
  }
  const unit = `${curve.unit}, mean of the seats`;
  const drawn = chart({
    label: "frontier",
    lines: [
      { name: "robust responses", points, marks: true },
      { name: "mixing the ends", points: curve.points.map((p) => [p.risks, p.line]), thin: true },
    ],
    x: { name: `at risk, ${bound}(${unit})`.replace(", (", " ("), short: `${bound}at risk` },
    y: { name: `won from the model (${unit})`, short: "won" },
    picked: () => points[best()],
    onpick: (p) => pick(points.indexOf(p)),
  });

  function update() {
    const at = Math.max(best(), 0);
    const chosen = curve.points[at];
    const within = (half) => (half ? ` ± ${plain(half, 4)}` : "");
    const fact = (value, text, kind = "") =>
      h("div", h("b", { class: kind }, value), h("span", text));
    const link = (href, text, about) => h("div", h("a.button", { href }, text), h("span", about));
    const changes = `/explore?s=${curve.points[0].strategy}&t=${chosen.strategy}`;
    const seats = `${curve.unit} at risk${millibets(chosen.risks)}, mean of the seats`;
    const sum = `; b1 + b2: ${bound}${plain(chosen.exploitability, 4)}`;
    out.textContent = `${plain(memory.limit, 4)} ${curve.unit}${millibets(memory.limit)}`;
    show(
      stops,
      curve.points.map((p, k) => stop_at(p, k, at)),
    );
    show(
      facts,
      fact(chosen.p, "trust p"),
      fact(
        signed(chosen.wins, 4) + within(chosen.wins_within),
        `${curve.unit} won from the model, mean of the seats`,
        "up",
      ),
      fact(bound + plain(chosen.risks, 4) + within(chosen.risks_within), seats + sum),
      link(changes, "What it changes", "beside the safest response"),
      link(`/explore?s=${curve.model}`, "The model", "in the explorer"),
      h(
        "div",
        h(
          "a.button",
          { href: `/api/kept/${chosen.strategy}/strategy`, download: `response-p${chosen.p}.npz` },
          "Download",
        ),
        h("span", "this response, as strategy.npz"),
      ),
    );
    drawn.draw();
  }
  const stopped = `Stopped; these are the ${points.length} values of p that were done.`;
  const found = "As far as play has found it: the real risk is at least this.";
  const node = [
    h(
      "section.panel",
      h(
        "div.row.spread",
        h("h2", `The frontier: ${job.title}`),
        h(
          "span",
          quiet_button("Picture", () => save_chart(drawn, "frontier.png")),
          quiet_button("CSV", () => table_file(curve)),
        ),
      ),
      job.state === "stopped" ? h("p.muted", stopped) : null,
      drawn.node,
      HOW[curve.how] ? h("p.muted.small", HOW[curve.how]) : null,
    ),
    h(
      "section.panel.slider",
      h("h2", "Risk at most"),
      out,
      range,
      stops,
      bound ? h("p.muted.small", found) : null,
      facts,
    ),
    h("section.panel", table(curve, bound)),
  ];
  update();
  return { node, draw: drawn.draw };
}

function table(curve, bound) {
  const columns = {
    p: (p) => p.p,
    [`won, ${curve.unit}`]: (p) => signed(p.wins, 4),
    [`at risk, ${bound}${curve.unit}`]: (p) => plain(p.risks, 4),
    ...(curve.millibets ? { [`at risk, ${bound}mb/g`]: (p) => plain(MILLIBETS * p.risks, 0) } : {}),
    "mixing the ends": (p) => signed(p.line, 4),
  };
  const row = (p) =>
    h(
      "tr",
      Object.values(columns).map((cell) => h("td.number", cell(p))),
    );
  const names = Object.keys(columns).map((name) => h("th", name));
  const head = h("thead", h("tr", names));
  return h("table.frontier", head, h("tbody", curve.points.map(row)));
}

// Means of the seats, and the library's sum of them.
function table_file(curve) {
  const header = ["p", "payoff", "risk", "straight_line", "exploitability"];
  const within = ["payoff_within", "risk_within"];
  const rows = curve.points.map((p) =>
    [p.p, p.wins, p.risks, p.line, p.exploitability, p.wins_within, p.risks_within].join(","),
  );
  const text = [[...header, ...within].join(","), ...rows].join("\n");
  save("frontier.csv", new Blob([`${text}\n`], { type: "text/csv" }));
}
