"""One response in a process of its own, so that its peak memory is that of the game, its forms and
the solver, and nobody else's.

Player 1 responds to uniform play. Kernels are compiled outside the clock, which starts where the
game is loaded. The gap is the exploitability of the restricted game over the range of payoffs.
Where there is no tree it cannot be measured; what can is what the response wins from the model, by
play.
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
HANDS = 40_000  # in which a response without a tree is measured
WARM = "goofspiel(3)"  # its kernels are those of every game
LOOK_SECONDS = 0.1
KILLED = -9  # as systems do where memory ends
REACHED, NO_TREE, NO_ROOM = "target", "too large for a tree", "out of memory"


class SizeRun(NamedTuple):
    """What one run came to. None: not measured."""

    note: str  # what stopped it, or why it did not start
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
        """Seconds with those of building; None: it never ran."""
        if self.seconds is None or self.build_seconds is None:
            return None
        return self.seconds + self.build_seconds


class Task(NamedTuple):
    """`iterations`: that reach the gap, where it cannot be measured; 0: nobody knows."""

    game: str
    algorithm: str
    engine: str
    tree: bool
    seconds: float
    iterations: int = 0


def apart(tasks: Sequence[Task], progress: ProgressCallback) -> list[SizeRun]:
    """`measure` of each in one process, which ends with this one, or when `progress` says stop."""
    limit, begun = sum(task.seconds for task in tasks) + 1.0, time.monotonic()
    with ProcessPool(_measuring, 1, method=SPAWN) as pool:
        pool.submit(tasks[0].game, list(tasks))
        while not (reports := pool.wait(LOOK_SECONDS)):
            progress(min((time.monotonic() - begun) / limit, 1.0), tasks[0].game)
    game, kind, value = reports[0]
    if kind == DIED and value == KILLED:
        return [SizeRun(NO_ROOM) for _ in tasks]
    if kind != DONE:
        raise CounterplayError(f"{game}: a process of its own failed: {value}")
    return [SizeRun(*one) for one in value]


def _measuring() -> Work:
    return lambda tasks, context: [measure(task) for task in tasks]


def measure(task: Task) -> SizeRun:
    """In this process."""
    _solve(_game(task._replace(game=WARM)), task, {"iterations": 1})
    begun = time.perf_counter()
    try:
        game = _game(task)
        if task.tree and not game.capabilities.listed:
            return SizeRun(NO_TREE)
        return _measured(game, task, begun)
    except (MemoryError, TooLarge):
        return SizeRun(NO_ROOM)


def _game(task: Task) -> Game:
    game = load(task.game)
    return (
        game if task.tree or not game.capabilities.listed else load(task.game[:-1] + ",tree=False)")
    )


def _measured(game: Game, task: Task, begun: float) -> SizeRun:
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
    there = run.stopped_by == "iterations" or (gap is not None and gap <= GAP)
    note = REACHED if there else run.stopped_by
    return SizeRun(note, run.seconds, run.iterations, gap, built, peak, nodes, *won)


def _solve(game: Game, task: Task, limits: dict[str, Any]) -> Response:
    model = Strategy.uniform(game)
    return respond(game, model, 0, P, task.algorithm, engine=task.engine, seed=1, **limits)


def _won(game: Game, response: Response) -> tuple[float, float]:
    """What the response wins in its seat above what the model wins there, from the model. It plays
    both seats, the other as the model does, so that is twice the mean."""
    from counterplay.core.match.play import play_match  # after the peak has been taken

    both = response.strategy.for_player(None)
    match = play_match(game, both, response.model, HANDS, 1, processes=1, luck_adjusted=False)
    return 2 * match.mean, 2 * Z * match.standard_error


def peak_gb() -> float | None:
    """The most memory this process has had. On Linux a process inherits what `getrusage` says from
    whoever started it, and the kernel's own count is its own."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e9
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9  # bytes, on macOS
