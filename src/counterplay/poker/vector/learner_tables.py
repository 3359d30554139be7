"""Regrets and strategy sums by street, and the row of each holding in them.

A table has blocks for each street: [groups, rows, nodes * LANES], in the order of `street.py`. A
number at a node belongs to the action that leads there, so one table serves both players. Rows are
buckets of a card abstraction, with one block for all boards (`BucketRows`), or holdings, with a
block for every board (`HoldingRows`), where only suit-isomorphic holdings share a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import ACTIONS, BettingTree
from counterplay.poker.cards.canonical import permuted_holding
from counterplay.poker.cards.deal import (
    FIRST_OF_BOARD,
    Deal,
    bucket_at,
    find_board,
    new_deal,
    remembers,
)
from counterplay.poker.holdem.table import Table, code_counts
from counterplay.poker.vector.board import HIGH, LOW, Board
from counterplay.poker.vector.chance import Chance, DealtBoard
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.street import RowStrategy, follow_row

_LANES = index(LANES)


class RowMap(Protocol):
    """The rows of holdings on boards."""

    def count(self, street: int) -> int:
        """Returns the number of rows of a block."""

    def blocks(self, street: int) -> int:
        """Returns the number of blocks; a single block serves every board."""

    def fill(self, street: int, board: DealtBoard, out: np.ndarray) -> None:
        """Fills `out`, int64[holdings], with the rows of all holdings on a board."""

    def copy(self) -> RowMap:
        """Returns one for another thread."""


class HoldingRows:
    """A row for every holding; holdings that the board's stabilizer maps to each other share it."""

    def __init__(self, chance: Chance, streets: int) -> None:
        self._chance = chance
        if streets > len(chance.n_boards):
            raise BadParameter(
                f"a table of single holdings has a block for every board, so it reaches "
                f"{len(chance.n_boards)} streets at most, not {streets}"
            )

    def count(self, street: int) -> int:
        return self._chance.n_holdings

    def blocks(self, street: int) -> int:
        return self._chance.n_boards[street]

    def fill(self, street: int, board: DealtBoard, out: np.ndarray) -> None:
        out[:] = self._chance.classes(board)

    def copy(self) -> HoldingRows:
        return self


@jit
def fill_buckets(cards: Any, chance: Deal, street: int, out: np.ndarray) -> None:
    """Fills `out` with the buckets of all holdings on a street of a deal."""
    for s in range(street + 1):
        board = find_board(cards, chance, s)
        if s < street and not remembers(cards):
            continue
        for h in range(index(len(LOW))):
            holding: Any = np.int64(h)
            if s > 0:
                holding = permuted_holding(LOW[h], HIGH[h], chance.permutation[0])
            out[h] = bucket_at(cards, s, board, holding, out[h])


class BucketRows:
    """A row for every bucket of a card abstraction, with `counts[k]` rows on street k; with `carry`
    for every code of a `Table`."""

    def __init__(
        self, cards: Cards, counts: tuple[int, ...], carry: np.ndarray | None = None
    ) -> None:
        self.cards, self._counts, self._deal = cards, counts, new_deal()
        self._carry = np.zeros(len(counts), dtype=np.int64) if carry is None else carry
        self._bucket = np.zeros(len(LOW), dtype=np.int64)

    def count(self, street: int) -> int:
        return self._counts[street]

    def blocks(self, street: int) -> int:
        return 1

    def fill(self, street: int, board: DealtBoard, out: np.ndarray) -> None:
        deal = self._deal
        deal.deck[FIRST_OF_BOARD : FIRST_OF_BOARD + len(board.cards)] = board.cards
        fill_buckets(self.cards, deal, street, out)
        factor = 1
        for s in range(
            street, 0, -1
        ):  # the code is Σ bucket[s] · carry[s + 1] · ... · carry[street]
            factor *= int(self._carry[s])
            if factor == 0:
                break
            fill_buckets(self.cards, deal, s - 1, self._bucket)
            out += factor * self._bucket

    def same_rows(self, other: BucketRows) -> bool:
        """Returns whether both have the same rows on every board."""
        alike = self.cards is other.cards and self._counts == other._counts
        return alike and np.array_equal(self._carry, other._carry)

    def copy(self) -> BucketRows:
        return BucketRows(self.cards, self._counts, self._carry)


