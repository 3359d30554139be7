// Play: choose a game and an opponent, and open a table.
import { get, post } from "./api.js";
import { count, h, page_head, s, show, signed, toggle_button } from "./dom.js";
import { go } from "./app.js";
import { PIECES, SUITS } from "./cards.js";
import { day } from "./kept.js";
import { sit } from "./table.js";
import { until_done } from "./wait.js";

export const page = { title: "Play", order: 1 };

const mini = (...parts) =>
  s(
    "svg",
    { viewBox: "0 0 48 48", "aria-hidden": "true" },
    s("rect", { x: 1, y: 1, width: 46, height: 46, rx: 12, fill: "var(--felt)" }),
    ...parts,
  );
const cardShape = (x, y, turn, ...inside) =>
  s(
    "g",
    { transform: `translate(${x} ${y}) rotate(${turn})` },
    s("rect", {
      x: -8,
      y: -11,
      width: 16,
      height: 22,
      rx: 2.5,
      fill: "#fffdf7",
      stroke: "#cfc8b8",
      "stroke-width": 0.6,
    }),
    ...inside,
  );
const letter = (text, colour = "#1d2326", size = 13) =>
  s(
    "text",
    {
      "text-anchor": "middle",
      y: size * 0.36,
      "font-size": size,
      "font-weight": 700,
      fill: colour,
      "font-family": "var(--serif)",
    },
    text,
  );
const suit = (name, colour) =>
  s("path", { d: SUITS[name], fill: colour, transform: "translate(-6 -6.2) scale(.5)" });
const PICTURES = {
  holdem: () =>
    mini(cardShape(17, 25, -10, suit("s", "#1d2326")), cardShape(30, 25, 10, suit("h", "#b8322a"))),
  kuhn: () =>
    mini(
      cardShape(13, 26, -14, letter("J")),
      cardShape(24, 23, 0, letter("Q")),
      cardShape(35, 26, 14, letter("K")),
    ),
  leduc: () =>
    mini(cardShape(16, 27, -8, letter("K", "#b8322a")), cardShape(32, 21, 6, letter("K"))),
  ocp: () => mini(cardShape(24, 24, -4, letter("13", "#1d2326", 11))),
  bluff: () =>
    mini(
      s("rect", {
        x: 12,
        y: 12,
        width: 24,
        height: 24,
        rx: 5,
        fill: "#fffdf7",
        transform: "rotate(-9 24 24)",
      }),
      ...[
        [18, 18],
        [24, 24],
        [30, 30],
      ].map(([cx, cy]) =>
        s("circle", { cx, cy, r: 2.4, fill: "#1d2326", transform: "rotate(-9 24 24)" }),
      ),
    ),
  goofspiel: () =>
    mini(
      cardShape(12, 28, -18, letter("2")),
      cardShape(20, 24, -6, letter("3")),
      cardShape(29, 24, 6, letter("4")),
      cardShape(37, 28, 18, letter("5")),
    ),
  pam: () =>
    mini(
      s("path", { d: PIECES.princess, fill: "#f1cf73", transform: "translate(4 4) scale(.85)" }),
      s("path", { d: PIECES.monster, fill: "#f3b27e", transform: "translate(24 23) scale(.85)" }),
    ),
};

// A button that opens a table at a page; `choice` returns the game and the opponent. What has to be
// computed before is shown in `note`, with a bar.
export function sit_down(button, page, choice, note) {
  const node = h(
    button,
    {
      async onclick() {
        node.disabled = true;
        try {
          go(`${page}?table=${await take_seat(...choice(), note)}`);
        } catch (error) {
          show(note, error.message);
          node.disabled = false;
        }
      },
    },
    "Sit down",
  );
  return node;
}
// Opens a new table once the opponent is prepared.
async function take_seat(game, opponent, note) {
  for (;;) {
    const made = await post("tables", { game, opponent });
    if (made.table) return made.table;
    await until_done(made.job, note, () => note.isConnected);
    if (!note.isConnected) throw new Error("left");
  }
}

const where = (one) => `/${one.learns ? "watch" : "play"}?table=${one.table}`;
// Leaving can be undone.
function left_table(tables, name) {
  const one = tables.find((table) => table.table === name);
  if (!one) return null;
  const text = `You left the table of ${one.title} against ${one.opponent}.`;
  return h(
    "section.panel.row.spread.left",
    h("span", text),
    h("a.button", { href: where(one) }, "Back to the table"),
  );
}
// Open tables and past sittings: each goes on where it was left.
function sittings(tables) {
  if (!tables.length) return null;
  const row = (one) =>
    h(
      "li",
      h("a", { href: where(one) }, `${one.title} against ${one.opponent}`),
      h(
        "span.muted.small",
        ` ${count(one.hands, "hand")}, ${signed(one.total, Number.isInteger(one.total) ? 0 : 1)}, `,
        day(one.when),
      ),
    );
  return h("section.panel", h("h2", "Your tables"), h("ul.kept", tables.map(row)));
}

export async function open(place, query) {
  const name = query.get("table");
  if (name) {
    const seat = sit(place, name, { away: () => go(`/play?left=${name}`) });
    await seat.ready;
    return seat.leave;
  }
  const [{ games }, { tables }] = await Promise.all([get("games"), get("tables")]);
  let game = games.find((one) => one.word === query.get("game")) || games[0];
  let foe = null;
  const rules = h("div"),
    foes = h("div.foes", { role: "group", "aria-label": "Opponents" });
  const note = h("div.muted", { "aria-live": "polite" });
  const start = sit_down("button.main.wide", "/play", () => [game.name, foe.key], note);
  const list = h("div.games", { role: "group", "aria-label": "Games" });

  function draw() {
    show(
      list,
      games.map((one) =>
        toggle_button(
          one === game,
          () => {
            game = one;
            foe = null;
            draw();
          },
          { class: "pick" },
          (PICTURES[one.word] || PICTURES.ocp)(),
          h("b", one.title),
          h("span", one.about),
        ),
      ),
    );
    foe = foe || game.opponents[0];
    show(
      foes,
      game.opponents.map((one) =>
        toggle_button(
          one === foe,
          () => {
            foe = one;
            draw();
          },
          { class: "foe" },
          h("b", one.name),
          h("span", one.about),
        ),
      ),
    );
    show(
      rules,
      game.rules
        ? [
            h("h2", "Rules"),
            h(
              "ol.rules",
              game.rules.map((line) => h("li", line)),
            ),
          ]
        : [
            h("h2", "Rules"),
            h(
              "p",
              "Two players, limit betting: bets of one small bet before and on the flop, of two ",
              "on turn and river; four bets a street at most.",
            ),
            h(
              "p.muted.small",
              "Keys: f folds, c checks or calls, r bets or raises, n deals the next hand, ",
              "v reviews the hand.",
            ),
          ],
    );
  }
  draw();
  show(
    place,
    page_head("Play", "Choose a game and an opponent."),
    left_table(tables, query.get("left")),
    h(
      "div.lobby",
      h("div.stack", list, h("section.panel.last", rules)),
      h(
        "div.stack",
        h("section.panel", h("h2", "Against"), foes),
        start,
        note,
        sittings(tables),
      ),
    ),
  );
  return null;
}
