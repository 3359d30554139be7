// The board of each game. Each function takes the state and a callback for a choice.
import { h, plain } from "./dom.js";
import { back, card, chip, die, empty, piece } from "./cards.js";

const amount = (value) => (Number.isInteger(value) ? String(value) : plain(value, 1));
const chips = (value) => (value > 0 ? h("span.chips", chip(), amount(value)) : null);
const disc = () => h("span.button-disc", { title: "dealer" }, "D");

function place(name, note, hand, ...beside) {
  return h(
    "div.place",
    h("div.who", h("b", name), h("small", note)),
    h("div.hand", ...hand),
    h("div.staked", ...beside),
  );
}

function holdem(state) {
  const at = state.scene,
    five = [0, 1, 2, 3, 4];
  const mine = at.button === "you";
  const other = at.other ? at.other.map((text) => card(text)) : [back(), back()];
  return [
    place(
      state.opponent,
      at.folded === "other" ? "folded" : mine ? "big blind" : "dealer",
      other,
      mine ? null : disc(),
      chips(at.bets[1]),
    ),
    h(
      "div.middle",
      h(
        "div.boardcards",
        five.map((k) => (at.board[k] ? card(at.board[k]) : empty())),
      ),
      h(
        "div.pot",
        at.pot > 0
          ? [chip("#1f68a8"), h("span", "Pot ", h("b", amount(at.pot)))]
          : h("span.small", "blinds are in"),
      ),
      said(state),
    ),
    place(
      "You",
      at.folded === "you" ? "folded" : mine ? "dealer" : "big blind",
      at.own.map((text) => card(text, "big")),
      mine ? disc() : null,
      chips(at.bets[0]),
    ),
  ];
}

function cards(state) {
  const at = state.scene;
  return [
    place(
      state.opponent,
      state.over ? "" : "one card",
      [at.other ? card(at.other) : back()],
      chips(at.paid[1]),
    ),
    h(
      "div.middle",
      state.game.startsWith("leduc")
        ? h("div.boardcards", at.public ? card(at.public) : empty())
        : null,
      h("div.pot", chip("#1f68a8"), h("span", "Pot ", h("b", amount(at.paid[0] + at.paid[1])))),
      said(state),
    ),
    place("You", `deck: ${at.deck}`, [card(at.own, "big")], chips(at.paid[0])),
  ];
}

function dice(state, choose) {
  const at = state.scene,
    last = at.bids.at(-1),
    rungs = [];
  const place_of = new Map(state.choices.map((choice, k) => [choice.label, k]));
  const words = "no one two three four five six seven eight nine ten".split(" ");
  for (let n = 1; n <= at.total; n += 1) {
    const row = h("div", h("span.small", { style: { "min-width": "1.6rem" } }, `${n}×`));
    for (let face = 1; face <= at.faces; face += 1) {
      const label = `${words[n] || n} ${face}${n > 1 ? "s" : ""}`,
        k = place_of.get(label);
      const here = last && last.quantity === n && last.face === face;
      row.append(
        h(
          "button",
          {
            class: `rung${here ? " last" : ""}${here && last.who === "you" ? " mine" : ""}`,
            disabled: k === undefined,
            title: label,
            "aria-label": `bid ${label}`,
            onclick: () => choose(k),
          },
          String(face),
        ),
      );
    }
    rungs.push(row);
  }
  const hidden = Array.from({ length: at.others }, () => die(null));
  return [
    place(state.opponent, at.others > 1 ? `${at.others} dice` : "one die", [
      h("div.cups", at.other ? at.other.map(die) : hidden),
    ]),
    h(
      "div.middle",
      said(state),
      h("div.ladder", rungs),
      h("p.small", `How many of which face lie under both cups? A ${at.faces} counts as any face.`),
    ),
    place("You", "under your cup", [h("div.cups", at.own.map(die))]),
  ];
}

