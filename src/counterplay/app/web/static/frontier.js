// The frontier of a job: the curve, a slider for the risk, and what the chosen response changes.
import { h, plain, save, show, signed } from "./dom.js";
import { chart } from "./chart.js";
import { save_chart } from "./paint.js";

const HOW = {
  "by flops":
    "Estimates from a sample of flops; ± is half a 95% interval, and its upper end counts.",
  "by play":
    "Measured by play: what a response wins from the model in a match, and what a " +
    "counter-strategy trained against it wins from it, a lower bound of the risk. ± is half a " +
    "95% interval.",
};
const STEPS = 1000; // of the slider
const quiet = (text, onclick) => h("button", { type: "button", class: "quiet", onclick }, text);

// `memory.limit` stays while the curve is drawn again.
export function frontier(job, memory) {
  const curve = job.frontier;
  const points = curve.points.map((p) => [p.risks, p.wins, `p = ${p.p}`]);
  const safe = curve.points.map((p) => p.risks + (p.risks_within || 0));
  const [least, most] = [Math.min(...safe), Math.max(...safe)];
  memory.limit ??= least + 0.35 * (most - least);

  function best() {
    const within = points.map((_, k) => k).filter((k) => safe[k] <= memory.limit + 1e-12);
    return within.reduce(
      (found, k) => (found < 0 || points[k][1] > points[found][1] ? k : found),
      -1,
    );
  }
  const place = () =>
    most > least ? Math.round((STEPS * (memory.limit - least)) / (most - least)) : STEPS;
  const out = h("output");
  const facts = h("div", { class: "facts" });
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
  const drawn = chart({
    label: "frontier",
    lines: [
      { name: "robust responses", points, marks: true },
      { name: "mixing the ends", points: curve.points.map((p) => [p.risks, p.line]), thin: true },
    ],
    x: { name: `exploitability (${curve.unit} at risk)`, short: "at risk" },
    y: { name: `exploitation (${curve.unit} won)`, short: "won" },
    picked: () => points[best()],
    onpick(p) {
      memory.limit = safe[points.indexOf(p)];
      range.value = place();
      update();
    },
  });

  function update() {
    const chosen = curve.points[Math.max(best(), 0)];
    const within = (half) => (half ? ` ± ${plain(half, 3)}` : "");
    const fact = (value, text, kind = "") =>
      h("div", {}, h("b", { class: kind }, value), h("span", {}, text));
    const link = (href, text, about) =>
      h("div", {}, h("a", { class: "button", href }, text), h("span", {}, about));
    const changes = `/explore?s=${curve.points[0].strategy}&t=${chosen.strategy}`;
    out.textContent = `${plain(memory.limit, 4)} ${curve.unit}`;
    show(
      facts,
      fact(chosen.p, "trust p"),
      fact(signed(chosen.wins, 4) + within(chosen.wins_within), "won from the model", "up"),
      fact(plain(chosen.risks, 4) + within(chosen.risks_within), "at risk, b1 + b2"),
      link(changes, "What it changes", "beside the safest response"),
      link(`/explore?s=${curve.model}`, "The model", "in the explorer"),
    );
    drawn.draw();
  }
  const stopped = `Stopped; these are the ${points.length} values of p that were done.`;
  const node = [
    h(
      "section",
      { class: "panel" },
      h(
        "div",
        { class: "row spread" },
        h("h2", {}, `The frontier: ${job.title}`),
        h(
          "span",
          {},
          quiet("Picture", () => save_chart(drawn, "frontier.png")),
          quiet("CSV", () => table_file(curve)),
        ),
      ),
      job.state === "stopped" ? h("p", { class: "muted" }, stopped) : null,
      drawn.node,
      HOW[curve.how] ? h("p", { class: "muted small" }, HOW[curve.how]) : null,
    ),
    h("section", { class: "panel slider" }, h("h2", {}, "Risk at most"), out, range, facts),
    h("section", { class: "panel" }, table(curve)),
  ];
  update();
  return { node, draw: drawn.draw };
}

function table(curve) {
  const cells = (p) => [p.p, signed(p.wins, 4), plain(p.risks, 4), signed(p.line, 4)];
  const row = (p) =>
    h(
      "tr",
      {},
      cells(p).map((cell) => h("td", { class: "number" }, cell)),
    );
  const names = ["p", "wins", "risks", "mixing"].map((name) => h("th", {}, name));
  const head = h("thead", {}, h("tr", {}, names));
  return h("table", { class: "frontier" }, head, h("tbody", {}, curve.points.map(row)));
}

function table_file(curve) {
  const header = ["p", "exploitation", "exploitability", "straight_line"];
  const rows = curve.points.map((p) => [p.p, p.wins, p.risks, p.line]);
  const text = [header, ...rows].map((row) => row.join(",")).join("\n");
  save("frontier.csv", new Blob([`${text}\n`], { type: "text/csv" }));
}
