// Elements from plain values. Text is always text: nothing here takes markup.
const SVG = "http://www.w3.org/2000/svg";

const missing = (value) => value === null || value === undefined || value === false;

// `tag` may name classes, as in "p.muted.small"; `props`, a plain object, may be left out.
function make(create, tag, props, children) {
  const [name, ...classes] = tag.split(".");
  const node = create(name);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  if (name === "button") node.setAttribute("type", "button");
  const given = props?.constructor === Object;
  for (const [key, value] of Object.entries(given ? props : {})) {
    if (missing(value)) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style")
      for (const [part, text] of Object.entries(value)) node.style.setProperty(part, text);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...present(given ? children : [props, ...children]));
  return node;
}
const present = (children) =>
  children
    .flat(9)
    .filter((child) => !missing(child))
    .map((child) => (child.nodeType ? child : String(child)));

export const h = (tag, props, ...children) =>
  make((name) => document.createElement(name), tag, props, children);
export const s = (tag, props, ...children) =>
  make((name) => document.createElementNS(SVG, name), tag, props, children);

// A button that looks pressed or not; `props` are further attributes.
export const toggle_button = (pressed, onclick, props, ...children) =>
  h("button", { "aria-pressed": String(pressed), onclick, ...props }, ...children);
export const quiet_button = (text, onclick) => h("button.quiet", { onclick }, text);
export const page_head = (title, lead) =>
  h("div.head", h("h1", title), lead ? h("p.muted", lead) : null);

// What is there already stays, so that a button can be clicked while a page is drawn again.
export function show(place, ...children) {
  const [nodes, old] = [present(children), place.childNodes];
  if (nodes.length !== old.length || nodes.some((node, k) => node !== old[k]))
    place.replaceChildren(...nodes);
  return place;
}

// Calls `draw` when the size or the theme changes, until the returned function is called.
export function on_resize(draw) {
  const events = ["resize", "themed"];
  for (const event of events) addEventListener(event, draw);
  return () => events.forEach((event) => removeEventListener(event, draw));
}
// A canvas in the pixels of the screen; returns its context in CSS pixels.
export function sharp(canvas, wide, high) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = wide * ratio;
  canvas.height = high * ratio;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  return ctx;
}
export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Numbers as text.
export function signed(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value > 0 ? "+" : "−") + text;
}
export const plain = (value, digits = 3) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");
export const percent = (share) =>
  share === null || share === undefined
    ? "–"
    : share > 0 && share < 0.01
      ? "<1%"
      : share < 1 && share > 0.99
        ? ">99%"
        : `${Math.round(100 * share)}%`;
export const grouped = (value) => value.toLocaleString("en");
export const count = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

// The one tooltip of the page.
const hint = () => document.getElementById("hint");
export function point(event, ...children) {
  const box = hint();
  show(box, ...children);
  box.hidden = false;
  const { clientX: x, clientY: y } = event;
  const wide = box.offsetWidth,
    high = box.offsetHeight;
  box.style.left = `${Math.max(6, Math.min(x + 16, innerWidth - wide - 8))}px`;
  box.style.top = `${y + 18 + high > innerHeight ? Math.max(6, y - high - 12) : y + 18}px`;
}
export const unpoint = () => {
  hint().hidden = true;
};

export function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
