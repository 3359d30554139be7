// The frontier of a job: the curve, a slider for the risk, and what the chosen response changes.
// What is won and risked is per hand, the mean of the seats, as a match says it.
import { h, percent, plain, quiet_button, save, show, signed, toggle_button } from "./dom.js";
import { chart, INKS } from "./chart.js";
import { save_chart } from "./paint.js";

const BY_PLAY = "by play";
const CERTIFIED = "certified";
const COMMITTED = "committed";
const HOW = {
  "by flops":
    "Estimates from a sample of flops; ± is half a 95% interval, and its upper end counts.",
  [BY_PLAY]:
    "Measured by play: what a response wins from the model in a match, and what a " +
    "counter-strategy wins from it that was trained against it for as long. A better " +
    "counter-strategy wins more, so the real risk is at least this, and may be several times as " +
    "high. ± is half a 95% interval.",
  [CERTIFIED]:
    "The risk is certified: what a best response wins from each, exactly, over every board. What " +
    "is won is estimated by a match; ± is half a 95% interval.",
  [COMMITTED]:
    "Points that come with the package, trained on a GPU against an adversary who sees his " +
    "cards. A risk without ± is certified: exact, over every board. One with ± is estimated " +
    "from a sample of flops; its upper end counts. What is won is estimated by a match with the " +
    "model, learnt from 20,000 hands; “Try the certified players” plays with the bot itself. " +
    "The picture leaves out the greatest risks.",
};
const DOTTED =
  "Dotted: what mixing the ends wins, the safest response and the boldest, one of which is drawn " +
  "for every hand.";
const STEPS = 1000; // of the slider, even in risk; of committed points in its logarithm
const MILLIBETS = 1000; // in a small bet

const label = (point) => point.name || `p = ${point.p}`;

