"""Long training in experiments: kept in the result folder, gone on with after an interruption, never done twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base import files
from counterplay.base.errors import BadFile, CounterplayError
from counterplay.experiments.base import Tell
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.solvers import folder as run_folder
from counterplay.solvers.base import Solver
from counterplay.solvers.run import check_limits, resume_solver, run_solver

WORK = "work"  # folder beside the results
SAVE_SECONDS = 30.0
Evaluate = Callable[[Strategy], list[float]]


def work_folder(folder: Path, name: str) -> Path:
    return folder / WORK / name


def kept(folder: Path, name: str, setting: dict[str, Any], compute: Callable[[], Any]) -> Any:
    """`compute()` (something JSON can hold), or what an earlier run with the same setting left in the work folder."""
    path = work_folder(folder, "".join(c if c.isalnum() or c in "-=." else "_" for c in name) + ".json")
    key = json.loads(json.dumps(setting))
    try:
        found = files.read_json(path)
        if found.get("setting") == key and "value" in found:
            return found["value"]
    except BadFile:
        pass  # none yet, or a damaged one
    value = json.loads(json.dumps(compute()))
    files.write_json(path, {"setting": key, "value": value})
    return value


def kept_strategy(folder: Path, name: str, compute: Callable[[], Strategy], game: Game) -> Strategy:
    """The same for a strategy."""
    path = work_folder(folder, "".join(c if c.isalnum() or c in "-=." else "_" for c in name) + ".npz")
    try:
        return Strategy.load(path, game)
    except CounterplayError:
        strategy = compute()
        strategy.save(path)
        return strategy


def trained(solver: Solver, iterations: int, folder: Path, tell: Tell, what: str) -> Strategy:
    """The strategy of `solver` after `iterations`; `folder` is a run folder that may hold part of the run, or all of it."""

    def show(progress: Any) -> None:
        tell(
            progress.iterations / iterations, f"{what}: {progress.iterations / 1e6:,.1f} of {iterations / 1e6:,.0f} M iterations"
        )

    limits = check_limits(iterations, None, None, None, None, show)
    if (folder / "checkpoint.npz").exists():
        return resume_solver(folder, solver, limits).strategy
    (folder / "config.json").unlink(missing_ok=True)  # stopped before its first checkpoint
    return run_solver(solver, limits, folder).strategy


def learning_curve(solver: Solver, points: list[int], evaluate: Evaluate, path: Path, tell: Tell) -> np.ndarray:
    """Evaluate the strategy at each of `points` (iterations): float64[points, 2 + values]: iterations, seconds, values.

    `path` keeps the solver and the rows so far.
    """
    rows = _restore(solver, path)
    saved = time.monotonic()
    for k, until in enumerate(points):
        if k < len(rows):
            continue
        seconds = rows[-1][1] if rows else 0.0
        solver.step(0)
        while solver.iterations < until:
            before = time.perf_counter()
            solver.step(min(until - solver.iterations, 1_000_000))
            seconds += time.perf_counter() - before
            tell((k + 1) / len(points), f"{solver.iterations / 1e6:,.0f} of {points[-1] / 1e6:,.0f} M iterations")
        rows.append([float(until), seconds, *evaluate(solver.strategy())])
        if time.monotonic() - saved > SAVE_SECONDS or k == len(points) - 1:
            header = {"config": run_folder.config_of(solver), "rows": rows}
            files.write_arrays(path, "curve", solver.arrays(), header)
            saved = time.monotonic()
    return np.array(rows)


def _restore(solver: Solver, path: Path) -> list[list[float]]:
    """Rows of an earlier run of the same curve; none if there is none, or if it is another or a damaged one."""
    try:
        arrays, header = files.read_arrays(path, "curve")
        if header.get("config") != json.loads(json.dumps(run_folder.config_of(solver))):
            return []
        rows = [[float(value) for value in row] for row in header["rows"]]
        solver.restore(arrays, str(path))
    except (BadFile, KeyError, TypeError, ValueError):
        return []
    return rows
