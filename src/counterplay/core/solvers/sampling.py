"""The base classes of solvers that sample histories.

A worker pool plays the iterations: one thread, several (`core/parallel/pool.py`), or remote workers
(`core/parallel/remote_pool.py`). `SynchronisedSolver` (`synchronised.py`) has what the workers
merge, `SamplingSolver` what an algorithm has to define.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.access import chance_buffer, chance_workspace
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy, first_slots
from counterplay.core.forms.infoset_table import PROBLEM
from counterplay.core.forms.rules_form import rules_workspace
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.cache_lines import cache_aligned, cache_aligned_fields
from counterplay.core.kernels.policy import normalise
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.pool import (
    EARLY,
    POOL_OPTIONS,
    SingleThread,
    TablesFull,
    ThreadPool,
    Worker,
    WorkerPool,
    check_threads,
)
from counterplay.core.solvers.base import Problem, probability
from counterplay.core.solvers.hash_tables import (
    HashTables,
    infosets_of,
    rules_in,
)
from counterplay.core.solvers.synchronised import SynchronisedSolver


class SamplingSolver(SynchronisedSolver):
    """A solver that samples histories of a form, the game's own or a transformed one. `at_once`:
    histories that each thread interleaves."""

    early: ClassVar[float] = EARLY  # see `core/parallel/pool.py`
    discovers: ClassVar[bool] = False  # plays games whose information sets are discovered

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
        self._hash_tables = None
        self._at_once = at_once
        if threads > 1:
            self._check_not_interleaved()
        if game.capabilities.discovered:
            check_discovers(self)
            shape = rules_in(self._form).shape
            self._hash_tables = HashTables(shape, self._new_tables, self.by_set, at_once)
        workers = [self.new_worker(k) for k in range(threads)]
        self.rng = workers[0].rng
        self._pool = self._new_pool(workers)

    @classmethod
    def plays(cls, game: Game) -> bool:
        return cls.discovers or not game.capabilities.discovered

    def new_worker(self, k: int) -> Worker:
        """Returns the k-th worker, at iteration 0."""
        buffer, hash_tables = cache_aligned(self._new_buffer()), self._hash_tables
        if hash_tables is None:
            tables = self._new_tables(self.game.n_infosets, self.game.n_slots)
        else:
            tables = hash_tables.first_tables()
        tables, rng = cache_aligned_fields(tables), cache_aligned(new_state(self.seed, k))
        worker = Worker(tables, buffer, self._new_chance(buffer), self._workspace_on(buffer), rng)
        if hash_tables is not None:
            hash_tables.begin(worker)
        return worker

    @property
    def form(self) -> Any:
        """The form whose histories are sampled."""
        return self._form

    @property
    def worker(self) -> Worker:
        """The first worker."""
        return self._pool.workers[0]

    @property
    def hash_tables(self) -> HashTables | None:
        """The growing tables of a game whose information sets are discovered; else None."""
        return self._hash_tables

    @property
    def plain_options(self) -> dict[str, Any]:
        """The options without those of the pool."""
        return {name: self.options[name] for name in self.options if name not in POOL_OPTIONS}

    def join(self, pool: WorkerPool, options: dict[str, Any]) -> None:
        """Replaces the pool before the first iteration. `options`: of the new pool."""
        self._check_not_interleaved()
        self.options = {**self.plain_options, **options}
        self._pool = pool
        self.rng = pool.workers[0].rng

    def _check_not_interleaved(self) -> None:
        """`BadParameter` for interleaved histories in a game whose information sets are discovered:
        merging tables would renumber those of pending histories."""
        if self._at_once > 1 and self.game.capabilities.discovered:
            raise BadParameter(
                f"{self.game.name} is played without a tree, and there histories are interleaved "
                f"by one thread only; leave out interleave"
            )

    def _new_buffer(self) -> np.ndarray:
        """Returns the saved state of a worker besides its tables and random numbers."""
        buffer: np.ndarray = chance_buffer(self._form)
        return buffer

    def _workspace_on(self, buffer: np.ndarray) -> Any:
        """Returns the kernel's workspace, on its own cache lines or on the buffer."""
        return cache_aligned_fields(self._new_workspace())

    def _new_chance(self, buffer: np.ndarray) -> Any:
        """Returns the workspace of the form, for one history or several interleaved ones."""
        if self._at_once > 1 and self._hash_tables is not None:
            shape = rules_in(self._form).shape
            return rules_workspace(shape, self._at_once * (shape.depth + 1))
        return chance_workspace(self._form, buffer)

    def _new_pool(self, workers: list[Worker]) -> WorkerPool:
        return SingleThread(workers) if len(workers) == 1 else ThreadPool(workers, self.game)

    @abstractmethod
    def _new_tables(self, infosets: int, slots: int) -> Any:
        """Returns the tables of iteration 0."""

    @abstractmethod
    def _new_workspace(self) -> Any:
        """Returns the kernel's arrays besides the tables."""

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        played, touched = self._play(worker, done, n, stride, scale)
        while self._hash_tables is not None:
            self.game.check_rules(int(infosets_of(worker).size[PROBLEM]))
            if played == n:
                break
            if not self._hash_tables.make_room(worker):
                raise TablesFull(played, touched)
            more, nodes = self._play(worker, done + played * stride, n - played, stride, scale)
            played, touched = played + more, touched + nodes
        return touched

    @abstractmethod
    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        """`play` until the tables are full: returns iterations played and nodes touched."""

    def _run(self, n: int) -> int:
        played = self._pool.run(self, self.iterations, n)
        if played.tables_full:
            self.counters += played.iterations, played.nodes
            raise self.no_room()
        return played.nodes

    @property
    def copies(self) -> list[Any]:
        """The tables of each thread that has played."""
        self._pool.fetch()
        return [worker.tables for worker in self._pool.playing]

    def tables(self) -> dict[str, np.ndarray]:
        common = {} if self._hash_tables is None else {"common": self._common}
        return self._pool.tables(self) | common

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        if self._hash_tables is not None:
            self._restore_tables(self._hash_tables, saved, source)
        super().restore(saved, source)
        self._pool.changed()

    def _restore_tables(
        self, hash_tables: HashTables, saved: Mapping[str, np.ndarray], source: str
    ) -> None:
        """Gives the tables the size of the saved ones, so that all arrays fit."""
        for k, worker in enumerate(self._pool.workers):
            suffix = "" if k == 0 else f".{k}"
            mine = {
                name.removesuffix(suffix): saved[name] for name in saved if name.endswith(suffix)
            }
            hash_tables.restore(worker, mine, source)
        self._pool.resize(saved)

    def weights(self) -> np.ndarray:
        return self.weights_of(self.copies)

    def weights_of(self, copies: list[Any]) -> np.ndarray:
        """Returns the policy before normalisation, from the tables of all threads."""
        first, *others = (tables.strategy_sum for tables in copies)
        summed: np.ndarray = sum(others, start=first) if others else first
        return summed

    def strategy(self) -> Strategy:
        if self._hash_tables is None:
            return super().strategy()
        keys, counts, copies = self._hash_tables.merged(self._pool.playing)
        learnt = self._discovered(keys, counts, np.asarray(self.weights_of(copies)))
        return self.problem.complete(learnt)

    def _discovered(self, keys: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> Strategy:
        """Returns the strategy of discovered information sets with these weights."""
        shares = np.empty(len(weights))
        normalise(weights, first_slots(counts), shares)
        for array in (keys, counts, shares):
            array.setflags(write=False)  # the strategy owns them now
        return HashStrategy(self.game, keys, counts, shares)

    def regrets(self) -> np.ndarray:
        hash_tables = self._hash_tables
        copies = self.copies if hash_tables is None else hash_tables.merged(self._pool.playing)[2]
        if "regret" not in copies[0]._fields:
            return super().regrets()
        mean: np.ndarray = np.mean([tables.regret for tables in copies], axis=0)
        return mean

    def current_strategy(self) -> Strategy:
        if self._hash_tables is None:
            return super().current_strategy()
        keys, counts, _ = self._hash_tables.merged(self._pool.playing)
        return self._discovered(keys, counts, np.maximum(self.regrets(), 0.0))

    def change_problem(self, problem: Problem) -> None:
        self._pool.change_form(problem.form)
        self.problem, self._form = problem, problem.form

    def change_form(self, form: Any) -> None:
        """`change_problem` for a remote worker, which has only the form."""
        self.change_problem(Problem(self.game, form))

    def discount(self, factor: float) -> None:
        share = probability(factor, "factor")
        self._pool.settle()
        for worker in self._pool.workers:
            self._discount(worker, share)
        self._pool.changed()

    def _discount(self, worker: Worker, share: float) -> None:
        worker.tables.regret[:] *= share
        worker.tables.strategy_sum[:] *= share


def check_discovers(solver: SamplingSolver) -> None:
    """`BadParameter` if a solver needs all information sets and the game discovers its own."""
    if not solver.discovers:
        raise BadParameter(
            f"{solver.name} needs all information sets before it plays, and those of "
            f"{solver.game.name} are discovered while playing; use another algorithm"
        )
