"""Runs in the served folders: their settings and convergence, and reports of `reproduce`."""

from __future__ import annotations

import csv
import math
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from counterplay.app.web.access import REPORT_POLICY
from counterplay.app.web.catalog import Catalog, CatalogEntry, NotFound
from counterplay.app.web.http import json_route, route
from counterplay.core.base.errors import CounterplayError

LIVE_SECONDS = 20.0  # a run that wrote its metrics so recently is shown as running
MOST_POINTS = 400
MOST_BYTES = 8 << 20
MEDIA_TYPES = {".png": "image/png", ".csv": "text/csv", ".html": "text/html", ".json": "text/plain"}


def routes(catalog: Catalog) -> list[Route]:
    def curve(request: Request) -> dict[str, Any]:
        return _curve(catalog.find(request.path_params["key"], "run"))

    async def report(request: Request) -> Response:
        entry = catalog.find(request.path_params["key"], "report")
        return _report_file(entry, request.path_params["name"])

    return [
        json_route("/runs", lambda request: _listing(catalog)),
        json_route("/runs/{key}", curve),
        route("/reports/{key}/{name}", report),
    ]


def _listing(catalog: Catalog) -> dict[str, Any]:
    runs = [_run(entry) for entry in catalog.entries("run")]
    reports = [{"key": entry.key, "name": entry.name} for entry in catalog.entries("report")]
    others = [
        {"key": entry.key, "kind": entry.kind, "name": entry.name}
        for entry in catalog.entries("strategy", "model", "hands")
    ]
    return {"runs": runs, "reports": reports, "others": others}


def _run(entry: CatalogEntry) -> dict[str, Any]:
    """The facts of a run, or that its files are damaged."""
    from counterplay.core.solvers.folder import read_config

    facts = {
        "key": entry.key,
        "name": entry.name,
        "live": time.time() - _changed(entry.path / "metrics.csv") < LIVE_SECONDS,
        "strategy": (entry.path / "strategy.npz").is_file(),
    }
    try:
        config = read_config(entry.path)
    except CounterplayError:
        return {**facts, "problem": "its config.json is damaged"}
    points = _points(entry.path)
    iterations, seconds, _ = points[-1] if points else (0, 0.0, None)
    return {
        **facts,
        **{name: config[name] for name in ("game", "algorithm", "seed")},
        "iterations": iterations,
        "seconds": seconds,
        "exploitability": next((p[2] for p in reversed(points) if p[2] is not None), None),
    }


def _changed(path: Path) -> float:
    """When a file was written last; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _points(folder: Path) -> list[tuple[int, float, float | None]]:
    """Iterations, seconds and exploitability of each row of metrics.csv that can be read."""
    path = folder / "metrics.csv"
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        rows = list(csv.DictReader(path.read_text().splitlines()))
    except (OSError, ValueError):
        return []
    points = []
    for row in rows:
        try:
            exploitability = float(row["exploitability"])
            work = (int(row["iterations"]), float(row["seconds"]))
        except (KeyError, TypeError, ValueError):
            continue
        points.append((*work, exploitability if math.isfinite(exploitability) else None))
    return points


def _curve(entry: CatalogEntry) -> dict[str, Any]:
    points = _points(entry.path)
    measured = [point for point in points if point[2] is not None and point[2] > 0]
    step = max(1, len(measured) // MOST_POINTS)
    return {**_run(entry), "points": [list(point) for point in measured[::step]]}


def _report_file(entry: CatalogEntry, name: str) -> Response:
    """The report or a file beside it; the name is looked up in the folder."""
    files = {path.name: path for path in entry.path.parent.iterdir() if path.is_file()}
    path = files.get(name)
    if path is None or path.suffix not in MEDIA_TYPES or path.is_symlink():
        raise NotFound("the report has no such file")
    headers = {
        "content-security-policy": REPORT_POLICY,
        "cross-origin-opener-policy": "unsafe-none",  # with it a page without scripts stays empty
    }
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], headers=headers)
