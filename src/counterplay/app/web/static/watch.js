// Watch it learn: a table, and beside it what the opponent has learnt.
import { get } from "./api.js";
import { h, percent, plain, s, show, signed, toggle_button } from "./dom.js";
import { go } from "./app.js";
import { take_seat } from "./play.js";
import { bare } from "./boards.js";
import { sit } from "./table.js";

export const page = { title: "Watch it learn", order: 2 };

export async function open(place, query) {
  const name = query.get("table");
  if (!name) {
    show(place, start());
    return null;
  }
  const side = h("section", { class: "panel" }),
    below = h("section", { class: "panel" });
  let timer = 0,
    trees = [],
    street = 0,
    drawn = "";
  const seat = sit(place, name, {
    below,
    away: () => go("/watch"),
    beside: (state) => {
      draw_side(side, state);
      return side;
    },
  });

  async function look() {
    const found = (await get(`tables/${name}/trees`)).trees,
      text = JSON.stringify(found);
    if (text !== drawn) {
      trees = found;
      drawn = text;
      draw_trees();
    }
    const state = await get(`tables/${name}`);
    draw_side(side, state);
    timer = setTimeout(look, 2000);
  }
  function draw_trees() {
    const tabs = trees.map((one, k) =>
      toggle_button(
        k === street,
        () => {
          street = k;
          draw_trees();
        },
        {},
        one.street,
      ),
    );
    show(
      below,
      h("h2", {}, "The decision tree it has learnt"),
      trees.length
        ? [
            h(
              "p",
              { class: "muted" },
              "Your play as predicted from the hands it has seen. Bars are fold, call, raise; ",
              "the number is the count of decisions.",
            ),
            h("div", { class: "tabs" }, tabs),
            h("div", { class: "tree", tabindex: 0 }, draw_tree(trees[street].tree)),
          ]
        : h("p", { class: "muted" }, "Nothing yet: the first tree is learnt after ten hands."),
    );
  }
  draw_trees();
  await seat.ready;
  look();
  return () => {
    clearTimeout(timer);
    seat.leave();
  };
}

function start() {
  const note = h("p", { class: "muted", "aria-live": "polite" });
  const button = h(
    "button",
    {
      type: "button",
      class: "main",
      onclick: async () => {
        button.disabled = true;
        try {
          go(
            `/watch?table=${await take_seat("holdem(buckets=10)", "bot:adaptive", (text) => {
              note.textContent = text;
            })}`,
          );
        } catch (error) {
          note.textContent = error.message;
          button.disabled = false;
        }
      },
    },
    "Sit down",
  );
  return [
    h("div", { class: "head" }, h("h1", {}, "Watch it learn")),
    h(
      "section",
      { class: "panel" },
      h("h2", {}, "The adaptive player"),
      h(
        "p",
        {},
        "Play limit hold'em against a bot that learns how you play. The page shows its confirmed ",
        "findings about you with their intervals, the response that it plays and why, and the ",
        "decision trees of your play.",
      ),
      h(
        "p",
        { class: "muted" },
        "It sees only what a player at the table sees. Keys: f, c, r; n deals.",
      ),
      button,
      note,
    ),
  ];
}

const said = (text) => (/^(fold|call|check|bet|raise)s /.test(text) ? `You ${bare(text)}` : text);

function draw_side(place, state) {
  const at = state.learning;
  if (!at) {
    show(place, h("p", {}, "This opponent does not learn."));
    return;
  }
  show(
    place,
    h("h2", {}, "What it has learnt about you"),
    h("p", {}, "It plays ", h("b", {}, at.playing), `: ${at.why}.`),
    at.budget === null
      ? null
      : h(
          "p",
          { class: "muted small" },
          `${plain(at.budget, 0)} small bets of its budget are left.`,
        ),
    at.confirmed.length
      ? at.confirmed
          .slice(0, 8)
          .map((one) => h("div", { class: "finding" }, h("div", {}, said(one.text)), gauge(one)))
      : h(
          "p",
          { class: "muted" },
          `Nothing is confirmed after ${at.hands} ${at.hands === 1 ? "hand" : "hands"}.`,
        ),
    at.arms.length
      ? h(
          "details",
          {},
          h("summary", {}, "Responses it can play"),
          h(
            "table",
            {},
            h(
              "tbody",
              {},
              at.arms.map((arm) =>
                h(
                  "tr",
                  {},
                  h("td", {}, arm.name),
                  h("td", { class: "number" }, `${signed(arm.gain, 2)} ± ${plain(arm.error, 2)}`),
                ),
              ),
            ),
          ),
        )
      : null,
    h(
      "p",
      { class: "muted small" },
      at.thinking ? "It is learning." : `The trees use ${at.seen} of ${at.hands} hands.`,
    ),
  );
}

// A frequency with its interval, and that of an equilibrium.
function gauge(one) {
  if (one.share === undefined || one.share === null) return null;
  const x = (v) => 4 + 232 * Math.max(0, Math.min(1, v));
  return h(
    "div",
    { class: "sure" },
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
      one.expected === null || one.expected === undefined
        ? null
        : s("path", { d: `M${x(one.expected)} 1v16`, stroke: "var(--raise)", "stroke-width": 2.5 }),
    ),
    h("span", { class: "number" }, `${percent(one.share)} ± ${percent(one.half)}`),
  );
}

function draw_tree(root) {
  const WIDE = 128,
    HIGH = 92,
    BOX = 112,
    parts = [],
    lines = [];
  let leaf = 0,
    deepest = 0;
  function place(node, depth) {
    deepest = Math.max(deepest, depth);
    const below = (node.children || []).map((child) => place(child, depth + 1));
    const x = below.length ? (below[0] + below.at(-1)) / 2 : (leaf += 1) * WIDE - WIDE / 2,
      y = 14 + depth * HIGH;
    below.forEach((bx, k) => {
      const by = y + HIGH,
        mid = y + 44;
      lines.push(s("path", { d: `M${x} ${mid}C${x} ${by - 14} ${bx} ${mid + 6} ${bx} ${by}` }));
      lines.push(
        s(
          "text",
          { class: "soft", x: (x + bx) / 2 + (k ? 12 : -12), y: by - 20, "text-anchor": "middle" },
          k ? "no" : "yes",
        ),
      );
    });
    let left = x - BOX / 2;
    parts.push(
      s("rect", {
        x: left - 4,
        y: y - 4,
        width: BOX + 8,
        height: 48,
        rx: 8,
        fill: "var(--surface)",
        stroke: "var(--line)",
      }),
    );
    ["fold", "call", "raise"].forEach((name, a) => {
      const w = BOX * node.shares[a];
      parts.push(s("rect", { x: left, y: y + 26, width: w, height: 11, fill: `var(--${name})` }));
      left += w;
    });
    parts.push(
      s(
        "text",
        { x, y: y + 15, "text-anchor": "middle" },
        node.test ? `${node.test}?` : best(node.shares),
      ),
    );
    parts.push(s("title", {}, `${Math.round(node.weight)} decisions`));
    if (!node.test)
      parts.push(
        s(
          "text",
          { class: "soft", x, y: y + 58, "text-anchor": "middle" },
          Math.round(node.weight),
        ),
      );
    return x;
  }
  place(root, 0);
  return s(
    "svg",
    {
      width: Math.max(leaf * WIDE, 140),
      height: (deepest + 1) * HIGH + 10,
      role: "img",
      "aria-label": "decision tree",
    },
    lines,
    parts,
  );
}
const best = (shares) => {
  const k = shares.indexOf(Math.max(...shares));
  return `${["fold", "call", "raise"][k]} ${percent(shares[k])}`;
};
