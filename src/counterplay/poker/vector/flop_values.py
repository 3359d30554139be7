"""Values of queries, flop by flop: on the CPU, or on a CUDA device.

A `ValueQuery` asks for the value of a table, or of a best response, against another table: a
traversal (`traversal.py`) with `FixedSeat`s; a `VectorPolicy` (`policy.py`) may stand in for a
table. Flops are independent of each other, so they are traversed in any order and in parallel; the
play before the flop needs the sum over all of them (`PreparedQuery.game_value`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.jobs import in_threads
from counterplay.core.parallel.processes import cores
from counterplay.poker.betting.betting import BettingTree
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.holdem.table import Table, code_counts, same_codes
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.flop_boards import (
    FlopBoards,
    ListingWorkspace,
    list_boards,
    new_flop_boards,
    new_listing_workspace,
)
from counterplay.poker.vector.learner_tables import BucketRows, table_blocks
from counterplay.poker.vector.policy import PolicySeat, VectorPolicy
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.traversal import (
    BestSeat,
    BoardLevel,
    CodesSeat,
    FixedSeat,
    PlainSeat,
    RestrictedSeat,
    Traversal,
)

BACKENDS = ("auto", "cpu", "cuda")
#: Values at the flop's starts, of one flop: float64[groups, 1326, LANES].
Values = np.ndarray


Played = Table | VectorPolicy  # what a player plays


class Alternative(NamedTuple):
    """A second table of a mixture, played with probability `share`, chosen before the hand."""

    table: Table
    share: float


class ValueQuery(NamedTuple):
    """The value to `player` of the table `by`, or of a best response if that is None, against the
    table `against`, which may be mixed with an `alternative`."""

    player: int
    against: Played
    by: Played | None = None
    alternative: Alternative | None = None

    @property
    def own(self) -> Played:
        """The table whose codes the player's own holdings have."""
        return self.by or self.against

    @property
    def policies(self) -> list[VectorPolicy]:
        """Those of the players who are not tables."""
        return [one for one in (self.against, self.by) if isinstance(one, VectorPolicy)]


