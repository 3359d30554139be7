"""Values of queries, flop by flop: on the CPU, or on a CUDA device.

A `ValueQuery` asks for the value of a table, or of a best response, against another table. Flops
are independent of each other, so they are traversed in any order and in parallel; the play before
the flop needs the sum over all of them (`PreparedQuery.game_value`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.processes import cores, in_threads
from counterplay.poker.betting.betting import BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.holdem.table import Table, same_codes
from counterplay.poker.vector.exact_traversal import (
    ExactQuery,
    ExactWorkspace,
    begin_flop,
    end_flop,
    new_exact_workspace,
    value_flop,
)
from counterplay.poker.vector.flop_boards import (
    FlopBoards,
    ListingWorkspace,
    list_boards,
    new_flop_boards,
    new_listing_workspace,
)
from counterplay.poker.vector.public_tree import SeatStrategy, mix_seats, seat_strategy, streets_of
from counterplay.poker.vector.suit_permutations import (
    average_over_suits,
    flops_of,
    suit_permutations,
)

BACKENDS = ("auto", "cpu", "cuda")
#: Values at the flop's starts, of one flop: float64[groups, 1326, LANES].
Values = np.ndarray


class Alternative(NamedTuple):
    """A second table of a mixture, played with probability `share`, chosen before the hand."""

    table: Table
    share: float


class ValueQuery(NamedTuple):
    """The value to `player` of the table `by`, or of a best response if that is None, against the
    table `against`, which may be mixed with an `alternative`."""

    player: int
    against: Table
    by: Table | None = None
    alternative: Alternative | None = None

    @property
    def own(self) -> Table:
        """The table whose codes the player's own holdings have."""
        return self.by or self.against


