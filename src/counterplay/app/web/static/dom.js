// Elements from plain values. Text is always text: nothing here takes markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    else node.setAttribute(name === "className" ? "class" : name, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child.nodeType ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) =>
  fill(document.createElementNS(SVG, tag), props, children);

// A button that looks pressed or not; `props` are further attributes.
export const toggle_button = (pressed, onclick, props, ...children) =>
  h("button", { type: "button", "aria-pressed": String(pressed), onclick, ...props }, ...children);

export function show(place, ...children) {
  place.replaceChildren(
    ...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return place;
}

// Numbers as text.
export const signed = (value, digits = 2) =>
  value === null || value === undefined
    ? "–"
    : (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);
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
