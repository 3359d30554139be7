// The tendencies of a player: shares with intervals and the mark of an equilibrium, and the leaks.
import { count, grouped, h, percent, plain, s, signed } from "./dom.js";

const KINDS = { both: "", dealer: "as dealer", "big blind": "as big blind" };
const DOES = { fold: "folds", call: "calls", raise: "raises" };
const QUIET = { call: "checks", raise: "bets" }; // where nobody has bet

// `counter` is called for the counter-strategy, with what tells a problem.
export function sheet_of(sheet, counter) {
  const why = h("p.down", { role: "alert" });
  const tell = (error) => (why.textContent = error.message);
  return [
    h(
      "section.panel",
      h("h2", sheet.player === "you" ? "Your tendencies" : `Tendencies of ${sheet.player}`),
      h("p", `${count(sheet.hands, "hand")}, ${signed(sheet.won, 3)} sb/h.`),
      leaks_of(sheet.leaks),
      h("button.main", { onclick: () => counter(tell) }, "The counter-strategy, by risk"),
      why,
    ),
    h(
      "section.panel",
      h(
        "p.muted.small",
        "The dot is the share of the opportunities with its 95% interval, the line that of an ",
        `equilibrium in ${grouped(sheet.mark_hands)} hands with itself; orange where the interval `,
        "leaves the line out. VPIP: put money in before the flop beyond the blind; PFR: raised ",
        "there; aggression: bets and raises among bets, raises, calls and folds after the flop.",
      ),
      h("table.tendencies", h("tbody", sheet.tendencies.map(row_of))),
    ),
  ];
}

const where = (street) => (street === "preflop" ? "before the flop" : `the ${street}`);
function leaks_of(leaks) {
  if (!leaks.length) return h("p.muted", "No leak is confirmed in these hands.");
  const shown = (leak) => {
    const quiet = leak.facing.startsWith("nobody");
    const blind = quiet && leak.street === "preflop" && leak.action === "raise"; // it is a bet
    const does = (quiet && !blind ? QUIET : DOES)[leak.action];
    const cost = leak.cost < 0.0005 ? "less than 0.001" : plain(leak.cost, 3);
    return h(
      "li",
      h("b", `${does} ${where(leak.street)}, ${leak.facing}, ${KINDS[leak.seat]}: `),
      h("b", percent(leak.share)),
      ` (${percent(leak.low)} to ${percent(leak.high)}), an equilibrium ${percent(leak.mark)}: `,
      h("b.number.down", `costs ${cost} sb/h`),
    );
  };
  return [
    h("h3", "Leaks, dearest first"),
    h("ol.leaks", leaks.map(shown)),
    h(
      "p.muted.small",
      "What an equilibrium wins per hand, the mean of the seats, from a player who differs from ",
      "it there only; computed with ten buckets a street, so about. A counter-strategy wins more.",
    ),
  ];
}

function row_of(one) {
  const few = one.n < 5;
  const title = [one.name, KINDS[one.seat]].filter(Boolean).join(" ");
  const part = one.seat !== "both"; // of the row above it
  return h(
    "tr",
    { class: part ? "part" : "", "data-name": title },
    h(
      "th",
      { scope: "row" },
      h("span", { class: part ? "long" : "" }, `${one.name} `),
      KINDS[one.seat],
    ),
    h("td", few ? null : gauge(one)),
    h("td.number", few ? "too few" : `${percent(one.share)}`),
    h("td.number.muted", `${grouped(one.taken)} of ${grouped(one.n)}`),
  );
}

// A share with its interval, and the equilibrium's.
function gauge(one) {
  const x = (v) => 4 + 152 * Math.max(0, Math.min(1, v));
  const off = one.mark !== null && (one.mark < one.low || one.mark > one.high);
  const label =
    `${percent(one.share)}, from ${percent(one.low)} to ${percent(one.high)}; ` +
    `an equilibrium ${percent(one.mark)}`;
  const colour = off ? "var(--raise)" : "var(--call)";
  const wide = x(one.high) - x(one.low);
  return s(
    "svg",
    { viewBox: "0 0 160 18", class: "gauge", role: "img", "aria-label": label },
    s("title", label),
    s("rect", { x: 4, y: 7, width: 152, height: 4, rx: 2, fill: "var(--sunk)" }),
    s("rect", { x: x(one.low), y: 5, width: wide, height: 8, rx: 4, fill: colour, opacity: 0.45 }),
    s("circle", { cx: x(one.share), cy: 9, r: 4, fill: colour }),
    one.mark === null
      ? null
      : s("path", { d: `M${x(one.mark)} 1v16`, stroke: "var(--ink)", "stroke-width": 2 }),
  );
}
