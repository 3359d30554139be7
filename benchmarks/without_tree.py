"""Sampling without a tree: speed compared with the tree and with OpenSpiel's C++, memory, growth of
the tables, and the time to build a user-defined game in Python: `python -m
benchmarks.without_tree`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import REPEATS, rate
from counterplay import Game, load
from counterplay.core.forms.infoset_table import infoset_count, slot_count
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.hash_tables import infosets_of

HEADER = ("without a tree", "measured (range)", "asked for", "reached")
PEER = "liars_dice"
GAME = "bluff(1,1,6)"
HISTORIES = 299_593
#: Seconds to build a user-defined game of so many histories before information sets were looked up
#: in a table, on the machine of RESULTS.md, idle.
BUILD_BEFORE = 1.68

Row = tuple[str, str, str, str]


def _without(name: str) -> Game:
    return load(name.rstrip(")") + ",tree=False)")


def _rates() -> Iterator[Row]:
    """The tree, the information-set table and OpenSpiel, taking turns."""
    import pyspiel

    peer: Any = pyspiel.OutcomeSamplingMCCFRSolver(pyspiel.load_game(PEER), 0.6, 1)

    def theirs(n: int) -> None:
        for _ in range(n):
            peer.run_iteration()

    work = [
        new_solver(load(GAME), "mccfr", 0, {}).step,
        new_solver(_without(GAME), "mccfr", 0, {}).step,
        theirs,
    ]
    for step in work:
        step(1)
        step(20_000)
    turns = [[rate(step) for step in work] for _ in range(REPEATS)]
    yield _ratio(f"mccfr, {GAME}, over the tree", turns, 0, 0.5)
    yield _ratio(f"mccfr, {GAME}, over OpenSpiel's C++", turns, 2, 15)


def _ratio(name: str, turns: list[list[float]], other: int, target: float) -> Row:
    ratios = [turn[1] / turn[other] for turn in turns]
    median = statistics.median(ratios)
    text = f"{median:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    return name, text, f">= {target:g}", "yes" if median >= target else "NO"


def _interleaved() -> Iterator[Row]:
    """Interleaved histories and single ones, taking turns."""
    for name in ("goofspiel(6)", "goofspiel(6,tree=False)", "goofspiel(7,tree=False)"):
        game = load(name)
        work = [new_solver(game, "mccfr", 0, options).step for options in ({}, {"interleave": 32})]
        for step in work:
            step(300_000)
        turns = [[rate(step) for step in work] for _ in range(REPEATS)]
        ratios = [turn[1] / turn[0] for turn in turns]
        one, many = (statistics.median(turn[k] for turn in turns) for k in (0, 1))
        text = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        yield (
            f"mccfr, {name}: 32 interleaved over one",
            f"{text}; {one:,.0f} to {many:,.0f}/s",
            "",
            "",
        )


def _memory() -> Iterator[Row]:
    """Bytes per information set: of all arrays, relative to the tables of a tree."""
    for name in (GAME, "goofspiel(6)"):
        solver: Any = new_solver(_without(name), "mccfr", 0, {})
        solver.step(2_000_000)
        worker = solver._pool.workers[0]
        infosets = infosets_of(worker)
        arrays = (*infosets, *worker.tables)
        used = sum(_written_bytes(array) for array in arrays) / infoset_count(infosets)
        tree = 16 * slot_count(infosets) / infoset_count(infosets) + 8 + 4
        reached = "yes" if used <= 2.5 * tree else "NO"
        text = f"{used:.0f} bytes, {used / tree:.2f} times the {tree:.0f} of a tree's"
        yield f"memory per information set, {name}, mccfr", text, "<= 2.5 times", reached


def _written_bytes(array: np.ndarray) -> int:
    """Bytes of an array that were written; the unused rest takes no memory."""
    flat = array.reshape(len(array), -1)
    written = np.flatnonzero(flat.any(axis=1))
    last = int(written[-1]) + 1 if len(written) else 0
    return last * flat.shape[1] * array.itemsize


def _growth() -> Row:
    """The longest pause of a table that doubles its size."""
    solver: Any = new_solver(load("goofspiel(10)"), "mccfr", 0, {})
    hash_tables, worst = solver.hash_tables, 0.0
    make_room = hash_tables.make_room

    def timed(worker: Any, *more: int) -> bool:
        nonlocal worst
        before = time.perf_counter()
        done: bool = make_room(worker, *more)
        took = time.perf_counter() - before
        slots = slot_count(infosets_of(worker))
        if slots > 5_000_000:
            worst = max(worst, took / (slots / 1e7))
        return done

    hash_tables.make_room = timed
    while slot_count(infosets_of(solver._pool.workers[0])) < 40_000_000:
        solver.step(20_000)
    reached = "yes" if worst <= 1.0 else "NO"
    name = "longest pause for growth, per 10 M slots, goofspiel(10)"
    return name, f"{worst:.2f} s", "<= 1 s", reached


class _State:
    """Six alternating bids of eight values."""

    __slots__ = ("bids",)

    def __init__(self, bids: tuple[int, ...] = ()) -> None:
        self.bids = bids

    def player(self) -> int:
        return -2 if len(self.bids) == 6 else len(self.bids) % 2

    def actions(self) -> list[int]:
        return [0, 1, 2, 3, 4, 5, 6, 7]

    def child(self, action: int) -> _State:
        return _State((*self.bids, action))

    def infoset(self) -> tuple[int, ...]:
        return self.bids[len(self.bids) % 2 :: 2]

    def chance(self) -> list[float]:
        return []

    def payoffs(self) -> list[int]:
        lead = sum(self.bids[::2]) - sum(self.bids[1::2])
        return [lead, -lead]


class _Bids:
    n_players = 2

    def root(self) -> _State:
        return _State()


def _build() -> Row:
    times = []
    for _ in range(REPEATS):
        game = Game("bids", _Bids())
        before = time.perf_counter()
        assert game.n_nodes == HISTORIES
        times.append(time.perf_counter() - before)
    median = statistics.median(times)
    text = f"{median:.2f} s ({min(times):.2f}-{max(times):.2f}); was {BUILD_BEFORE:.2f} s"
    name = f"building a game of one's own in Python, {HISTORIES:,} histories"
    return name, text, "half of before", "yes" if median <= BUILD_BEFORE / 2 else "NO"


def rows() -> Iterator[Row]:
    yield from _rates()
    yield from _memory()
    yield _build()
    yield from _interleaved()
    yield _growth()


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row), flush=True)
