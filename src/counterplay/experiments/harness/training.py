"""Long training in experiments: kept in the store, gone on with after an interruption, never
done twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from counterplay.base.errors import BadFile
from counterplay.base.progress import Tell, untold
from counterplay.experiments.harness.store import Piece, Recipe, Slot, Store
from counterplay.forms.strategy import Strategy
from counterplay.solvers.base import Solver
from counterplay.solvers.folder import config_of
from counterplay.solvers.limits import Limits
from counterplay.solvers.run import run_solver

SAVE_SECONDS = 15.0
CHUNK = 1_000_000  # most iterations of a learning curve between two looks at the clock
Evaluate = Callable[[Strategy], list[float]]


def trained(
    store: Store,
    solver: Solver,
    iterations: int,
    tell: Tell,
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
        draft = store.draft("strategy", recipe)
        _restore(solver, draft)
        saved = time.monotonic()

        def show(progress: Any) -> None:
            nonlocal saved
            done = f"{progress.iterations / 1e6:,.1f} of {iterations / 1e6:,.1f} M iterations"
            tell(min(progress.iterations / iterations, 1.0), f"{what}: {done}")
            if time.monotonic() - saved > SAVE_SECONDS:
                draft.write(None, solver.arrays())
                saved = time.monotonic()

        limits = Limits(iterations, target=target, measure_every=measure_every, on_chunk=show)
        try:
            run = run_solver(solver, limits)
        except KeyboardInterrupt:
            draft.write(None, solver.arrays())
            raise
        if run.iterations < iterations and run.stopped_by not in ("target", "solved"):
            draft.write(None, solver.arrays())
            raise KeyboardInterrupt
        return Piece(run.iterations, {"probabilities": solver.policy()})

    return Strategy(solver.game, store.piece("strategy", recipe, make).arrays["probabilities"])


def learning_curve(
    store: Store,
    recipe: Recipe,
    solver: Solver,
    points: list[int],
    evaluate: Evaluate,
    tell: Tell = untold,
) -> np.ndarray:
    """Evaluate the strategy of a solver with one thread at each of `points` (iterations).

    float64[points, 2 + values]: iterations, seconds, values. `recipe` says how `evaluate` does it.
    """
    whole = {"solver": config_of(solver), "points": points, "evaluated": recipe}

    def make() -> Piece:
        draft = store.draft("curve", whole)
        rows: list[list[float]] = _restore(solver, draft) or []
        saved = time.monotonic()
        solver.step(0)  # compile, outside the clock
        for k, until in enumerate(points):
            if k < len(rows):
                continue
            seconds = rows[-1][1] if rows else 0.0
            while solver.iterations < until:
                tell(solver.iterations / points[-1], f"{solver.iterations / 1e6:,.0f} M iterations")
                before = time.thread_time()  # of this core, whatever else runs
                solver.step(min(until - solver.iterations, CHUNK))
                seconds += time.thread_time() - before
            rows.append([float(until), seconds, *evaluate(solver.strategy())])
            if time.monotonic() - saved > SAVE_SECONDS:
                draft.write(rows, solver.arrays())
                saved = time.monotonic()
        return Piece(rows, {})

    return np.array(store.piece("curve", whole, make).value)


def _restore(solver: Solver, draft: Slot) -> Any:
    """Go on from a draft; its value, None if there is none."""
    found = draft.read()
    if found is None:
        return None
    try:
        solver.restore(found.arrays, str(draft.path))
    except BadFile:  # of an older form of the solver, which only this one would notice
        return None
    return found.value
