"""The web application: static pages at once, the API as soon as it is imported, access control in
front of both."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from counterplay.app.web.access import AccessControl, AccessPolicy, Receive, Scope, Send
from counterplay.app.web.pages import Page, built_in_pages, shell, static_folder, user_pages


class Api:
    """The API of the pages, imported by the first request or by `load`."""

    def __init__(self, sources: list[Path], tables: Path) -> None:
        self._sources, self._tables = sources, tables
        self._lock = threading.Lock()
        self._app: Any = None

    def load(self) -> Any:
        with self._lock:
            if self._app is None:
                self._app = _make_api(self._sources, self._tables)
        return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await run_in_threadpool(self.load)
        await app(scope, receive, send)


def _make_api(sources: list[Path], tables: Path) -> Starlette:
    from counterplay.app.web import exploit, explore, runs
    from counterplay.app.web.catalog import Catalog
    from counterplay.app.web.play import routes as play
    from counterplay.app.web.play.tables import TableStore

    catalog = Catalog(sources)
    service = exploit.ExploitService(catalog)
    return Starlette(
        routes=[
            *play.routes(TableStore(tables, catalog), catalog, service.jobs),
            *explore.routes(catalog),
            *runs.routes(catalog),
            *exploit.routes(service),
        ]
    )


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
    ]
    return AccessControl(Starlette(routes=routes), policy or AccessPolicy()), api
