"""Solvers that play histories, on one thread or on several.

How several threads share what they learn: each has its own copy of the tables and its own random numbers, and plays every T-th
iteration. Every few iterations the copies are put together: everybody's changes are added to the tables of the last time, and
all go on from the result. Nothing depends on which thread was faster, so a seed and a number of threads give the same bits,
however a run is cut.

Between two merges threads correct the same regrets without knowing of each other, and the sum corrects them twice. So a batch is
short: about `VISITS` visits per information set. On small games that is too little work to be worth a second thread.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.access import new_hand
from counterplay.forms.game import Game
from counterplay.kernels.jit import index, jit
from counterplay.kernels.rng import new_state
from counterplay.solvers.base import Solver, probability

FIRST_BATCH, VISITS = 64, 4
MOST_THREADS = 64


class Worker(NamedTuple):
    """What one thread works with."""

    tables: Any
    hand: np.ndarray
    scratch: Any
    rng: np.ndarray


class SamplingSolver(Solver):
    """A solver that plays histories of a form (the game's own, or one transformed); it learns the arrays of `_tables`.

    `threads`: how many play at once.
    """

    visits_between: ClassVar[int] = VISITS  # per information set, between two merges

    def __init__(self, game: Game, seed: int, form: Any, tables: Any, threads: int = 1, **options: Any) -> None:
        super().__init__(game, seed, **options)
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:
            raise BadParameter(f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}")
        if threads > 1:
            self.options = {**options, "threads": threads}
        self._form = form if form is not None else game.form
        self._tables = tables
        self._workers = [
            Worker(
                tables if threads == 1 else _copy(tables),
                new_hand(self._form),
                self._new_scratch(),
                self.rng if k == 0 else new_state(seed, k),
            )
            for k in range(threads)
        ]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._batch = np.array([FIRST_BATCH, 0], dtype=np.int64)  # iteration of the next merge; nodes touched so far
        self._stale = False  # whether the workers know more than `_tables`

    @abstractmethod
    def _new_scratch(self) -> Any:
        """Arrays a kernel needs besides the tables."""

    @abstractmethod
    def _play(self, worker: Worker, done: int, n: int, stride: int) -> int:
        """n iterations numbered done + 1, done + 1 + stride, ...; the nodes touched."""

    def _run(self, n: int) -> int:
        if self._pool is None:
            return self._play(self._workers[0], self.iterations, n, 1)
        touched, done, end = 0, self.iterations, self.iterations + n
        while True:
            until = min(end, int(self._batch[0]))
            nodes = self._play_together(done, until)
            touched, done = touched + nodes, until
            self._batch[1] += nodes
            if done == self._batch[0]:
                self._merge()
                per_iteration = max(int(self._batch[1]), 1) / done
                self._batch[0] = done + max(FIRST_BATCH, int(self.visits_between * self.game.n_infosets / per_iteration))
            if done == end:
                return touched

    def _play_together(self, done: int, until: int) -> int:
        """Iterations done + 1 .. until; number i belongs to thread i mod T."""
        assert self._pool is not None
        threads = len(self._workers)
        jobs = []
        for k, worker in enumerate(self._workers):
            first = done + 1 + (k - done - 1) % threads
            count = max(0, (until - first) // threads + 1)
            jobs.append(self._pool.submit(self._play, worker, first - 1, count, threads))
        self._stale = self._stale or until > done
        return sum(job.result() for job in jobs)

    def _merged(self) -> Any:
        """The tables with everything the workers learned; their copies stay as they are."""
        if not self._stale:
            return self._tables
        base, copies = _copy(self._tables), tuple(_copy(worker.tables) for worker in self._workers)
        self._put_together(base, copies)
        return base

    def _merge(self) -> None:
        self._put_together(self._tables, tuple(worker.tables for worker in self._workers))
        self._stale = False

    def _put_together(self, base: Any, found: tuple[Any, ...]) -> None:
        """Everybody's changes since `base` into all of the tables, in place: one pass over each."""
        for name in base._fields:
            copies = tuple(getattr(tables, name) for tables in found)
            if name == "last_visit":
                merge_latest(base.last_visit, copies)
            else:
                merge_changes(getattr(base, name), copies)

    def tables(self) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = dict(self._tables._asdict())
        if self._pool is not None:
            for k, worker in enumerate(self._workers):
                found |= {f"{name}.{k}": array for name, array in worker.tables._asdict().items()}
                if k > 0:  # that of the first is `rng`
                    found[f"rng.{k}"] = worker.rng
            found["batch"] = self._batch
        for k, worker in enumerate(self._workers):
            if len(worker.hand):  # the deck as the last hand left it
                found[f"hand.{k}"] = worker.hand
        return found

    def restore(self, saved: Any, source: str) -> None:
        super().restore(saved, source)
        self._stale = self._pool is not None

    def weights(self) -> np.ndarray:
        summed: np.ndarray = self._merged().strategy_sum
        return summed

    def fade(self, factor: float) -> None:
        """From now on what was learnt counts for this share, as when the form has changed a little."""
        share = probability(factor, "factor")
        for tables in {id(found): found for found in (self._tables, *(worker.tables for worker in self._workers))}.values():
            self._fade(tables, share)

    def _fade(self, tables: Any, share: float) -> None:
        tables.regret[:] *= share
        tables.strategy_sum[:] *= share


@jit
def merge_changes(base: np.ndarray, copies: tuple[np.ndarray, ...]) -> None:
    """Add up what each copy has more than `base`, and write the sum to all of them."""
    for k in range(index(len(base))):
        old = base[k]
        new = old
        changed = False
        for copy in copies:
            if copy[k] != old:
                new += copy[k] - old
                changed = True
        if changed:
            base[k] = new
            for copy in copies:
                copy[k] = new


@jit
def merge_latest(base: np.ndarray, copies: tuple[np.ndarray, ...]) -> None:
    """The largest entry, to all of them."""
    for k in range(index(len(base))):
        new = base[k]
        for copy in copies:
            new = max(new, copy[k])
        base[k] = new
        for copy in copies:
            copy[k] = new


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _copy(tables: Any) -> Any:
    return type(tables)(*(array.copy() for array in tables))
