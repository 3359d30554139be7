"""Builds the documentation site from docs/: `make docs` (extra [docs]).

Pages are copied to build/pages: equations become MathML, which browsers show by themselves,
notebooks become pages, and files of the repository that a page links to come along. mkdocs builds
the site into build/site; every link of every page is then followed, to its anchor.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?(\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\w$])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])", re.DOTALL)


def main() -> None:
    """Build the site; exit code 1 and a list where a link leads nowhere."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    for path in sorted(DOCS.rglob("*")):
        if path.is_file():
            _copy(path)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # what it says of its successor
    subprocess.run([*command, "-f", str(ROOT / "mkdocs.yml")], check=True, env=environment)
    broken = broken_links(SITE)
    for problem in broken:
        print(problem, file=sys.stderr)
    if broken:
        sys.exit(1)
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}, no broken link")


def _copy(path: Path) -> None:
    """A page, a notebook, a picture or data, to its place among the pages."""
    target = PAGES / path.relative_to(DOCS)
    if path.suffix == ".py":
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".ipynb":
        target.with_suffix(".md").write_text(notebook_page(json.loads(path.read_text())))
    elif path.suffix == ".md":
        target.write_text(with_equations(_links_inside(path)))
    else:
        shutil.copy(path, target)


def _links_inside(page: Path) -> str:
    """The text of a page; files of the repository that it links to are copied among the pages."""

    def moved(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        if "://" in match[2] or target.is_relative_to(DOCS):
            link = match[2]
        else:
            place = PAGES / "files" / target.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, place)
            depth = len(page.relative_to(DOCS).parts) - 1
            link = "../" * depth + place.relative_to(PAGES).as_posix()
        return f"{match[1]}{link.replace('.ipynb', '.md')}{match[3] or ''}{match[4]}"

    return LINK.sub(moved, page.read_text())


def with_equations(text: str) -> str:
    """TeX between dollars as MathML; code stays as it is."""

    def equation(match: re.Match[str]) -> str:
        from latex2mathml.converter import convert

        display = match[1] is not None
        return str(convert((match[1] or match[2]).strip(), "block" if display else "inline"))

    parts = CODE.split(text)
    return "".join(part if k % 2 else MATH.sub(equation, part) for k, part in enumerate(parts))


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as a page: text, code, and what it showed."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(with_equations(text))
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [_shown(output) for output in cell.get("outputs", ())]
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return "".join(data["text/html"]).replace("\n", " ")
    if "image/png" in data:
        return (
            f'<img alt="picture" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
        )
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text else ""


class _Page(HTMLParser):
    """The links of a page and what can be linked to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> list[str]:
    """Links between pages that lead to no file or to no place in it."""
    pages = {}
    for path in site.rglob("*.html"):
        pages[path] = page = _Page()
        page.feed(path.read_text())
    problems = []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link or link.startswith(("data:", "mailto:", "javascript:", "/")):
                continue
            place, anchor = urldefrag(unquote(link))
            target = (path.parent / place).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            name = path.relative_to(site)
            if not target.exists():
                problems.append(f"{name}: {link} leads to no file")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                problems.append(f"{name}: {link} leads to no place in {target.name}")
    return problems


if __name__ == "__main__":
    main()
