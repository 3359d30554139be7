// Work that takes long: a bar with the time left and a button that stops it.
import { get, post } from "./api.js";
import { h, show, sleep } from "./dom.js";

const bars = new Map(); // by job, so that a button stays the same from one state to the next
const EVERY = 400; // milliseconds between two requests

const seconds = (value) =>
  value < 90 ? `${Math.round(value)} s` : `${Math.round(value / 60)} minutes`;

// A job as the server describes it; without a share the bar only moves. One that was told to stop
// ends its step first.
export function bar(job) {
  if (!bars.has(job.key)) bars.set(job.key, new_bar(job.key));
  const { node, tell } = bars.get(job.key);
  tell(job);
  return node;
}
function new_bar(key) {
  const progress = h("progress", { max: 1 });
  const said = h("span.muted");
  const stop = h("button", { onclick: ask_to_stop }, "Stop");
  function ask_to_stop() {
    show(stop, "Stopping");
    stop.disabled = true;
    post(`jobs/${key}/stop`, {});
  }
  function tell(job) {
    const left = job.left === null ? "" : `, about ${seconds(job.left)} left`;
    if (job.share > 0) progress.value = job.share;
    else progress.removeAttribute("value");
    progress.setAttribute("aria-label", job.what);
    said.textContent = `${job.what}: ${seconds(job.seconds)}${left}`;
  }
  return { node: h("div.waiting", progress, h("div.row.spread", said, stop)), tell };
}

const NOTHING = "Stopped; nothing was kept.";
// Draws the bar in `place` until the job is done; an error where it failed or was stopped.
export async function until_done(key, place, going = () => true, stopped = NOTHING) {
  for (;;) {
    const job = await get(`jobs/${key}`);
    if (!going() || job.state === "done") break;
    if (job.state !== "running") throw new Error(job.problem || stopped);
    show(place, bar(job));
    await sleep(EVERY);
  }
  show(place);
}
