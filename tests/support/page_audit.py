"""What is wrong with a page as it is drawn now, in words: text that has too little contrast with
what is behind it or is too small, what sticks out of the page or of its box, fields and buttons
without a name."""

from __future__ import annotations

from typing import Any

AUDIT = """() => {
  const problems = new Set();
  const tell = (what, node) => problems.add(
    `${what}: <${node.tagName.toLowerCase()} class="${node.className}"> ` +
    (node.innerText || "").slice(0, 40).replace(/\\s+/g, " "));
  const numbers = (text) => {
    const found = text.match(/[0-9.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...found.slice(0, 3).map((v) => scale * v), found[3] ?? 1];
  };
  const over = (a, b) => [0, 1, 2].map((k) => a[3] * a[k] + (1 - a[3]) * b[k]);
  const light = (rgb) => rgb.slice(0, 3).map((v) => { const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); };
  // The colours behind a node, from the page to it; the first of a gradient stands for it.
  function behind(node) {
    const found = [];
    for (let at = node; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage } = getComputedStyle(at);
      const first = backgroundImage.match(/(rgba?|color)\\([^)]*\\)/);
      found.push(numbers(backgroundColor), ...(first ? [numbers(first[0])] : []));
    }
    return found.reverse().reduce((at, colour) => over(colour, at), [255, 255, 255]);
  }
  const opacity = (node) => node ? getComputedStyle(node).opacity * opacity(node.parentElement) : 1;
  const scrolls = (node) => node && (getComputedStyle(node).overflowX !== "visible" ||
    scrolls(node.parentElement));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const seen = walker.currentNode.textContent.trim() && node.checkVisibility();
    if (!seen || node.closest("svg, option, script, .skip")) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(node);
    const [ground, ink, size] = [behind(node), numbers(color), parseFloat(fontSize)];
    ink[3] *= opacity(node);
    const large = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    const least = node.closest(":disabled") ? 2 : large ? 3 : 4.5;
    const found = ratio(over(ink, ground), ground);
    if (found < least) tell(`contrast ${found.toFixed(2)}`, node);
    if (size < 10) tell(`${size} px`, node);
    const { right } = node.getBoundingClientRect();
    if (right > innerWidth + 1 && !scrolls(node.parentElement)) tell("beyond the edge", node);
  }
  for (const node of document.querySelectorAll("main button, main select, main input")) {
    const named = node.innerText?.trim() || node.ariaLabel || node.title || node.labels?.length;
    if (node.checkVisibility() && !named) tell("no name", node);
  }
  for (const node of document.querySelectorAll("main p, main button, main li, main td, main dd")) {
    if (node.checkVisibility() && !scrolls(node) && node.scrollWidth > node.clientWidth + 2 &&
      getComputedStyle(node).display !== "inline") tell("sticks out", node);
  }
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.add(`the page is ${scrollWidth} px wide`);
  return [...problems];
}"""


def problems(page: Any, schemes: tuple[str, ...] = ("light", "dark")) -> list[str]:
    """Of a page as it is, in both themes."""
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}, {text}" for text in page.evaluate(AUDIT)]
    page.emulate_media(color_scheme=None)
    return found
