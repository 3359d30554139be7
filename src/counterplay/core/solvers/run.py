"""`solve`: run a solver to an iteration count, a time limit or a target, measuring,
checkpointing and resuming on the way."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted, OutOfMemory
from counterplay.core.base.version import version as version
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game, recorded_game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.stopping import Stop, stop_signals
from counterplay.core.solvers import folder as run_folder
from counterplay.core.solvers.algorithms import default_solver, new_solver
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.display import RunShown
from counterplay.core.solvers.folder import Measurement
from counterplay.core.solvers.limits import Limits as Limits
from counterplay.core.solvers.limits import Progress as Progress
from counterplay.core.solvers.limits import check_limits as check_limits
from counterplay.core.solvers.limits import check_target as check_target

#: A kernel returns to Python about this often, for progress, Ctrl-C and checkpoints.
CHUNK_SECONDS = 0.4
CHECKPOINT_SECONDS = 15.0
METRICS_SECONDS = 1.0  # for whoever watches
#: Without `measure_every`, measurements are spaced by this factor, and take at most this share of
#: the time.
MEASURE_FACTOR = 1.25
MEASURE_SHARE = 0.1


@dataclass(frozen=True)
class Run(RunShown):
    """What `solve` gives back."""

    game: Game
    algorithm: str
    parameters: dict[str, Any]
    seed: int
    iterations: int
    seconds: float
    strategy: Strategy = field(repr=False)
    metrics: tuple[Measurement, ...] = field(repr=False)
    # "iterations", "seconds", "target", "callback", "solved", "memory" or "interrupted"
    stopped_by: str
    version: str
    started_at: int  # iterations there were when this call began; 0 unless resumed
    _solver: Solver = field(repr=False)

    @property
    def exploitability(self) -> float:
        """The last one measured (b1 + b2), NaN if none."""
        return self.metrics[-1].exploitability if self.metrics else math.nan

    def save(self, path: str | Path) -> None:
        """Write a run folder to go on from by `resume`, or by `resume_response` where it is a
        response's."""
        folder = Path(path)
        run_folder.create(folder, self._solver, self.version)
        run_folder.save_progress(folder, self._solver, self.seconds, list(self.metrics))


