"""Who plays the iterations of a sampling algorithm: one thread, or several that put together what
they learn.

Each of T threads has its own copy of the tables and its own random numbers, and plays every T-th
iteration. While a thread plays, each of its own samples counts T times, as if the others found the
same; every few iterations all go on from the mean of the copies, in which every sample counts once.
So a thread reacts to its own mistakes as fast as all of them together do. (When samples count once
while playing, T threads correct the same regret T times before they know of each other.)

Nothing depends on which thread was faster, so a seed and a number of threads give the same bits,
however a run is cut. Up to `ALONE` visits per information set the first thread plays alone: from so
little the others would only repeat its mistakes. Then the copies meet ever more seldom: after 3% of
all iterations so far until that is `EACH` visits per information set by every thread, and again
from there on when 0.5% of them is more. (With 10% external sampling learns less: what is found
early weighs on the average for long; MCTS and public chance sampling do not mind.) Where a game has
few information sets for its threads, all they find is much alike and worth one of them, and they
are refused.

At a meeting each thread works out a part of the mean, for all to copy. So it writes to no table but
its own, and what it goes on with is near it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.game import Game
from counterplay.kernels.jit import index, jit
from counterplay.solvers.gate import Gate

MOST_THREADS = 64
INFOSETS = 150  # a game with so many times T² information sets takes T threads
LEAST = 4  # iterations of each thread between two meetings
ALONE = 8.0  # visits of an information set before the first meeting
EACH = 16.0  # by every thread between two meetings, which then take a small share of the time
EARLY, LATE = 0.03, 0.005  # of all iterations so far: at most before `EACH`, at least after
PATIENT = 0.1  # `EARLY` of an algorithm that does not mind, and whose tables are large
TEAM_OPTIONS = ("team", "workers", "news")  # of a team apart (`far_team.py`)
BLOCK = 256  # entries that are put together at once


class Worker(NamedTuple):
    """What one thread works with."""

    tables: Any
    buffer: np.ndarray  # what `chance` lies on, for files
    chance: Any  # what was dealt: the scratch of a form
    scratch: Any
    rng: np.ndarray


class Algorithm(Protocol):
    """What a team asks of an algorithm."""

    game: Game
    early: ClassVar[float]  # of all iterations so far, at most, between two early meetings

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        """n iterations numbered done + 1, done + 1 + stride, ..., every sample counting `scale`
        times; the nodes touched."""

    def room(self) -> Any:
        """For the mean of all copies."""

    def put_together(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        """Write the mean of all copies to `mean`, in the `part`-th of `len(copies)` parts of
        the tables."""

    def take_over(self, mean: Any, tables: Any) -> None:
        """Write the mean to the tables of a worker."""

    def hand_over(self, copies: tuple[Any, ...]) -> None:
        """What the first copy knows to all the others."""


class Team(ABC):
    """Plays iterations. All its state is in `arrays()` and in the workers."""

    def __init__(self, workers: list[Worker]) -> None:
        self.workers = workers

    @abstractmethod
    def run(self, algorithm: Algorithm, done: int, n: int) -> int:
        """Iterations done + 1 .. done + n; the nodes touched."""

    @property
    def playing(self) -> list[Worker]:
        """Those who have found anything."""
        return self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        """When it meets next."""
        return {}

    def tables(self) -> dict[str, np.ndarray]:
        """All there is to be kept, not copies."""
        self.fetch()
        found: dict[str, np.ndarray] = dict(self.workers[0].tables._asdict())
        for k, worker in enumerate(self.workers):
            if k > 0:  # what the first has is called without a number
                found |= {f"{name}.{k}": array for name, array in worker.tables._asdict().items()}
                found[f"rng.{k}"] = worker.rng
            if len(worker.buffer):  # the deck as the last hand left it
                found[f"hand.{k}"] = worker.buffer
        return found | self.arrays()

    def settle(self) -> None:
        """Bring all that was learnt to the workers' tables, to be changed there."""
        self.fetch()

    def change_form(self, form: Any) -> None:
        """From now on another form is played."""
        return

    def fetch(self) -> None:
        """Bring what was learnt to the workers' tables, where it lives elsewhere."""
        return

    def changed(self) -> None:
        """Somebody else has written to the workers' tables."""
        return


class Alone(Team):
    """One thread."""

    def run(self, algorithm: Algorithm, done: int, n: int) -> int:
        return algorithm.play(self.workers[0], done, n, 1, 1.0)


