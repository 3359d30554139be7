"""The web application: static pages at once, the API as soon as it is imported, access control in
front of both.

A page is one JavaScript module, in `static/` or named by the user, with a line `export const page =
{ title: "Runs", order: 5 };` and a function `open(place, query)` that draws it and may return a
function to call when the page is left. The name of the file is its address.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterable
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from counterplay.app.web.access import AccessControl, AccessPolicy, Receive, Scope, Send
from counterplay.core.base.errors import BadParameter

_HEADER = re.compile(r'^export const page = \{ title: "([^"\n]+)", order: (\d+) \};$', re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9-]*")
MARK = "<!-- pages -->"
KEPT, DRILL = "kept", "drill.jsonl"  # results and answers, beside the tables


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
    return sorted(filter(None, map(read_page, static_folder().glob("*.js"))))


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


class Api:
    """The API of the pages, imported by the first request or by `load`."""

    def __init__(self, sources: list[Path], tables: Path) -> None:
        self._sources, self._folder = sources, tables
        self._lock = threading.Lock()
        self._app: Any = None
        self.tables: Any = None  # the `TableStore` and the `Preparations`, once it is loaded
        self.preparations: Any = None

    def load(self) -> Any:
        with self._lock:
            if self._app is None:
                from counterplay.app.web import drill, exploit, explore, runs, spots
                from counterplay.app.web.catalog import Catalog
                from counterplay.app.web.kept import KeptResults
                from counterplay.app.web.play import tables as play
                from counterplay.app.web.preparation import Preparations

                catalog = Catalog(self._sources)
                catalog.kept = KeptResults(self._folder / KEPT)
                self.preparations = preparations = Preparations()
                self.tables = play.TableStore(self._folder, catalog)
                service = exploit.ExploitService(catalog, self.tables.hands_file)
                routes = play.routes(self.tables, preparations)
                routes += explore.routes(catalog, preparations) + runs.routes(catalog)
                routes += exploit.routes(service, preparations)
                routes += spots.routes(preparations, catalog.kept)
                routes += drill.routes(catalog, preparations, self._folder / DRILL)
                self._app = Starlette(routes=routes)
        return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await run_in_threadpool(self.load)
        await app(scope, receive, send)


def make_app(
    sources: list[Path], tables: Path, policy: AccessPolicy | None = None
) -> tuple[AccessControl, Api]:
    """Returns the application and its API, which can be loaded before the first request.
    `sources`: files and folders that are served, the user's pages (`.js`) among them; `tables`: the
    folder of the tables."""
    own = user_pages(source for source in sources if source.suffix == ".js")
    pages = [*built_in_pages(), *own]
    document = shell(pages)
    api = Api([source for source in sources if source.suffix != ".js"], tables)

    async def start(request: Request) -> Response:
        return RedirectResponse("/play", 303)

    async def page(request: Request) -> Response:
        return HTMLResponse(document)

    async def no_page(request: Request) -> Response:
        return HTMLResponse(document, 404)  # whose script says so

    def script(page: Page) -> Any:
        async def send_script(request: Request) -> Response:
            return FileResponse(page.file, media_type="text/javascript")

        return send_script

    routes = [
        Route("/", start),
        *(Route(f"/{one.name}", page) for one in pages),
        *(Route(one.address, script(one)) for one in own),
        Mount("/static", StaticFiles(directory=static_folder())),
        Mount("/api", api),
        Route("/{name}", no_page),
    ]
    return AccessControl(Starlette(routes=routes), policy or AccessPolicy()), api