class PreparedQuery:
    """A query as seats, for one thread. `symmetric`: of suit-isomorphic boards only one is
    traversed; by default with the full deck."""

    def __init__(
        self,
        query: ValueQuery,
        tree: BettingTree,
        deck: Deck = FULL,
        dtype: Any = np.float64,
        symmetric: bool | None = None,
        blocks: dict[int, tuple[np.ndarray, ...]] | None = None,
    ) -> None:
        """`blocks`: what several queries have in common, from a table's id."""
        self._blocks = {} if blocks is None else blocks
        self.query, self.tree, self.dtype = query, tree, dtype
        self.player, self.best = query.player, query.by is None
        self.streets = streets_of(tree, dtype)
        symmetric = deck.full if symmetric is None else symmetric
        self.chance = HoldemChance(deck.cards, tree.rules.board, symmetric)
        self.flops, self.weight = self.chance.flops, self.chance.flop_weight
        self.full, self.deck, self.deck_size = deck.full, self.chance.deck, len(deck.cards)
        self.permuted = self.chance.permutations
        self.groups = len(self.streets[1].public_node)
        self.opponent = self._seat(1 - self.player, query.against)
        self.own: FixedSeat | PolicySeat | CodesSeat
        if query.by is not None:
            self.own = self._seat(self.player, query.by)
        elif isinstance(query.against, Table):
            self.own = CodesSeat(
                self.chance, self.streets, self.player, self._rows(query.against), dtype
            )
        else:
            self.own = self.opponent  # which nobody reads, since a policy has no codes
        self.faced: FixedSeat | PolicySeat | RestrictedSeat = self.opponent
        if query.alternative is not None:
            table, share = query.alternative
            if not isinstance(query.against, Table) or not same_codes(query.against, table):
                raise BadParameter("the tables of a mixture must have the same card abstraction")
            other = self._seat(1 - self.player, table)
            assert isinstance(self.opponent, FixedSeat)
            assert isinstance(other, FixedSeat)
            self.faced = RestrictedSeat(self.opponent, other, share)

    def _seat(self, player: int, table: Played) -> FixedSeat | PolicySeat:
        if isinstance(table, VectorPolicy):
            return PolicySeat(self.chance, self.streets, self.tree, player, table, self.dtype)
        if id(table) not in self._blocks:
            self._blocks[id(table)] = table_blocks(self.tree, self.streets, table)
        policy, rows = self._blocks[id(table)], self._rows(table)
        return FixedSeat(self.chance, self.streets, player, rows, policy, self.dtype)

    def _rows(self, table: Table) -> BucketRows:
        return BucketRows(table.cards, code_counts(table, self.tree), table.carry)

    def copy(self) -> PreparedQuery:
        """Returns one for another thread."""
        query = copy(self)
        query.opponent, query.own = self.opponent.copy(), self.own.copy()
        query.faced = self.faced.copy()
        return query

    def same_boards(self, other: PreparedQuery) -> bool:
        """Returns whether both queries have the same `FlopBoards`."""
        pairs = zip(self.tables, other.tables, strict=True)
        return all(same_codes(mine, theirs) for mine, theirs in pairs)

    @property
    def tables(self) -> tuple[Table, Table]:
        """What the opponent and the player play; policies have none."""
        against, own = self.query.against, self.query.own
        if not isinstance(against, Table) or not isinstance(own, Table):
            raise BadParameter("a policy is evaluated on processors; use backend=cpu")
        return against, own

    def list_boards(self, flop: int, work: ListingWorkspace, boards: FlopBoards) -> None:
        """Fills `boards` with the boards of a flop."""
        flop_cards = self.flops[flop]
        list_boards(self.deck, self.chance.group, flop_cards, *self.tables, work, boards)

    def new_traversal(self) -> Traversal:
        """Returns a traversal of one thread for queries of this game."""
        return Traversal(self.chance, self.streets, self.dtype)

    @property
    def _player_seat(self) -> FixedSeat | PolicySeat | None:
        return None if isinstance(self.own, CodesSeat) or self.best else self.own

    def value(self, flop: int, traversal: Traversal) -> Values:
        """Returns the values of a flop."""
        level = self._begin_flop(flop, traversal)
        traversal.add_values(level, self.faced, self._player_seat)
        return level.value[self.player].copy()

    def whole_value(self) -> float:
        """Returns the payoff per hand, by traversing all boards."""
        return self.new_traversal().value_against(self.faced, self._player_seat)

    def _begin_flop(self, flop: int, traversal: Traversal) -> BoardLevel:
        """Returns the level of a flop, with the opponent's reach and values of zero."""
        root, level = traversal.begin(self.faced), traversal.levels[1]
        self.faced.set_board(root)
        traversal.pass_down(root, self.faced)
        level.deal(self.chance.flop(flop))
        level.value[self.player][:] = 0.0
        return level

    def reach_at_turn(self, flop: int, starts: np.ndarray, traversal: Traversal) -> np.ndarray:
        """Returns [1326, starts]: the opponent's reach at some of the turn's starts."""
        level = self._begin_flop(flop, traversal)
        self.opponent.set_board(level)
        traversal.pass_down(level, self.opponent)
        reach = traversal.levels[2].reach[1 - self.player].transpose(1, 0, 2)
        at_starts: np.ndarray = reach.reshape(N_HOLDINGS, -1)[:, starts]
        return at_starts

    def end_flop(
        self, flop: int, starts: np.ndarray, at_turn: np.ndarray, traversal: Traversal
    ) -> Values:
        """Returns the values of a flop from those at some of the turn's starts ([starts, 1326])."""
        level, turn = self._begin_flop(flop, traversal), traversal.levels[2]
        values = np.zeros((len(turn.value[self.player]) * LANES, N_HOLDINGS))
        values[starts] = at_turn
        turn.value[self.player][:] = values.reshape(-1, LANES, N_HOLDINGS).transpose(0, 2, 1)
        traversal.average_over_suits(turn, self.player, level.dealt)
        for seat in (self.opponent, self.own):
            seat.set_board(level)
        scale = 1.0 / self.chance.n_deals[2]
        traversal.evaluate(level, self.own, self.opponent, best=self.best, scale=scale)
        return level.value[self.player].copy()

    def game_value(self, total: Values) -> float:
        """Returns the payoff per hand, from the weighted sum over all flops of their values."""
        return self.payoff(total, total)

    def payoff(self, total: Values, chosen: Values) -> float:
        """As `game_value`, with the best response before the flop chosen by another sum."""
        root = self._before_flop.begin(self.faced)
        self.faced.set_board(root)
        own: PlainSeat = self.own
        if self.best:
            best = BestSeat(self.chance, self.streets[:1], self.player, self.dtype)
            self._evaluate_root(root, best, chosen, best=True, record=best.choices(root))
            own = best
        own.set_board(root)
        self._evaluate_root(root, own, total)
        return self._before_flop.mean_value(self.player)

    @cached_property
    def _before_flop(self) -> Traversal:
        return Traversal(self.chance, self.streets[:2], self.dtype)

    def _evaluate_root(
        self, root: BoardLevel, own: PlainSeat, total: Values, **options: Any
    ) -> None:
        """Computes the values before the flop from the weighted sum over all flops."""
        traversal, flop = self._before_flop, self._before_flop.levels[1]
        flop.value[self.player][:] = total
        traversal.average_over_suits(flop, self.player, root.dealt)
        root.value[self.player][:] = 0.0
        scale = 1.0 / self.chance.n_deals[1]
        traversal.evaluate(root, own, self.faced, scale=scale, **options)


