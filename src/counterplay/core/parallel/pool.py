"""Worker pools, which play the iterations of a sampling algorithm: one thread, or several that
synchronise.

Each of T threads has its own copy of the tables and its own random numbers, and plays every T-th
iteration. Between two synchronisations each of its samples counts T times, as if the other threads
had drawn the same; at a synchronisation all continue from the mean of the copies, in which every
sample counts once. (If samples counted once between synchronisations, T threads would each correct
the same regret.)

Results do not depend on the speed of the threads: a seed and a number of threads give the same
bits, also if a run is interrupted and resumed. Up to `WARM_UP` visits per information set the first
thread plays alone, because the others would only repeat its early errors. Then synchronisations
become rarer: after 3% of all iterations so far, until that is `VISITS` visits per information set
by every thread; from there on after that many, or after 0.5% of all iterations if that is more.
(With 10% external sampling learns less, because early samples keep a large weight in the average;
MCTS and public chance sampling are not affected.) A game with too few information sets for the
threads is refused: all threads would sample the same.

At a synchronisation each thread computes a part of the mean, which all copy. Thus it writes to its
own tables only, which stay in its cache.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import BrokenBarrierError
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import index, jit
from counterplay.core.parallel.barrier import MOST_THREADS, ThreadBarrier

INFOSETS = 150  # T threads need this many times T² information sets
LEAST = 4  # iterations of each thread that plays between two synchronisations
WARM_UP = 8.0  # visits of an information set before the first synchronisation
MOST_WARM_UP = 1_000_000  # nodes, if information sets are discovered while playing
VISITS = 16.0  # by every thread between two synchronisations, whose cost is then small
EARLY, LATE = 0.03, 0.005  # share of all iterations: at most before `VISITS`, at least after
TOLERANT = 0.1  # `EARLY` of an algorithm that tolerates it and has large tables
POOL_OPTIONS = ("pool", "workers", "sync_interval")  # of remote workers (`remote_pool.py`)
RAREST = 0.5  # the largest `EARLY`, if information sets are discovered while playing
BLOCK = 256  # entries that are merged at once
Algorithm = Any  # a `SamplingSolver` (`core/solvers/sampling.py`), of a package above


@dataclass(eq=False)
class Worker:
    """The state of one thread. If information sets are discovered, `tables` and `chance` grow."""

    tables: Any
    buffer: np.ndarray  # the memory of `chance`, which is saved
    chance: Any  # the workspace of the form, with what was dealt
    workspace: Any  # of the kernel
    rng: np.ndarray

    @property
    def arguments(self) -> tuple[Any, Any, Any, np.ndarray]:
        """The arguments that sampling kernels take after the form."""
        return self.chance, self.tables, self.workspace, self.rng


class TablesFull(Exception):
    """A worker stopped early because its tables cannot grow."""

    def __init__(self, played: int, nodes: int) -> None:
        super().__init__()
        self.played, self.nodes = played, nodes


class PoolProgress(NamedTuple):
    """The result of one call of a pool."""

    iterations: int
    nodes: int
    tables_full: bool = False  # whether it stopped before the end


class WorkerPool(ABC):
    """Workers that play iterations. The whole state is in `arrays()` and in the workers."""

    def __init__(self, workers: list[Worker]) -> None:
        self.workers = workers

    @abstractmethod
    def run(self, algorithm: Algorithm, done: int, n: int) -> PoolProgress:
        """Plays iterations done + 1 .. done + n."""

    @property
    def playing(self) -> list[Worker]:
        """The workers that have played."""
        return self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        """The state of the pool besides its workers: its schedule."""
        return {}

    def tables(self, algorithm: Algorithm) -> dict[str, np.ndarray]:
        """All saved arrays, not copies."""
        self.fetch()
        arrays: dict[str, np.ndarray] = {}
        for k, worker in enumerate(self.workers):
            suffix = "" if k == 0 else f".{k}"  # the arrays of the first have no number
            arrays |= {f"{name}{suffix}": array for name, array in algorithm.saved(worker).items()}
            if k > 0:
                arrays[f"rng.{k}"] = worker.rng
            if len(worker.buffer):  # the deck after the last hand
                arrays[f"hand.{k}"] = worker.buffer
        return arrays | self.arrays()

    def resize(self, saved: Mapping[str, np.ndarray]) -> None:
        """Makes arrays of varying size fit, before those of `tables` are restored."""
        return

    def settle(self) -> None:
        """Synchronises, so that the workers' tables have all that was learnt."""
        self.fetch()

    def change_form(self, form: Any) -> None:
        """Replaces the form that is played."""
        return

    def fetch(self) -> None:
        """Copies what was learnt to the workers' tables, if it is stored elsewhere."""
        return

    def changed(self) -> None:
        """Call after writing to the workers' tables."""
        return


