"""`solve` and `resume`: running a solver up to a number of iterations, a time limit or a target
exploitability, with measurements and checkpoints."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted, OutOfMemory
from counterplay.core.base.progress import progress_bar
from counterplay.core.base.version import version as version
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game, recorded_game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import clock
from counterplay.core.parallel.jobs import Stop, stop_signals
from counterplay.core.solvers import folder as run_folder
from counterplay.core.solvers.algorithms import default_solver, new_solver
from counterplay.core.solvers.base import Solver
from counterplay.core.solvers.folder import Measurement
from counterplay.core.solvers.limits import Limits as Limits
from counterplay.core.solvers.limits import Progress as Progress
from counterplay.core.solvers.limits import check_target as check_target
from counterplay.core.solvers.limits import default_limits

#: A kernel returns to Python about this often, for progress, Ctrl-C and checkpoints.
CHUNK_SECONDS = 0.4
CHECKPOINT_SECONDS = 15.0
CHECKPOINT_SHARE = 0.05  # of the time that writing checkpoints may take
METRICS_SECONDS = 1.0  # between two writings of `metrics.csv`, which others may watch
#: Without `measure_every`, measurements are spaced by this factor, and take at most this share of
#: the time.
MEASURE_FACTOR = 1.25
MEASURE_SHARE = 0.1
#: Mean visits of an information set below which what a sampling solver has learnt means nothing:
#: its strategy is nearly uniform, or that of the first samples.
FEW_VISITS = 10.0


@dataclass(frozen=True)
class Run(Tabular):
    """The result of `solve`. `run.plot()` draws its measurements."""

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
    started_at: int  # iterations at the start of this call; 0 unless resumed
    target: float | None  # the exploitability at which to stop, if any
    _solver: Solver = field(repr=False)

    @property
    def exploitability(self) -> float:
        """The last one measured (b1 + b2), NaN if none."""
        return self.metrics[-1].exploitability if self.metrics else math.nan

    @property
    def current_strategy(self) -> Strategy:
        """The last iterate, where `strategy` is the average; of solvers of the CFR family."""
        return self._solver.current_strategy()

    @property
    def regrets(self) -> np.ndarray:
        """float64[slots]: the cumulative counterfactual regrets, slot by slot of `strategy`; of
        solvers of the CFR family."""
        return self._solver.regrets()

    @property
    def visits(self) -> float:
        """How often the solver has visited an information set, on average: of all, or of those
        discovered. The iterations of a solver that traverses the whole game."""
        return self._solver.visits

    @property
    def too_few(self) -> str | None:
        """A sentence if `visits` are too few for the strategy to mean anything; else None."""
        if not self._solver.sampled or self.visits >= FEW_VISITS:
            return None
        return (
            f"too few iterations: {self.visits:.2g} visits of an information set on average, and "
            f"below {FEW_VISITS:g} the strategy is nearly that of a random player"
        )

    def columns(self) -> Columns:
        """One row per measurement."""
        return {name: [getattr(row, name) for row in self.metrics] for name in Measurement._fields}

    def _figure(self) -> Any:
        return draw_runs([self], f"{self.game.name}, {self.algorithm}")

    def _repr_html_(self) -> str:
        note = f"{self.iterations:,} iterations in {self.seconds:.3g} s"
        parts = [display.heading(f"{self.game.name}, {self.algorithm}", note)]
        if self.too_few is not None:
            parts.append(display.heading("", self.too_few))
        measured = _measured(self)
        if measured:
            last = measured[-1].exploitability
            parts.append(display.facts({"exploitability (b1 + b2)": last}))
        if len(measured) > 1:
            parts.append(display.picture(self._figure(), "exploitability against iterations"))
        return "".join([*parts, self.strategy._repr_html_()])

    def save(self, path: str | Path) -> None:
        """Writes a run folder for `resume`, or for `resume_response` if it is a response's."""
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
    on_chunk: Callable[[Progress], Any] | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> Run:
    """Computes an equilibrium of `game` until `iterations`, `seconds` or an exploitability of at
    most `target` is reached; without any of them until an exploitability of 0.01% of the payoff
    range (`run.target`), or for a minute.

    `algorithm` None: `cfr+` for two players, sampling where the game is too large for that
    (`run.algorithm` says which). `measure_every`: iterations between two measurements of
    exploitability (default: increasing). `callback` is called after each measurement, `on_chunk`
    several times a second; either stops the run by returning True. `folder`: for checkpoints, from
    which `resume` continues bit for bit. Other options belong to the algorithm. Ctrl-C raises
    `Interrupted`, whose `result` is the run so far.
    """
    limits = Limits(iterations, seconds, target, measure_every, callback, on_chunk)
    game = as_game(game)
    _warn_without_guarantee(game)
    solver = new_solver(game, algorithm or default_solver(game), seed, options)
    if solver.sampled and game.forgets:
        warnings.warn(
            f"{game.name} is without perfect recall, at information set {game.forgets}: "
            f"{solver.name} need not converge to an equilibrium, and the exploitability is not "
            f"measured",
            stacklevel=2,
        )
    check_target(solver.game, target)
    return run_solver(solver, default_limits(solver.game, limits), folder)


