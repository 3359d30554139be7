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
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, fields
from threading import BrokenBarrierError
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.forms.game import Game
from counterplay.kernels.jit import index, jit
from counterplay.solvers.gate import Gate

MOST_THREADS = 64
INFOSETS = 150  # a game with so many times T² information sets takes T threads
LEAST = 4  # iterations of each thread between two meetings
ALONE = 8.0  # visits of an information set before the first meeting
MOST_ALONE = 1_000_000  # nodes, where information sets are found while playing
EACH = 16.0  # by every thread between two meetings, which then take a small share of the time
EARLY, LATE = 0.03, 0.005  # of all iterations so far: at most before `EACH`, at least after
PATIENT = 0.1  # `EARLY` of an algorithm that does not mind, and whose tables are large
TEAM_OPTIONS = ("team", "workers", "news")  # of a team apart (`far_team.py`)
SELDOM = 0.5  # the most of `EARLY`, where information sets are found while playing
BLOCK = 256  # entries that are put together at once


@dataclass(eq=False)
class Worker:
    """What one thread works with. Tables and `chance` are replaced by larger ones where a game
    finds its information sets while playing."""

    tables: Any
    buffer: np.ndarray  # what `chance` lies on, for files
    chance: Any  # what was dealt: the scratch of a form
    scratch: Any
    rng: np.ndarray

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, field.name) for field in fields(self))


class Short(Exception):
    """A worker stopped early for want of memory."""

    def __init__(self, played: int, nodes: int) -> None:
        super().__init__()
        self.played, self.nodes = played, nodes


class Turn(NamedTuple):
    """What a team did."""

    iterations: int
    nodes: int
    short: bool = False  # whether it stopped early for want of memory


class Algorithm(Protocol):
    """What a team asks of an algorithm."""

    game: Game
    early: ClassVar[float]  # of all iterations so far, at most, between two early meetings

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        """n iterations numbered done + 1, done + 1 + stride, ..., every sample counting `scale`
        times; the nodes touched. `Short` where memory does not last."""

    def room(self) -> Any:
        """For the mean of all copies."""

    def infosets(self) -> int:
        """Information sets of the game, or those found so far."""

    def unify(self) -> bool:
        """Before a meeting: give what was found one numbering in all copies; False where memory
        does not last."""

    def put_together(self, copies: tuple[Any, ...], mean: Any, part: int) -> None:
        """Write the mean of all copies to `mean`, in the `part`-th of `len(copies)` parts of
        the tables."""

    def take_over(self, mean: Any, tables: Any) -> None:
        """Write the mean to the tables of a worker."""

    def hand_over(self, workers: list[Worker]) -> None:
        """What the first worker knows to all the others."""

    def saved(self, worker: Worker) -> dict[str, np.ndarray]:
        """What a file keeps of a worker's tables."""


class Team(ABC):
    """Plays iterations. All its state is in `arrays()` and in the workers."""

    def __init__(self, workers: list[Worker]) -> None:
        self.workers = workers

    @abstractmethod
    def run(self, algorithm: Algorithm, done: int, n: int) -> Turn:
        """Iterations done + 1 .. done + n."""

    @property
    def playing(self) -> list[Worker]:
        """Those who have found anything."""
        return self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        """When it meets next."""
        return {}

    def tables(self, algorithm: Algorithm) -> dict[str, np.ndarray]:
        """All there is to be kept, not copies."""
        self.fetch()
        found: dict[str, np.ndarray] = {}
        for k, worker in enumerate(self.workers):
            ending = "" if k == 0 else f".{k}"  # what the first has is called without a number
            found |= {f"{name}{ending}": array for name, array in algorithm.saved(worker).items()}
            if k > 0:
                found[f"rng.{k}"] = worker.rng
            if len(worker.buffer):  # the deck as the last hand left it
                found[f"hand.{k}"] = worker.buffer
        return found | self.arrays()

    def expect(self, saved: Mapping[str, np.ndarray]) -> None:
        """What `tables` gave is about to be restored: make what varies in size fit."""
        return

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

    def run(self, algorithm: Algorithm, done: int, n: int) -> Turn:
        try:
            return Turn(n, algorithm.play(self.workers[0], done, n, 1, 1.0))
        except Short as short:
            return Turn(short.played, short.nodes, True)


