"""Seats, and the order in which boards are visited.

A *level* is one street of the board being visited: its holdings, both players' reach probabilities
and values. `Traversal` descends one path of boards and returns; `each_child` visits every board
that may follow. What is computed depends on the seats:

| computation | seats |
|---|---|
| expected value (`flop_values.py`) | `FixedSeat` or `PolicySeat` (`policy.py`) against such |
| best response (`flop_values.py`) | the maximum against `FixedSeat` or `PolicySeat` |
| vector-form CFR (`benchmarks/vector_cfr.py`) | `LearnerSeat` against `LearnerSeat` |
| CFR-BR (`cfr_br.py`) | `LearnerSeat` against `LearnerSeat` in the trunk, `BestSeat` below it |

An opponent may be a `RestrictedSeat` of any of them: with probability p it plays a model.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any, NamedTuple, Self

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.cache_lines import aligned_zeros
from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.chance import Chance, DealtBoard
from counterplay.poker.vector.learner_tables import (
    LearnerTables,
    RowMap,
    add_own_reach,
    match_regrets,
    update_tables,
)
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import BIASED
from counterplay.poker.vector.street import (
    Onward,
    Opponent,
    RowStrategy,
    evaluate,
    follow_choices,
    follow_policy,
    new_row_strategy,
    new_street_workspace,
    pass_down,
)
from counterplay.poker.vector.suit_permutations import average_over_suits

_MODEL = 2  # the reach of a model, after those of the players
_NO_CHOICE = np.zeros((1, 1, 1), dtype=np.uint8)
_NO_VALUE = np.zeros((1, 1, 1))


class BoardLevel:
    """One street of one board, for one thread."""

    def __init__(self, chance: Chance, streets: tuple[Street, ...], k: int, dtype: Any) -> None:
        self.k, self.street = k, streets[k]
        self.final = k == len(streets) - 1
        self.dealt: DealtBoard = chance.root()
        self.board: Board
        self._chance, self._work = chance, chance.new_workspace()
        shape = (len(self.street.public_node), chance.n_holdings, LANES)
        self.reach = [aligned_zeros(shape, dtype) for _ in range(3)]  # of the players and a model
        self.value = [aligned_zeros(shape, np.float64) for _ in range(2)]

    def deal(self, dealt: DealtBoard) -> None:
        """Moves the level to a board."""
        self.dealt = dealt
        self.board = self._chance.lay_out(self._work, dealt, self.final)

    def holdings(self) -> np.ndarray:
        """Returns int64[n]: the holdings on the board."""
        return self.board.holding[: int(self.board.size[0])]


class PlainSeat:
    """A seat that is not restricted."""

    player: int
    row: list[np.ndarray]  # of the holdings on each level's board
    strategy: list[RowStrategy]

    @property
    def parts(self) -> list[tuple[PlainSeat, int, float]]:
        """Who plays, which reach of a level is theirs, and its probability before the hand."""
        return [(self, self.player, 1.0)]

    @property
    def path(self) -> tuple[np.ndarray, ...]:
        """Probabilities of the action sequences of each street, as in `RowStrategy`."""
        return tuple(strategy.path for strategy in self.strategy)

    @property
    def policy(self) -> tuple[np.ndarray, ...]:
        """Probabilities of the actions of each street, as in `RowStrategy`."""
        return tuple(strategy.policy for strategy in self.strategy)

    def set_board(self, level: BoardLevel) -> None:
        """Prepares the strategy on a level's board."""
        raise NotImplementedError


class _RowSeat(PlainSeat):
    """A seat with rows: those of the holdings on each level's board, and their strategy."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], player: int, row_map: RowMap, dtype: Any
    ) -> None:
        self.player, self.row_map = player, row_map
        self.row = [np.zeros(chance.n_holdings, dtype=np.int64) for _ in streets]
        self.strategy = [
            new_row_strategy(street, player, row_map.count(k), dtype)
            for k, street in enumerate(streets)
        ]

    def _set_rows(self, level: BoardLevel) -> None:
        """Fills the rows of a board."""
        self.row_map.fill(level.k, level.dealt, self.row[level.k])

    def _rows_used(self, level: BoardLevel) -> np.ndarray:
        """Returns the rows that occur on a board."""
        return np.unique(self.row[level.k][level.holdings()])

    def copy(self) -> Self:
        """Returns one for another thread, with the same strategy."""
        seat = copy(self)
        seat.row_map, seat.row = self.row_map.copy(), deepcopy(self.row)
        return seat


class CodesSeat(_RowSeat):
    """A seat of which only the rows are read: that of a best response."""

    def set_board(self, level: BoardLevel) -> None:
        self._set_rows(level)


class FixedSeat(_RowSeat):
    """A seat that plays a given strategy: `policy[k]` is [blocks, groups, rows, nodes * LANES], as
    in `LearnerTables`."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], player: int, row_map: RowMap,
        policy: tuple[np.ndarray, ...], dtype: Any = np.float64,
    ) -> None:  # fmt: skip
        super().__init__(chance, streets, player, row_map, dtype)
        self._policy = policy
        for k, street in enumerate(streets):
            if len(policy[k]) == 1:
                mine = policy[k][0]
                if mine.dtype == dtype and mine.flags.carray:  # not copied: it may be large
                    self.strategy[k] = self.strategy[k]._replace(policy=mine)
                    follow_policy(street, player, np.arange(row_map.count(k)), self.strategy[k])
                else:
                    self._follow(street, k, 0, np.arange(row_map.count(k)))

    def _follow(self, street: Street, k: int, block: int, used: np.ndarray) -> None:
        self.strategy[k].policy[:, used] = self._policy[k][block][:, used]
        follow_policy(street, self.player, used, self.strategy[k])

    def copy(self) -> Self:
        """As `_RowSeat.copy`; a strategy that differs between boards is copied."""
        seat = super().copy()
        if any(len(policy) > 1 for policy in self._policy):
            seat.strategy = deepcopy(self.strategy)
        return seat

    def set_board(self, level: BoardLevel) -> None:
        self._set_rows(level)
        if len(self._policy[level.k]) > 1:
            self._follow(level.street, level.k, level.dealt.number, self._rows_used(level))


