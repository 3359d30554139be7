"""Long training in experiments: kept in the store, gone on with after an interruption, never
done twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.store import Store
from counterplay.core.base.errors import BadFile
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Piece, Recipe, Slot
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.folder import config_of
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.run import Run, run_solver

SAVE_SECONDS = 15.0
STOPPED_WELL = ("target", "solved")
CHUNK = 1_000_000  # most iterations of a learning curve between two looks at the clock
STEP_SECONDS = 1.0  # about as long they take
Evaluate = Callable[[Strategy], list[float]]


def trained(
    store: Store,
    solver: Solver,
    iterations: int,
    progress: ProgressCallback,
    what: str,
    target: float | None = None,
    measure_every: int | None = None,
) -> Strategy:
    """The strategy of `solver` after `iterations`, or as soon as a measurement finds `target`.

    `measure_every` says when to measure, so that a run that was stopped ends where one that was not
    ends.
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


class TrainedStrategy(NamedTuple):
    """A strategy, and what it was when half of its training was done."""

    halfway: Strategy
    strategy: Strategy
    iterations: int
    seconds: float  # of training


def trained_with_halfway(
    store: Store, solver: Solver, iterations: int, progress: ProgressCallback, what: str
) -> TrainedStrategy:
    """The strategy of `solver` after half of `iterations` and after all: how much more training
    would do is judged by what the second half did."""
    recipe = {**config_of(solver), "iterations": iterations, "and at": iterations // 2}

    def make() -> Piece:
        run = CheckpointedRun(store.draft("strategy", recipe), solver)
        run.restore()
        if "half" not in run.extra:
            run.until(Limits(iterations // 2), iterations, progress, what)
            run.extra["half"] = solver.policy()
        run.until(Limits(iterations), iterations, progress, what)
        return Piece(run.seconds, {"probabilities": solver.policy(), **run.extra})

    found = store.piece("strategy", recipe, make)
    half, whole = (Strategy(solver.game, found.arrays[name]) for name in ("half", "probabilities"))
    return TrainedStrategy(half, whole, iterations, float(found.value))


class CheckpointedRun:
    """Training that writes where it stands every now and then."""

    def __init__(self, draft: Slot, solver: Solver) -> None:
        self.draft, self.solver = draft, solver
        self.extra: dict[str, np.ndarray] = {}  # kept beside the solver's own arrays
        self.seconds = 0.0

    def restore(self) -> None:
        """Go on from the draft if there is one."""
        found = _restore(self.solver, self.draft)
        if found is not None:
            self.seconds = float(found.value)
            self.extra = {k: v for k, v in found.arrays.items() if k not in self.solver.arrays()}

    def until(self, limits: Limits, iterations: int, progress: ProgressCallback, what: str) -> Run:
        """Train until `limits`; `iterations` are those of the whole."""
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
    store: Store,
    recipe: Recipe,
    solver: Solver,
    points: list[int],
    evaluate: Evaluate,
    progress: ProgressCallback = no_progress,
) -> np.ndarray:
    """Evaluate the strategy of a solver with one thread at each of `points` (iterations).

    float64[points, 2 + values]: iterations, seconds, values. `recipe` says how `evaluate` does it.
    """
    whole = {"solver": config_of(solver), "points": points, "evaluated": recipe}

    def make() -> Piece:
        draft = store.draft("curve", whole)
        found = _restore(solver, draft)
        rows, seconds = ([], 0.0) if found is None else found.value
        saved = time.monotonic()
        solver.step(0)  # compile, outside the clock
        chunk = 1
        for until in points[len(rows) :]:
            while solver.iterations < until:
                progress(solver.iterations / points[-1], f"{_amount(solver.iterations)} iterations")
                before = time.thread_time()  # of this core, whatever else runs
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
    """Go on from a draft; what it holds, None if there is none."""
    found = draft.read()
    if found is None:
        return None
    try:
        solver.restore(found.arrays, str(draft.path))
    except BadFile:  # of an older form of the solver, which only this one would notice
        return None
    return found