class Threads(Team):
    """Several threads, each putting together its own part of the tables."""

    def __init__(self, workers: list[Worker], game: Game) -> None:
        super().__init__(workers)
        self._keyed = game.abilities.keyed
        self._pool = ThreadPoolExecutor(len(workers))
        self._played = Gate(len(workers), self._prepare)
        self._merged = Gate(len(workers), self._plan)
        self._meeting = np.array(
            [LEAST * len(workers), 1]
        )  # iteration of the next; whether the first still plays alone
        self._nodes = np.zeros(len(workers), dtype=np.int64)  # touched by each thread
        self._mean: Any = None  # what the copies are put together in, made when first used
        # iterations that each still has to play of those that are done, for want of memory
        self._owed = np.zeros(len(workers), dtype=np.int64)
        self._stuck = False  # a meeting cannot be held, for the same reason
        self._algorithm: Algorithm

    @property
    def playing(self) -> list[Worker]:
        return self.workers[:1] if self._meeting[1] else self.workers

    def arrays(self) -> dict[str, np.ndarray]:
        arrays = {"meeting": self._meeting, "nodes": self._nodes}
        return arrays | ({"owed": self._owed} if self._owed.any() else {})

    def expect(self, saved: Mapping[str, np.ndarray]) -> None:
        if "owed" in saved:
            self._owed[:] = saved["owed"]

    def run(self, algorithm: Algorithm, done: int, n: int) -> Turn:
        threads = range(len(self.workers))
        self._algorithm, self._stuck = algorithm, False
        if n == 0 and self._owed.any():  # nothing is asked for
            return Turn(0, 0)
        jobs = [self._pool.submit(self._work, algorithm, k, done, done + n) for k in threads]
        wait(jobs)  # all of them, whatever happens to one
        found = _results(jobs)
        short = self._stuck or bool(self._owed.any())
        return Turn(found[0][1] - done, sum(nodes for nodes, _ in found), short)

    def _work(self, algorithm: Algorithm, k: int, done: int, end: int) -> tuple[int, int]:
        """Thread k's share of the iterations up to `end`: nodes touched, and how far it came."""
        touched = 0
        try:
            if self._owed[k]:
                touched += self._pay(algorithm, k, done)
            while True:
                until = min(end, int(self._meeting[0]))
                alone = bool(self._meeting[1])
                if not self._owed[k]:
                    touched += self._share(algorithm, k, done, until, alone)
                done = until
                if done == self._meeting[0]:
                    self._played.wait(k)
                    if self._stuck:
                        return touched, done
                    worker = self.workers[k]
                    if not alone:
                        copies = tuple(other.tables for other in self.workers)
                        algorithm.put_together(copies, self._mean, k)
                    elif k == 0 and self._learnt_enough():
                        algorithm.hand_over(self.workers)
                    self._merged.wait(k)
                    if not alone:
                        algorithm.take_over(self._mean, worker.tables)
                if done == end:
                    return touched, done
        except BaseException:
            self._played.abort()
            self._merged.abort()
            raise

    def _share(self, algorithm: Algorithm, k: int, done: int, until: int, alone: bool) -> int:
        """Iterations done + 1 .. until: number i belongs to thread i mod T, or all of them to
        the first."""
        threads = len(self.workers)
        if alone:
            return self._play(algorithm, k, done + 1, until - done, 1) if k == 0 else 0
        first = done + 1 + (k - done - 1) % threads
        count = max(0, (until - first) // threads + 1)
        return self._play(algorithm, k, first, count, threads)

    def _pay(self, algorithm: Algorithm, k: int, done: int) -> int:
        """What thread k owes: the last of its iterations up to `done`."""
        stride, count = 1 if self._meeting[1] else len(self.workers), int(self._owed[k])
        last = done - (done - k) % stride
        return self._play(algorithm, k, last - (count - 1) * stride, count, stride)

    def _play(self, algorithm: Algorithm, k: int, first: int, count: int, stride: int) -> int:
        """Iterations first, first + stride, ...; the nodes touched. What cannot be played is
        owed."""
        try:
            nodes = algorithm.play(self.workers[k], first - 1, count, stride, float(stride))
            self._owed[k] = 0
        except Short as short:
            nodes = short.nodes
            self._owed[k] = count - short.played
        self._nodes[k] += nodes
        return nodes

    def _prepare(self) -> None:
        """Everybody has played: one numbering, and room for the mean."""
        alone = bool(self._meeting[1])
        self._stuck = bool(self._owed.any()) or (not alone and not self._algorithm.unify())
        if not alone and not self._stuck and (self._mean is None or self._keyed):
            self._mean = self._algorithm.room()

    def _visits(self) -> float:
        """Of an information set so far."""
        return int(self._nodes.sum()) / self._algorithm.infosets()

    def _learnt_enough(self) -> bool:
        """By the first thread alone."""
        return learnt_enough(self._algorithm, int(self._nodes.sum()))

    def _early(self, visits: float) -> float:
        """Of all iterations so far, at most, between two early meetings; where information sets
        are found while playing, so many that each thread meets about as many as there are, which
        is what a meeting takes."""
        early = self._algorithm.early
        if self._keyed:
            early = max(early, min(len(self.workers) / visits, SELDOM))
        return early

    def _plan(self) -> None:
        """The next meeting, when everything is put together."""
        done, alone = self._meeting.tolist()
        visits = max(self._visits(), 1e-9)
        self._meeting[1] = alone and not self._learnt_enough()
        between = ALONE - visits if self._meeting[1] else EACH * len(self.workers)
        whole = between * done / visits
        most = done if self._meeting[1] else self._early(visits) * done
        batch = max(min(whole, most), LATE * done)
        self._meeting[0] = done + max(LEAST * len(self.workers), int(batch))


def learnt_enough(algorithm: Algorithm, nodes: int) -> bool:
    """By one who played alone and touched so many nodes; in a game whose information sets hardly
    ever come again, `MOST_ALONE` of them."""
    enough = algorithm.game.abilities.keyed and nodes >= MOST_ALONE
    return enough or nodes >= ALONE * algorithm.infosets()


def _results(jobs: list[Future[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Of all threads; where one failed, why, and not that the others waited for it."""
    errors = [error for error in (job.exception() for job in jobs) if error is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, BrokenBarrierError)):
        raise error
    return [job.result() for job in jobs]


def check_threads(threads: Any, game: Game) -> int:
    """`threads` if so many can share `game`, else `BadParameter`."""
    number = whole_number(threads, 1, MOST_THREADS, "threads")
    most = most_threads(game)
    if number > most:
        use = "leave out threads" if most == 1 else f"use at most {most}"
        raise BadParameter(
            f"{game.name} has {game.n_infosets:,} information sets, too few for {threads} "
            f"threads; {use}"
        )
    return number


def most_threads(game: Game) -> int:
    """How many can share `game`."""
    if game.abilities.keyed:
        return MOST_THREADS
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
