"""All requests of pages, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from counterplay.app.web import exploit, runs
from counterplay.app.web.explore import routes as explore
from counterplay.app.web.library import Library
from counterplay.app.web.play import routes as play
from counterplay.app.web.play.room import CardRoom


def make_api(places: list[Path], keep: Path) -> Any:
    library = Library(places)
    room = CardRoom(keep, library)
    bench = exploit.Workbench(library)
    return Starlette(
        routes=[
            *play.routes(room, library, bench.jobs),
            *explore.routes(library),
            *runs.routes(library),
            *exploit.routes(bench),
        ]
    )
