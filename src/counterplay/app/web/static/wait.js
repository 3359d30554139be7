// Work that takes long: a bar with the time left and a button that stops it.
import { get, post } from "./api.js";
import { h, show, sleep } from "./dom.js";

const stopping = new Set(); // jobs that were told to stop; the step that they do is ended first
const EVERY = 400; // milliseconds between two requests

const seconds = (value) =>
  value < 90 ? `${Math.round(value)} s` : `${Math.round(value / 60)} minutes`;

// A job as the server describes it; without a share the bar only moves.
export function bar(job) {
  const known = job.share > 0;
  const left = job.left === null ? "" : `, about ${seconds(job.left)} left`;
  const told = stopping.has(job.key);
  const stop = (event) => {
    event.target.disabled = true;
    stopping.add(job.key);
    post(`jobs/${job.key}/stop`, {});
  };
  return h(
    "div.waiting",
    h("progress", { max: 1, value: known ? job.share : null, "aria-label": job.what }),
    h(
      "div.row.spread",
      h("span.muted", `${job.what}: ${seconds(job.seconds)}${left}`),
      h("button", { onclick: stop, disabled: told }, told ? "Stopping" : "Stop"),
    ),
  );
}

// Draws the bar in `place` until the job is done; an error where it failed or was stopped.
export async function until_done(key, place, going = () => true) {
  for (;;) {
    const job = await get(`jobs/${key}`);
    if (!going() || job.state === "done") break;
    if (job.state !== "running") throw new Error(job.problem || "Stopped; nothing was kept.");
    show(place, bar(job));
    await sleep(EVERY);
  }
  show(place);
}
