"""The store of an experiment's intermediate results ("pieces"), the code versions behind them, and
training whose results are pieces: it continues from checkpoints, and nothing is trained twice.

Pieces lie in the folder `work` beside the results, which may be deleted at any time. A piece or a
result is used again only if this code would have made it. A code version is a hash of source files
and of the numerical libraries. `core` and `poker` are part of every version. Of the reproduction, a
piece depends on the shared modules alone, so that a new sentence in one figure does not discard the
training of another; a result depends on the experiment's own module and everything it imports. The
report, the order of the runs and the command line are in no version: they show numbers and make
none.
"""

from __future__ import annotations

import hashlib
import inspect
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadFile
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Piece, Recipe, Slot, Store
from counterplay.core.base.version import LENGTH, PACKAGE, hash_files, imported_files
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.folder import config_of
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.run import Run, run_solver

WORK = "work"  # folder of the pieces, beside the results
HERE = PACKAGE / "app" / "reproduction"
EXCLUDED_FOLDERS = {"app"}  # no number comes from them, or they are hashed file by file
PLOTTING = {"plotting.py"}  # of `core/base`: it draws, and changes no piece
#: Modules that make pieces for several experiments.
SHARED = ("harness.store", "players", "models")
#: Modules of constants that are part of every recipe they matter to.
RECIPES = {"sizes.py"}
SAVE_SECONDS = 15.0  # between two checkpoints
STOPPED_WELL = ("target", "solved")
CHUNK = 1_000_000  # most iterations of one step of a learning curve
STEP_SECONDS = 1.0  # duration that steps aim at
Evaluate = Callable[[Strategy], list[float]]


class PieceStore(Store):
    """The pieces beside the results in `folder`. `again`: use only pieces that were made since this
    store was opened."""

    def __init__(self, folder: str | Path, again: bool = False) -> None:
        self.folder = Path(folder)  # of pictures, tables and verdicts
        self.again, self._opened = again, time.time()
        super().__init__(self.folder / WORK, pieces_version())

    def accepts(self, path: Path) -> bool:
        if not self.again or path in self.written:
            return True
        try:
            return path.stat().st_mtime > self._opened
        except OSError:
            return False


@cache
def pieces_version() -> str:
    """Version of the code that makes pieces, without the experiments' own modules."""
    sources = [path for path in _lower_layers() if path.name not in PLOTTING]
    return _version(sources, SHARED, RECIPES)