class PreparedQuery:
    """A query in arrays. `symmetric`: of suit-isomorphic boards only one is traversed; by default
    with the full deck."""

    def __init__(
        self,
        query: ValueQuery,
        tree: BettingTree,
        deck: Deck = FULL,
        dtype: Any = np.float64,
        symmetric: bool | None = None,
    ) -> None:
        check_streets(tree)
        self.query, self.tree, self.dtype = query, tree, dtype
        self.player, self.best = query.player, query.by is None
        self.streets = streets_of(tree, dtype)
        symmetric = deck.full if symmetric is None else symmetric
        self.permutations = suit_permutations(deck.cards, symmetric)
        self.flops, self.weight = flops_of(deck.cards, self.permutations)
        self.full, self.deck = deck.full, np.array(deck.cards, dtype=np.int64)
        self.opponent = self._opponent(query.against, query.alternative)
        self.own = self._seat(self.player, query.own)
        self.groups = len(self.streets[1].public_node)
        self.exact = ExactQuery(
            self.streets,
            self.player,
            self.best,
            self.opponent,
            self.own,
            self.permutations.holding,
            len(self.deck),
        )

    def _seat(self, player: int, table: Table) -> SeatStrategy:
        return seat_strategy(self.tree, self.streets, player, table, self.dtype)

    def _opponent(self, table: Table, alternative: Alternative | None) -> SeatStrategy:
        seat = self._seat(1 - self.player, table)
        if alternative is None:
            return seat
        if not same_codes(table, alternative.table):
            raise BadParameter("the tables of a mixture must have the same card abstraction")
        other = self._seat(1 - self.player, alternative.table)
        return mix_seats(seat, other, 1.0 - alternative.share)

    @property
    def parts(self) -> int:
        """Number of tables that the opponent mixes."""
        return len(self.opponent.path[0])

    @cached_property
    def n_flops_left(self) -> int:
        """Flops that are possible when both players have their cards."""
        cards = len(self.deck)
        return (cards - 4) * (cards - 5) * (cards - 6) // 6

    def same_boards(self, other: PreparedQuery) -> bool:
        """Returns whether both queries have the same `FlopBoards`."""
        mine, theirs = self.query, other.query
        return same_codes(mine.against, theirs.against) and same_codes(mine.own, theirs.own)

    def list_boards(self, flop: int, work: ListingWorkspace, boards: FlopBoards) -> None:
        """Fills `boards` with the boards of a flop."""
        tables = (self.query.against, self.query.own)
        list_boards(self.deck, self.permutations, self.flops[flop], *tables, work, boards)

    def value(self, boards: FlopBoards, work: ExactWorkspace) -> Values:
        """Returns the values of a flop from its boards."""
        values = np.empty((self.groups, N_HOLDINGS, LANES))
        for g in range(self.groups):
            value_flop(self.exact, boards, g, work)
            values[g] = work.flop
        return values

    def average_over_suits(self, values: Values) -> Values:
        """Returns the means of values over suit permutations of the holdings."""
        averaged: np.ndarray = np.mean([values[:, h] for h in self.permutations.holding], axis=0)
        return averaged

    def game_value(self, total: Values) -> float:
        """Returns the payoff per hand, from the weighted sum over all flops of their values."""
        return self.payoff(total, total)

    def payoff(self, total: Values, chosen: Values) -> float:
        """As `game_value`, with the best response before the flop chosen by another sum."""
        choice = self._values(self._onward(chosen), None)
        start = self._values(self._onward(total), choice)[0][self._in_deck]
        cards = len(self.deck)
        deals = cards * (cards - 1) // 2 * ((cards - 2) * (cards - 3) // 2)
        return float(start.sum() / deals)

    def _onward(self, total: Values) -> np.ndarray:
        """Returns float64[ends, 1326]: values after the onward ends of the first street."""
        averaged = self.average_over_suits(total).transpose(0, 2, 1).reshape(-1, N_HOLDINGS)
        return averaged[: len(self.streets[0].onward)] / self.n_flops_left

    def _values(self, onward: np.ndarray, choice: np.ndarray | None) -> np.ndarray:
        """Returns float64[nodes, 1326]: values before the flop. A best response maximises them, or
        the values `choice` if given."""
        street, other = self.streets[0], 1 - self.player
        payoff = street.payoff[self.player, 0, :, 0]
        value = np.zeros((len(street.player), N_HOLDINGS))
        value[street.onward] = onward
        for k in street.terminals.tolist():
            value[k] = payoff[k] * self._unblocked[:, street.sequence[other, k]]
        policy = self.own.policy[0][0].reshape(-1, len(street.player), LANES)[..., 0]
        own = policy[self.query.own.cards.preflop.astype(np.int64)]
        holdings = np.arange(N_HOLDINGS)
        for k in np.flatnonzero(street.player >= 0)[::-1].tolist():
            below = slice(int(street.first_child[k]), int(street.first_child[k + 1]))
            if street.player[k] == other:
                value[k] = value[below].sum(axis=0)
            elif not self.best:
                value[k] = (own[:, below].T * value[below]).sum(axis=0)
            else:
                best = (value if choice is None else choice)[below].argmax(axis=0)
                value[k] = value[below][best, holdings]
        return value

    @cached_property
    def _in_deck(self) -> np.ndarray:
        """int64[n]: holdings of the deck."""
        return np.flatnonzero(np.isin(HOLDING_CARDS, self.deck).all(axis=1))

    @cached_property
    def _unblocked(self) -> np.ndarray:
        """float64[1326, sequences]: the opponent's reach before the flop on each action sequence,
        summed over the holdings that share no card with the player's own."""
        path = self.opponent.path[0].sum(axis=0, dtype=np.float64)
        path = path.reshape(len(path), -1, LANES)[..., 0]
        reach = np.zeros((N_HOLDINGS, path.shape[1]))
        codes = self.query.against.cards.preflop.astype(np.int64)
        reach[self._in_deck] = path[codes[self._in_deck]]
        low, high = HOLDING_CARDS.astype(np.int64).T
        by_card = np.zeros((N_CARDS, path.shape[1]))
        np.add.at(by_card, low, reach)
        np.add.at(by_card, high, reach)
        unblocked: np.ndarray = reach.sum(axis=0) - by_card[low] - by_card[high] + reach
        return unblocked


def check_streets(tree: BettingTree) -> None:
    """Raises `BadParameter` where betting ends before the river."""
    if tree.rules.n_streets != 4:
        raise BadParameter("exact values need betting on all four streets")


def values_on_cpu(
    queries: Sequence[PreparedQuery], flops: Sequence[int], threads: int | None = None
) -> Iterator[tuple[int, list[Values]]]:
    """Yields each flop and its values for each query, in the order of `flops`. Queries with the
    same boards should be neighbours: the boards of a flop are then listed once."""
    one = queries[0]
    workers = min(threads or cores(), max(len(flops), 1))
    parts = max(query.parts for query in queries)
    workspaces = deque(
        (
            new_exact_workspace(one.streets, one.dtype, parts),
            new_listing_workspace(),
            new_flop_boards(),
        )
        for _ in range(workers)
    )
    stops = [work.stop for work, _, _ in workspaces]

    def stop_all() -> None:
        for stop in stops:
            stop[0] = 1

    def traverse(flop: int) -> tuple[int, list[Values]]:
        workspace = workspaces.pop()
        work, listing_work, boards = workspace
        values: list[Values] = []
        for k, query in enumerate(queries):
            if k == 0 or not query.same_boards(queries[k - 1]):
                query.list_boards(flop, listing_work, boards)
            values.append(query.value(boards, work))
        workspaces.append(workspace)
        return flop, values

    yield from in_threads(traverse, flops, workers, workers + 1, at_end=stop_all)