class Step(NamedTuple):
    """How an iteration changes the tables."""

    regrets: float = 1.0  # its weight in the regrets
    average: float = 1.0  # and in the average
    plus: bool = False  # regret matching+: negative regrets become zero
    prior: float = 0.0  # its weight in the mean regrets of buckets (`adversary.py`)


class LearnerSeat(_RowSeat):
    """A seat that plays by regret matching and updates its tables."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], player: int, row_map: RowMap,
        tables: LearnerTables, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__(chance, streets, player, row_map, dtype)
        self._tables = tables
        self.action_value, self._own_reach, self._used = [], [], []
        for k, street in enumerate(streets):
            shape = (len(street.public_node), row_map.count(k))
            self.action_value.append(np.zeros((*shape, len(street.player) * LANES)))
            self._own_reach.append(np.zeros((*shape, LANES)))
            self._used.append(np.zeros(0, dtype=np.int64))

    def set_board(self, level: BoardLevel) -> None:
        k = level.k
        self._set_rows(level)
        self._used[k] = self._rows_used(level)
        regret, _ = self._tables.block(k, level.dealt)
        match_regrets(level.street, self.player, regret, self._used[k], self.strategy[k])

    def add_reach(self, level: BoardLevel, times: float) -> None:
        """Adds the seat's own reach, for the average strategy."""
        row, reach = self.row[level.k], level.reach[self.player]
        add_own_reach(level.board, row, reach, times, self._own_reach[level.k])

    def use_all_rows(self, k: int) -> None:
        """Lets the next update of street k include the rows of all boards."""
        self._used[k] = np.arange(self.row_map.count(k))

    def update(self, level: BoardLevel, step: Step) -> None:
        """Adds what was collected since the last update to the tables."""
        k = level.k
        update_tables(
            level.street, self.player, self._used[k], self.strategy[k], self.action_value[k],
            self._own_reach[k], step.regrets, step.average, step.plus,
            *self._tables.block(k, level.dealt),
        )  # fmt: skip


class BestSeat(PlainSeat):
    """A seat that takes the maximum for every holding; its choices are stored by board."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], player: int, dtype: Any
    ) -> None:
        self.player, n = player, chance.n_holdings
        self.row = [np.arange(n, dtype=np.int64)] * len(streets)
        self.strategy = [new_row_strategy(street, player, n, dtype) for street in streets]
        self._choice: dict[tuple[int, ...], np.ndarray] = {}

    def clear(self) -> None:
        """Forgets all choices."""
        self._choice.clear()

    def choices(self, level: BoardLevel) -> np.ndarray:
        """Returns uint8[groups, holdings, nodes * LANES]: the actions on a level's board."""
        groups, nodes = level.street.public_node.shape[:2]
        shape = (groups, len(self.row[0]), nodes * LANES)
        return self._choice.setdefault(level.dealt.cards, np.zeros(shape, dtype=np.uint8))

    def set_board(self, level: BoardLevel) -> None:
        choices, strategy = self.choices(level), self.strategy[level.k]
        follow_choices(level.street, self.player, choices, level.holdings(), strategy)


class RestrictedSeat(NamedTuple):
    """A seat that plays `model` with probability p, decided before the hand, and otherwise as
    `seat` does."""

    seat: FixedSeat | LearnerSeat | BestSeat
    model: FixedSeat
    p: float

    @property
    def player(self) -> int:
        return self.seat.player

    @property
    def parts(self) -> list[tuple[PlainSeat, int, float]]:
        """As of the other seats; the seat itself comes first."""
        return [(self.seat, self.player, 1.0 - self.p), (self.model, _MODEL, self.p)]

    def copy(self) -> RestrictedSeat:
        """Returns one of fixed seats for another thread."""
        assert isinstance(self.seat, FixedSeat)
        return RestrictedSeat(self.seat.copy(), self.model.copy(), self.p)

    def set_board(self, level: BoardLevel) -> None:
        for seat in (self.seat, self.model):
            seat.set_board(level)


