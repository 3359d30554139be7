// Runs: the runs in the served folders, their convergence, and reports.
import { get } from "./api.js";
import { grouped, h, on_resize, page_head, quiet_button, show, toggle_button } from "./dom.js";
import { chart, INKS, short } from "./chart.js";
import { save_chart } from "./paint.js";

export const page = { title: "Runs", order: 5 };

const EVERY = 1500; // milliseconds between two requests

export async function open(place, query) {
  const chosen = new Set((query.get("runs") || "").split(",").filter(Boolean));
  let by = query.get("by") || "iterations",
    report = query.get("report"),
    listing = null,
    curves = new Map(),
    drawn = null,
    stopped = false;
  const list = h("div.runs-list"),
    panel = h("section.panel"),
    more = h("div.stack");
  show(
    place,
    page_head("Runs", "Runs in the served folders; the curves grow while a solver runs."),
    h(
      "div.two",
      h("div.stack", panel, more),
      h("section.panel", h("h2", "Runs and reports"), list),
    ),
  );

  function address() {
    const parts = new URLSearchParams();
    if (chosen.size) parts.set("runs", [...chosen].join(","));
    if (by !== "iterations") parts.set("by", by);
    if (report) parts.set("report", report);
    history.replaceState(null, "", `/runs${parts.size ? `?${parts}` : ""}`);
  }
  function draw_list() {
    if (!listing.runs.length && !listing.reports.length) {
      show(list, h("p.muted", "Nothing yet. Run counterplay solve kuhn, and it appears here."));
      return;
    }
    show(
      list,
      listing.runs.map((run) =>
        toggle_button(
          chosen.has(run.key),
          () => {
            if (chosen.has(run.key)) chosen.delete(run.key);
            else chosen.add(run.key);
            curves.delete(run.key);
            address();
            draw_list();
            look();
          },
          { class: "run" },
          h("b", run.name),
          h(
            "span",
            { class: run.live ? "live" : "" },
            run.live
              ? "running"
              : run.exploitability === null || run.exploitability === undefined
                ? ""
                : `ε ${short(run.exploitability)}`,
          ),
          h(
            "span",
            run.problem || `${run.game}, ${run.algorithm}, ${grouped(run.iterations)} iterations`,
          ),
          run.strategy
            ? h("a", { href: `/explore?s=${run.key}`, class: "small" }, "explore")
            : null,
        ),
      ),
      listing.reports.map((one) =>
        toggle_button(
          report === one.key,
          () => {
            report = report === one.key ? null : one.key;
            address();
            draw_list();
            draw_report();
          },
          { class: "run" },
          h("b", one.name),
          h("span", "report"),
        ),
      ),
    );
  }
  function draw_report() {
    show(
      more,
      report
        ? h(
            "section.panel",
            h("h2", "Report"),
            h("iframe.report", {
              src: `/api/reports/${report}/report.html`,
              title: "Report of reproduce",
            }),
          )
        : null,
    );
  }
  function draw_curves() {
    const lines = [...curves.values()]
      .filter((run) => run.points.length)
      .map((run) => ({
        name: run.name,
        marks: run.points.length < 30,
        points: run.points.map((p) => [by === "iterations" ? p[0] : p[1], p[2], run.algorithm]),
      }));
    const bare = [...curves.values()].filter((run) => !run.points.length);
    const toggle = (name) =>
      toggle_button(
        by === name,
        () => {
          by = name;
          address();
          draw_curves();
        },
        {},
        `by ${name}`,
      );
    drawn = lines.length
      ? chart({
          lines,
          x: { name: by, log: true },
          y: { name: "exploitability (b1 + b2)", short: "exploitability", log: true },
        })
      : null;
    show(
      panel,
      h(
        "div.row.spread",
        h("h2", "Convergence"),
        h("div.tabs", toggle("iterations"), toggle("seconds")),
      ),
      drawn
        ? drawn.node
        : h(
            "p.muted",
            chosen.size ? "Nothing measured yet." : "Choose runs to see how they converge.",
          ),
      lines.length
        ? h(
            "div.legend",
            lines.map((line, k) =>
              h(
                "span",
                h("i", { style: { background: `var(--${INKS[k % INKS.length]})` } }),
                line.name,
              ),
            ),
          )
        : null,
      bare.length
        ? h(
            "p.muted.small",
            `${bare.map((run) => run.name).join(", ")}: `,
            "hold'em is not measured while it is solved; use counterplay evaluate.",
          )
        : null,
      drawn ? quiet_button("Picture", () => save_chart(drawn, "convergence.png")) : null,
    );
    drawn?.draw();
  }
  async function look() {
    let fresh = false;
    for (const key of [...curves.keys()])
      if (!chosen.has(key)) {
        curves.delete(key);
        fresh = true;
      }
    for (const key of chosen) {
      const had = curves.get(key),
        run = listing.runs.find((one) => one.key === key);
      if (had && !had.live && !run?.live) continue;
      try {
        const found = await get(`runs/${key}`);
        fresh ||= !had || had.points.length !== found.points.length;
        curves.set(key, found);
      } catch {
        chosen.delete(key);
      }
    }
    if (stopped) return;
    if (fresh || !panel.childElementCount) draw_curves();
  }
  async function tick() {
    if (stopped) return;
    if (!document.hidden) {
      const text = JSON.stringify(listing);
      listing = await get("runs");
      if (stopped) return;
      if (JSON.stringify(listing) !== text) draw_list();
      await look();
    }
    if (!stopped) setTimeout(tick, EVERY);
  }
  listing = await get("runs");
  if (!chosen.size) {
    const first =
      listing.runs.find((run) => run.live) ||
      listing.runs.find((run) => run.exploitability !== null && run.exploitability !== undefined);
    if (first) chosen.add(first.key);
  }
  draw_list();
  draw_report();
  await look();
  setTimeout(tick, EVERY);
  const still = on_resize(() => drawn?.draw());
  return () => {
    stopped = true;
    still();
  };
}
