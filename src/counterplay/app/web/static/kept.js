// Results that were kept: frontiers and sheets, or spots, with a name and a way to remove them.
import { get, post } from "./api.js";
import { h, quiet_button, show } from "./dom.js";

export const day = (when) =>
  new Date(1000 * when).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

// Draws the list in `place`, what goes on first; `key` is the result that is shown now. `spots`:
// those of their page, else the others.
export async function draw_kept(place, key, spots = false) {
  const found = await get("kept"),
    running = spots ? [] : found.running;
  const kept = found.kept.filter((one) => (one.kind === "spot") === spots);
  const address = (one) => (spots ? `/spot?key=${one.key}` : `/exploit?job=${one.key}`);
  const going = (one) =>
    h(
      "li",
      h("a", { href: `/exploit?job=${one.key}`, class: one.key === key ? "now" : "" }, one.title),
      h("span.muted.small", " going on"),
    );
  const row = (one) =>
    h(
      "li",
      h(
        "a",
        { href: address(one), class: one.key === key ? "now" : "" },
        one.name || one.title,
      ),
      h("span.muted.small", ` ${one.kind}, ${day(one.when)} `),
      quiet_button("Remove", async () => {
        await post(`kept/${one.key}/remove`, {});
        draw_kept(place, key, spots);
      }),
    );
  show(
    place,
    h("h2", "Kept"),
    kept.length || running.length
      ? h("ul.kept", running.map(going), kept.map(row))
      : h("p.muted.small", "What you work out here is listed, also after a restart."),
  );
  place.hidden = false;
}

// A field that names the result of a job; results with a name are never removed.
export function name_field(job, renamed) {
  const input = h("input", {
    type: "text",
    maxlength: 80,
    value: job.name || "",
    placeholder: "name it to keep it",
    "aria-label": "Name of this result",
  });
  const done = h("span.muted.small", { "aria-live": "polite" });
  const save = async () => {
    try {
      await post(`kept/${job.key}/name`, { name: input.value });
      job.name = input.value;
      done.textContent = "kept";
      renamed();
    } catch (error) {
      done.textContent = error.message;
    }
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && save());
  return h("div.row.naming", input, h("button", { onclick: save }, "Keep"), done);
}
