"""Solvers that play histories. Who plays them, one thread or several, is the team's affair
(`teams.py`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.access import chance_buffer, chance_on
from counterplay.forms.found_form import scratch_of
from counterplay.forms.game import Game
from counterplay.forms.keyed import KeyedStrategy, first_slots
from counterplay.forms.strategy import Strategy
from counterplay.kernels.lines import all_apart, apart
from counterplay.kernels.policy import normalise
from counterplay.kernels.rng import new_state
from counterplay.solvers.base import probability
from counterplay.solvers.by_key import ByKey
from counterplay.solvers.growing import check_rules, rules_in
from counterplay.solvers.meetings import MeetingSolver
from counterplay.solvers.problem import Problem
from counterplay.solvers.teams import (
    EARLY,
    TEAM_OPTIONS,
    Alone,
    Short,
    Team,
    Threads,
    Worker,
    check_threads,
)


class SamplingSolver(MeetingSolver):
    """A solver that plays histories of a form (the game's own, or one transformed). `threads`: how
    many play at once."""

    early: ClassVar[float] = EARLY  # see `teams.py`
    finds: ClassVar[bool] = False  # whether its kernel plays games that find their information sets

    def __init__(
        self,
        game: Game,
        seed: int,
        problem: Problem | None,
        threads: int = 1,
        at_once: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(game, seed, problem, **options)
        if check_threads(threads, game) > 1:
            self.options = {**options, "threads": threads}
        self._form = self.problem.form
        self._growing = None
        self._at_once = at_once
        if threads > 1:
            self._check_alone()
        if game.abilities.keyed:
            check_finds(self)
            shape = rules_in(self._form).shape
            self._growing = ByKey(shape, self._new_tables, self.by_set, at_once)
        workers = [self.new_worker(k) for k in range(threads)]
        self.rng = workers[0].rng
        self._team = self._new_team(workers)

    @classmethod
    def plays(cls, game: Game) -> bool:
        return cls.finds or not game.abilities.keyed

    def new_worker(self, k: int) -> Worker:
        """The k-th, at iteration 0."""
        buffer = apart(self._new_buffer())
        worker = Worker(
            all_apart(
                self._new_tables(self.game.n_infosets, self.game.n_slots)
                if self._growing is None
                else self._growing.first_tables()
            ),
            buffer,
            self._new_chance(buffer),
            self._scratch_on(buffer),
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
    def growing(self) -> ByKey | None:
        """Who makes room, where information sets are found while playing."""
        return self._growing

    @property
    def plain_options(self) -> dict[str, Any]:
        """Without who plays."""
        return {name: self.options[name] for name in self.options if name not in TEAM_OPTIONS}

    def join(self, team: Team, options: dict[str, Any]) -> None:
        """Before the first iteration: have others play. `options`: of the team."""
        self._check_alone()
        self.options = {**self.plain_options, **options}
        self._team = team
        self.rng = team.workers[0].rng

    def _check_alone(self) -> None:
        """`BadParameter` where histories wait whose information sets get other numbers when tables
        are put together by key."""
        if self._at_once > 1 and self.game.abilities.keyed:
            raise BadParameter(
                f"{self.game.name} is played without a tree, and there histories are played in "
                f"step by one thread only; leave out together"
            )

    def _new_buffer(self) -> np.ndarray:
        """What a worker needs to go on besides its tables and random numbers; as files keep it."""
        found: np.ndarray = chance_buffer(self._form)
        return found

    def _scratch_on(self, buffer: np.ndarray) -> Any:
        """Arrays a kernel needs besides the tables, apart from all others or on the buffer."""
        return all_apart(self._new_scratch())

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

    def _run(self, n: int) -> int:
        played = self._team.run(self, self.iterations, n)
        if played.short:
            self.counters += played.iterations, played.nodes
            raise self.no_room()
        return played.nodes

    @property
    def copies(self) -> list[Any]:
        """The tables of each thread that has played."""
        self._team.fetch()
        return [worker.tables for worker in self._team.playing]

    def tables(self) -> dict[str, np.ndarray]:
        common = {} if self._growing is None else {"common": self._common}
        return self._team.tables(self) | common

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        if self._growing is not None:
            saved = self._restore_found(self._growing, saved, source)
        super().restore(self._updated(saved) if "batch" in saved else saved, source)
        self._team.changed()

    def _restore_found(
        self, growing: ByKey, saved: Mapping[str, np.ndarray], source: str
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
        shares = np.empty(len(weights))
        normalise(weights, first_slots(counts), shares)
        for array in (keys, counts, shares):
            array.setflags(write=False)  # his from now on
        return self.problem.complete(KeyedStrategy(self.game, keys, counts, shares))

    def change_problem(self, problem: Problem) -> None:
        self._team.change_form(problem.form)
        self.problem, self._form = problem, problem.form

    def discount(self, factor: float) -> None:
        share = probability(factor, "factor")
        self._team.settle()
        for worker in self._team.workers:
            self._discount(worker, share)
        self._team.changed()

    def _discount(self, worker: Worker, share: float) -> None:
        worker.tables.regret[:] *= share
        worker.tables.strategy_sum[:] *= share


def check_finds(solver: SamplingSolver) -> None:
    """`BadParameter` where a solver needs a list of information sets and the game has none."""
    if not solver.finds:
        raise BadParameter(
            f"{solver.name} needs all information sets before it plays, and those of "
            f"{solver.game.name} are found while playing; use another algorithm"
        )
