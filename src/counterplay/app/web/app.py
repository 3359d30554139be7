"""The application: pages at once, what they ask for as soon as it is loaded, and the guard in front
of all of it."""

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

from counterplay.app.web.guard import Door, Guard, Receive, Scope, Send
from counterplay.app.web.pages import Page, built_in_pages, shell, static_folder, user_pages


class Api:
    """What answers requests of pages; loaded by the first of them, or before."""

    def __init__(self, places: list[Path], keep: Path) -> None:
        self._places, self._keep = places, keep
        self._lock = threading.Lock()
        self._app: Any = None

    def load(self) -> Any:
        with self._lock:
            if self._app is None:
                from counterplay.app.web.api import make_api

                self._app = make_api(self._places, self._keep)
        return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await run_in_threadpool(self.load)
        await app(scope, receive, send)


def make_app(places: list[Path], keep: Path, door: Door | None = None) -> tuple[Any, Api]:
    """`places`: what is served, pages of the user (`.js`) among them; `keep`: where tables are
    kept. The application, and its part that can be loaded before the first request."""
    own = user_pages(place for place in places if place.suffix == ".js")
    pages = [*built_in_pages(), *own]
    document = shell(pages)
    api = Api([place for place in places if place.suffix != ".js"], keep)

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
    return Guard(Starlette(routes=routes), door or Door()), api
