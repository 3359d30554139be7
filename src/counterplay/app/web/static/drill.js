// The drill: a decision is asked, the answer is judged by the equilibrium, results over time.
import { get, post } from "./api.js";
import { count, h, on_resize, page_head, percent, plain, show, signed } from "./dom.js";
import { card } from "./cards.js";
import { chart } from "./chart.js";
import { until_done } from "./wait.js";

export const page = { title: "Drill", order: 4 };

const SEATS = ["dealer", "big blind"];
const STREETS = ["preflop", "flop", "turn", "river"];
const WORDS = { f: "folds", c: ["checks", "calls"], r: ["bets", "raises"] };
const NOTHING = 0.005; // smaller costs are none
const is_best = (one) => one.cost < Math.max(NOTHING, one.within || 0);

export async function open(place, query) {
  const { strategies } = await get("strategies");
  const offered = strategies.filter((one) => one.game.startsWith("holdem"));
  let s = query.get("s") || offered[0].key;
  let [spot, verdict, gone, drawn] = [null, null, false, null];
  const board = h("section.panel.spot-asked", { "aria-live": "polite" });
  const past = h("section.panel");
  const option = (one) => h("option", { value: one.key, selected: one.key === s }, one.name);
  const onchange = (event) => {
    s = event.target.value;
    history.replaceState(null, "", `/drill?s=${s}`);
    next();
  };
  const list = h("select", { onchange }, offered.map(option));
  const choice = h("label", "Strategy that answers", list);
  const lead = "A decision of a hand. What do you do, and what does it cost?";
  show(place, page_head("Drill", lead), h("div.two", board, h("div.stack", choice, past)));

  async function next() {
    verdict = null;
    try {
      let found = await get("drill", { s });
      while (found.job && !gone) {
        await until_done(found.job, board, () => !gone);
        found = await get("drill", { s });
      }
      spot = found;
      draw();
    } catch (error) {
      show(board, h("p.down", error.message));
    }
  }
  async function answer(action) {
    if (verdict || !spot) return;
    const { betting, board: cards_on, cards } = spot;
    const asked = { s, betting, board: cards_on, cards, action };
    board.append(h("progress", { "aria-label": "weighing your answer" }));
    try {
      verdict = { action, ...(await post("drill/answer", asked)) };
      draw();
      draw_past();
    } catch (error) {
      show(board, h("p.down", error.message));
    }
  }
  const cards_of = (text, kind) => (text.match(/../g) || []).map((one) => card(one, kind));
  function line() {
    let seat = 0;
    return spot.betting.split("/").map((street, k) => {
      seat = k ? 1 : 0;
      let bets = k ? 0 : 1; // the big blind is one
      const moves = [...street].map((letter, n) => {
        const option = k === 0 && n === 1 && street === "cc"; // the big blind's own
        const text = `${SEATS[seat]} ${[WORDS[letter]].flat()[bets && !option ? 1 : 0] || WORDS.f}`;
        if (letter === "r") bets += 1;
        seat = 1 - seat;
        return text;
      });
      return moves.length ? h("li", h("b", STREETS[k]), ` ${moves.join("; ")}`) : null;
    });
  }
  function draw() {
    const odds = spot.call
      ? `, ${plain(spot.call, 1)} to call (pot odds ${percent(spot.call / (spot.pot + spot.call))})`
      : "";
    const acts = spot.actions.map((name, k) =>
      h(
        "button",
        { class: name[0], disabled: Boolean(verdict), onclick: () => answer(name) },
        spot.labels[k],
        h("kbd", name[0]),
      ),
    );
    const where = spot.board ? `on the ${spot.street}` : "before the flop";
    show(
      board,
      h("h2", `You are the ${SEATS[spot.seat]}, ${where}`),
      h(
        "div.row",
        h("div.hand", cards_of(spot.cards)),
        spot.board ? [h("span.muted", "on"), h("div.hand", cards_of(spot.board, "small"))] : null,
      ),
      h("ul.line", line()),
      h("p", `Pot ${plain(spot.pot, 1)} sb${odds}.`),
      h("div.acts", acts),
      verdict ? judged() : null,
    );
  }
  function judged() {
    const within = verdict.within ? ` ± ${plain(verdict.within, 3)}` : "";
    const best = is_best(verdict);
    const others = spot.actions.filter((name) => name !== verdict.action);
    const next_best = Math.max(...others.map((name) => verdict.values[name]));
    const clear = verdict.values[verdict.action] - next_best > (verdict.within || 0);
    const rows = spot.actions.map((name, k) =>
      h(
        "tr",
        { class: name === verdict.action ? "chosen" : "" },
        h("td", spot.labels[k]),
        h("td.number", percent(verdict.shares[name])),
        h("td.number", signed(verdict.values[name], 3)),
      ),
    );
    return h(
      "div.stack.judged",
      h(
        "p.verdict",
        best
          ? h("b.up", clear || !within ? "Best." : `Best, as far as${within} sb tells.`)
          : ["It costs ", h("b.down.number", `${plain(verdict.cost, 3)}${within} sb`), "."],
      ),
      h(
        "table",
        h("thead", h("tr", ["", "it does", "worth, sb"].map((text) => h("th", text)))),
        h("tbody", rows),
      ),
      h(
        "p.muted.small",
        "Values when both go on as the strategy does",
        within ? "; an estimate, ± is half a 95% interval." : ", over all rivers.",
      ),
      h(
        "div.row",
        h("button.main", { onclick: next }, "Next", h("kbd", "n")),
        h(
          "a.button.quiet",
          { href: `/explore?s=${s}&betting=${spot.betting}&board=${spot.board}` },
          "In the explorer",
        ),
      ),
    );
  }
  async function draw_past() {
    const { results } = await get("drill/results");
    if (!results.length) {
      show(past, h("h2", "Your answers"), h("p.muted", "None yet."));
      return;
    }
    let total = 0;
    const points = results.map((one, k) => [k + 1, (total += one.cost) / (k + 1)]);
    const good = results.filter(is_best).length;
    const answers = count(results.length, "answer");
    drawn = chart({
      label: "mean cost",
      lines: [{ name: "mean cost", points }],
      x: { name: "answers", short: "answers" },
      y: { name: "mean cost, sb per decision", short: "mean cost" },
    });
    const mean = plain(total / results.length, 3);
    show(
      past,
      h("h2", "Your answers"),
      h("p", `${answers}, ${good} of them best; mean cost ${mean} sb a decision.`),
      results.length > 1 ? drawn.node : null,
    );
    if (results.length > 1) drawn.draw();
  }
  function key(event) {
    if (event.ctrlKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    const name = spot?.actions.find((one) => one[0] === event.key.toLowerCase());
    if (verdict && event.key === "n") next();
    else if (!verdict && name) answer(name);
  }
  document.addEventListener("keydown", key);
  const still = on_resize(() => drawn?.node.isConnected && drawn.draw());
  draw_past();
  await next();
  return () => {
    gone = true;
    document.removeEventListener("keydown", key);
    still();
  };
}
