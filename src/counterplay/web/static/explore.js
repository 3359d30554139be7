// Explore: any strategy, one beside another, every view with an address, a picture and a table.
import { get } from "./api.js";
import { h, percent, plain, save, show, signed } from "./dom.js";
import { go } from "./app.js";
import { card } from "./cards.js";
import { ACTIONS, by_strength, canvas_grid, colour, pretty, RANKS } from "./grid.js";

const CARDS = [..."shdc"].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
const SEATS = ["dealer", "big blind"];

export async function open(place, query) {
  const { strategies } = await get("strategies");
  if (!strategies.length) {
    show(
      place,
      h("h1", {}, "Explore"),
      h("p", {}, "There is no strategy here. Serve a folder with runs, or solve a game first."),
    );
    return null;
  }
  const asked = Object.fromEntries(query);
  if (!asked.s) asked.s = strategies[0].key;
  const body = h("div", { class: "view", "aria-live": "polite" }),
    bar = h("div", { class: "tools panel" });
  show(
    place,
    h(
      "div",
      { class: "head" },
      h("h1", {}, "Explore"),
      h("p", { class: "muted" }, "What a strategy does, everywhere."),
    ),
    bar,
    body,
  );
  let data = null,
    seen = 0,
    drawn = [];

  const address = (more) =>
    `/explore?${new URLSearchParams(Object.entries({ ...asked, ...more }).filter(([, value]) => value !== "" && value !== null && value !== undefined))}`;
  function change(more, { keep = false } = {}) {
    Object.assign(asked, more);
    history[keep ? "replaceState" : "pushState"](null, "", address({}));
    load();
  }
  async function load() {
    const mine = (seen += 1);
    try {
      const found = await get("explore", asked);
      if (mine !== seen) return;
      data = found;
      draw();
      body.dataset.ready = String(mine);
    } catch (error) {
      if (mine === seen) show(body, h("p", { class: "down" }, error.message));
    }
  }

  const named = (key) => strategies.find((one) => one.key === key);
  const same = (one) => {
    const game = (named(asked.s) || {}).game || data?.game || "";
    return game.startsWith("holdem") ? one.game.startsWith("holdem") : one.game === game;
  };
  function selects() {
    const option = (chosen) => (one) =>
      h("option", { value: one.key, selected: one.key === chosen }, `${one.name} · ${one.game}`);
    const first = h(
      "select",
      {
        onchange: (event) => {
          for (const key of Object.keys(asked)) delete asked[key];
          change({ s: event.target.value });
        },
      },
      named(asked.s) ? null : h("option", { selected: true }, "a strategy made here"),
      strategies.map(option(asked.s)),
    );
    const second = h(
      "select",
      { onchange: (event) => change({ t: event.target.value }) },
      h("option", { value: "" }, "nothing"),
      strategies.filter(same).map(option(asked.t)),
    );
    if (asked.t && !named(asked.t))
      second.append(h("option", { selected: true }, "a strategy made here"));
    return [h("label", {}, "Strategy", first), h("label", {}, "Compare with", second)];
  }
  function tools(...more) {
    show(
      bar,
      h("div", { class: "pair" }, selects()),
      h(
        "div",
        { class: "row" },
        ...more,
        h("button", { type: "button", class: "quiet", onclick: copy }, "Copy link"),
        h("button", { type: "button", class: "quiet", onclick: picture }, "Picture"),
        h(
          "a",
          {
            class: "button quiet",
            href: `/api/explore.csv?${address({}).split("?")[1]}`,
            download: true,
          },
          "CSV",
        ),
      ),
    );
  }
  async function copy(event) {
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    event.target.textContent = "Copied";
    setTimeout(() => {
      event.target.textContent = "Copy link";
    }, 1500);
  }

  function draw() {
    if (data.kind === "grid") draw_grid();
    else draw_sets();
  }

  // -- hold'em
  function draw_grid() {
    tools();
    const board = data.board,
      short = !data.over && board.length < data.needed;
    drawn = [];
    const pictures = [];
    if (data.one) {
      const add = (title, options) => {
        const grid = canvas_grid({ data, title, ...options });
        drawn.push({ title, grid });
        pictures.push(
          h(
            "figure",
            {},
            h("figcaption", {}, title),
            grid.node,
            options.part ? mean(options.part) : key_of_difference(),
          ),
        );
      };
      add((named(asked.s) || {}).name || "This strategy", { part: data.one });
      if (data.two) {
        add((named(asked.t) || {}).name || "The other", { part: data.two });
        add("Difference", { mode: "difference" });
      } else {
        const grid = by_strength(data, data.one);
        drawn.push({ title: "By strength", grid });
        pictures.push(
          h(
            "figure",
            {},
            h("figcaption", {}, "By strength"),
            grid.node,
            h(
              "p",
              { class: "muted small" },
              "Holdings that get here, weak ones on the left; the height says how many there are.",
            ),
          ),
        );
      }
    }
    show(
      body,
      steps(),
      short ? picker(data.needed) : board.length ? picker(board.length) : null,
      data.over
        ? h("p", { class: "muted" }, "The hand is over here. Click an earlier action to go back.")
        : null,
      data.one ? [legend(), h("div", { class: `grids n${pictures.length}` }, pictures)] : null,
    );
    for (const { grid } of drawn) grid.draw();
  }
  const legend = () =>
    h(
      "div",
      { class: "legend" },
      h("b", {}, `${SEATS[data.seat]} to act, ${data.street}`),
      ACTIONS.filter((name) => data.actions.includes(name)).map((name) =>
        h("span", {}, h("i", { class: name }), name),
      ),
    );
  const mean = (part) =>
    h(
      "p",
      { class: "muted small" },
      part.mean
        ? [
            "of what gets here: ",
            ACTIONS.filter((name) => data.actions.includes(name))
              .map((name) => `${name} ${percent(part.mean[ACTIONS.indexOf(name)])}`)
              .join(", "),
          ]
        : "it never gets here",
    );
  const key_of_difference = () =>
    h(
      "p",
      { class: "muted small" },
      h("i", { class: "more" }),
      " the other is more aggressive  ",
      h("i", { class: "less" }),
      " more passive",
    );

  function steps() {
    const parts = [];
    let street = null;
    for (const step of [
      ...data.steps,
      data.one
        ? {
            street: data.street,
            seat: data.seat,
            history: data.betting,
            actions: data.actions,
            taken: null,
          }
        : null,
    ].filter(Boolean)) {
      if (step.street !== street)
        parts.push(h("span", { class: "streetname" }, (street = step.street)));
      parts.push(
        h(
          "div",
          { class: "turn" },
          h("small", {}, SEATS[step.seat]),
          step.actions.map((name) =>
            h(
              "button",
              {
                type: "button",
                class: name,
                "aria-pressed": String(name === step.taken),
                onclick: () =>
                  change({
                    betting: step.history + name[0],
                    board: fitting(step.history + name[0]),
                  }),
              },
              word(name, step),
            ),
          ),
        ),
      );
    }
    return h("div", { class: "steps-bar", role: "group", "aria-label": "Betting" }, parts);
  }
  const word = (name, step) =>
    name === "raise" && /(^|\/|\/c|^c)$/.test(step.history) && step.history.includes("/")
      ? "bet"
      : name === "call" && /(\/|\/c)$/.test(step.history)
        ? "check"
        : name;
  const fitting = () => asked.board || "";

  function picker(needed) {
    const chosen = (asked.board || "").match(/../g) || [];
    const set = (cards) => change({ board: cards.join("") });
    const full = chosen.length >= needed;
    const deal = () => {
      const left = CARDS.filter((text) => !chosen.includes(text)),
        more = [...chosen];
      while (more.length < Math.max(needed, 3))
        more.push(left.splice(Math.floor(Math.random() * left.length), 1)[0]);
      set(more);
    };
    const picked = h(
      "div",
      { class: "picked" },
      chosen.map((text, k) =>
        h(
          "button",
          {
            type: "button",
            title: "take it back",
            "aria-label": `take ${pretty(text)} back`,
            onclick: () => set(chosen.slice(0, k)),
          },
          card(text, "small"),
        ),
      ),
      full
        ? null
        : h(
            "span",
            { class: "muted" },
            `${needed - chosen.length} more ${needed - chosen.length === 1 ? "card" : "cards"} to pick or draw`,
          ),
      h(
        "button",
        {
          type: "button",
          onclick: full
            ? () => {
                change({ board: "" });
              }
            : deal,
        },
        full ? "Clear the board" : "Draw",
      ),
    );
    return h(
      "section",
      { class: "panel board" },
      h("h2", {}, "Board"),
      picked,
      full
        ? null
        : h(
            "div",
            { class: "deck" },
            CARDS.map((text) =>
              h(
                "button",
                {
                  type: "button",
                  disabled: chosen.includes(text),
                  "aria-label": pretty(text),
                  class: `suit-${text[1]}`,
                  onclick: () => set([...chosen, text]),
                },
                pretty(text),
              ),
            ),
          ),
    );
  }

  // -- games with a tree
  function draw_sets() {
    let timer = 0;
    const search = h("input", {
      type: "search",
      value: asked.q || "",
      placeholder: "Search, * stands for anything",
      "aria-label": "Search information sets",
      oninput: (event) => {
        clearTimeout(timer);
        timer = setTimeout(() => change({ q: event.target.value, page: "" }, { keep: true }), 160);
      },
    });
    const had = document.activeElement?.type === "search";
    tools();
    const who = h(
      "select",
      {
        "aria-label": "Player",
        onchange: (event) => change({ player: event.target.value, page: "" }),
      },
      [
        ["", "both players"],
        ["1", data.seats[0]],
        ["2", data.seats[1]],
      ].map(([value, text]) =>
        h("option", { value, selected: (asked.player || "") === value }, text),
      ),
    );
    const turn = (step) =>
      h(
        "button",
        {
          type: "button",
          disabled: data.page + step < 0 || data.page + step >= data.pages,
          onclick: () => change({ page: String(data.page + step) }),
        },
        step < 0 ? "Back" : "More",
      );
    show(
      body,
      h("div", { class: "finder" }, search, who),
      h(
        "p",
        { class: "muted" },
        `${data.total.toLocaleString("en")} information sets; value to ${data.seats[0]} ${signed(data.value, 4)} ${data.unit}`,
      ),
      h("div", { class: "sets" }, data.rows.map(set_row)),
      data.pages > 1
        ? h(
            "div",
            { class: "row" },
            turn(-1),
            h("span", { class: "muted" }, `page ${data.page + 1} of ${data.pages}`),
            turn(1),
          )
        : null,
    );
    if (had) {
      search.focus();
      search.setSelectionRange(search.value.length, search.value.length);
    }
  }
  const shade = (name) =>
    /^(fold|pass)$/.test(name) ? "fold" : /^(raise|bet)$/.test(name) ? "raise" : "call";
  function set_row(row) {
    return h(
      "article",
      { class: "set" },
      h(
        "div",
        { class: "set-head" },
        h("b", {}, row.name),
        h("span", { class: "muted small" }, data.seats[row.player]),
        h(
          "span",
          { class: "number small" },
          row.value === null
            ? "never reached"
            : `value ${signed(row.value, 3)}, regret ${plain(row.regret, 3)}`,
        ),
      ),
      h(
        "div",
        { class: "bars" },
        row.actions.map((name, k) =>
          h(
            "div",
            {},
            h("span", {}, name),
            h(
              "span",
              { class: "track" },
              h("span", {
                class: "fill",
                style: { width: `${100 * row.shares[k]}%`, background: `var(--${shade(name)})` },
              }),
              row.others
                ? h("span", { class: "ghost", style: { left: `${100 * row.others[k]}%` } })
                : null,
            ),
            h("span", { class: "number" }, percent(row.shares[k])),
            row.others
              ? h(
                  "span",
                  { class: `number ${row.shares[k] > row.others[k] ? "up" : "down"}` },
                  Math.abs(row.shares[k] - row.others[k]) < 0.0005
                    ? ""
                    : `${signed(100 * (row.shares[k] - row.others[k]), 0)}`,
                )
              : h("span", { class: "number muted" }, row.q[k] === null ? "" : signed(row.q[k], 3)),
          ),
        ),
      ),
    );
  }

  // -- a picture of what is shown
  function picture() {
    const sheet = document.createElement("canvas"),
      pen = sheet.getContext("2d");
    if (data.kind === "grid") {
      const side = 780,
        room = 70;
      sheet.width = drawn.length * (side + 30) + 30;
      sheet.height = side + room + 30;
      start(pen, sheet);
      drawn.forEach(({ title, grid }, k) => {
        pen.save();
        pen.translate(30 + k * (side + 30), room);
        grid.paint(pen, side);
        pen.restore();
        heading(pen, title, 30 + k * (side + 30), 34);
        note(
          pen,
          `${SEATS[data.seat]}, ${data.street} ${data.board.join(" ")} ${data.betting}`,
          30 + k * (side + 30),
          58,
        );
      });
    } else paint_sets(sheet, pen);
    sheet.toBlob((blob) => save("strategy.png", blob));
  }
  function start(pen, sheet) {
    pen.fillStyle = colour("surface");
    pen.fillRect(0, 0, sheet.width, sheet.height);
  }
  function heading(pen, text, x, y) {
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillStyle = colour("ink");
    pen.font = `600 24px ${colour("serif")}`;
    pen.fillText(text, x, y);
  }
  function note(pen, text, x, y) {
    pen.fillStyle = colour("muted");
    pen.font = `16px ${colour("sans")}`;
    pen.fillText(text, x, y);
  }
  function paint_sets(sheet, pen) {
    const lines = data.rows.reduce((sum, row) => sum + 1.4 + row.actions.length, 0);
    sheet.width = 900;
    sheet.height = 90 + lines * 26;
    start(pen, sheet);
    heading(pen, data.game, 30, 44);
    let y = 84;
    for (const row of data.rows) {
      pen.fillStyle = colour("ink");
      pen.font = `600 17px ${colour("sans")}`;
      pen.fillText(`${row.name}  (${data.seats[row.player]})`, 30, y);
      row.actions.forEach((name, k) => {
        y += 26;
        note(pen, name, 46, y);
        pen.fillStyle = colour("sunk");
        pen.fillRect(220, y - 13, 520, 14);
        pen.fillStyle = colour(shade(name));
        pen.fillRect(220, y - 13, 520 * row.shares[k], 14);
        note(pen, percent(row.shares[k]), 760, y);
      });
      y += 36;
    }
  }

  const redraw = () => {
    if (data?.kind === "grid") for (const { grid } of drawn) grid.draw();
  };
  addEventListener("resize", redraw);
  addEventListener("themed", redraw);
  await load();
  return () => {
    removeEventListener("resize", redraw);
    removeEventListener("themed", redraw);
    seen = -1;
    void go;
  };
}
