"""Runs in the served folders: what they are, how they converge, and reports of `reproduce`."""

from __future__ import annotations

import csv
import math
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from counterplay.app.web.answers import answer, handled, in_thread
from counterplay.app.web.guard import REPORT_POLICY
from counterplay.app.web.library import Library, NotThere, Thing
from counterplay.core.base.errors import CounterplayError

LIVE_SECONDS = 20.0  # a run that wrote so recently is taken for one that goes on
MOST_POINTS = 400
MOST_BYTES = 8 << 20
SHOWN = {".png": "image/png", ".csv": "text/csv", ".html": "text/html", ".json": "text/plain"}


def routes(library: Library) -> list[Route]:
    async def listing(request: Request) -> Response:
        return answer(await in_thread(_listing, library))

    async def curve(request: Request) -> Response:
        thing = library.find(str(request.path_params["key"]), "run")
        return answer(await in_thread(_curve, thing))

    async def report(request: Request) -> Response:
        thing = library.find(str(request.path_params["key"]), "report")
        return _report_file(thing, str(request.path_params["name"]))

    return [
        Route("/runs", handled(listing)),
        Route("/runs/{key}", handled(curve)),
        Route("/reports/{key}/{name}", handled(report)),
    ]


def _listing(library: Library) -> dict[str, Any]:
    runs = [_run(thing) for thing in library.things("run")]
    reports = [{"key": thing.key, "name": thing.name} for thing in library.things("report")]
    others = [
        {"key": thing.key, "kind": thing.kind, "name": thing.name}
        for thing in library.things("strategy", "model", "hands")
    ]
    return {"runs": runs, "reports": reports, "others": others}


def _run(thing: Thing) -> dict[str, Any]:
    """The facts of a run; one whose files are damaged says so."""
    from counterplay.core.solvers.folder import read_config

    found: dict[str, Any] = {"key": thing.key, "name": thing.name, "live": _live(thing.path)}
    found["strategy"] = (thing.path / "strategy.npz").is_file()
    try:
        config = read_config(thing.path)
    except CounterplayError:
        return {**found, "problem": "its config.json is damaged"}
    points = _points(thing.path)
    last = points[-1] if points else None
    return {
        **found,
        "game": config["game"],
        "algorithm": config["algorithm"],
        "seed": config["seed"],
        "iterations": last[0] if last else 0,
        "seconds": last[1] if last else 0.0,
        "exploitability": next((p[2] for p in reversed(points) if p[2] is not None), None),
    }


def _live(folder: Path) -> bool:
    try:
        changed = (folder / "metrics.csv").stat().st_mtime
    except OSError:
        return False
    return time.time() - changed < LIVE_SECONDS


def _points(folder: Path) -> list[tuple[int, float, float | None]]:
    """Iterations, seconds and exploitability; what cannot be read is left out."""
    path = folder / "metrics.csv"
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        rows = list(csv.DictReader(path.read_text().splitlines()))
    except (OSError, ValueError):
        return []
    found = []
    for row in rows:
        try:
            gap = float(row["exploitability"])
            point = (int(row["iterations"]), float(row["seconds"]))
        except (KeyError, TypeError, ValueError):
            continue
        found.append((*point, gap if math.isfinite(gap) else None))
    return found


def _curve(thing: Thing) -> dict[str, Any]:
    points = _points(thing.path)
    measured = [point for point in points if point[2] is not None and point[2] > 0]
    step = max(1, len(measured) // MOST_POINTS)
    return {**_run(thing), "points": [list(point) for point in measured[::step]]}


def _report_file(thing: Thing, name: str) -> Response:
    """The report, or a file that lies beside it; names are looked up, never put together."""
    there = {path.name: path for path in thing.path.parent.iterdir() if path.is_file()}
    path = there.get(name)
    if path is None or path.suffix not in SHOWN or path.is_symlink():
        raise NotThere("the report has no such file")
    headers = {
        "content-security-policy": REPORT_POLICY,
        "cross-origin-opener-policy": "unsafe-none",  # with it a page without scripts stays empty
    }
    return FileResponse(path, media_type=SHOWN[path.suffix], headers=headers)