Seat = PlainSeat | RestrictedSeat


class Traversal:
    """Levels and buffers of one thread."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], dtype: Any = np.float64
    ) -> None:
        if any(street.payoff.dtype != dtype for street in streets):
            raise BadParameter(f"streets of {streets[0].payoff.dtype} in a traversal of {dtype}")
        self.chance = chance
        self.levels = [BoardLevel(chance, streets, k, dtype) for k in range(len(streets))]
        self._work = new_street_workspace(streets, chance.n_holdings, dtype)
        self._averaging = np.zeros((chance.n_holdings, LANES))
        self._no_onward = np.zeros((0, chance.n_holdings, LANES))
        self.stopped = False  # set by another thread to abandon a traversal

    def begin(self, *seats: Seat) -> BoardLevel:
        """Returns the root with the reach of these seats."""
        level = self.levels[0]
        level.deal(self.chance.root())
        for _, which, probability in (part for seat in seats for part in seat.parts):
            level.reach[which][:] = 0.0
            level.reach[which][:, self.chance.possible, 0] = probability
        return level

    def pass_down(self, level: BoardLevel, seat: Seat) -> None:
        """Fills the seat's reach of the next level."""
        k = level.k
        for part, which, _ in seat.parts:
            pass_down(
                level.street, part.player, part.row[k], part.strategy[k], level.board, k == 0,
                level.reach[which], self.levels[k + 1].reach[which],
            )  # fmt: skip

    def evaluate(
        self,
        level: BoardLevel,
        own: PlainSeat | None,
        opponent: Seat,
        *,
        best: bool = False,
        bias: bool = False,
        scale: float = 1.0,
        times: float = 1.0,
        record: np.ndarray | None = None,
        action_value: np.ndarray | None = None,
    ) -> None:
        """Adds the values at the start of the street to `level.value`: of the opponent's opponent,
        by the strategy of `own`, or by the maximum if `best`; with `bias`, `own` has lower bounds
        of the probabilities. `scale`: factor of the values of the next level."""
        k, player = level.k, 1 - opponent.player
        faced = [(part.row[k], part.strategy[k], level.reach[w]) for part, w, _ in opponent.parts]
        restricted = len(faced) > 1
        seat = own or opponent.parts[0][0]  # a best response reads neither rows nor policy
        onward = self._no_onward if level.final else self.levels[k + 1].value[player]
        evaluate(
            level.street, player, BIASED if bias else int(best), level.board, k == 0, level.final,
            Opponent(*faced[0], *faced[-1], restricted),
            seat.row[k], seat.strategy[k].policy, Onward(onward, scale), times,
            self._work, level.value[player],
            record is not None, _NO_CHOICE if record is None else record,
            action_value is not None, _NO_VALUE if action_value is None else action_value,
        )  # fmt: skip

    def each_child(
        self, level: BoardLevel, player: int, visit: Callable[[BoardLevel, float], None]
    ) -> None:
        """Visits every board that follows. The player's values of the next level are sums over
        these boards, averaged over the suit permutations of the board above."""
        below = self.levels[level.k + 1]
        below.value[player][:] = 0.0
        for dealt, size in self.chance.children(below.k, level.dealt):
            if self.stopped:
                return
            below.deal(dealt)
            visit(below, float(size))
        self.average_over_suits(below, player, level.dealt)

    def average_over_suits(self, level: BoardLevel, player: int, above: DealtBoard) -> None:
        """Averages a player's values over the suit permutations of the board above."""
        permutations, n = self.chance.permutations, len(above.stabilizer)
        for values in level.value[player]:
            average_over_suits(permutations, above.stabilizer, n, values, self._averaging)

    def value_against(self, opponent: Seat, own: PlainSeat | None) -> float:
        """Returns the value per hand against `opponent`: of `own`, or of a best response."""
        level = self.begin(opponent)
        level.value[1 - opponent.player][:] = 0.0
        self.add_values(level, opponent, own)
        return self.mean_value(1 - opponent.player)

    def mean_value(self, player: int) -> float:
        """Returns the value per hand from those of the root."""
        total = self.levels[0].value[player][0, self.chance.possible, 0].sum()
        return float(total / self.chance.n_pairs)

    def add_values(
        self, level: BoardLevel, opponent: Seat, own: PlainSeat | None, times: float = 1.0
    ) -> None:
        """Adds the values against `opponent` on a board and all that follow to `level.value`: of
        `own`, or of a best response."""
        opponent.set_board(level)
        if own is not None:
            own.set_board(level)
        scale = 1.0
        if not level.final:
            self.pass_down(level, opponent)
            self.each_child(
                level,
                1 - opponent.player,
                lambda below, size: self.add_values(below, opponent, own, size),
            )
            scale = 1.0 / self.chance.n_deals[level.k + 1]
        if self.stopped:
            return
        self.evaluate(level, own, opponent, best=own is None, scale=scale, times=times)