class LearnerTables(NamedTuple):
    """One array for each street: [blocks, groups, rows, nodes * LANES]."""

    regret: tuple[np.ndarray, ...]
    strategy_sum: tuple[np.ndarray, ...]

    def block(self, street: int, board: DealtBoard) -> tuple[np.ndarray, np.ndarray]:
        """Returns the regrets and strategy sums of a board."""
        regret, sums = self.regret[street], self.strategy_sum[street]
        return regret[board.number % len(regret)], sums[board.number % len(sums)]


def new_tables(
    streets: tuple[Street, ...], rows: RowMap, dtype: Any, average: bool = True
) -> LearnerTables:
    """Returns tables of zeros; without `average` all boards share a block of strategy sums, which
    are of no use."""

    def zeros(blocks: list[int]) -> tuple[np.ndarray, ...]:
        return tuple(
            np.zeros((n, *_block_shape(street, rows.count(k))), dtype=dtype)
            for k, (n, street) in enumerate(zip(blocks, streets, strict=True))
        )

    blocks = [rows.blocks(k) for k in range(len(streets))]
    return LearnerTables(zeros(blocks), zeros(blocks if average else [1] * len(blocks)))


def _block_shape(street: Street, rows: int) -> tuple[int, int, int]:
    return len(street.public_node), rows, len(street.player) * LANES


def table_bytes(streets: tuple[Street, ...], rows: RowMap, dtype: Any) -> int:
    """Returns the size of the regrets of `new_tables`."""
    return sum(
        rows.blocks(k) * prod(_block_shape(street, rows.count(k))) * np.dtype(dtype).itemsize
        for k, street in enumerate(streets)
    )


@jit(inline=True)
def _match_regrets(street: Street, k: Any, regret: Any, policy: Any) -> None:
    """Regret matching at node k, lane by lane."""
    low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
    for lane in range(_LANES):
        total = regret[ZERO] * 0
        for c in range(low, high):
            total += max(regret[c * _LANES + lane], 0)
        for c in range(low, high):
            at = c * _LANES + lane
            if total > 0:
                policy[at] = max(regret[at], 0) / total
            else:
                policy[at] = 1.0 / (high - low)


@jit
def match_regrets(
    street: Street, player: int, regret: np.ndarray, used: np.ndarray, strategy: RowStrategy
) -> None:
    """Fills the strategy of the rows listed in `used` by regret matching."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            for k in range(index(len(street.player))):
                if street.player[k] == player:
                    _match_regrets(street, k, regret[g, r], strategy.policy[g, r])
            follow_row(street, player, g, r, strategy)


@jit
def add_own_reach(
    board: Board, row: np.ndarray, reach: np.ndarray, times: float, out: np.ndarray
) -> None:
    """Adds the reach of the holdings of each row to `out[g, r]`."""
    for g in range(index(len(reach))):
        for k in range(index(board.size[0])):
            h = index(board.holding[k])
            for lane in range(_LANES):
                out[g, index(row[h]), lane] += times * reach[g, h, lane]


@jit
def update_tables(
    street: Street,
    player: int,
    used: np.ndarray,  # the rows to update
    strategy: RowStrategy,
    action_value: np.ndarray,
    own_reach: np.ndarray,
    regrets: float,  # weight of this iteration in the regrets
    weight: float,  # and in the average
    plus: bool,  # regret matching+: negative regrets become zero
    regret: np.ndarray,
    strategy_sum: np.ndarray,
) -> None:
    """Adds regrets · (v(I, a) - Σ_b σ(b) v(I, b)) to r(I, a), and weight · π_i · σ to s_I; clears
    `action_value` and `own_reach`."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            policy, value = strategy.policy[g, r], action_value[g, r]
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
                sequence = index(street.sequence[player, k]) * _LANES
                for lane in range(_LANES):
                    mean = value[ZERO] * 0
                    for c in range(low, high):
                        mean += policy[c * _LANES + lane] * value[c * _LANES + lane]
                    reach = weight * own_reach[g, r, lane] * strategy.path[g, r, sequence + lane]
                    for c in range(low, high):
                        at = c * _LANES + lane
                        total = regret[g, r, at] + regrets * (value[at] - mean)
                        regret[g, r, at] = max(total, 0.0) if plus else total
                        strategy_sum[g, r, at] += reach * policy[at]
                        value[at] = 0.0
            for lane in range(_LANES):
                own_reach[g, r, lane] = 0.0