def _warn_without_guarantee(game: Game) -> None:
    """Regret minimisation converges to equilibria in two-player zero-sum games only."""
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
    """`solve` for an existing solver, such as one of a restricted game."""
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
    on_chunk: Callable[[Progress], Any] | None = None,
    game: Game | None = None,
) -> Run:
    """Continues the run in `folder` until it has `iterations` or `seconds` in total, or reaches
    `target`.

    A run that has reached its limit is returned as it is: `started_at` equals `iterations`. `game`
    is needed only for a user-defined game.
    """
    limits = Limits(iterations, seconds, target, measure_every, callback, on_chunk)
    path = Path(folder)
    config = run_folder.read_config(path)
    if "response" in config:
        raise BadParameter(f"{path} holds a response; continue it with resume_response")
    solver = new_solver(
        game or recorded_game(config["game"], path),
        config["algorithm"],
        config["seed"],
        config["options"],
    )
    check_target(solver.game, target)
    return resume_solver(path, solver, default_limits(solver.game, limits))


def resume_solver(folder: Path, solver: Solver, limits: Limits) -> Run:
    """`resume` for a solver that is as at the start of the run in `folder`."""
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
        self.used = used  # seconds of solving, without those of measuring
        self.measuring = 0.0
        self.started_at = solver.iterations
        self.chunk = 1
        self.save_every, self.saved_at = CHECKPOINT_SECONDS, time.monotonic()
        self.metrics_at = self.saved_at
        last = metrics[-1].iterations if metrics else 0
        self.next_measure = self._after(max(last, solver.iterations))

    def run(self) -> Run:
        limits = self.limits
        bar = progress_bar(limits.on_chunk, iterations=limits.iterations, seconds=limits.seconds)
        with stop_signals() as stop, bar as self.on_chunk:
            self.solver.step(0)  # compile before the clock starts
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
            self.limits.target,
            solver,
        )

    def _on_target(self) -> bool:
        """Whether the last measurement is of the present strategy and reaches the target."""
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
            if self.on_chunk(self._progress()) is True:
                return "callback"
            if self.folder is not None and time.monotonic() - self.saved_at > self.save_every:
                self._save()
            elif self.folder is not None and time.monotonic() - self.metrics_at > METRICS_SECONDS:
                run_folder.write_metrics(self.folder, self.metrics)
                self.metrics_at = time.monotonic()

    def _step(self) -> None:
        """Runs one chunk of iterations, up to the next measurement or limit at most."""
        done = self.solver.iterations
        n = min(self.chunk, self.next_measure - done)
        if self.limits.measure_every is None:  # as many iterations for every thread
            n += -n % self.solver.stride
        if self.limits.iterations is not None:
            n = min(n, self.limits.iterations - done)
        before = clock()
        self.solver.step(n)
        took = clock() - before
        self.used += took
        aim = CHUNK_SECONDS
        if self.limits.seconds is not None:
            aim = min(aim, max(self.limits.seconds - self.used, 0.0))
        if n >= self.chunk or took > aim:
            growth = aim / max(took, 1e-9) * n / self.chunk
            self.chunk = max(1, int(self.chunk * min(growth, 4.0)))

    def _after(self, iterations: int) -> int:
        """The iteration of the next measurement."""
        every = self.limits.measure_every
        if every is not None:
            return (iterations // every + 1) * every
        return max(iterations + 1, int(iterations * MEASURE_FACTOR), 10)

    def _measure(self, final: bool = False) -> None:
        must = final or self.limits.measure_every is not None or self.limits.target is not None
        epsilon = math.nan
        if (must or self.measuring <= MEASURE_SHARE * self.used) and self.solver.game.measurable:
            before = clock()
            epsilon = self.solver.exploitability()
            self.measuring += clock() - before
        self.metrics.append(
            Measurement(self.solver.iterations, self.used, self.solver.nodes_touched, epsilon)
        )

    def _progress(self) -> Progress:
        solver, latest = self.solver, (row.exploitability for row in reversed(self.metrics))
        epsilon = next((value for value in latest if not math.isnan(value)), math.nan)
        return Progress(solver.iterations, self.used, solver.nodes_touched, epsilon, solver)

    def _save(self) -> None:
        if self.folder is not None:
            before = time.monotonic()
            try:
                run_folder.save_progress(self.folder, self.solver, self.used, self.metrics)
            except CounterplayError as error:
                raise CounterplayError(
                    f"{error}; the last good checkpoint is still in {self.folder}"
                ) from None
            self.saved_at = self.metrics_at = time.monotonic()
            self.save_every = max(CHECKPOINT_SECONDS, (self.saved_at - before) / CHECKPOINT_SHARE)


def _measured(run: Any) -> list[Measurement]:
    """Returns the measurements of a run that have an exploitability."""
    return [row for row in run.metrics if not math.isnan(row.exploitability)]


def draw_runs(runs: list[Any], title: str, name: str = "exploitability (b1 + b2)") -> Any:
    """A figure of exploitability against iterations; of the seconds if it was not measured."""
    from counterplay.core.base.plotting import curve, new_figure

    figure, axes = new_figure(1, 1, 6.5, 4.0)
    axis = axes[0, 0]
    for k, run in enumerate(runs):
        rows, label = _measured(run), f"{run.algorithm}, seed {run.seed}"
        if rows:
            curve(axis, [r.iterations for r in rows], [r.exploitability for r in rows], label, k)
        else:
            rows, name = run.metrics, "seconds"
            curve(axis, [r.iterations for r in rows], [r.seconds for r in rows], label, k)
    if name != "seconds" and all(r.exploitability > 0 for run in runs for r in _measured(run)):
        axis.set(yscale="log")
    axis.set(xscale="log", xlabel="iterations", ylabel=name, title=title)
    axis.legend(frameon=False, fontsize=8)
    return figure