def values_on_device(
    queries: Sequence[PreparedQuery],
    flops: Sequence[int],
    threads: int | None = None,
    device: Any = None,
) -> Iterator[tuple[int, list[Values]]]:
    """As `values_on_cpu`, for queries with the same boards and without mixtures. The device has the
    turns and rivers; meanwhile the CPU lists the boards of the next flops."""
    from counterplay.core.kernels.device import Device
    from counterplay.poker.vector.cuda_traversal import DeviceTraversal, FlopClasses

    one = queries[0]
    traversal = DeviceTraversal(device or Device(), [query.exact for query in queries])
    workers = threads or max(1, cores() - 1)  # one core feeds the device
    spare = deque((new_flop_boards(), traversal.class_workspace()) for _ in range(workers + 4))
    listing_work = deque(new_listing_workspace() for _ in range(workers))

    def prepare(flop: int) -> tuple[int, FlopClasses, Any]:
        work, (boards, class_work) = listing_work.pop(), spare.pop()
        one.list_boards(flop, work, boards)
        classes = traversal.list_classes(boards, class_work)
        listing_work.append(work)
        return flop, classes, class_work

    work = new_exact_workspace(one.streets, one.dtype)
    running: deque[tuple[int, FlopClasses, Any, Any]] = deque()

    def finish() -> tuple[int, list[Values]]:
        flop, classes, class_work, started = running.popleft()
        turns = zip(queries, traversal.queries, traversal.fetch(started), strict=True)
        values = [
            _end_flop(query, on_device.turn.used, classes.boards, at_turn, work)
            for query, on_device, at_turn in turns
        ]
        spare.append((classes.boards, class_work))
        return flop, values

    for flop, classes, class_work in in_threads(prepare, flops, workers, workers + 1):
        reach = [
            _reach_at_turn(query, on_device.turn.used, classes.boards, work)
            for query, on_device in zip(queries, traversal.queries, strict=True)
        ]
        running.append((flop, classes, class_work, traversal.start(classes, reach)))
        if len(running) > 1:
            yield finish()
    while running:
        yield finish()


def _reach_at_turn(
    query: PreparedQuery, used: np.ndarray, boards: FlopBoards, work: ExactWorkspace
) -> np.ndarray:
    """Returns [1326, starts]: the opponent's reach at the turn's starts `used`."""
    ends = len(query.streets[1].onward)
    reach = np.empty((N_HOLDINGS, query.groups * ends, LANES))
    for g in range(query.groups):
        begin_flop(query.exact, boards, g, work)
        reach[:, g * ends : (g + 1) * ends] = work.y_turn[0, :ends].transpose(1, 0, 2)
    at_starts: np.ndarray = reach.reshape(N_HOLDINGS, -1)[:, used]
    return at_starts


def _end_flop(
    query: PreparedQuery,
    used: np.ndarray,
    boards: FlopBoards,
    at_turn: np.ndarray,
    work: ExactWorkspace,
) -> Values:
    """Returns the values of a flop from those at the turn's starts `used` ([starts, 1326])."""
    ends = len(query.streets[1].onward)
    starts = np.zeros((query.groups * ends * LANES, N_HOLDINGS))
    starts[used] = at_turn
    turns = starts.reshape(query.groups, ends, LANES, N_HOLDINGS).transpose(0, 1, 3, 2)
    stabilizer, n = boards.flop_stabilizer[1:], int(boards.flop_stabilizer[0])
    values = np.empty((query.groups, N_HOLDINGS, LANES))
    for g in range(query.groups):
        begin_flop(query.exact, boards, g, work)
        work.turn[:ends] = turns[g]
        for e in range(ends):
            average_over_suits(
                query.permutations.holding, stabilizer, n, work.turn[e], work.average
            )
        end_flop(query.exact, boards, g, work)
        values[g] = work.flop
    return values
