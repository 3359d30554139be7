// Pages by address, and the light and dark themes.
import { h, show, unpoint } from "./dom.js";

const PAGES = Object.fromEntries(
  [...document.querySelectorAll(".bar nav a")].map((link) => [
    link.pathname,
    () => import(link.dataset.script),
  ]),
);
let leave = () => {};
let opened = 0;

const nothing = (path) => {
  throw new Error(`There is no page at ${path}; those that there are stand above.`);
};

export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  open();
}

// Each page draws in a place of its own, so that a late one draws nowhere.
async function open() {
  const mine = (opened += 1);
  const address = new URL(location.href);
  const load = PAGES[address.pathname] || (() => nothing(address.pathname));
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.getAttribute("href") === address.pathname) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  leave();
  unpoint();
  leave = () => {};
  const place = h("div", h("div.wait", "Loading"));
  show(document.getElementById("page"), place);
  try {
    const page = await load();
    const left = (await page.open(place, address.searchParams)) || (() => {});
    if (mine === opened) leave = left;
    else left();
  } catch (error) {
    show(place, h("p.lone", error.message));
  }
}

function themed(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  dispatchEvent(new Event("themed"));
}
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => localStorage.getItem("theme") || (dark.matches ? "dark" : "light");
dark.addEventListener("change", () => themed(chosen()));
document.getElementById("theme").addEventListener("click", () => {
  localStorage.setItem("theme", chosen() === "dark" ? "light" : "dark");
  themed(chosen());
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download"))
    return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || !PAGES[link.pathname]) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
addEventListener("popstate", open);
themed(chosen());
open();
