"""Time and memory of one response, computed in a separate process, so that the peak memory is that
of the game, its forms and the solver alone.

Player 1 responds to uniform play. Kernels are compiled before the clock starts, at the loading of
the game. The gap is the exploitability of the restricted game over the range of payoffs. It cannot
be measured without a tree; what the response wins from the model is then measured by play.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.judge import Z
from counterplay.core.base.errors import CounterplayError, TooLarge
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.processes import DIED, DONE, SPAWN, ProcessPool, Work
from counterplay.core.responses.respond import respond
from counterplay.core.responses.result import Response

P = 0.75
GAP = 0.02  # of the range of payoffs
HANDS = 40_000  # played to measure a response without a tree
WARM_UP_GAME = "goofspiel(3)"  # its kernels are those of every game
POLL_SECONDS = 0.1
KILLED = -9  # exit code of a process that ran out of memory
REACHED, NO_TREE, OUT_OF_MEMORY = "target", "too large for a tree", "out of memory"


class SizeRun(NamedTuple):
    """Result of one run. None: not measured."""

    note: str  # why it stopped, or did not start
    seconds: float | None = None  # of solving
    iterations: int | None = None
    gap: float | None = None
    build_seconds: float | None = None  # before the first iteration
    peak_gb: float | None = None
    nodes: int | None = None  # of the tree
    won: float | None = None  # from the model, above what the model wins there; without a tree
    won_error: float | None = None  # half of its 95% interval

    @property
    def reached(self) -> bool:
        return self.note == REACHED

    @property
    def total(self) -> float | None:
        """Seconds of building and solving; None: it did not run."""
        if self.seconds is None or self.build_seconds is None:
            return None
        return self.seconds + self.build_seconds


class SizeTask(NamedTuple):
    """One run to measure. `iterations`: those that reach the gap, where it cannot be measured; 0:
    not known."""

    game: str
    algorithm: str
    engine: str
    tree: bool
    seconds: float
    iterations: int = 0


def measure_in_process(tasks: Sequence[SizeTask], progress: ProgressCallback) -> list[SizeRun]:
    """`measure` of each task, all in one new process."""
    limit, begun = sum(task.seconds for task in tasks) + 1.0, time.monotonic()
    with ProcessPool(_measuring, 1, method=SPAWN) as pool:
        pool.submit(tasks[0].game, list(tasks))
        while not (reports := pool.wait(POLL_SECONDS)):
            progress(min((time.monotonic() - begun) / limit, 1.0), tasks[0].game)
    game, kind, value = reports[0]
    if kind == DIED and value == KILLED:
        return [SizeRun(OUT_OF_MEMORY) for _ in tasks]
    if kind != DONE:
        raise CounterplayError(f"{game}: the measuring process failed: {value}")
    return [SizeRun(*fields) for fields in value]


def _measuring() -> Work:
    return lambda tasks, context: [measure(task) for task in tasks]


def measure(task: SizeTask) -> SizeRun:
    """Time and memory of a task in this process."""
    _solve(_game(task._replace(game=WARM_UP_GAME)), task, {"iterations": 1})
    begun = time.perf_counter()
    try:
        game = _game(task)
        if task.tree and not game.capabilities.listed:
            return SizeRun(NO_TREE)
        return _measured(game, task, begun)
    except (MemoryError, TooLarge):
        return SizeRun(OUT_OF_MEMORY)


def _game(task: SizeTask) -> Game:
    game = load(task.game)
    return (
        game if task.tree or not game.capabilities.listed else load(task.game[:-1] + ",tree=False)")
    )


def _measured(game: Game, task: SizeTask, begun: float) -> SizeRun:
    span, nodes = 1.0, None
    limits: dict[str, Any] = {"seconds": task.seconds}
    if task.iterations:
        limits["iterations"] = task.iterations
    if game.capabilities.listed:
        span, nodes = float(game.tree.payoff.max() - game.tree.payoff.min()), game.n_nodes
        limits["target"] = GAP * span
        if task.algorithm == "rnr":
            _ = game.sequence_form
    built = time.perf_counter() - begun
    response = _solve(game, task, limits)
    run, peak = response.runs[0], peak_gb()
    gap = run.exploitability / span if game.capabilities.listed else None
    won = (None, None) if game.capabilities.listed else _won(game, response)
    reached = run.stopped_by == "iterations" or (gap is not None and gap <= GAP)
    note = REACHED if reached else run.stopped_by
    return SizeRun(note, run.seconds, run.iterations, gap, built, peak, nodes, *won)


def _solve(game: Game, task: SizeTask, limits: dict[str, Any]) -> Response:
    model = Strategy.uniform(game)
    return respond(game, model, 0, P, task.algorithm, engine=task.engine, seed=1, **limits)


def _won(game: Game, response: Response) -> tuple[float, float]:
    """What the response wins from the model in its seat, above what the model wins there, and half
    of the 95% interval. Both seats are played, the other one as the model does, so it is twice the
    mean."""
    from counterplay.core.match.play import play_match  # after the peak has been taken

    both = response.strategy.for_player(None)
    match = play_match(game, both, response.model, HANDS, 1, processes=1, luck_adjusted=False)
    return 2 * match.mean, 2 * Z * match.standard_error


def peak_gb() -> float | None:
    """Peak memory of this process. On Linux `getrusage` includes the parent's peak, so the kernel's
    own count is read there."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e9
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9  # bytes, on macOS
