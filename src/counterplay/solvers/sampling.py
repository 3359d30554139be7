"""Solvers that play histories. Who plays them, one thread or several, is the team's affair
(`teams.py`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from counterplay.base.errors import BadParameter, OutOfRoom
from counterplay.forms.access import chance_buffer, chance_on
from counterplay.forms.found import sets_in, slots_in
from counterplay.forms.found_form import scratch_of
from counterplay.forms.game import Game
from counterplay.forms.keyed import KeyedStrategy
from counterplay.forms.strategy import Strategy
from counterplay.kernels.lines import all_apart, apart
from counterplay.kernels.policy import normalise
from counterplay.kernels.rng import new_state
from counterplay.solvers.base import Solver, probability
from counterplay.solvers.exchange import SLOTS, Bundle, ChangedRows, changed_rows
from counterplay.solvers.growing import Growing, check_rules, found_of, rules_in, with_own_found
from counterplay.solvers.teams import (
    EARLY,
    TEAM_OPTIONS,
    Alone,
    Short,
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
    by_set: ClassVar[tuple[str, ...]] = ()  # tables with an entry per information set, not slot
    private: ClassVar[tuple[str, ...]] = ()  # tables that each worker of a team apart keeps
    finds: ClassVar[bool] = False  # whether its kernel plays games that find their information sets

    def __init__(
        self, game: Game, seed: int, form: Any, threads: int = 1, at_once: int = 1, **options: Any
    ) -> None:
        super().__init__(game, seed, **options)
        if check_threads(threads, game) > 1:
            self.options = {**options, "threads": threads}
        self._form = form if form is not None else game.form
        self._growing: Growing | None = None
        self._at_once = at_once
        if game.abilities.keyed:
            check_finds(self)
            shape = rules_in(self._form).shape
            self._growing = Growing(shape, self._new_tables, self.by_set, at_once)
        # information sets and slots with one numbering in all copies, as of the last meeting
        self._common = np.zeros(2, dtype=np.int64)
        self._mean: Any = None
        workers = [self.new_worker(k) for k in range(threads)]
        self.rng = workers[0].rng
        self._team = self._new_team(workers)

    @classmethod
    def plays(cls, game: Game) -> bool:
        return cls.finds or not game.abilities.keyed

    def new_worker(self, k: int) -> Worker:
        """The k-th, at iteration 0."""
        buffer = apart(chance_buffer(self._form))
        worker = Worker(
            all_apart(
                self._new_tables(self.game.n_infosets, self.game.n_slots)
                if self._growing is None
                else self._growing.first_tables()
            ),
            buffer,
            self._new_chance(buffer),
            all_apart(self._new_scratch()),
            apart(new_state(self.seed, k)),
        )
        if self._growing is not None:
            self._growing.begin(worker)
        return worker

    @property
    def form(self) -> Any:
        """What is played on."""
        return self._form

    @property
    def growing(self) -> Growing | None:
        """Who makes room, where information sets are found while playing."""
        return self._growing

    @property
    def plain_options(self) -> dict[str, Any]:
        """Without who plays."""
        return {name: self.options[name] for name in self.options if name not in TEAM_OPTIONS}

    def join(self, team: Team, options: dict[str, Any]) -> None:
        """Before the first iteration: have others play. `options`: of the team."""
        self.options = {**self.plain_options, **options}
        self._team = team
        self.rng = team.workers[0].rng

    def _new_chance(self, buffer: np.ndarray) -> Any:
        """The scratch of one game, or of several that are played in step."""
        if self._at_once > 1 and self._growing is not None:
            shape = rules_in(self._form).shape
            return scratch_of(shape, self._at_once * (shape.depth + 1))
        return chance_on(self._form, buffer)

    def _new_team(self, workers: list[Worker]) -> Team:
        return Alone(workers) if len(workers) == 1 else Threads(workers, self.game)

    @abstractmethod
    def _new_tables(self, infosets: int, slots: int) -> Any:
        """Tables in which nothing is learnt yet."""

    @abstractmethod
    def _new_scratch(self) -> Any:
        """Arrays a kernel needs besides the tables."""

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        """n iterations numbered done + 1, done + 1 + stride, ..., every sample counting `scale`
        times; the nodes touched. Tables grow on the way; `Short` where memory does not last."""
        played, touched = self._play(worker, done, n, stride, scale)
        while self._growing is not None:
            check_rules(worker, self.game.name)
            if played == n:
                break
            if not self._growing.make_room(worker):
                raise Short(played, touched)
            more, nodes = self._play(worker, done + played * stride, n - played, stride, scale)
            played, touched = played + more, touched + nodes
        return touched

    @abstractmethod
    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        """The same without making room: iterations played, and nodes touched."""

    def infosets(self) -> int:
        if self._growing is None:
            return self.game.n_infosets
        return max(sets_in(found_of(self._team.workers[0])), 1)

    def unify(self) -> bool:
        if self._growing is None:
            return True
        if not self._growing.unify(self._team.workers, int(self._common[0])):
            return False
        self._note_common()
        return True

    def _note_common(self) -> None:
        found = found_of(self._team.workers[0])
        self._common[:] = sets_in(found), slots_in(found)

    def room(self) -> Any:
        """float64[s]: for the mean of all copies' regrets."""
        regret = self._team.workers[0].tables.regret
        if self._mean is None or self._mean.shape != regret.shape:
            self._mean = np.empty_like(regret)
        return self._mean

    @property
    def _used(self) -> tuple[int, int]:
        """Information sets and slots that a meeting puts together. (Whoever has gone on from it has
        found more.)"""
        if self._growing is None:
            return self.game.n_infosets, self.game.n_slots
        return int(self._common[0]), int(self._common[1])

    def put_together(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        regrets = tuple(tables.regret for tables in copies)
        mean_of(regrets, *part_of(self._used[1], part, len(copies)), mean)

    def take_over(self, mean: Any, tables: Any) -> None:
        used = self._used[1]
        tables.regret[:used] = mean[:used]

    def found_since(self, base: Worker, worker: Worker) -> Bundle:
        """What a worker found in a round that began at `base`, to be sent."""
        growing = self._growing
        before, new = (base.tables, None) if growing is None else growing.since(base, worker)
        planes = self.changes(before, self.used_tables(worker))
        return Bundle({name: changed_rows(plane) for name, plane in planes.items()}, new)

    def changes(self, before: Any, tables: Any) -> dict[str, np.ndarray]:
        """Planes (`exchange.py`) of what is in tables that were as `before`."""
        columns = (tables.regret - before.regret, tables.strategy_sum)
        return {SLOTS: np.stack(columns, axis=1)}

    def absorb(self, base: Worker, found: Bundle, lanes: int) -> None:
        """Add what all `lanes` found together, in which every sample counts so many times.
        `OutOfRoom` where memory does not allow it, and then nothing is changed."""
        growing, new = self._growing, found.new
        if growing is not None and new is not None and not growing.admit(base, new):
            raise self.no_room()
        for name, rows in found.planes.items():
            self._absorb(base, name, rows, lanes)

    def _absorb(self, base: Worker, plane: str, found: ChangedRows, lanes: int) -> None:
        base.tables.regret[found.rows] += found.values[:, 0] / lanes
        base.tables.strategy_sum[found.rows] += found.values[:, 1]

    def begin_round(self, base: Worker, worker: Worker, keep: bool = True) -> None:
        """A worker's tables, from those of a meeting. `keep`: what is private it has."""
        names = self.private if keep else ()
        if self._growing is not None and not self._growing.follow(base, worker, names):
            raise self.no_room()
        for name in worker.tables._fields:
            if name == "strategy_sum":
                worker.tables.strategy_sum[:] = 0.0
            elif name not in self.private:
                getattr(worker.tables, name)[...] = getattr(base.tables, name)

    def hand_over(self, workers: list[Worker]) -> None:
        """Everything but strategy sums, which each thread keeps for itself."""
        if self._growing is not None:
            self._growing.hand_over(workers, "strategy_sum")
            self._note_common()
            return
        first = workers[0].tables
        for worker in workers[1:]:
            for name in first._fields:
                if name != "strategy_sum":
                    getattr(worker.tables, name)[:] = getattr(first, name)

    def _run(self, n: int) -> int:
        played = self._team.run(self, self.iterations, n)
        if played.short:
            self.counters += played.iterations, played.nodes
            raise self.no_room()
        return played.nodes

    def no_room(self) -> OutOfRoom:
        return OutOfRoom(
            f"{self.game.name}: {self.infosets():,} information sets are found, and there is "
            f"no memory for twice as many; all that was learnt in {self.iterations:,} "
            f"iterations is kept, and a run in a folder can be gone on with where there is more"
        )

    @property
    def copies(self) -> list[Any]:
        """The tables of each thread that has played."""
        self._team.fetch()
        return [worker.tables for worker in self._team.playing]

    def tables(self) -> dict[str, np.ndarray]:
        common = {} if self._growing is None else {"common": self._common}
        return self._team.tables(self) | common

    def used_tables(self, worker: Worker) -> Any:
        """A worker's tables without the room behind them."""
        return worker.tables if self._growing is None else self._growing.used_tables(worker)

    def copied(self, worker: Worker) -> Worker:
        """The same with tables of its own."""
        tables = type(worker.tables)(*(array.copy() for array in worker.tables))
        chance = worker.chance if self._growing is None else with_own_found(worker.chance)
        return replace(worker, tables=tables, chance=chance)

    def set_tables(self, worker: Worker, saved: Mapping[str, np.ndarray]) -> None:
        """From what `saved` gave."""
        if self._growing is not None:
            self._growing.restore(worker, saved, self.game.name)
            return
        for name, array in saved.items():
            getattr(worker.tables, name)[...] = array

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """What a file keeps of a worker's tables."""
        if self._growing is not None:
            return self._growing.saved(worker)
        return dict(worker.tables._asdict())

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        if self._growing is not None:
            saved = self._restore_found(self._growing, saved, source)
        super().restore(self._updated(saved) if "batch" in saved else saved, source)
        self._team.changed()

    def _restore_found(
        self, growing: Growing, saved: Mapping[str, np.ndarray], source: str
    ) -> Mapping[str, np.ndarray]:
        """Tables have the size of what was found; then everything fits as usual."""
        for k, worker in enumerate(self._team.workers):
            ending = "" if k == 0 else f".{k}"
            mine = {
                name.removesuffix(ending): array
                for name, array in saved.items()
                if name.endswith(ending)
            }
            growing.restore(worker, mine, source)
        self._team.expect(saved)
        return saved

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
        return self.weights_of(self.copies)

    def weights_of(self, copies: list[Any]) -> np.ndarray:
        """What normalises to the policy, of the tables of all threads."""
        first, *others = (tables.strategy_sum for tables in copies)
        summed: np.ndarray = sum(others, start=first) if others else first
        return summed

    def strategy(self) -> Strategy:
        if self._growing is None:
            return super().strategy()
        keys, counts, copies = self._growing.aligned(self._team.playing)
        weights = np.asarray(self.weights_of(copies))
        first = np.concatenate([[0], np.cumsum(counts)])
        shares = np.empty(len(weights))
        normalise(weights, first, shares)
        return self.complete(KeyedStrategy(self.game, keys, counts, shares))

    def change_form(self, form: Any) -> None:
        self._team.change_form(form)
        self._form = form

    def fade(self, factor: float) -> None:
        share = probability(factor, "factor")
        self._team.settle()
        for worker in self._team.workers:
            self._fade(worker, share)
        self._team.changed()

    def _fade(self, worker: Worker, share: float) -> None:
        worker.tables.regret[:] *= share
        worker.tables.strategy_sum[:] *= share


def check_finds(solver: SamplingSolver) -> None:
    """`BadParameter` where a solver needs a list of information sets and the game has none."""
    if not solver.finds:
        raise BadParameter(
            f"{solver.name} needs all information sets before it plays, and those of "
            f"{solver.game.name} are found while playing; use another algorithm"
        )