def solve(
    game: Game | str,
    algorithm: str | None = None,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    seed: int = 0,
    measure_every: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    on_chunk: Callable[[Progress], None] | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> Run:
    """Look for an equilibrium of `game` until `iterations`, `seconds` or an exploitability of at
    most `target` is reached.

    `algorithm` None: `cfr+` for two players, sampling where the game is too large for that
    (`run.algorithm` says which). `measure_every`: measure exploitability every so many iterations
    (default: ever more seldom). `callback` is called after each measurement and stops the run by
    returning True; `on_chunk` is called several times a second. `folder`: keep checkpoints there;
    `resume` goes on from them, bit for bit. Other options belong to the algorithm. Ctrl-C raises
    `Interrupted`, whose `result` is the run so far.
    """
    limits = check_limits(iterations, seconds, target, measure_every, callback, on_chunk)
    game = as_game(game)
    _warn_of_no_guarantee(game)
    solver = new_solver(game, algorithm or default_solver(game), seed, options)
    check_target(solver.game, target)
    return run_solver(solver, limits, folder)


def _warn_of_no_guarantee(game: Game) -> None:
    """Regret matching and its kin converge to equilibria in two-player zero-sum games."""
    if game.n_players > 2:
        why = f"has {game.n_players} players"
    elif game.n_players == 2 and game.capabilities.listed and not game.zero_sum:
        why = "is not zero-sum"
    else:
        return
    warnings.warn(
        f"{game.name} {why}: convergence to an equilibrium is not guaranteed, only that of each "
        f"player's regret; look at the exploitability, the sum of gains by deviating",
        stacklevel=3,
    )


def run_solver(solver: Solver, limits: Limits, folder: str | Path | None = None) -> Run:
    """`solve` for a solver that is already made, such as one on a restricted game."""
    path = Path(folder) if folder is not None else None
    if path is not None:
        run_folder.create(path, solver, version())
    return _Loop(solver, limits, path, 0.0, []).run()


def resume(
    folder: str | Path,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    measure_every: int | None = None,
    callback: Callable[[Progress], Any] | None = None,
    on_chunk: Callable[[Progress], None] | None = None,
    game: Game | None = None,
) -> Run:
    """Go on with the run in `folder` until it has `iterations` or `seconds` in total, or reaches
    `target`.

    A run that is there already is given back as it is: `started_at` equals `iterations`. `game` is
    needed only for a game of your own.
    """
    limits = check_limits(iterations, seconds, target, measure_every, callback, on_chunk)
    path = Path(folder)
    config = run_folder.read_config(path)
    if "response" in config:
        raise BadParameter(f"{path} holds a response; go on with resume_response")
    solver = new_solver(
        game or recorded_game(config["game"], path),
        config["algorithm"],
        config["seed"],
        config["options"],
    )
    check_target(solver.game, target)
    return resume_solver(path, solver, limits)


def resume_solver(folder: Path, solver: Solver, limits: Limits) -> Run:
    """`resume` for a solver that is already made as it was at the start of the run in `folder`."""
    used, metrics = run_folder.restore(folder, solver)
    return _Loop(solver, limits, folder, used, metrics).run()


class _Loop:
    """One call of `solve` or `resume`."""

    def __init__(
        self,
        solver: Solver,
        limits: Limits,
        folder: Path | None,
        used: float,
        metrics: list[Measurement],
    ) -> None:
        self.solver, self.limits, self.folder, self.metrics = solver, limits, folder, metrics
        self.used = used  # seconds of solving, measuring left out
        self.measuring = 0.0
        self.started_at = solver.iterations
        self.chunk = 1
        self.saved_at = self.told_at = time.monotonic()
        last = metrics[-1].iterations if metrics else 0
        self.next_measure = self._after(max(last, solver.iterations))

    def run(self) -> Run:
        with stop_signals() as stop:
            self.solver.step(0)  # compile, outside the clock
            reason = "target" if self._on_target() else self._until_stopped(stop)
            if not self.metrics or self.metrics[-1].iterations < self.solver.iterations:
                self._measure(final=True)
            self._save()
        result = self._result(reason)
        if stop():
            raise Interrupted(result)
        return result

    def _result(self, reason: str) -> Run:
        solver = self.solver
        return Run(
            solver.game,
            solver.name,
            dict(solver.options),
            solver.seed,
            solver.iterations,
            self.used,
            solver.strategy(),
            tuple(self.metrics),
            reason,
            version(),
            self.started_at,
            solver,
        )

    def _on_target(self) -> bool:
        """Whether the target is reached, as far as it has been measured here."""
        last = self.metrics[-1] if self.metrics else None
        if last is None or self.limits.target is None or last.iterations < self.solver.iterations:
            return False
        return last.exploitability <= self.limits.target

    def _until_stopped(self, stop: Stop) -> str:
        limits = self.limits
        while True:
            if stop():
                return "interrupted"
            if self.solver.finished:
                return "solved"
            if limits.iterations is not None and self.solver.iterations >= limits.iterations:
                return "iterations"
            if limits.seconds is not None and self.used >= limits.seconds:
                return "seconds"
            try:
                self._step()
            except OutOfMemory as error:
                warnings.warn(str(error), stacklevel=2)
                return "memory"
            if self.solver.iterations >= self.next_measure:
                self._measure()
                self.next_measure = self._after(self.solver.iterations)
                if self._on_target():
                    return "target"
                if limits.callback is not None and limits.callback(self._progress()) is True:
                    return "callback"
            if limits.on_chunk is not None:
                limits.on_chunk(self._progress())
            if self.folder is not None and time.monotonic() - self.saved_at > CHECKPOINT_SECONDS:
                self._save()
            elif self.folder is not None and time.monotonic() - self.told_at > METRICS_SECONDS:
                run_folder.tell_metrics(self.folder, self.metrics)
                self.told_at = time.monotonic()

    def _step(self) -> None:
        """One chunk of iterations, not past the next measurement or limit."""
        done = self.solver.iterations
        n = min(self.chunk, self.next_measure - done)
        if self.limits.iterations is not None:
            n = min(n, self.limits.iterations - done)
        before = time.perf_counter()
        self.solver.step(n)
        took = time.perf_counter() - before
        self.used += took
        wanted = CHUNK_SECONDS
        if self.limits.seconds is not None:
            wanted = min(wanted, max(self.limits.seconds - self.used, 0.0))
        if n == self.chunk or took > wanted:
            growth = wanted / max(took, 1e-9) * n / self.chunk
            self.chunk = max(1, int(self.chunk * min(growth, 4.0)))

    def _after(self, iterations: int) -> int:
        """The iteration of the next measurement."""
        every = self.limits.measure_every
        if every is not None:
            return (iterations // every + 1) * every
        return max(iterations + 1, int(iterations * MEASURE_FACTOR), 10)

    def _measure(self, final: bool = False) -> None:
        wanted = final or self.limits.measure_every is not None or self.limits.target is not None
        epsilon = math.nan
        if (wanted or self.measuring <= MEASURE_SHARE * self.used) and self.solver.game.measurable:
            before = time.perf_counter()
            epsilon = self.solver.measure(self.solver.policy())
            self.measuring += time.perf_counter() - before
        self.metrics.append(
            Measurement(self.solver.iterations, self.used, self.solver.nodes_touched, epsilon)
        )

    def _progress(self) -> Progress:
        epsilon = next(
            (
                row.exploitability
                for row in reversed(self.metrics)
                if not math.isnan(row.exploitability)
            ),
            math.nan,
        )
        return Progress(
            self.solver.iterations, self.used, self.solver.nodes_touched, epsilon, self.solver
        )

    def _save(self) -> None:
        if self.folder is not None:
            try:
                run_folder.save_progress(self.folder, self.solver, self.used, self.metrics)
            except CounterplayError as error:
                raise CounterplayError(
                    f"{error}; the last good checkpoint is still in {self.folder}"
                ) from None
            self.saved_at = self.told_at = time.monotonic()
