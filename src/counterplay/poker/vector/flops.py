"""Questions about a table, answered flop by flop: on processors, or on a device.

What comes before the flop needs all flops (`Prepared.answer`); each flop by itself is work of its
own. So any number of them can be done at once, in any order, and kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.processes import cores, in_threads
from counterplay.poker.betting.betting import BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.holdem.table import Table, see_alike
from counterplay.poker.vector.board_list import (
    Listing,
    Scratch,
    list_flop,
    new_listing,
    new_scratch,
)
from counterplay.poker.vector.exact_traversal import (
    Seat,
    WalkDesk,
    begin_flop,
    end_flop,
    make_seat,
    mixed_seat,
    new_desk,
    value_flop,
)
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.suit_permutations import Renamings, even_out, flops_of, renamings

BACKENDS = ("auto", "cpu", "cuda")
#: Values at the flop's starts, of one flop: float64[groups, 1326, LANES].
Values = np.ndarray


class Instead(NamedTuple):
    """Another table that is played with this probability, decided before the hand."""

    table: Table
    share: float


@dataclass(frozen=True, eq=False)
class BoardQuestion:
    """What `player` gets from the table `against`, or `instead`: with the table `by`, or at best
    when that is None."""

    tree: BettingTree
    player: int
    against: Table
    by: Table | None = None
    deck: Deck = FULL
    instead: Instead | None = None

    @property
    def symmetric(self) -> bool:
        """Whether boards are walked up to suits."""
        return self.deck.full


class Prepared:
    """A question in arrays."""

    def __init__(self, question: BoardQuestion, dtype: Any = np.float64) -> None:
        self.question, self.dtype = question, dtype
        check_streets(question.tree)
        self.streets: tuple[Street, ...] = streets_of(question.tree, dtype)
        self.names: Renamings = renamings(question.deck.cards, question.symmetric)
        self.flops, self.weight = flops_of(question.deck.cards, self.names)
        self.deck = np.array(question.deck.cards, dtype=np.int64)
        self.player, self.best = question.player, question.by is None
        self.seat = self._opponent(question.against, question.instead)
        self.own = self._seat(self.player, question.by or question.against)
        self.groups = len(self.streets[1].node)

    def _seat(self, player: int, table: Table) -> Seat:
        return make_seat(self.question.tree, self.streets, player, table, self.dtype)

    def _opponent(self, table: Table, instead: Instead | None) -> Seat:
        seat = self._seat(1 - self.player, table)
        if instead is None:
            return seat
        if not see_alike(table, instead.table):
            raise BadParameter("the tables of a mixture must see the cards alike")
        return mixed_seat(seat, self._seat(1 - self.player, instead.table), 1.0 - instead.share)

    @property
    def parts(self) -> int:
        """How many tables the opponent mixes."""
        return len(self.seat.path[0])

    @cached_property
    def ways(self) -> int:
        """Flops that are left when both players have their cards."""
        cards = len(self.deck)
        return (cards - 4) * (cards - 5) * (cards - 6) // 6

    def sees_as(self, other: Prepared) -> bool:
        """Whether their tables see the cards alike, so that boards are listed alike."""
        mine, his = self.question, other.question
        return see_alike(mine.against, his.against) and see_alike(
            mine.by or mine.against, his.by or his.against
        )

    def listed(self, flop: int, scratch: Scratch, listing: Listing) -> None:
        """Fill `listing` with all boards of a flop, as the opponent's table and his own see
        them."""
        against, by = self.question.against, self.question.by or self.question.against
        list_flop(self.deck, self.names, self.flops[flop], against, by, scratch, listing)

    def value(self, listing: Listing, desk: WalkDesk) -> Values:
        """Values of a flop that is listed."""
        found = np.empty((self.groups, N_HOLDINGS, LANES))
        for g in range(self.groups):
            value_flop(
                self.streets,
                listing,
                self.names.pair,
                len(self.deck),
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
        return self.paid(total, total)

    def paid(self, total: Values, chosen: Values) -> float:
        """The same, with the best play before the flop chosen by another sum over flops."""
        choice = self._values(self._onward(chosen), None)
        start = self._values(self._onward(total), choice)[0][self._inside]
        cards = len(self.deck)
        pairs = cards * (cards - 1) // 2 * ((cards - 2) * (cards - 3) // 2)
        return float(start.sum() / pairs)

    def _onward(self, flops: Values) -> np.ndarray:
        """float64[ends, 1326]: values behind the ends of the first street."""
        evened = self.even(flops).transpose(0, 2, 1).reshape(-1, N_HOLDINGS)
        return evened[: len(self.streets[0].onward)] / self.ways

    def _values(self, onward: np.ndarray, choice: np.ndarray | None) -> np.ndarray:
        """float64[places, 1326]: values before the flop. At his own places the best there is, or
        what is best by the values `choice`."""
        street, other = self.streets[0], 1 - self.player
        pay = street.pay[self.player, 0, :, 0]
        value = np.zeros((len(street.player), N_HOLDINGS))
        value[street.onward] = onward
        for k in street.ends.tolist():
            value[k] = pay[k] * self._met[:, street.line[other, k]]
        policy = self.own.policy[0][0].reshape(-1, len(street.player), LANES)[..., 0]
        mine = policy[(self.question.by or self.question.against).cards.preflop.astype(np.int64)]
        everybody = np.arange(N_HOLDINGS)
        for k in np.flatnonzero(street.player >= 0)[::-1].tolist():
            below = slice(int(street.first[k]), int(street.first[k + 1]))
            if street.player[k] == other:
                value[k] = value[below].sum(axis=0)
            elif not self.best:
                value[k] = (mine[:, below].T * value[below]).sum(axis=0)
            else:
                best = (value if choice is None else choice)[below].argmax(axis=0)
                value[k] = value[below][best, everybody]
        return value

    @cached_property
    def _inside(self) -> np.ndarray:
        """int64[n]: holdings of the deck."""
        return np.flatnonzero(np.isin(HOLDING_CARDS, self.deck).all(axis=1))

    @cached_property
    def _met(self) -> np.ndarray:
        """float64[1326, lines]: the opponent's reach on each line before the flop, over holdings
        that share no card with one's own."""
        lines = self.seat.path[0].sum(axis=0, dtype=np.float64)
        lines = lines.reshape(len(lines), -1, LANES)[..., 0]
        reach = np.zeros((N_HOLDINGS, lines.shape[1]))
        codes = self.question.against.cards.preflop.astype(np.int64)
        reach[self._inside] = lines[codes[self._inside]]
        low, high = HOLDING_CARDS.astype(np.int64).T
        by_card = np.zeros((N_CARDS, lines.shape[1]))
        np.add.at(by_card, low, reach)
        np.add.at(by_card, high, reach)
        met: np.ndarray = reach.sum(axis=0) - by_card[low] - by_card[high] + reach
        return met