class SingleThread(WorkerPool):
    """One thread."""

    def run(self, algorithm: Algorithm, done: int, n: int) -> PoolProgress:
        try:
            return PoolProgress(n, algorithm.play(self.workers[0], done, n, 1, 1.0))
        except TablesFull as full:
            return PoolProgress(full.played, full.nodes, True)


class ThreadPool(WorkerPool):
    """Several threads, each of which merges one part of the tables."""

    def __init__(self, workers: list[Worker], game: Game) -> None:
        super().__init__(workers)
        self._discovers = game.discovers_infosets
        self._executor = ThreadPoolExecutor(len(workers))
        self._after_playing = ThreadBarrier(len(workers), self._align)
        self._after_merging = ThreadBarrier(len(workers), self._schedule)
        # the iteration of the next synchronisation; whether the first thread still plays alone
        self._sync = np.array([LEAST, 1])
        self._nodes = np.zeros(len(workers), dtype=np.int64)  # touched by each thread
        self._mean: Any = None  # of all copies, made when first used
        # iterations that each thread has yet to play because its tables were full
        self._owed = np.zeros(len(workers), dtype=np.int64)
        self._blocked = False  # whether that makes a synchronisation impossible
        self._algorithm: Algorithm

    @property
    def playing(self) -> list[Worker]:
        return self.workers[:1] if self._sync[1] else self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        arrays = {"sync": self._sync, "nodes": self._nodes}
        return arrays | ({"owed": self._owed} if self._owed.any() else {})

    def resize(self, saved: Mapping[str, np.ndarray]) -> None:
        if "owed" in saved:
            self._owed[:] = saved["owed"]

    def run(self, algorithm: Algorithm, done: int, n: int) -> PoolProgress:
        threads = range(len(self.workers))
        self._algorithm, self._blocked = algorithm, False
        if n == 0:  # compiles what a synchronisation needs
            algorithm.merge(tuple(w.tables for w in self.workers), algorithm.new_mean(), 0)
            if self._owed.any():
                return PoolProgress(0, 0)
        jobs = [self._executor.submit(self._work, algorithm, k, done, done + n) for k in threads]
        wait(jobs)  # all of them, even if one fails
        errors = [error for error in (job.exception() for job in jobs) if error is not None]
        for error in sorted(errors, key=lambda error: isinstance(error, BrokenBarrierError)):
            raise error  # of a thread, rather than that of a broken barrier
        results = [job.result() for job in jobs]
        full = self._blocked or bool(self._owed.any())
        return PoolProgress(results[0][1] - done, sum(nodes for nodes, _ in results), full)

    def _work(self, algorithm: Algorithm, k: int, done: int, end: int) -> tuple[int, int]:
        """Plays thread k's iterations up to `end`; returns nodes touched and iterations reached."""
        touched = 0
        try:
            if self._owed[k]:
                touched += self._play_owed(algorithm, k, done)
            while True:
                until = min(end, int(self._sync[0]))
                single = bool(self._sync[1])
                if not self._owed[k]:
                    touched += self._share(algorithm, k, done, until, single)
                done = until
                if done == self._sync[0]:
                    self._after_playing.wait(k)
                    if self._blocked:
                        return touched, done
                    worker = self.workers[k]
                    if not single:
                        copies = tuple(other.tables for other in self.workers)
                        algorithm.merge(copies, self._mean, k)
                    elif k == 0 and self._warmed_up():
                        algorithm.broadcast(self.workers)
                    self._after_merging.wait(k)
                    if not single:
                        algorithm.load_merged(self._mean, worker.tables)
                if done == end:
                    return touched, done
        except BaseException:
            self._after_playing.abort()
            self._after_merging.abort()
            raise

    def _share(self, algorithm: Algorithm, k: int, done: int, until: int, single: bool) -> int:
        """Plays thread k's iterations of done + 1 .. until: i mod T = k, or all if `single`."""
        threads = len(self.workers)
        if single:
            return self._play(algorithm, k, done + 1, until - done, 1) if k == 0 else 0
        first = done + 1 + (k - done - 1) % threads
        count = max(0, (until - first) // threads + 1)
        return self._play(algorithm, k, first, count, threads)

    def _play_owed(self, algorithm: Algorithm, k: int, done: int) -> int:
        """Plays the iterations that thread k owes: the last of its iterations up to `done`."""
        stride, count = 1 if self._sync[1] else len(self.workers), int(self._owed[k])
        last = done - (done - k) % stride
        return self._play(algorithm, k, last - (count - 1) * stride, count, stride)

    def _play(self, algorithm: Algorithm, k: int, first: int, count: int, stride: int) -> int:
        """Plays iterations first, first + stride, ...; those that cannot be played are owed."""
        try:
            nodes: int = algorithm.play(self.workers[k], first - 1, count, stride, float(stride))
            self._owed[k] = 0
        except TablesFull as full:
            nodes = full.nodes
            self._owed[k] = count - full.played
        self._nodes[k] += nodes
        return nodes

    def _align(self) -> None:
        """After all have played: gives their tables one numbering, and allocates the mean."""
        single = bool(self._sync[1])
        self._blocked = bool(self._owed.any()) or (not single and not self._algorithm.align())
        if not single and not self._blocked and (self._mean is None or self._discovers):
            self._mean = self._algorithm.new_mean()

    def _warmed_up(self) -> bool:
        """Whether the first thread has played enough alone."""
        return warmed_up(self._algorithm, int(self._nodes.sum()))

    def _schedule(self) -> None:
        """Sets the next synchronisation. If information sets are discovered, each thread visits
        about as many as there are before an early one, which is the cost of it."""
        done, single = self._sync.tolist()
        visits = max(int(self._nodes.sum()) / self._algorithm.infosets(), 1e-9)
        self._sync[1] = single and not self._warmed_up()
        between = WARM_UP - visits if self._sync[1] else VISITS * len(self.workers)
        whole = between * done / visits
        early = self._algorithm.early
        if self._discovers:
            early = max(early, min(len(self.workers) / visits, RAREST))
        most = done if self._sync[1] else early * done
        batch = int(max(min(whole, most), LATE * done))
        each = 1 if self._sync[1] else len(self.workers)  # as many iterations for every thread
        self._sync[0] = done + each * max(LEAST, batch // each)


def warmed_up(algorithm: Algorithm, nodes: int) -> bool:
    """Whether one thread that touched so many nodes has played enough alone; if information sets
    are discovered, which may rarely recur, at most `MOST_WARM_UP` nodes are needed."""
    enough = algorithm.game.discovers_infosets and nodes >= MOST_WARM_UP
    return enough or nodes >= WARM_UP * algorithm.infosets()


def check_threads(threads: Any, game: Game, limit: int = MOST_THREADS) -> int:
    """`threads`, or `BadParameter` if that is too many for `game`, or more than `limit`."""
    whole_number(threads, 1, limit, "threads")
    most = most_threads(game, limit)
    if threads > most:
        use = "leave out threads" if most == 1 else f"use at most {most}"
        raise BadParameter(
            f"{game.name} has {game.n_infosets:,} information sets, too few for {threads} "
            f"threads; {use}"
        )
    return int(threads)


def most_threads(game: Game, limit: int = MOST_THREADS) -> int:
    """Returns the largest number of threads for `game`, at most `limit`."""
    if game.discovers_infosets:
        return limit
    return min(max(1, math.isqrt(game.n_infosets // INFOSETS)), limit)


def part_of(size: int, part: int, parts: int) -> tuple[int, int]:
    """Returns the `part`-th of `parts` ranges of about equal length."""
    return size * part // parts, size * (part + 1) // parts


@jit
def mean_of(copies: tuple[np.ndarray, ...], low: int, high: int, out: np.ndarray) -> None:
    """Fills `out[low:high]` with the mean of all copies; if all are equal, with the same bits."""
    one = copies[0]
    many = float(len(copies))
    start = index(low)
    while start < index(high):
        end = min(start + index(BLOCK), index(high))
        for k in range(start, end):
            out[k] = 0.0
        for copy in copies:
            for k in range(start, end):
                out[k] += copy[k] - one[k]
        for k in range(start, end):
            out[k] = one[k] + out[k] / many
        start = end


@jit
def maximum_of(copies: tuple[np.ndarray, ...], low: int, high: int, out: np.ndarray) -> None:
    """Fills entries low .. high - 1 of `out` with the maximum of all copies."""
    for k in range(index(low), index(high)):
        out[k] = copies[0][k]
    for copy in copies:
        for k in range(index(low), index(high)):
            out[k] = max(out[k], copy[k])
