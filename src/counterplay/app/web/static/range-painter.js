// A range: typed in the usual notation, or painted on 13 by 13 cells with a weight.
import { get } from "./api.js";
import { h, percent, quiet_button, show } from "./dom.js";
import { label } from "./grid.js";

const SIZE = 169;
const WEIGHTS = [1, 0.75, 0.5, 0.25, 0];

// `changed` is called with the text whenever it is a range.
export function range_painter({ title, text, changed }) {
  let weights = Array(SIZE).fill(0);
  let painted = new Map(); // cells painted since the text was typed: the last weight counts
  let typed = text;
  let brush = 1;
  let painting = null; // the weight while the pointer is down
  let at = 0; // the cell that takes the focus
  const input = h("textarea.typed", {
    rows: 2,
    "aria-label": `Range of ${title} as text`,
    spellcheck: "false",
    onchange: read,
  });
  const about = h("p.muted.small", { role: "status" });
  const cells = Array.from({ length: SIZE }, (_, k) => cell(k));
  const table = h("div.painter", { role: "group", "aria-label": `Range of ${title}` }, cells);
  const brushes = h("div.row.stops", { role: "group", "aria-label": "Weight" });

  function cell(k) {
    return h(
      "button",
      {
        tabindex: k ? -1 : 0,
        "data-cell": label(k),
        onpointerdown: (event) => {
          event.preventDefault();
          event.target.releasePointerCapture?.(event.pointerId);
          painting = weights[k] === brush ? 0 : brush;
          paint(k);
        },
        onpointerenter: () => painting !== null && paint(k),
        onkeydown: (event) => press(event, k),
      },
      label(k),
    );
  }
  function press(event, k) {
    const step = { ArrowUp: -13, ArrowDown: 13, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      painting = weights[k] === brush ? 0 : brush;
      paint(k);
      release();
    } else if (step && k + step >= 0 && k + step < SIZE) {
      event.preventDefault();
      cells[at].tabIndex = -1;
      at = k + step;
      cells[at].tabIndex = 0;
      cells[at].focus();
    }
  }
  function paint(k) {
    weights[k] = painting;
    painted.delete(k);
    painted.set(k, painting);
    input.value = in_text();
    colour_cell(k);
  }
  function release() {
    if (painting === null) return;
    painting = null;
    read();
  }
  function in_text() {
    const own = [...painted].filter(([, weight]) => typed || weight > 0);
    const parts = own.map(([k, w]) => (w === 1 ? label(k) : `${label(k)}:${w}`));
    return [typed, ...parts].filter(Boolean).join(",");
  }
  function colour_cell(k) {
    const share = Math.round(100 * weights[k]);
    cells[k].style.setProperty("--weight", `${share}%`);
    cells[k].setAttribute("aria-label", `${label(k)}, ${share}%`);
    cells[k].setAttribute("aria-pressed", String(weights[k] > 0));
  }
  // Asks the server what the text says; a text that is typed forgets what was painted.
  async function read(event) {
    if (event) {
      typed = input.value.trim();
      painted = new Map();
    }
    const asked = input.value.trim();
    try {
      const found = await get("spots/range", { text: asked });
      if (asked !== input.value.trim()) return;
      weights = found.weights;
      about.classList.remove("down");
      about.textContent = `${found.holdings} holdings, ${percent(found.holdings / 1326)} of all`;
      changed(asked);
    } catch (error) {
      about.classList.add("down");
      about.textContent = asked ? error.message : "the range is empty";
      if (!asked) weights = Array(SIZE).fill(0);
      changed(asked);
    }
    cells.forEach((_, k) => colour_cell(k));
  }
  function draw_brushes() {
    const one = (weight) =>
      h(
        "button",
        { "aria-pressed": String(weight === brush), onclick: () => choose(weight) },
        weight ? percent(weight) : "erase",
      );
    show(
      brushes,
      WEIGHTS.map(one),
      quiet_button("All", () => set("random")),
      quiet_button("None", () => set("")),
    );
  }
  function choose(weight) {
    brush = weight;
    draw_brushes();
  }
  function set(value) {
    input.value = value;
    read(true);
  }
  addEventListener("pointerup", release);
  draw_brushes();
  set(text);
  return {
    node: h("section.panel.range", h("h2", title), table, brushes, input, about),
    close: () => removeEventListener("pointerup", release),
  };
}
