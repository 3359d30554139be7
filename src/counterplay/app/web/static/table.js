// A table: the board, the buttons and keys, winnings, the log, and the review of a hand.
import { get, post, Refused } from "./api.js";
import { count, h, plain, show, signed, toggle_button } from "./dom.js";
import { bare, direct, draw } from "./boards.js";
import { replay_of, review_of } from "./review.js";
import { until_done } from "./wait.js";

const PATIENCE = 1000; // milliseconds until a wait is said
const tabs = new BroadcastChannel("counterplay");

export function sit(place, name, { beside = () => null, below = null, away }) {
  let state = null,
    busy = false,
    problem = "",
    look = null;
  const cloth = h("section.cloth", { "aria-label": "The table" });
  const acts = h("div.acts", { role: "group", "aria-label": "Your move" });
  const head = h("div.head");
  const money = h("section.panel"),
    log = h("section.panel"),
    back = h("section.panel", { hidden: true }),
    hands = h("section.panel", { hidden: true });
  const more = h("div.stack"),
    rules = h("section.panel");
  show(
    place,
    head,
    h(
      "div.two",
      h("div.stack", h("div", cloth, acts), back, below),
      h("div.stack", more, money, hands, log, rules),
    ),
  );

  async function change(path, data) {
    if (busy || !state) return;
    busy = true;
    problem = "";
    for (const button of place.querySelectorAll(".acts button, .cloth button"))
      button.disabled = true;
    const late = setTimeout(draw_late, PATIENCE);
    try {
      state = await post(`tables/${name}/${path}`, { version: state.version, ...data });
      tabs.postMessage({ table: name, version: state.version });
    } catch (error) {
      if (error instanceof Refused && error.status === 409) state = error.data;
      else problem = error.message;
    }
    clearTimeout(late);
    busy = false;
    if (path === "deal") look = null;
    draw_all();
  }
  // An opponent that learns may work for some seconds between two hands.
  function draw_late() {
    const text = `${state.opponent} is working. The hand is kept, also if you leave the table.`;
    const moving = h("progress", { "aria-label": "waiting" });
    show(acts, h("div.waiting", moving, h("span.muted.small", text)));
  }
  const choose = (k) => change("act", { choice: k });
  const deal = () => change("deal", {});
  async function review(number) {
    look = { wait: true };
    draw_review();
    draw_acts();
    look = await get(`tables/${name}/review`, { hand: number });
    draw_review();
    draw_hands();
  }

  function draw_all() {
    show(
      head,
      h("h1", state.title),
      h("p.muted", `against ${state.opponent}`),
      h("span", { style: { flex: "1" } }),
      h("button.quiet", { onclick: away }, "Leave the table"),
      problem ? h("p.down", { role: "alert" }, problem) : null,
    );
    if (state.scene) show(cloth, draw(state, choose));
    else show(cloth, h("div"), h("div.middle", h("div.result", "Deal the first hand")), h("div"));
    cloth.dataset.version = state.version;
    draw_acts();
    draw_money();
    draw_log();
    draw_review();
    draw_hands();
    show(more, beside(state));
    rules.hidden = !state.rules.length;
    show(
      rules,
      h("h2", "Rules"),
      h(
        "ol.rules.small",
        state.rules.map((line) => h("li", line)),
      ),
    );
  }

  function draw_acts() {
    const kind = state.scene?.kind;
    acts.classList.toggle("many", state.choices?.length > 5);
    if (state.over) {
      show(
        acts,
        h("button.main", { onclick: deal }, state.hand < 0 ? "Deal" : "Next hand", h("kbd", "n")),
        state.hand >= 0 && !look
          ? h("button", { onclick: () => review(state.hand) }, "What happened?", h("kbd", "v"))
          : null,
      );
    } else {
      const shown = state.choices
        .map((choice, k) => ({ choice, k }))
        .filter(({ choice }) => !direct(kind) || choice.key === "c");
      show(
        acts,
        shown.map(({ choice, k }) =>
          h(
            "button",
            { class: /^[fcr]$/.test(choice.key) ? choice.key : "", onclick: () => choose(k) },
            choice.label,
            choice.key ? h("kbd", choice.key) : null,
          ),
        ),
      );
    }
  }

  const half = (within) => (within === null ? "" : ` ± ${plain(within, 3)}`);
  function draw_money() {
    const w = state.winnings,
      total = w.total;
    const known = (value) => value && value.mean !== null;
    const line = (name, value) => [
      h("dt", name),
      h("dd", known(value) ? `${signed(value.mean, 3)}${half(value.within)}` : "–"),
    ];
    const mixing = state.known ? " and of the opponent's mixing" : "";
    const about = [
      state.unit === "sb/h" ? "sb/h: small bets per hand." : null,
      w.within === null ? null : "± is half of a 95% interval.",
      known(w.adjusted)
        ? `Luck-adjusted: the luck of the cards${mixing} is taken out.`
        : null,
    ].filter(Boolean);
    show(
      money,
      h("h2", "Your winnings"),
      h(
        "div",
        { class: `money ${total > 0 ? "up" : total < 0 ? "down" : ""}` },
        signed(total, Number.isInteger(total) ? 0 : 1),
      ),
      h("p.muted.small", `in ${count(w.hands, "hand")}`),
      h("dl", line(state.unit, w), known(w.adjusted) ? line("luck-adjusted", w.adjusted) : null),
      about.length ? h("p.muted.small", about.join(" ")) : null,
      w.hands
        ? h(
            "a.button.quiet",
            { href: `/api/tables/${name}/hands`, download: true },
            state.kind === "holdem" ? "Download the hands (PHH)" : "Download the hands",
          )
        : null,
      w.hands && state.kind === "holdem"
        ? h("a.button.quiet", { href: `/exploit?hands=table:${name}&player=you` }, "Tendencies")
        : null,
    );
  }

  function draw_log() {
    const lines = state.scene?.log || [];
    if (!lines.length) {
      log.hidden = true;
      return;
    }
    log.hidden = false;
    let street = null;
    show(
      log,
      h("h2", "This hand"),
      h(
        "ol.log",
        lines.map((line) => {
          const fresh = line.street && line.street !== street;
          street = line.street;
          return [
            fresh ? h("li", h("span.street", line.street)) : null,
            h(
              "li",
              h(
                "span.who",
                line.who === "you" ? "You" : line.who === "table" ? "" : state.opponent,
              ),
              h("span", line.who === "you" ? bare(line.text) : line.text),
            ),
          ];
        }),
      ),
    );
  }

  function draw_review() {
    back.hidden = !look;
    if (!look) return;
    const again = () => review(look.hand);
    const said = h("div", review_of(look, state.opponent, again));
    show(back, h("div.reviewed", said, replay_of(look, state)));
  }
  // Every finished hand, the last one first; a click replays it with its review.
  function draw_hands() {
    const played = state.results || [];
    hands.hidden = !played.length;
    const digits = (won) => (Number.isInteger(won) ? 0 : 1);
    const button = (won, k) =>
      toggle_button(
        look?.hand === k,
        () => review(k),
        { class: won > 0 ? "up" : won < 0 ? "down" : "", title: `hand ${k + 1}` },
        `${k + 1}: ${signed(won, digits(won))}`,
      );
    show(hands, h("h2", "Hands"), h("div.played", played.map(button).reverse()));
  }

  function key(event) {
    if (
      !state ||
      busy ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
    )
      return;
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (state.over) {
      if (pressed === "n") deal();
      else if (pressed === "v" && state.hand >= 0 && !look) review(state.hand);
      else return;
    } else {
      const k = state.choices.findIndex((choice) => choice.key === pressed);
      if (k < 0) return;
      choose(k);
    }
    event.preventDefault();
  }
  // After a restart of the server the hands are played again, which may take a while.
  async function load() {
    const stopped = "Stopped. Your hands are kept; load the page again to go on.";
    for (;;) {
      const found = await get(`tables/${name}`);
      if (!found.job) return found;
      await until_done(found.job, head, () => head.isConnected, stopped);
      if (!head.isConnected) throw new Error("left");
    }
  }
  const fresh = async () => {
    if (!busy) {
      const found = await load();
      if (!state || found.version !== state.version) {
        state = found;
        look = null;
        draw_all();
      }
    }
  };
  const heard = (event) => {
    if (event.data.table === name && (!state || event.data.version !== state.version)) fresh();
  };
  const seen = () => {
    if (!document.hidden) fresh();
  };
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", seen);
  tabs.addEventListener("message", heard);

  const ready = (async () => {
    state = await load();
    if (state.hand < 0) await change("deal", {});
    else draw_all();
  })();
  return {
    ready,
    refresh: fresh,
    state: () => state,
    leave() {
      document.removeEventListener("keydown", key);
      document.removeEventListener("visibilitychange", seen);
      tabs.removeEventListener("message", heard);
    },
  };
}