def check_streets(tree: BettingTree) -> None:
    """Raises `BadParameter` where betting ends before the river."""
    if tree.rules.n_streets != 4:
        raise BadParameter("exact values need betting on all four streets")


def values_on_cpu(
    queries: Sequence[PreparedQuery], flops: Sequence[int], threads: int | None = None
) -> Iterator[tuple[int, list[Values]]]:
    """Yields each flop and its values for each query, in the order of `flops`."""
    workers = min(threads or cores(), max(len(flops), 1))
    traversals = [queries[0].new_traversal() for _ in range(workers)]
    free = deque((traversal, [query.copy() for query in queries]) for traversal in traversals)

    def stop_all() -> None:
        for traversal in traversals:
            traversal.stopped = True

    def traverse(flop: int) -> tuple[int, list[Values]]:
        worker = traversal, asked = free.pop()
        values = [query.value(flop, traversal) for query in asked]
        free.append(worker)
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
    traversal = DeviceTraversal(device or Device(), queries)
    workers = threads or max(1, cores() - 1)  # one core feeds the device
    spare = deque((new_flop_boards(), traversal.class_workspace()) for _ in range(workers + 4))
    listing_work = deque(new_listing_workspace() for _ in range(workers))

    def prepare(flop: int) -> tuple[int, FlopClasses, Any]:
        work, (boards, class_work) = listing_work.pop(), spare.pop()
        one.list_boards(flop, work, boards)
        classes = traversal.list_classes(boards, class_work)
        listing_work.append(work)
        return flop, classes, class_work

    on_cpu = one.new_traversal()
    running: deque[tuple[int, FlopClasses, Any, Any]] = deque()

    def finish() -> tuple[int, list[Values]]:
        flop, classes, class_work, started = running.popleft()
        turns = zip(queries, traversal.queries, traversal.fetch(started), strict=True)
        values = [
            query.end_flop(flop, on_device.turn.used, at_turn, on_cpu)
            for query, on_device, at_turn in turns
        ]
        spare.append((classes.boards, class_work))
        return flop, values

    for flop, classes, class_work in in_threads(prepare, flops, workers, workers + 1):
        reach = [
            query.reach_at_turn(flop, on_device.turn.used, on_cpu)
            for query, on_device in zip(queries, traversal.queries, strict=True)
        ]
        running.append((flop, classes, class_work, traversal.start(classes, reach)))
        if len(running) > 1:
            yield finish()
    while running:
        yield finish()