class Threads(Team):
    """Several threads, each putting together its own part of the tables."""

    def __init__(self, workers: list[Worker], game: Game) -> None:
        super().__init__(workers)
        self._infosets = game.n_infosets
        self._pool = ThreadPoolExecutor(len(workers))
        self._played = Gate(len(workers))
        self._merged = Gate(len(workers), self._plan)
        self._meeting = np.array(
            [LEAST * len(workers), 1]
        )  # iteration of the next; whether the first still plays alone
        self._nodes = np.zeros(len(workers), dtype=np.int64)  # touched by each thread
        self._early = EARLY
        self._mean: Any = None  # what the copies are put together in, made when first used

    @property
    def playing(self) -> list[Worker]:
        return self.workers[:1] if self._meeting[1] else self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        return {"meeting": self._meeting, "nodes": self._nodes}

    def run(self, algorithm: Algorithm, done: int, n: int) -> int:
        threads = range(len(self.workers))
        if self._mean is None:
            self._mean = algorithm.room()
        self._early = algorithm.early
        jobs = [self._pool.submit(self._work, algorithm, k, done, done + n) for k in threads]
        wait(jobs)  # all of them, whatever happens to one
        return sum(_result(job) for job in jobs)

    def _work(self, algorithm: Algorithm, k: int, done: int, end: int) -> int:
        """Thread k's share of the iterations up to `end`."""
        worker, touched = self.workers[k], 0
        copies = tuple(other.tables for other in self.workers)
        try:
            while True:
                until = min(end, int(self._meeting[0]))
                alone = bool(self._meeting[1])
                nodes = self._share(algorithm, k, done, until, alone)
                self._nodes[k] += nodes
                touched, done = touched + nodes, until
                if done == self._meeting[0]:
                    self._played.wait(k)
                    if not alone:
                        algorithm.put_together(copies, self._mean, k)
                    elif k == 0 and self._visits() >= ALONE:
                        algorithm.hand_over(copies)
                    self._merged.wait(k)
                    if not alone:
                        algorithm.take_over(self._mean, worker.tables)
                if done == end:
                    return touched
        except BaseException:
            self._played.abort()
            self._merged.abort()
            raise

    def _share(self, algorithm: Algorithm, k: int, done: int, until: int, alone: bool) -> int:
        """Iterations done + 1 .. until: number i belongs to thread i mod T, or all of them to
        the first."""
        worker, threads = self.workers[k], len(self.workers)
        if alone:
            return algorithm.play(worker, done, until - done, 1, 1.0) if k == 0 else 0
        first = done + 1 + (k - done - 1) % threads
        count = max(0, (until - first) // threads + 1)
        return algorithm.play(worker, first - 1, count, threads, float(threads))

    def _visits(self) -> float:
        """Of an information set so far."""
        return int(self._nodes.sum()) / self._infosets

    def _plan(self) -> None:
        """The next meeting, when everything is put together."""
        done, alone = self._meeting.tolist()
        visits = max(self._visits(), 1e-9)
        self._meeting[1] = alone and visits < ALONE
        between = ALONE - visits if self._meeting[1] else EACH * len(self.workers)
        whole = between * done / visits
        most = done if self._meeting[1] else self._early * done
        batch = max(min(whole, most), LATE * done)
        self._meeting[0] = done + max(LEAST * len(self.workers), int(batch))


def _result(job: Future[int]) -> int:
    return job.result()


def check_threads(threads: Any, game: Game) -> int:
    """`threads` if so many can share `game`, else `BadParameter`."""
    if (
        isinstance(threads, bool)
        or not isinstance(threads, int)
        or not 1 <= threads <= MOST_THREADS
    ):
        raise BadParameter(
            f"threads must be a whole number from 1 to {MOST_THREADS}, not {threads!r}"
        )
    most = most_threads(game)
    if threads > most:
        use = "leave out threads" if most == 1 else f"use at most {most}"
        raise BadParameter(
            f"{game.name} has {game.n_infosets:,} information sets, too few for {threads} "
            f"threads; {use}"
        )
    return threads


def most_threads(game: Game) -> int:
    """How many can share `game`."""
    return min(max(1, math.isqrt(game.n_infosets // INFOSETS)), MOST_THREADS)


def part_of(size: int, part: int, parts: int) -> tuple[int, int]:
    """The `part`-th of `parts` ranges of about equal length."""
    return size * part // parts, size * (part + 1) // parts


@jit
def mean_of(copies: tuple[np.ndarray, ...], low: int, high: int, out: np.ndarray) -> None:
    """Entries low .. high - 1 of `out`: the mean of all copies. Where all are equal it is what
    they are, bit for bit."""
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
def union_of(copies: tuple[np.ndarray, ...], low: int, high: int, out: np.ndarray) -> None:
    """Entries low .. high - 1 of `out`: the largest of all copies."""
    for k in range(index(low), index(high)):
        out[k] = copies[0][k]
    for copy in copies:
        for k in range(index(low), index(high)):
            out[k] = max(out[k], copy[k])
