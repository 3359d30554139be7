"""Solvers that play histories. Who plays them, one thread or several, is the team's affair
(`teams.py`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from counterplay.forms.access import chance_buffer, chance_on
from counterplay.forms.game import Game
from counterplay.kernels.lines import all_apart, apart
from counterplay.kernels.rng import new_state
from counterplay.solvers.base import Solver, probability
from counterplay.solvers.exchange import ChangedRows
from counterplay.solvers.teams import (
    EARLY,
    TEAM_OPTIONS,
    Alone,
    Team,
    Threads,
    Worker,
    check_threads,
    mean_of,
    part_of,
)


class SamplingSolver(Solver):
    """A solver that plays histories of a form (the game's own, or one transformed).

    Play depends on `tables.regret`, which several threads put together; what else is in the tables
    each thread keeps for itself, and `weights` adds it up. An algorithm with other tables says
    otherwise. `threads`: how many play at once.
    """

    early: ClassVar[float] = EARLY  # see `teams.py`
    private: ClassVar[tuple[str, ...]] = ()  # tables that each worker keeps to itself

    def __init__(
        self, game: Game, seed: int, form: Any, tables: Any, threads: int = 1, **options: Any
    ) -> None:
        super().__init__(game, seed, **options)
        if check_threads(threads, game) > 1:
            self.options = {**options, "threads": threads}
        self._form = form if form is not None else game.form
        self._blank = tables
        workers = [self.new_worker(k) for k in range(threads)]
        self.rng = workers[0].rng
        self._team = self._new_team(workers)

    def new_worker(self, k: int) -> Worker:
        """The k-th, at iteration 0."""
        buffer = apart(chance_buffer(self._form))
        return Worker(
            all_apart(self._blank),
            buffer,
            chance_on(self._form, buffer),
            all_apart(self._new_scratch()),
            apart(new_state(self.seed, k)),
        )

    @property
    def form(self) -> Any:
        """What is played on."""
        return self._form

    @property
    def plain_options(self) -> dict[str, Any]:
        """Without who plays."""
        return {name: self.options[name] for name in self.options if name not in TEAM_OPTIONS}

    def join(self, team: Team, options: dict[str, Any]) -> None:
        """Before the first iteration: have others play. `options`: of the team."""
        self.options = {**self.plain_options, **options}
        self._team = team
        self.rng = team.workers[0].rng

    def _new_team(self, workers: list[Worker]) -> Team:
        return Alone(workers) if len(workers) == 1 else Threads(workers, self.game)

    @abstractmethod
    def _new_scratch(self) -> Any:
        """Arrays a kernel needs besides the tables."""

    @abstractmethod
    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        """n iterations numbered done + 1, done + 1 + stride, ..., every sample counting `scale`
        times; the nodes touched."""

    def room(self) -> Any:
        """float64[s]: for the mean of all copies' regrets."""
        return np.empty(self.game.n_slots)

    def put_together(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        regrets = tuple(tables.regret for tables in copies)
        mean_of(regrets, *part_of(len(mean), part, len(copies)), mean)

    def take_over(self, mean: Any, tables: Any) -> None:
        tables.regret[:] = mean

    def changes(self, base: Any, tables: Any) -> dict[str, np.ndarray]:
        """Planes (`exchange.py`) of what a worker found in a round that began at `base`."""
        columns = (tables.regret - base.regret, tables.strategy_sum)
        return {"slots": np.stack(columns, axis=1)}

    def absorb(self, base: Any, plane: str, found: ChangedRows, lanes: int) -> None:
        """Add what all `lanes` found together, in which every sample counts so many times."""
        base.regret[found.rows] += found.values[:, 0] / lanes
        base.strategy_sum[found.rows] += found.values[:, 1]

    def begin_round(self, base: Any, tables: Any) -> None:
        """A worker's tables, from those of a meeting."""
        for name in tables._fields:
            if name == "strategy_sum":
                tables.strategy_sum[:] = 0.0
            elif name not in self.private:
                getattr(tables, name)[...] = getattr(base, name)

    def hand_over(self, copies: tuple[Any, ...]) -> None:
        """Everything but strategy sums, which each thread keeps for itself."""
        for tables in copies[1:]:
            for name in tables._fields:
                if name != "strategy_sum":
                    getattr(tables, name)[:] = getattr(copies[0], name)

    def _run(self, n: int) -> int:
        return self._team.run(self, self.iterations, n)

    @property
    def copies(self) -> list[Any]:
        """The tables of each thread that has played."""
        self._team.fetch()
        return [worker.tables for worker in self._team.playing]

    def tables(self) -> dict[str, np.ndarray]:
        return self._team.tables()

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        super().restore(self._updated(saved) if "batch" in saved else saved, source)
        self._team.changed()

    def _updated(self, saved: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A checkpoint of 0.1.0 with several threads: the tables of the last meeting, and each
        thread's with its changes."""
        threads = len(self._team.workers)
        found = dict(saved)
        found["meeting"] = np.array([int(found["batch"][0]), 0])
        found["nodes"] = np.array([found["batch"][1]] + [0] * (threads - 1), dtype=np.int64)
        names = type(self._team.workers[0].tables)._fields
        for k in range(threads):
            self._scale_changes(found, str(k), threads)
            if k > 0 and "strategy_sum" in names:
                found[f"strategy_sum.{k}"] = found[f"strategy_sum.{k}"] - found["strategy_sum"]
        return found | {name: found[f"{name}.0"] for name in names}

    def _scale_changes(self, found: dict[str, np.ndarray], copy: str, threads: int) -> None:
        """What the thread `copy` learnt since the last meeting counts as often as there are
        threads."""
        base, mine = found["regret"], found[f"regret.{copy}"]
        found[f"regret.{copy}"] = base + threads * (mine - base)

    def weights(self) -> np.ndarray:
        first, *others = (tables.strategy_sum for tables in self.copies)
        summed: np.ndarray = sum(others, start=first) if others else first
        return summed

    def change_form(self, form: Any) -> None:
        self._team.change_form(form)
        self._form = form

    def fade(self, factor: float) -> None:
        share = probability(factor, "factor")
        self._team.settle()
        for worker in self._team.workers:
            self._fade(worker.tables, share)
        self._team.changed()

    def _fade(self, tables: Any, share: float) -> None:
        tables.regret[:] *= share
        tables.strategy_sum[:] *= share
