"""Questions about a table, answered flop by flop: on processors, or on a device.

What comes before the flop needs all flops (`Prepared.answer`); each flop by itself is work of its
own. So any number of them can be done at once, in any order, and kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.base.processors import cores
from counterplay.holdem.betting import BettingTree
from counterplay.holdem.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.holdem.decks import FULL, Deck
from counterplay.holdem.table import Table
from counterplay.holdem.walk.exact import (
    Desk,
    Seat,
    begin_flop,
    end_flop,
    make_seat,
    new_desk,
    set_codes,
    value_flop,
    value_street,
)
from counterplay.holdem.walk.listing import Listing, list_flop, new_listing
from counterplay.holdem.walk.shape import LANES, Street, streets_of
from counterplay.holdem.walk.symmetry import Renamings, even_out, flops_of, renamings

BACKENDS = ("auto", "cpu", "cuda")
#: Values at the flop's starts, of one flop: float64[groups, 1326, LANES].
Values = np.ndarray


@dataclass(frozen=True, eq=False)
class Question:
    """What `player` gets from the table `against`: with the table `by`, or at best when that is
    None."""

    tree: BettingTree
    player: int
    against: Table
    by: Table | None = None
    deck: Deck = FULL
    symmetric: bool = True  # whether both see suits alike


class Prepared:
    """A question in arrays."""

    def __init__(self, question: Question, dtype: Any = np.float64) -> None:
        self.question, self.dtype = question, dtype
        if question.tree.rules.n_streets != 4:
            raise BadParameter("exact values by the board need betting on all four streets")
        self.streets: tuple[Street, ...] = streets_of(question.tree, dtype)
        self.names: Renamings = renamings(question.deck.cards, question.symmetric)
        self.flops, self.weight = flops_of(question.deck.cards, self.names)
        self.deck = np.array(question.deck.cards, dtype=np.int64)
        self.player, self.best = question.player, question.by is None
        self.seat = self._seat(1 - self.player, question.against)
        self.own = self._seat(self.player, question.by or question.against)
        self.groups = len(self.streets[1].node)

    def _seat(self, player: int, table: Table) -> Seat:
        return make_seat(self.question.tree, self.streets, player, table, self.dtype)

    @cached_property
    def ways(self) -> int:
        """Flops that are left when both players have their cards."""
        cards = len(self.deck)
        return (cards - 4) * (cards - 5) * (cards - 6) // 6

    def on_processor(self, flop: int, desk: Desk) -> Values:
        found = np.empty((self.groups, N_HOLDINGS, LANES))
        for g in range(self.groups):
            value_flop(
                self.streets,
                self.deck,
                self.names,
                self.flops[flop],
                g,
                self.player,
                self.best,
                self.seat,
                self.own,
                desk,
            )
            found[g] = desk.flop
        return found

    def even(self, values: Values) -> Values:
        """Holdings that differ by suits alone have their mean."""
        evened: np.ndarray = np.mean([values[:, pairs] for pairs in self.names.pair], axis=0)
        return evened

    def answer(self, total: Values) -> float:
        """The payoff per hand, from the sum over all flops of their values."""
        start = self.at_the_start(self.even(total))
        cards = len(self.deck)
        pairs = cards * (cards - 1) // 2 * ((cards - 2) * (cards - 3) // 2)
        return float(start.sum() / pairs)

    def at_the_start(self, flops: Values) -> np.ndarray:
        """float64[1326]: values before the flop."""
        street, ends = self.streets[0], len(self.streets[0].onward)
        onward = np.zeros((ends, N_HOLDINGS, LANES))
        onward[:, :, 0] = flops.transpose(0, 2, 1).reshape(-1, N_HOLDINGS)[:ends]
        desk = new_desk(self.streets, self.dtype)
        _list_all(self.deck, desk)
        set_codes(self.seat.table, desk, 0, 0)
        set_codes(self.own.table, desk, 1, 0)
        out = np.zeros((N_HOLDINGS, LANES))
        value_street(
            street,
            0,
            self.player,
            self.best,
            desk.code[0, 0],
            desk.code[1, 0],
            np.ones((N_HOLDINGS, LANES), dtype=self.dtype),
            self.seat.gone[0],
            self.own.policy[0],
            onward,
            1.0 / self.ways,
            desk,
            out,
            1.0,
        )
        return out[:, 0]


def _list_all(deck: np.ndarray, desk: Desk) -> None:
    """All holdings of a deck, by number."""
    pairs, board = HOLDING_CARDS.astype(np.int64), desk.board
    inside = np.flatnonzero(np.isin(pairs, deck).all(axis=1))
    n = len(inside)
    board.size[:] = n, 0
    board.pair[:n] = inside
    board.low[:n], board.high[:n] = pairs[inside].T


def on_processors(
    prepared: Prepared, flops: Sequence[int], threads: int | None = None
) -> Iterator[tuple[int, Values]]:
    """Flops with their values, in the order they are asked for."""
    workers = min(threads or cores(), max(len(flops), 1))
    desks = deque(new_desk(prepared.streets, prepared.dtype) for _ in range(workers))

    def work(flop: int) -> Values:
        desk = desks.pop()
        try:
            return prepared.on_processor(flop, desk)
        finally:
            desks.append(desk)

    yield from _in_order(work, flops, workers)


def _in_order(work: Any, flops: Sequence[int], workers: int) -> Iterator[tuple[int, Any]]:
    """Work on so many at once, and hand them over in order."""
    with ThreadPoolExecutor(workers) as pool:
        jobs: deque[tuple[int, Future[Any]]] = deque()
        left = iter(flops)
        try:
            for flop in left:
                jobs.append((flop, pool.submit(work, flop)))
                if len(jobs) >= workers + 2:
                    done, job = jobs.popleft()
                    yield done, job.result()
            while jobs:
                done, job = jobs.popleft()
                yield done, job.result()
        finally:
            for _, job in jobs:
                job.cancel()


def on_device(
    questions: Sequence[Prepared], flops: Sequence[int], threads: int | None = None
) -> Iterator[tuple[int, list[Values]]]:
    """The same on a device, for questions about the same tables: processors list the boards of
    coming flops meanwhile."""
    from counterplay.holdem.walk.cuda import DeviceWalk

    one = questions[0]
    walks = [
        DeviceWalk(q.streets, q.player, q.best, q.seat, q.own, q.names.pair, len(q.deck))
        for q in questions
    ]
    workers = threads or cores()
    spare = deque(new_listing() for _ in range(workers + 4))
    desks = deque(new_desk(one.streets, one.dtype) for _ in range(workers))
    # the opponent's table comes first in a listing, and both are the same for every question
    tables = (one.seat.table, one.own.table)

    def prepare(flop: int) -> Listing:
        desk, listing = desks.pop(), spare.pop()
        list_flop(one.deck, one.names, one.flops[flop], *tables, desk, listing)
        desks.append(desk)
        return listing

    desk = new_desk(one.streets, one.dtype)
    waiting: deque[tuple[int, Listing, list[Any]]] = deque()

    def finish() -> tuple[int, list[Values]]:
        flop, listing, running = waiting.popleft()
        found = [
            _end(q, walk, flop, listing, walk.fetch(job), desk)
            for q, walk, job in zip(questions, walks, running, strict=True)
        ]
        spare.append(listing)
        return flop, found

    for flop, listing in _in_order(prepare, flops, workers):
        running = [
            walk.start(listing, _reach_at_turn(q, walk, flop, desk))
            for q, walk in zip(questions, walks, strict=True)
        ]
        waiting.append((flop, listing, running))
        if len(waiting) > 1:
            yield finish()
    while waiting:
        yield finish()


def _reach_at_turn(prepared: Prepared, walk: Any, flop: int, desk: Desk) -> np.ndarray:
    """[1326, starts]: the opponent's reach at the turn's starts that are in use."""
    ends = len(prepared.streets[1].onward)
    found = np.empty((N_HOLDINGS, prepared.groups * ends, LANES))
    for g in range(prepared.groups):
        begin_flop(
            prepared.streets,
            prepared.deck,
            prepared.flops[flop],
            g,
            prepared.player,
            prepared.seat,
            prepared.own,
            desk,
        )
        found[:, g * ends : (g + 1) * ends] = desk.y_turn[:ends].transpose(1, 0, 2)
    chosen: np.ndarray = found.reshape(N_HOLDINGS, -1)[:, walk.turn.real]
    return chosen


def _end(
    prepared: Prepared, walk: Any, flop: int, listing: Listing, values: np.ndarray, desk: Desk
) -> Values:
    """Values at the flop's starts, from those of the turn's ([starts, 1326])."""
    ends = len(prepared.streets[1].onward)
    spread = np.zeros((prepared.groups * ends * LANES, N_HOLDINGS))
    spread[walk.turn.real] = values
    turns = spread.reshape(prepared.groups, ends, LANES, N_HOLDINGS).transpose(0, 1, 3, 2)
    kept = listing.flop_kept[1:].astype(np.int64)
    found = np.empty((prepared.groups, N_HOLDINGS, LANES))
    for g in range(prepared.groups):
        begin_flop(
            prepared.streets,
            prepared.deck,
            prepared.flops[flop],
            g,
            prepared.player,
            prepared.seat,
            prepared.own,
            desk,
        )
        desk.turn[:ends] = turns[g]
        for e in range(ends):
            even_out(prepared.names.pair, kept, int(listing.flop_kept[0]), desk.turn[e], desk.even)
        end_flop(
            prepared.streets,
            prepared.deck,
            g,
            prepared.player,
            prepared.best,
            prepared.seat,
            prepared.own,
            desk,
        )
        found[g] = desk.flop
    return found
