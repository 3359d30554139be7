"""Time and memory of one response, computed in a separate process, so that the peak memory is that
of the game, its forms and the solver alone.

Player 1 responds to uniform play. Kernels are compiled before the clock starts, at the loading of
the game. The gap is the exploitability of the restricted game over that of uniform play in it,
where every run starts. It cannot be measured without a tree; what the response wins from the model
is then measured by play. A run ends at the gap or after so many visited nodes, so that all but its
seconds and memory is the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from counterplay.app.reproduction.harness.judge import Z
from counterplay.core.base.errors import CounterplayError, TooLarge
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.processes import DIED, DONE, SPAWN, ProcessPool, Work
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.base import Solver

P = 0.75
GAP = 0.05  # of the gap of uniform play
GROWTH = 0.1  # iterations between two measurements, as a share of those so far
HANDS = 40_000  # played to measure a response without a tree
WARM_UP_GAME = "goofspiel(3)"  # its kernels are those of every game
POLL_SECONDS = 0.1
KILLED = -9  # exit code of a process that ran out of memory
REACHED, STOPPED = "target", "nodes"
NO_TREE, OUT_OF_MEMORY = "too large for a tree", "out of memory"


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
    nodes: float  # visited at most
    iterations: int = 0


def measure_in_process(tasks: Sequence[SizeTask], progress: ProgressCallback) -> list[SizeRun]:
    """`measure` of each task, all in one new process."""
    with ProcessPool(_measuring, 1, method=SPAWN) as pool:
        pool.submit(tasks[0].game, list(tasks))
        while not (reports := pool.wait(POLL_SECONDS)):
            progress(0.0, tasks[0].game)
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
    _engine(_game(task._replace(game=WARM_UP_GAME)), task).step(1)
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


def _engine(game: Game, task: SizeTask) -> Solver:
    model = Strategy.uniform(game)
    return ResponseSolver(game, model, 0, P, task.algorithm, task.engine, 1).engine


def _measured(game: Game, task: SizeTask, begun: float) -> SizeRun:
    engine, listed = _engine(game, task), game.capabilities.listed
    built = time.perf_counter() - begun
    start = engine.measure(Strategy.uniform(game).probabilities) if listed else 1.0
    start = start or 1.0  # uniform play is an equilibrium
    note, gap, seconds = STOPPED, None, 0.0
    while engine.nodes_touched < task.nodes and note == STOPPED:
        count = max(int(GROWTH * engine.iterations), 1)
        if task.iterations:
            count = min(count, task.iterations - engine.iterations)
        before = time.perf_counter()
        engine.step(count)
        seconds += time.perf_counter() - before
        gap = engine.measure(engine.policy()) / start if listed else None
        if engine.iterations == task.iterations or (gap is not None and gap <= GAP):
            note = REACHED
    peak, nodes = peak_gb(), game.n_nodes if listed else None
    won = (None, None) if listed else _won(game, engine)
    return SizeRun(note, seconds, engine.iterations, gap, built, peak, nodes, *won)


def _won(game: Game, engine: Solver) -> tuple[float, float]:
    """What the response wins from the model in its seat, above what the model wins there, and half
    of the 95% interval. Both seats are played, the other one as the model does, so it is twice the
    mean."""
    from counterplay.core.match.play import play_match  # after the peak has been taken

    both, model = engine.strategy().for_player(None), Strategy.uniform(game)
    match = play_match(game, both, model, HANDS, 1, processes=1, luck_adjusted=False)
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