function bids(state, choose) {
  const at = state.scene;
  const labels = ["for", "you", state.opponent, "result"].map((text) => h("span", text));
  const rounds = at.rounds.map((round) =>
    h(
      "div.round",
      h("span", points(round.prize)),
      card(String(round.own), "small"),
      round.other === null ? back("small") : card(String(round.other), "small"),
      h("span", { class: round.result }, round.result),
    ),
  );
  const hand = at.hand.map((value) => {
    const k = state.choices.findIndex((choice) => choice.label === String(value));
    return h(
      "button",
      { disabled: k < 0, "aria-label": `bid ${value}`, onclick: () => choose(k) },
      card(String(value)),
    );
  });
  return [
    h(
      "div.scores",
      h("span", state.opponent, h("b", at.points[1])),
      h("span", "You", h("b", at.points[0])),
    ),
    h(
      "div.middle",
      at.prize === null
        ? null
        : [
            h("span.small", at.prize === 1 ? "for this point" : "for these points"),
            card(String(at.prize), "big"),
          ],
      said(state),
      rounds.length ? h("div.rounds", h("div.round.labels", labels), rounds) : null,
    ),
    h("div.handful", hand),
  ];
}

function room(state, choose) {
  const at = state.scene,
    here = at.way.at(-1),
    steps = new Map();
  const shift = { Up: -at.columns, Down: at.columns, Left: -1, Right: 1, Stay: 0 };
  state.choices.forEach((choice, k) => steps.set(here + shift[choice.label], k));
  const other = at.me === "princess" ? "monster" : "princess";
  const cells = Array.from({ length: at.rows * at.columns }, (_, cell) => {
    const k = steps.get(cell),
      trail = (way) =>
        way
          .map((c, n) => (c === cell ? n + 1 : 0))
          .filter(Boolean)
          .join(" ");
    const inside = [
      cell === here ? piece(at.me) : null,
      at.other && at.other.at(-1) === cell ? piece(other) : null,
      h("span.trail", trail(at.way)),
      at.other ? h("span.trail.theirs", trail(at.other)) : null,
    ];
    const been = at.way.includes(cell) ? " been" : "";
    return k === undefined
      ? h("div", { class: `cell${been}` }, inside)
      : h(
          "button",
          {
            class: `cell go${been}`,
            "aria-label": state.choices[k].label,
            onclick: () => choose(k),
          },
          inside,
        );
  });
  return [
    h(
      "div.scores",
      h("span", "You are the ", h("b", at.me)),
      h("span", "Moves", h("b", `${at.made} of ${at.moves}`)),
    ),
    h(
      "div.middle",
      said(state),
      h("div.floor", { style: { "grid-template-columns": `repeat(${at.columns}, auto)` } }, cells),
    ),
    h(
      "p.small",
      state.over
        ? `Numbers are steps: yours on the left, the ${other}'s on the right.`
        : "It is dark: you see only yourself.",
    ),
  ];
}

function plainBoard(state) {
  return [
    h("div", state.opponent),
    h("div.middle", h("h2", state.scene.infoset), said(state)),
    h("div", "You"),
  ];
}

// The last move, or the result.
function said(state) {
  const last = state.scene.log.at(-1);
  if (state.over) return h("div.result", { "aria-live": "assertive" }, verdict(state));
  const names = { you: "You", table: "On the table:", other: state.opponent };
  const text = last?.who === "you" ? bare(last.text) : last?.text;
  const line = last ? `${names[last.who]} ${text}` : "Your move";
  return h("div.say", { "aria-live": "polite" }, line);
}
export const bare = (text) => text.replace(/^(fold|call|check|bet|raise|bid|go(?=e))e?s/, "$1");

function verdict(state) {
  const at = state.scene,
    won = state.won;
  if (at.kind === "room") {
    const me = at.me === "princess";
    const got = `${points(me ? won : -won)} for ${me ? "you" : "the princess"}`;
    return `${at.caught ? "Caught" : "Not caught"}. ${got}`;
  }
  if (won === 0) return at.hands?.[0] ? `A tie: both have ${at.hands[0]}` : "A tie";
  const [words, k] = won > 0 ? ["You win", 0] : ["You lose", 1];
  return `${words} ${amount(Math.abs(won))}${at.hands?.[k] ? winner(at.hands, k) : ""}`;
}
// The winning hand by name, and that the kicker decided where the names are equal.
const winner = (hands, k) =>
  `${k ? " to" : " with"} ${hands[k]}${hands[0] === hands[1] ? " and the better kicker" : ""}`;
const points = (value) => `${value} ${Math.abs(value) === 1 ? "point" : "points"}`;

const DRAWN = { holdem, cards, dice, bids, room, plain: plainBoard };
export const draw = (state, choose) => DRAWN[state.scene.kind](state, choose);
// Boards whose cards, cells or bids are clicked; the others have a row of buttons.
export const direct = (kind) => kind === "bids" || kind === "room" || kind === "dice";
