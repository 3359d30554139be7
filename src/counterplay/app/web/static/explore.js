// Explore: a strategy, or two side by side; every view has an address, a picture and a CSV.
import { get } from "./api.js";
import { h, on_resize, page_head, quiet_button, save, show } from "./dom.js";
import { holdem_view } from "./explore-holdem.js";
import { sets_view } from "./explore-sets.js";
import { until_done } from "./wait.js";

export const page = { title: "Explore", order: 3 };

export async function open(place, query) {
  const { strategies } = await get("strategies");
  const asked = Object.fromEntries(query);
  if (!asked.s) asked.s = strategies[0].key;
  const body = h("div.view", { "aria-live": "polite" });
  const bar = h("div.tools.panel");
  const lead = "The probabilities of a strategy at every decision.";
  show(place, page_head("Explore", lead), bar, body);
  let data = null;
  let seen = 0;

  const named = (key) => strategies.find((one) => one.key === key);
  const parts = () => Object.entries(asked).filter(([, value]) => value);
  const address = () => `?${new URLSearchParams(parts())}`;
  function change(more, { keep = false } = {}) {
    Object.assign(asked, more);
    history[keep ? "replaceState" : "pushState"](null, "", `/explore${address()}`);
    load();
  }
  const context = { asked, body, change, named };
  const views = { grid: holdem_view(context), sets: sets_view(context) };

  async function load() {
    const mine = (seen += 1);
    try {
      let found = await get("explore", asked);
      while (found.job && mine === seen) {
        await until_done(found.job, body, () => mine === seen);
        found = await get("explore", asked);
      }
      if (mine !== seen) return;
      data = found;
      draw_tools();
      views[data.kind].draw(data);
      body.dataset.ready = String(mine);
    } catch (error) {
      if (mine !== seen) return;
      draw_tools(); // another strategy can be chosen
      show(body, h("p.down", error.message));
    }
  }

  function comparable(one) {
    const game = named(asked.s)?.game || data?.game || "";
    return game.startsWith("holdem") ? one.game.startsWith("holdem") : one.game === game;
  }
  function draw_tools() {
    const option = (chosen) => (one) =>
      h("option", { value: one.key, selected: one.key === chosen }, `${one.name} · ${one.game}`);
    const made = (key) =>
      key && !named(key) ? h("option", { selected: true }, "a strategy made here") : null;
    const first = h(
      "select",
      { onchange: (event) => another(event.target.value) },
      made(asked.s),
      strategies.map(option(asked.s)),
    );
    const second = h(
      "select",
      { onchange: (event) => change({ t: event.target.value }) },
      h("option", { value: "" }, "nothing"),
      strategies.filter(comparable).map(option(asked.t)),
      made(asked.t),
    );
    show(
      bar,
      h("label", "Strategy", first),
      h("label", "Compare with", second),
      h(
        "div.row",
        quiet_button("Copy link", copy),
        quiet_button("Picture", picture),
        h("a.button.quiet", { href: `/api/explore.csv${address()}`, download: true }, "CSV"),
      ),
    );
  }
  function another(key) {
    for (const name of Object.keys(asked)) delete asked[name];
    change({ s: key });
  }
  async function copy(event) {
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    event.target.textContent = "Copied";
    setTimeout(() => (event.target.textContent = "Copy link"), 1500);
  }
  function picture() {
    const canvas = document.createElement("canvas");
    views[data.kind].picture(canvas, canvas.getContext("2d"));
    canvas.toBlob((blob) => save("strategy.png", blob));
  }

  const still = on_resize(() => data && views[data.kind].redraw());
  await load();
  return () => {
    still();
    seen = -1;
  };
}