@cache
def file_version(file: str) -> str:
    """Version of one source file, for a piece that a single experiment makes."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:LENGTH]


def result_version(run: Any) -> str:
    """Version of the code that the numbers, rules and pictures of the experiment with this `run`
    function come from."""
    return _result_version(Path(inspect.getsourcefile(run) or __file__).resolve())


@cache
def _result_version(file: Path) -> str:
    if file.is_relative_to(HERE):
        name = ".".join(file.relative_to(HERE).with_suffix("").parts)
        return _version(_lower_layers(), [name])
    return _version([*_lower_layers(), file], ["harness.base"])  # a user-defined experiment


def _lower_layers() -> list[Path]:
    """Every file of the layers below the application."""
    folders = [p for p in PACKAGE.iterdir() if p.is_dir() and p.name not in EXCLUDED_FOLDERS]
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in paths if "__pycache__" not in path.parts and path.name[0] != ".")


def _version(sources: Iterable[Path], modules: Iterable[str], without: Collection[str] = ()) -> str:
    own = [path for path in imported(modules) if path.name not in without]
    return hash_files([*sources, *own], PACKAGE)


def imported(modules: Iterable[str]) -> list[Path]:
    """Files of these modules of the reproduction, and of those modules of it that they import."""
    roots = [HERE.joinpath(*name.split(".")).with_suffix(".py") for name in modules]
    return [path for path in imported_files(PACKAGE, roots) if HERE in path.parents]


# training


def trained(
    store: PieceStore,
    solver: Solver,
    iterations: int,
    progress: ProgressCallback,
    what: str,
    target: float | None = None,
    measure_every: int | None = None,
) -> Strategy:
    """The strategy of `solver` after `iterations`, or at the first measurement that reaches
    `target`.

    Measurements come every `measure_every` iterations, so that an interrupted run ends at the same
    iteration as an uninterrupted one.
    """
    recipe = {
        **config_of(solver),
        "iterations": iterations,
        "target": target,
        "measured every": measure_every,
    }

    def make() -> Piece:
        run = CheckpointedRun(store.draft("strategy", recipe), solver)
        run.restore()
        limits = Limits(iterations, target=target, measure_every=measure_every)
        done = run.until(limits, iterations, progress, what).iterations
        return Piece(done, {"probabilities": solver.policy()})

    return Strategy(solver.game, store.piece("strategy", recipe, make).arrays["probabilities"])


class CheckpointedRun:
    """Training that writes a checkpoint every SAVE_SECONDS."""

    def __init__(self, draft: Slot, solver: Solver) -> None:
        self.draft, self.solver = draft, solver
        self.extra: dict[str, np.ndarray] = {}  # kept beside the solver's own arrays
        self.seconds = 0.0

    def restore(self) -> None:
        """Continue from the checkpoint if there is one."""
        checkpoint = _restore(self.solver, self.draft)
        if checkpoint is not None:
            own, arrays = self.solver.arrays(), checkpoint.arrays
            self.seconds = float(checkpoint.value)
            self.extra = {name: array for name, array in arrays.items() if name not in own}

    def until(self, limits: Limits, iterations: int, progress: ProgressCallback, what: str) -> Run:
        """Train until `limits`; `iterations`: of the whole training."""
        saved, before = time.monotonic(), self.seconds

        def show(at: Any) -> None:
            nonlocal saved
            self.seconds = before + at.seconds
            done = f"{_amount(at.iterations)} of {_amount(iterations)} iterations"
            progress(min(at.iterations / iterations, 1.0), f"{what}: {done}")
            if time.monotonic() - saved > SAVE_SECONDS:
                self._write()
                saved = time.monotonic()

        try:
            run = run_solver(self.solver, replace(limits, on_chunk=show))
        except KeyboardInterrupt:
            self._write()
            raise
        if run.iterations < (limits.iterations or 0) and run.stopped_by not in STOPPED_WELL:
            self._write()
            raise KeyboardInterrupt
        return run

    def _write(self) -> None:
        self.draft.write(self.seconds, {**self.solver.arrays(), **self.extra})


def _amount(iterations: int) -> str:
    return f"{iterations / 1e6:,.1f} M" if iterations >= 1e5 else f"{iterations:,}"


def learning_curve(
    store: PieceStore,
    recipe: Recipe,
    solver: Solver,
    points: list[int],
    evaluate: Evaluate,
    progress: ProgressCallback = no_progress,
) -> np.ndarray:
    """Evaluate the strategy of a single-threaded solver at each of `points` (iterations).

    float64[points, 2 + values]: iterations, seconds, values. `recipe` describes `evaluate`.
    """
    whole = {"solver": config_of(solver), "points": points, "evaluated": recipe}

    def make() -> Piece:
        draft = store.draft("curve", whole)
        checkpoint = _restore(solver, draft)
        rows, seconds = ([], 0.0) if checkpoint is None else checkpoint.value
        saved = time.monotonic()
        solver.step(0)  # compile, outside the clock
        chunk = 1
        for until in points[len(rows) :]:
            while solver.iterations < until:
                progress(solver.iterations / points[-1], f"{_amount(solver.iterations)} iterations")
                before = time.thread_time()  # of this thread alone
                solver.step(min(until - solver.iterations, chunk))
                took = time.thread_time() - before
                seconds += took
                chunk = min(max(int(chunk * min(STEP_SECONDS / max(took, 1e-9), 4.0)), 1), CHUNK)
                if time.monotonic() - saved > SAVE_SECONDS:
                    draft.write([rows, seconds], solver.arrays())
                    saved = time.monotonic()
            rows.append([float(until), seconds, *evaluate(solver.strategy())])
        return Piece(rows, {})

    return np.array(store.piece("curve", whole, make).value)


def _restore(solver: Solver, draft: Slot) -> Piece | None:
    """Restore the solver from a checkpoint, and return it; None if there is none."""
    checkpoint = draft.read()
    if checkpoint is None:
        return None
    try:
        solver.restore(checkpoint.arrays, str(draft.path))
    except BadFile:  # arrays of an earlier form of the solver
        return None
    return checkpoint