def average_policy(street: Street, sums: np.ndarray) -> np.ndarray:
    """Returns the average strategy of strategy sums [..., nodes * LANES]; uniform where the sums
    are zero."""
    weights = sums.reshape(*sums.shape[:-1], len(street.player), LANES).astype(np.float64)
    policy = np.zeros_like(weights)
    for k in np.flatnonzero(street.player >= 0).tolist():
        below = slice(int(street.first_child[k]), int(street.first_child[k + 1]))
        total = weights[..., below, :].sum(axis=-2, keepdims=True)
        share = weights[..., below, :] / np.where(total > 0, total, 1.0)
        policy[..., below, :] = np.where(total > 0, share, 1.0 / (below.stop - below.start))
    return policy.reshape(sums.shape)


def _slots(street: Street, rows: int, form: Any) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """Yields the place of every action in a block [groups, rows, nodes, LANES], and its slots."""
    for k in np.flatnonzero(street.player >= 0).tolist():
        below = range(int(street.first_child[k]), int(street.first_child[k + 1]))
        for g, lane in np.argwhere(street.public_node[:, k] >= 0).tolist():
            row = form.first_row[street.public_node[g, k, lane]] + np.arange(rows)
            for a, c in enumerate(below):
                yield (g, slice(None), c, lane), form.first[row] + a


def slot_values(streets: tuple[Street, ...], blocks: Sequence[np.ndarray], form: Any) -> np.ndarray:
    """Returns float64[n_slots]: the numbers of blocks [groups, rows, nodes * LANES] in the slots of
    a game's form."""
    out = np.zeros(int(form.first[-1]))
    for street, block in zip(streets, blocks, strict=True):
        groups, rows = block.shape[:2]
        by_lane = block.reshape(groups, rows, len(street.player), LANES)
        for at, slots in _slots(street, rows, form):
            out[slots] = by_lane[at]
    return out


def table_blocks(
    tree: BettingTree, streets: tuple[Street, ...], table: Table
) -> tuple[np.ndarray, ...]:
    """Returns the probabilities of a table as a `FixedSeat` plays them; 0 in unused lanes."""
    blocks = []
    for street, codes in zip(streets, code_counts(table, tree), strict=True):
        groups, n = street.public_node.shape[:2]
        block = np.zeros((groups, codes, n, LANES))
        for k in np.flatnonzero(street.player >= 0).tolist():
            node = street.public_node[:, k]
            rows = table.first_row[np.maximum(node, 0)][:, None] + np.arange(codes)[None, :, None]
            actions = tree.actions[int(node[node >= 0][0])]
            for a, action in enumerate(actions, int(street.first_child[k])):
                chosen = table.policy[rows, ACTIONS.index(action)]
                block[:, :, a] = np.where(node[:, None] >= 0, chosen, 0.0)
        blocks.append(block.reshape(1, groups, codes, -1))
    return tuple(blocks)