// `memory.limit` stays while the curve is drawn again.
export function frontier(job, memory) {
  const curve = job.frontier;
  const certified = curve.how === CERTIFIED;
  const committed = curve.how === COMMITTED;
  const bound = curve.how === BY_PLAY ? "at least " : "";
  const scale = curve.millibets ? MILLIBETS : 1; // of the risk in the picture
  const points = curve.points.map((p) => [scale * p.risks, p.wins, label(p)]);
  const safe = curve.points.map((p) => p.risks + (p.risks_within || 0));
  const [least, most] = [Math.min(...safe), Math.max(...safe)];
  const above = curve.points.map((p) => p.wins - p.line); // what mixing the ends wins
  const start = committed
    ? safe[curve.points.findLastIndex((p) => p.shipped)] // what comes with the package
    : safe[above.indexOf(Math.max(...above))]; // undefined where there is no line
  memory.limit ??= start ?? least + 0.35 * (most - least);

  // The response that wins most at this risk, or -1.
  function best(limit = memory.limit) {
    const within = points.map((_, k) => k).filter((k) => safe[k] <= limit + 1e-12);
    return within.reduce(
      (found, k) => (found < 0 || points[k][1] > points[found][1] ? k : found),
      -1,
    );
  }
  const [even, risk_at] = committed ? [Math.log, Math.exp] : [Number, Number];
  const length = even(most) - even(least);
  const place = () =>
    most > least ? Math.round((STEPS * (even(memory.limit) - even(least))) / length) : STEPS;
  const amount = (risk) =>
    curve.millibets
      ? `${plain(MILLIBETS * risk, 0)} mb/g (${plain(risk, 4)} ${curve.unit})`
      : `${plain(risk, 4)} ${curve.unit}`;
  // Two responses between which the limit is, drawn for every hand: the risk is at most the mean.
  function mixed() {
    const [low, limit] = [best(), memory.limit];
    if (bound || low < 0) return null;
    const gain = (k) => (points[k][1] - points[low][1]) / (safe[k] - safe[low]);
    const above = points
      .map((_, k) => k)
      .filter((k) => safe[k] > limit + 1e-12 && points[k][1] > points[low][1]);
    if (!above.length || limit - safe[low] < 1e-9) return null;
    const high = above.reduce((found, k) => (gain(k) > gain(found) ? k : found));
    const share = (limit - safe[low]) / (safe[high] - safe[low]);
    const wins = (1 - share) * points[low][1] + share * points[high][1];
    const parts = [low, high].map(
      (k, n) => `${label(curve.points[k])} in ${percent(n ? share : 1 - share)}`,
    );
    const halves = [low, high].map((k) => curve.points[k].wins_within || 0);
    const half = Math.hypot((1 - share) * halves[0], share * halves[1]);
    const won = signed(wins, 4) + (half ? ` ± ${plain(half, 4)}` : "");
    return (
      `Drawn for every hand, ${parts.join(" and ")} of them: ${won} ${curve.unit} ` +
      `at a risk of no more than ${amount(limit)}.`
    );
  }
  const out = h("output");
  const facts = h("div.facts");
  const mixture = h("p.mixture", { "aria-live": "polite" });
  const stops = h("div.row.stops", { role: "group", "aria-label": "Values of p" });
  const range = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    value: place(),
    "aria-label": "Risk at most",
    oninput() {
      memory.limit = risk_at(even(least) + (length * range.value) / STEPS);
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
    const title = beaten ? "another one wins more at no more risk" : "";
    return toggle_button(k === at, () => pick(k), { disabled: beaten, title }, label(p));
  }
  const unit = `${curve.unit}, mean of the seats`;
  const risk_unit = curve.millibets ? "mb/g, mean of the seats" : unit;
  const ends = () => curve.points.map((p) => [scale * p.risks, p.line]);
  const robust = { name: "robust responses", points, marks: true };
  const responses = () => [robust, { name: "mixing the ends", points: ends(), thin: true }];
  // Beside those whose adversary saw buckets, both as far as the picture goes.
  function real() {
    const seen = (all) => all.filter((p) => p[0] <= (curve.most ?? Infinity));
    const buckets = { points: seen(curve.buckets), marks: true };
    return [
      { ...robust, points: seen(points), name: "adversary sees his cards (real)", tags: true },
      { ...buckets, name: "adversary sees buckets (abstract)" },
    ];
  }
  // Those that nobody beats, and the others by themselves.
  function players() {
    const beaten = (k) => best(safe[k]) !== k;
    const line = { name: "certified players", points: points.filter((_, k) => !beaten(k)) };
    const others = points.filter((_, k) => beaten(k));
    const alone = (p) => ({ name: "beaten", points: [p], tags: true });
    return [{ ...line, marks: true, tags: true }, ...others.map(alone)];
  }
  const drawn = chart({
    label: "frontier",
    lines: certified ? players() : committed ? real() : responses(),
    x: { name: `at risk${bound && ", at least"} (${risk_unit})`, short: `${bound}at risk` },
    y: { name: `won from ${curve.opponent || "the model"} (${unit})`, short: "won" },
    picked: () => points[best()],
    onpick: (p) => points.includes(p) && pick(points.indexOf(p)),
  });

  function update() {
    const at = Math.max(best(), 0);
    const chosen = curve.points[at];
    const within = (half) => (half ? ` ± ${plain(half, 4)}` : "");
    const fact = (value, text, kind = "") =>
      h("div", h("b", { class: kind }, value), h("span", text));
    const link = (href, text, about) => h("div", h("a.button", { href }, text), h("span", about));
    const { lock, model } = job.asked || {};
    const [first, beside] = lock
      ? [model, "beside the strategy without the lock"]
      : [curve.points[0].strategy, "beside the safest response"];
    const changes = `/explore?s=${first}&t=${chosen.strategy}`;
    const exact = certified || chosen.certified;
    const exactly = exact ? ", certified" : committed ? ", estimated from flops" : "";
    const seats = `at risk${exactly}, mean of the seats`;
    const sum = `; b1 + b2: ${bound}${plain(chosen.exploitability, 4)} ${curve.unit}`;
    out.textContent = amount(memory.limit);
    mixture.textContent = mixed() || "";
    show(
      stops,
      curve.points.map((p, k) => stop_at(p, k, at)),
    );
    show(
      facts,
      chosen.name
        ? fact(chosen.name, "the player")
        : fact(chosen.p, chosen.shipped ? `trust p: the player ${chosen.shipped}` : "trust p"),
      fact(
        signed(chosen.wins, 4) + within(chosen.wins_within),
        `${curve.unit} won from ${curve.opponent || "the model"}, mean of the seats`,
        "up",
      ),
      fact(bound + risk_of(chosen), seats + sum),
      first && chosen.strategy
        ? link(changes, "What it changes", beside)
        : null,
      curve.model ? link(`/explore?s=${curve.model}`, "The model", "in the explorer") : null,
      chosen.name || committed
        ? null
        : h(
            "div",
            h(
              "a.button",
              {
                href: `/api/kept/${chosen.strategy}/strategy`,
                download: `response-p${chosen.p}.npz`,
              },
              "Download",
            ),
            h("span", "this response, as strategy.npz"),
          ),
    );
    drawn.draw();
  }
  // In mb/g where that is the unit of the literature, with its interval.
  function risk_of(point) {
    const [factor, digits, unit] = curve.millibets ? [MILLIBETS, 0, " mb/g"] : [1, 4, ""];
    const half = point.risks_within ? ` ± ${plain(factor * point.risks_within, digits)}` : "";
    return `${plain(factor * point.risks, digits)}${half}${unit || ` ${curve.unit}`}`;
  }
  const heading = () =>
    certified
      ? "Certified players against"
      : committed
        ? "The real frontier: a model of"
        : "The frontier:";
  const done = points.length === 1 ? "one point was" : `these ${points.length} points were`;
  const stopped = `Stopped; ${done} done.`;
  const found = "As far as play has found it: the real risk is at least this.";
  const node = [
    h(
      "section.panel",
      h(
        "div.row.spread",
        h("h2", `${heading()} ${job.title}`),
        h(
          "span",
          quiet_button("Picture", () => save_chart(drawn, "frontier.png")),
          quiet_button("CSV", () => table_file(curve)),
        ),
      ),
      job.state === "stopped" ? h("p.muted", stopped) : null,
      drawn.node,
      committed ? legend(drawn.lines) : null,
      HOW[curve.how] ? h("p.muted.small", HOW[curve.how]) : null,
      certified || committed ? null : h("p.muted.small", DOTTED),
    ),
    h(
      "section.panel.slider",
      h("h2", "Risk at most"),
      out,
      range,
      stops,
      bound ? h("p.muted.small", found) : null,
      facts,
      mixture,
    ),
    h("section.panel", table(curve, bound)),
  ];
  update();
  return { node, draw: drawn.draw };
}

