"""The base class of solvers that sample histories.

A worker pool plays the iterations: one thread, several (`core/parallel/pool.py`), or remote workers
(`core/parallel/remote_pool.py`). At a synchronisation the workers merge `tables.regret`, on which
play depends; every worker has its own other tables. Algorithms with other tables override this.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, OutOfMemory, probability
from counterplay.core.forms.access import chance_buffer, chance_workspace
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy, first_slots
from counterplay.core.forms.infoset_table import PROBLEM, infoset_count, slot_count
from counterplay.core.forms.rules_form import rules_workspace
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.cache_lines import cache_aligned, cache_aligned_fields
from counterplay.core.kernels.policy import normalise
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.changes import SLOTS, ChangedRows, Changes, changed_rows
from counterplay.core.parallel.pool import (
    EARLY,
    POOL_OPTIONS,
    SingleThread,
    TablesFull,
    ThreadPool,
    Worker,
    WorkerPool,
    check_threads,
    mean_of,
    part_of,
)
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.hash_tables import (
    HashTables,
    infosets_of,
    rules_in,
    with_own_infosets,
)


class SamplingTables(NamedTuple):
    """The tables of external sampling and of public chance sampling: s slots."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]


class SamplingSolver(Solver):
    """Samples histories of a form, the game's own or a transformed one."""

    early: ClassVar[float] = EARLY  # see `core/parallel/pool.py`
    discovers: ClassVar[bool] = False  # plays games whose information sets are discovered
    at_once = 1  # histories that each thread interleaves
    by_set: ClassVar[tuple[str, ...]] = ()  # tables with an entry per information set
    #: Tables that each thread of a remote worker has for itself.
    private: ClassVar[tuple[str, ...]] = ()

    def __init__(self, problem: Problem, seed: int, threads: int = 1, **more: Any) -> None:
        super().__init__(problem, seed, **more)
        game = self.game
        if check_threads(threads, game) > 1:
            self.options = {**more, "threads": threads}
        self.form = self.problem.form
        #: Growing tables, where information sets are discovered while playing.
        self.hash_tables: HashTables | None = None
        # information sets and slots that all copies number alike, since the last synchronisation
        self._common = np.zeros(2, dtype=np.int64)
        self._mean: Any = None
        if threads > 1:
            self._check_not_interleaved()
        if game.discovers_infosets:
            if not self.discovers:
                raise BadParameter(
                    f"{self.name} needs all information sets before it plays, and those of "
                    f"{game.name} are discovered while playing; use another algorithm"
                )
            shape = rules_in(self.form).shape
            self.hash_tables = HashTables(shape, self._new_tables, self.by_set, self.at_once)
        self.stride = threads
        workers = [self.new_worker(k) for k in range(threads)]
        self.rng = workers[0].rng
        self._pool = self._new_pool(workers)

    @classmethod
    def plays(cls, game: Game) -> bool:
        return cls.discovers or not game.discovers_infosets

    def new_worker(self, k: int) -> Worker:
        """Returns the k-th worker, at iteration 0."""
        buffer, hash_tables = cache_aligned(self._new_buffer()), self.hash_tables
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
    def worker(self) -> Worker:
        """The first worker."""
        return self._pool.workers[0]

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
        """Merging discovered information sets would renumber those of pending histories."""
        if self.at_once > 1 and self.game.discovers_infosets:
            raise BadParameter(
                f"{self.game.name} is played without a tree, and there histories are interleaved "
                f"by one thread only; leave out interleave"
            )

    def _new_buffer(self) -> Any:
        """The saved state of a worker besides its tables and random numbers."""
        return chance_buffer(self.form)

    def _workspace_on(self, buffer: np.ndarray) -> Any:
        """Returns the kernel's workspace, on its own cache lines or on the buffer."""
        return cache_aligned_fields(self._new_workspace())

    def _new_chance(self, buffer: np.ndarray) -> Any:
        """The workspace of the form, for one history or several interleaved ones."""
        if self.at_once > 1 and self.hash_tables is not None:
            shape = rules_in(self.form).shape
            return rules_workspace(shape, self.at_once * (shape.depth + 1))
        return chance_workspace(self.form, buffer)

    def _new_pool(self, workers: list[Worker]) -> WorkerPool:
        return SingleThread(workers) if len(workers) == 1 else ThreadPool(workers, self.game)

    def _new_tables(self, infosets: int, slots: int) -> Any:
        """Returns the tables of iteration 0."""
        return SamplingTables(np.zeros(slots), np.zeros(slots))

    @abstractmethod
    def _new_workspace(self) -> Any:
        """Returns the kernel's arrays besides the tables."""

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        """Plays n iterations numbered done + 1, done + 1 + stride, ..., whose samples count `scale`
        times; returns the nodes touched. `TablesFull` if tables cannot grow."""
        played, touched = self._play(worker, done, n, stride, scale)
        while self.hash_tables is not None:
            self.game.check_rules(int(infosets_of(worker).size[PROBLEM]))
            if played == n:
                break
            if not self.hash_tables.make_room(worker):
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
        common = {} if self.hash_tables is None else {"common": self._common}
        return self._pool.tables(self) | common

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        if self.hash_tables is not None:  # gives the tables the size of the saved ones
            for k, worker in enumerate(self._pool.workers):
                end = "" if k == 0 else f".{k}"
                mine = {name.removesuffix(end): saved[name] for name in saved if name.endswith(end)}
                self.hash_tables.restore(worker, mine, source)
            self._pool.resize(saved)
        super().restore(saved, source)
        self._pool.changed()

    def weights(self) -> np.ndarray:
        return self.weights_of(self.copies)

    def weights_of(self, copies: list[Any]) -> np.ndarray:
        """Returns the policy before normalisation, from the tables of all threads."""
        first, *others = (tables.strategy_sum for tables in copies)
        summed: np.ndarray = sum(others, start=first) if others else first
        return summed

    def strategy(self) -> Strategy:
        if self.hash_tables is None:
            return super().strategy()
        keys, counts, copies = self.hash_tables.merged(self._pool.playing)
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
        hash_tables = self.hash_tables
        copies = self.copies if hash_tables is None else hash_tables.merged(self._pool.playing)[2]
        if "regret" not in copies[0]._fields:
            return super().regrets()
        mean: np.ndarray = np.mean([tables.regret for tables in copies], axis=0)
        return mean

    def current_strategy(self) -> Strategy:
        if self.hash_tables is None:
            return super().current_strategy()
        keys, counts, _ = self.hash_tables.merged(self._pool.playing)
        return self._discovered(keys, counts, np.maximum(self.regrets(), 0.0))

    def change_problem(self, problem: Problem) -> None:
        self._pool.change_form(problem.form)
        self.problem, self.form = problem, problem.form

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

    # what workers merge when they synchronise

    @property
    def visits(self) -> float:
        return self.nodes_touched / self.infosets()

    def infosets(self) -> int:
        """The number of information sets of the game, or of those discovered."""
        if self.hash_tables is None:
            return self.game.n_infosets
        return max(infoset_count(infosets_of(self.worker)), 1)

    def align(self) -> bool:
        """Gives discovered information sets one numbering in all copies, before a synchronisation;
        False if memory is too small."""
        if self.hash_tables is None:
            return True
        if not self.hash_tables.align(self._pool.workers, int(self._common[0])):
            return False
        self._set_common()
        return True

    def _set_common(self) -> None:
        infosets = infosets_of(self.worker)
        self._common[:] = infoset_count(infosets), slot_count(infosets)

    def new_mean(self) -> Any:
        """Tables for the mean of all copies."""
        regret = self.worker.tables.regret
        if self._mean is None or self._mean.shape != regret.shape:
            self._mean = np.empty_like(regret)
        return self._mean

    @property
    def _used(self) -> tuple[int, int]:
        """Information sets and slots that a synchronisation merges."""
        if self.hash_tables is None:
            return self.game.n_infosets, self.game.n_slots
        return int(self._common[0]), int(self._common[1])

    def merge(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        """Writes the mean of all copies to `mean`, in the `part`-th of `len(copies)` parts."""
        regrets = tuple(tables.regret for tables in copies)
        mean_of(regrets, *part_of(self._used[1], part, len(copies)), mean)

    def load_merged(self, mean: Any, tables: Any) -> None:
        """Copies the mean to the tables of a worker."""
        used = self._used[1]
        tables.regret[:used] = mean[:used]

    def changes_since(self, base: Worker, worker: Worker) -> Changes:
        """Returns the changes of a worker in a round that began at `base`."""
        before, new = base.tables, None
        if self.hash_tables is not None:
            before, new = self.hash_tables.since(base, worker)
        planes = self.changes(before, self.used_tables(worker))
        return Changes({name: changed_rows(plane) for name, plane in planes.items()}, new)

    def changes(self, before: Any, tables: Any) -> dict[str, np.ndarray]:
        """Returns the difference of tables from `before` as planes (`core/parallel/changes.py`)."""
        columns = (tables.regret - before.regret, tables.strategy_sum)
        return {SLOTS: np.stack(columns, axis=1)}

    def apply_changes(self, base: Worker, changes: Changes, threads: int) -> None:
        """Adds the changes of all `threads`, whose samples count `threads` times. `OutOfMemory`,
        with nothing changed, if memory is too small."""
        hash_tables, new = self.hash_tables, changes.new
        if hash_tables is not None and new is not None and not hash_tables.admit(base, new):
            raise self.no_room()
        for name, rows in changes.planes.items():
            self._apply_rows(base, name, rows, threads)

    def _apply_rows(self, base: Worker, plane: str, changed: ChangedRows, threads: int) -> None:
        base.tables.regret[changed.rows] += changed.values[:, 0] / threads
        base.tables.strategy_sum[changed.rows] += changed.values[:, 1]

    def begin_round(self, base: Worker, worker: Worker, keep: bool = True) -> None:
        """Sets a worker's tables to those of `base`, but for private ones with `keep`."""
        names = self.private if keep else ()
        if self.hash_tables is not None and not self.hash_tables.follow(base, worker, names):
            raise self.no_room()
        for name in worker.tables._fields:
            if name == "strategy_sum":
                worker.tables.strategy_sum[:] = 0.0
            elif name not in self.private:
                getattr(worker.tables, name)[...] = getattr(base.tables, name)

    def broadcast(self, workers: list[Worker]) -> None:
        """Copies all tables of the first worker to the others, except strategy sums."""
        if self.hash_tables is not None:
            self.hash_tables.broadcast(workers, "strategy_sum")
            self._set_common()
            return
        first = workers[0].tables
        for worker in workers[1:]:
            for name in first._fields:
                if name != "strategy_sum":
                    getattr(worker.tables, name)[:] = getattr(first, name)

    def no_room(self) -> OutOfMemory:
        """Returns the error of a run whose tables cannot grow."""
        return OutOfMemory(
            f"{self.game.name}: {self.infosets():,} information sets are discovered, and there is "
            f"no memory for more; all that was learnt in {self.iterations:,} iterations is kept, "
            f"and a run in a folder can be resumed where there is more"
        )

    def used_tables(self, worker: Worker) -> Any:
        """Returns the used part of a worker's tables."""
        return worker.tables if self.hash_tables is None else self.hash_tables.used_tables(worker)

    def copied(self, worker: Worker) -> Worker:
        """Returns a copy of a worker with its own tables."""
        tables = type(worker.tables)(*(array.copy() for array in worker.tables))
        chance = worker.chance if self.hash_tables is None else with_own_infosets(worker.chance)
        return replace(worker, tables=tables, chance=chance)

    def set_tables(self, worker: Worker, saved: Mapping[str, np.ndarray]) -> None:
        """Sets a worker's tables to what `saved` returned."""
        if self.hash_tables is not None:
            self.hash_tables.restore(worker, saved, self.game.name)
            return
        for name, array in saved.items():
            getattr(worker.tables, name)[...] = array

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """The arrays of a worker's tables that are saved."""
        if self.hash_tables is not None:
            return self.hash_tables.saved(worker)
        return dict(worker.tables._asdict())
