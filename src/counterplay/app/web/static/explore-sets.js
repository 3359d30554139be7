// Small games in the explorer: information sets with bars, searched, page by page.
import { count, h, percent, plain, show, signed } from "./dom.js";
import { colour } from "./grid.js";
import { blank, heading, note } from "./paint.js";

const PATIENCE = 160; // milliseconds after the last key
const shade = (name) =>
  /^(fold|pass)$/.test(name) ? "fold" : /^(raise|bet)$/.test(name) ? "raise" : "call";

// Where nobody has bet one checks and bets, whatever the library calls it.
const QUIET = { call: "check", raise: "bet" };
const word = (row, name) =>
  row.actions.every((one) => QUIET[one]) ? QUIET[name] : name;

export function sets_view({ asked, body, change }) {
  let data = null;
  let timer = 0;

  function draw(found) {
    data = found;
    const typing = document.activeElement?.type === "search";
    const search = h("input", {
      type: "search",
      value: asked.q || "",
      placeholder: "Search, * stands for anything",
      "aria-label": "Search information sets",
      oninput(event) {
        clearTimeout(timer);
        const more = { q: event.target.value, page: "" };
        timer = setTimeout(() => change(more, { keep: true }), PATIENCE);
      },
    });
    const value = `value to ${data.seats[0]} ${signed(data.value, 4)} ${data.unit}`;
    show(
      body,
      h("div.finder", search, players()),
      h("p.muted", `${count(data.total, "information set")}; ${value}`),
      h("div.sets", data.rows.map(set_row)),
      data.pages > 1 ? pages() : null,
    );
    if (typing) {
      search.focus();
      search.setSelectionRange(search.value.length, search.value.length);
    }
  }
  function players() {
    const choices = [
      ["", "both players"],
      ["1", data.seats[0]],
      ["2", data.seats[1]],
    ];
    const option = ([value, text]) =>
      h("option", { value, selected: (asked.player || "") === value }, text);
    const onchange = (event) => change({ player: event.target.value, page: "" });
    return h("select", { "aria-label": "Player", onchange }, choices.map(option));
  }
  function pages() {
    const turn = (step, text) => {
      const page = data.page + step;
      const disabled = page < 0 || page >= data.pages;
      const onclick = () => change({ page: String(page) });
      return h("button", { disabled, onclick }, text);
    };
    const where = `page ${data.page + 1} of ${data.pages}`;
    return h("div.row", turn(-1, "Back"), h("span.muted", where), turn(1, "More"));
  }

  function set_row(row) {
    const known = `value ${signed(row.value, 3)}, regret ${plain(row.regret, 3)}`;
    return h(
      "article.set",
      h(
        "div.set-head",
        h("b", row.name),
        h("span.muted.small", data.seats[row.player]),
        h("span.number.small", row.value === null ? "never reached" : known),
      ),
      h(
        "div.bars",
        row.actions.map((name, k) => bar(row, name, k)),
      ),
    );
  }
  function bar(row, name, k) {
    const share = row.shares[k];
    const fill = { width: `${100 * share}%`, background: `var(--${shade(name)})` };
    const ghost = row.others ? { left: `${100 * row.others[k]}%` } : null;
    return h(
      "div",
      h("span", word(row, name)),
      h(
        "span.track",
        h("span.fill", { style: fill }),
        ghost ? h("span.ghost", { style: ghost }) : null,
      ),
      h("span.number", percent(share)),
      row.others ? apart(share - row.others[k]) : worth(row.q[k]),
    );
  }
  function apart(more) {
    const text = Math.abs(more) < 0.0005 ? "" : signed(100 * more, 0);
    return h("span", { class: `number ${more > 0 ? "up" : "down"}` }, text);
  }
  const worth = (q) => h("span.number.muted", q === null ? "" : signed(q, 3));

  function picture(canvas, ctx) {
    const lines = data.rows.reduce((sum, row) => sum + 1.4 + row.actions.length, 0);
    blank(canvas, ctx, 900, 90 + lines * 26);
    heading(ctx, data.game, 30, 44);
    let y = 84;
    for (const row of data.rows) {
      ctx.fillStyle = colour("ink");
      ctx.font = `600 17px ${colour("sans")}`;
      ctx.fillText(`${row.name}  (${data.seats[row.player]})`, 30, y);
      row.actions.forEach((name, k) => {
        y += 26;
        note(ctx, name, 46, y);
        ctx.fillStyle = colour("sunk");
        ctx.fillRect(220, y - 13, 520, 14);
        ctx.fillStyle = colour(shade(name));
        ctx.fillRect(220, y - 13, 520 * row.shares[k], 14);
        note(ctx, percent(row.shares[k]), 760, y);
      });
      y += 36;
    }
  }
  return { draw, redraw: () => {}, picture };
}
