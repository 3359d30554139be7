// Watch it learn: a table, and beside it what the opponent has learnt.
import { get } from "./api.js";
import { count, h, page_head, percent, plain, s, show, signed } from "./dom.js";
import { go } from "./app.js";
import { sit_down } from "./play.js";
import { sit } from "./table.js";

export const page = { title: "Watch it learn", order: 2 };

export async function open(place, query) {
  const name = query.get("table");
  if (!name) {
    show(place, start());
    return null;
  }
  const side = h("section.panel"),
    below = h("section.panel");
  let timer = 0,
    drawn = "";
  const seat = sit(place, name, {
    below,
    away: () => go(`/play?left=${name}`),
    beside: (state) => {
      draw_side(side, state);
      return side;
    },
  });

  async function look() {
    const { belief } = await get(`tables/${name}/belief`),
      text = JSON.stringify(belief);
    if (text !== drawn) {
      drawn = text;
      draw_belief(below, belief);
    }
    const now = await get(`tables/${name}`);
    if (!now.job) draw_side(side, now);
    timer = setTimeout(look, 2000);
  }
  draw_belief(below, null);
  await seat.ready;
  look();
  return () => {
    clearTimeout(timer);
    seat.leave();
  };
}

function start() {
  const note = h("div.muted", { "aria-live": "polite" });
  const choice = () => ["holdem(buckets=10)", "bot:adaptive"];
  return [
    page_head("Watch it learn"),
    h(
      "section.panel",
      h("h2", "The adaptive player"),
      h(
        "p",
        "Play limit hold'em against a bot that learns how you play. The page shows its confirmed ",
        "findings about you with their intervals, the response that it plays and why, and what it ",
        "believes you do in every kind of decision.",
      ),
      h("p.muted", "It sees only what a player at the table sees. Keys: f, c, r; n deals."),
      sit_down("button.main", "/watch", choice, note),
      note,
    ),
  ];
}

const DOES = /^(fold|call|check|bet|raise|open-fold|open-raise|limp)s /;
const said = (text) => (DOES.test(text) ? `You ${text.replace(DOES, "$1 ")}` : text);
const hands = (n) => count(n, "hand");

function draw_side(place, state) {
  const at = state.learning;
  if (!at) {
    show(place, h("p", "This opponent does not learn."));
    return;
  }
  show(
    place,
    h("h2", "What it has learnt about you"),
    h("p", "It plays ", h("b", at.playing), `: ${at.why}.`),
    at.advice ? h("p.muted.small", `What it would do: ${at.advice}.`) : null,
    at.budget === null
      ? null
      : h(
          "p.muted.small",
          `Deviating from the equilibrium may cost it ${plain(at.budget, 0)} more small bets.`,
        ),
    at.likely.length ? likely(at) : null,
    at.confirmed.length
      ? at.confirmed
          .slice(0, 8)
          .map((one) => h("div.finding", h("div", said(one.text)), gauge(one)))
      : h("p.muted", `Nothing is confirmed after ${hands(at.hands)}.`),
    at.arms.length ? responses(at.arms) : null,
  );
}

// What it takes the person for: the weights of its hypotheses, as the player itself says.
function likely({ likely: found, changes }) {
  const row = (one) => h("tr", h("td", one.name), h("td.number", percent(one.share)));
  const last = changes.at(-1);
  return h(
    "div.likely",
    h("h3", "What you may be, and how likely"),
    h("table", h("tbody", found.map(row))),
    last === undefined
      ? null
      : h("p.muted.small", `You changed at hand ${last}: only the hands since then count.`),
  );
}

function responses(arms) {
  function won(arm) {
    if (arm.same) return "still the equilibrium";
    return arm.half === null ? "too few hands" : `${signed(arm.gain, 2)} ± ${plain(arm.half, 2)}`;
  }
  const row = (arm) => h("tr", h("td", arm.name), h("td.number", won(arm)));
  return h(
    "details.arms",
    h("summary", "Responses it can play"),
    h("p.muted.small", "sb/h won more than by the equilibrium, by its model (95%)."),
    h("table", h("tbody", arms.map(row))),
  );
}

// A frequency with its interval, and that of an equilibrium.
function gauge(one) {
  if (one.share === null) return null;
  const x = (v) => 4 + 232 * Math.max(0, Math.min(1, v));
  return h(
    "div.sure",
    s(
      "svg",
      {
        viewBox: "0 0 240 18",
        width: "100%",
        role: "img",
        "aria-label": `${percent(one.share)} plus or minus ${percent(one.half)}`,
      },
      s("rect", { x: 4, y: 7, width: 232, height: 4, rx: 2, fill: "var(--sunk)" }),
      s("rect", {
        x: x(one.share - one.half),
        y: 5,
        width: x(one.share + one.half) - x(one.share - one.half),
        height: 8,
        rx: 4,
        fill: "var(--call)",
        opacity: 0.45,
      }),
      s("circle", { cx: x(one.share), cy: 9, r: 5, fill: "var(--call)" }),
      s("path", { d: `M${x(one.expected)} 1v16`, stroke: "var(--raise)", "stroke-width": 2.5 }),
    ),
    h("span.number", `${percent(one.share)} ± ${percent(one.half)}`),
  );
}

// The player's own model: what it expects of the person in each kind of decision.
function draw_belief(place, belief) {
  const title = h("h2", "What it believes you do");
  if (!belief) {
    show(place, title, h("p.muted", "Nothing yet: it has seen too few hands."));
    return;
  }
  const { learnt_from: learnt, next_update: next, prior } = belief;
  const like = prior === "equilibrium" ? "an equilibrium" : `the player it knows as ${prior}`;
  const lead = learnt
    ? `Its model of you after ${hands(learnt)}, which starts from ${like}; `
    : "It takes you for an equilibrium until its first update; ";
  const same = learnt
    ? " Where nothing is confirmed, the model stays as it started; before the flop it confirms " +
      "the first decision only together with those that face a raise."
    : "";
  const link = belief.model
    ? h(
        "a.button",
        { href: `/explore?s=${belief.equilibrium}&t=${belief.model}` },
        "Its model in the explorer",
      )
    : null;
  show(
    place,
    title,
    h("p.muted", `${lead}the next update comes at ${hands(next)}.${same}`),
    link,
    h("div.spots", belief.spots.map(spot_of)),
  );
}
function spot_of(spot) {
  const n = spot.taken.reduce((sum, count) => sum + count, 0);
  const did = spot.taken.map((count, k) => `${spot.actions[k]} ${count}`).join(", ");
  const expects = (shares) => shares.map((p, k) => `${spot.actions[k]} ${percent(p)}`).join(", ");
  const few = spot.half === null ? " (too few hands for a frequency)" : "";
  return h(
    "div.spot",
    h("b", spot.name),
    stacked(
      spot,
      spot.taken.map((count) => count / n),
      "you",
      did + few,
    ),
    stacked(spot, spot.believed, "it believes", expects(spot.believed)),
    stacked(spot, spot.expected, "an equilibrium", expects(spot.expected)),
  );
}
function stacked(spot, shares, name, text) {
  const part = (share, k) =>
    h("span", { class: spot.kinds[k], style: { width: `${100 * share}%` } });
  return h(
    "div.believed",
    h("span", name),
    h("span.stack-bar", { "aria-hidden": "true" }, shares.map(part)),
    h("span.small.muted", text),
  );
}