// The lines of a chart by their colours.
const legend = (lines) =>
  h(
    "div.legend",
    lines.map((line, n) =>
      h("span", h("i", { style: { background: `var(--${INKS[n % INKS.length]})` } }), line.name),
    ),
  );

function table(curve, bound) {
  const committed = curve.how === COMMITTED;
  const shows = committed || curve.points[0].name;
  const half = (within) => (within && shows ? ` ± ${plain(within, 4)}` : "");
  const risk_half = (p) =>
    committed && p.risks_within ? ` ± ${plain(MILLIBETS * p.risks_within, 0)}` : "";
  const exact = (p) => (p.certified ? "certified" : "estimated from flops");
  const columns = {
    [curve.points[0].name ? "player" : "p"]: (p) => p.name ?? p.p,
    [`won, ${curve.unit}`]: (p) => signed(p.wins, 4) + half(p.wins_within),
    [`at risk, ${bound}${curve.unit}`]: (p) => plain(p.risks, 4),
    ...(curve.millibets
      ? { [`at risk, ${bound}mb/g`]: (p) => plain(MILLIBETS * p.risks, 0) + risk_half(p) }
      : {}),
    ...(committed ? { "the risk is": exact, "comes as": (p) => p.shipped || "–" } : {}),
    ...(curve.how === CERTIFIED || committed
      ? {}
      : { "mixing the ends": (p) => signed(p.line, 4) }),
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
  const fields = ["wins", "risks", "line", "exploitability", "wins_within", "risks_within"];
  const rows = curve.points.map((p) => [p.name ?? p.p, ...fields.map((one) => p[one])].join(","));
  const text = [[...header, ...within].join(","), ...rows].join("\n");
  save("frontier.csv", new Blob([`${text}\n`], { type: "text/csv" }));
}
