"""The pages: every script that exports `page`, in `static/` or named by the user.

A page is one JavaScript module, `export const page = { title: "Runs", order: 5 };`, with a function
`open(place, query)` that draws it and may return a function to call when the page is left. The name
of the file is its address.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from importlib.resources import files as package_files
from pathlib import Path
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter

_HEADER = re.compile(r'^export const page = \{ title: "([^"\n]+)", order: (\d+) \};$', re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9-]*")
MARK = "<!-- pages -->"


class Page(NamedTuple):
    """A page of the browser; `order` is its place in the menu."""

    order: int
    name: str
    title: str
    file: Path
    address: str  # of the script


def static_folder() -> Path:
    return Path(str(package_files("counterplay.app.web") / "static"))


def read_page(file: Path, folder: str = "/static") -> Page | None:
    """The page that a script is; None for a script that is none."""
    header = _HEADER.search(file.read_text(encoding="utf-8"))
    if header is None:
        return None
    return Page(int(header[2]), file.stem, header[1], file, f"{folder}/{file.name}")


def built_in_pages() -> list[Page]:
    pages = [read_page(file) for file in static_folder().glob("*.js")]
    return sorted(page for page in pages if page is not None)


def user_pages(files: Iterable[Path]) -> list[Page]:
    """Pages in files that the user named."""
    taken = {page.name for page in built_in_pages()} | {"api", "static", "pages"}
    pages = []
    for file in files:
        page = read_page(file, "/pages")
        if page is None:
            example = 'export const page = { title: "Hello", order: 9 };'
            raise BadParameter(f"{file}: no page; it needs a line such as {example}")
        if page.name in taken or not _NAME.fullmatch(page.name):
            raise BadParameter(f"{file}: a page needs a name of its own in small letters")
        taken.add(page.name)
        pages.append(page)
    return sorted(pages)


def shell(pages: Iterable[Page]) -> str:
    """The document of all pages, with its menu."""
    links = [
        f'<a href="/{page.name}" data-script="{page.address}">{html.escape(page.title)}</a>'
        for page in pages
    ]
    text = (static_folder() / "index.html").read_text(encoding="utf-8")
    return text.replace(MARK, "\n    ".join(links))