def check_streets(tree: BettingTree) -> None:
    """`BadParameter` where betting ends before the river."""
    if tree.rules.n_streets != 4:
        raise BadParameter("exact values by the board need betting on all four streets")


def on_processors(
    questions: Sequence[Prepared], flops: Sequence[int], threads: int | None = None
) -> Iterator[tuple[int, list[Values]]]:
    """Flops with their values for each question, in the order they are asked for. Questions whose
    tables see the cards alike share the listing of the boards."""
    one = questions[0]
    workers = min(threads or cores(), max(len(flops), 1))
    parts = max(question.parts for question in questions)
    rooms = deque(
        (new_desk(one.streets, one.dtype, parts), new_scratch(), new_listing())
        for _ in range(workers)
    )
    stops = [desk.stop for desk, _, _ in rooms]

    def hurry() -> None:
        """Nobody waits for what is under way."""
        for stop in stops:
            stop[0] = 1

    def work(flop: int) -> tuple[int, list[Values]]:
        room = rooms.pop()
        desk, scratch, listing = room
        found: list[Values] = []
        for k, question in enumerate(questions):
            if k == 0 or not question.sees_as(questions[k - 1]):
                question.listed(flop, scratch, listing)
            found.append(question.value(listing, desk))
        rooms.append(room)
        return flop, found

    yield from in_threads(work, flops, workers, workers + 1, at_end=hurry)


def on_device(
    questions: Sequence[Prepared],
    flops: Sequence[int],
    threads: int | None = None,
    device: Any = None,
) -> Iterator[tuple[int, list[Values]]]:
    """The same on a device, for questions whose tables see the cards alike and mix nothing:
    processors list the boards of coming flops meanwhile."""
    from counterplay.core.kernels.device import Device
    from counterplay.poker.vector.cuda_traversal import DeviceWalk, Listed, SeatAsked

    one = questions[0]
    asked = [SeatAsked(q.player, q.best, q.seat, q.own) for q in questions]
    walk = DeviceWalk(device or Device(), one.streets, asked, one.names.pair, len(one.deck))
    workers = threads or max(1, cores() - 1)  # one feeds the device
    spare = deque((new_listing(), walk.room()) for _ in range(workers + 4))
    scratches = deque(new_scratch() for _ in range(workers))

    def prepare(flop: int) -> tuple[int, Listed, Any]:
        scratch, (listing, room) = scratches.pop(), spare.pop()
        one.listed(flop, scratch, listing)
        listed = walk.list_classes(listing, room)
        scratches.append(scratch)
        return flop, listed, room

    desk = new_desk(one.streets, one.dtype)
    waiting: deque[tuple[int, Listed, Any, Any]] = deque()

    def finish() -> tuple[int, list[Values]]:
        flop, listed, room, running = waiting.popleft()
        found = [
            _end(q, seat.turn.real, listed.boards, values, desk)
            for q, seat, values in zip(questions, walk.seats, walk.fetch(running), strict=True)
        ]
        spare.append((listed.boards, room))
        return flop, found

    for flop, listed, room in in_threads(prepare, flops, workers, workers + 1):
        reach = [
            _reach_at_turn(q, seat.turn.real, listed.boards, desk)
            for q, seat in zip(questions, walk.seats, strict=True)
        ]
        waiting.append((flop, listed, room, walk.start(listed, reach)))
        if len(waiting) > 1:
            yield finish()
    while waiting:
        yield finish()


def _reach_at_turn(
    prepared: Prepared, real: np.ndarray, listing: Listing, desk: WalkDesk
) -> np.ndarray:
    """[1326, starts]: the opponent's reach at the turn's starts that are in use."""
    ends = len(prepared.streets[1].onward)
    found = np.empty((N_HOLDINGS, prepared.groups * ends, LANES))
    for g in range(prepared.groups):
        begin_flop(prepared.streets, listing, g, prepared.player, prepared.seat, desk)
        found[:, g * ends : (g + 1) * ends] = desk.y_turn[0, :ends].transpose(1, 0, 2)
    chosen: np.ndarray = found.reshape(N_HOLDINGS, -1)[:, real]
    return chosen


def _end(
    prepared: Prepared, real: np.ndarray, listing: Listing, values: np.ndarray, desk: WalkDesk
) -> Values:
    """Values at the flop's starts, from those of the turn's ([starts, 1326])."""
    ends = len(prepared.streets[1].onward)
    spread = np.zeros((prepared.groups * ends * LANES, N_HOLDINGS))
    spread[real] = values
    turns = spread.reshape(prepared.groups, ends, LANES, N_HOLDINGS).transpose(0, 1, 3, 2)
    kept, many = listing.flop_kept[1:], int(listing.flop_kept[0])
    found = np.empty((prepared.groups, N_HOLDINGS, LANES))
    for g in range(prepared.groups):
        begin_flop(prepared.streets, listing, g, prepared.player, prepared.seat, desk)
        desk.turn[:ends] = turns[g]
        for e in range(ends):
            even_out(prepared.names.pair, kept, many, desk.turn[e], desk.even)
        end_flop(
            prepared.streets,
            listing,
            len(prepared.deck),
            g,
            prepared.player,
            prepared.best,
            prepared.seat,
            prepared.own,
            desk,
        )
        found[g] = desk.flop
    return found
