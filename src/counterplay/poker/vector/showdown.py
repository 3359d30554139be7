"""Showdowns and folds of all holdings against all holdings, in one pass over the holdings.

Symbols: `y` is a player's reach probability at the start of a street, `path` the probability of its
action sequence from there, which depends on the bucket; the reach probability of a holding is y ·
path, or a mixture of two such products (`Reach`).

A holding's value at a showdown is the opponent's reach of weaker holdings less that of stronger
ones, with card removal: sums over all holdings, less the sums over the holdings with either of its
cards. Only the same holding has both cards, and it is neither weaker nor stronger.

Sums are kept for each card, and for all cards in a last row. The reach of each group of equal
strength is added once before and once after the group reads the sums. So a holding reads weaker
holdings twice and equal ones once, and subtracting the sum over all holdings once leaves weaker
less stronger. Where wins are worth more (`public_sampling.py`), the group is added that many times
after it has read.

Rows of arrays are action sequences times lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_row_to_cards,
    add_rows,
    add_to_cards,
    set_dot,
    set_most,
    set_others,
    set_product,
    set_sum,
    take,
)
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street

BIASED = 2  # a best response with lower bounds of its probabilities (`back_up`)
ALL = N_CARDS  # the row of sums over all holdings, after those of the cards
_LANES = index(LANES)
_ALL = index(ALL)


class Reach(NamedTuple):
    """A player's reach: n holdings in b buckets, w = action sequences times lanes. If `mixed`, the
    player plays the first strategy with probability share[0] and the second with share[1]."""

    y: np.ndarray  # [n, LANES]
    path: np.ndarray  # [b, w]
    bucket: np.ndarray  # int64[n]
    other_y: np.ndarray  # [n, LANES]
    other_path: np.ndarray  # [b, w]
    other_bucket: np.ndarray  # int64[n]
    share: np.ndarray  # [2]
    mixed: bool


@jit(inline=True)
def set_reach(reach: Reach, h: Any, n: Any, row: Any) -> None:
    """Fills `row` with the reach of holding h on each of n action sequences."""
    at = index(reach.bucket[h]) * index(reach.path.shape[1])
    set_product(reach.y, h * _LANES, reach.path, at, row, ZERO, n)
    if reach.mixed:
        first, second = reach.share[0], reach.share[1]
        b = index(reach.other_bucket[h])
        for w in range(n * _LANES):
            other = reach.other_y[h, w % _LANES] * reach.other_path[b, w]
            row[w] = first * row[w] + second * other


@jit(inline=True)
def _add_reach(board: Board, h: Any, reach: Reach, n: Any, row: Any, sums: Any) -> None:
    """Adds the reach of a holding to the sums of its cards and of all."""
    wide = index(sums.shape[1])
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    if reach.mixed:
        set_reach(reach, h, n, row)
        add_row_to_cards(row, ZERO, sums, _ALL * wide, sums, low, sums, high, n)
    else:
        at = index(reach.bucket[h]) * index(reach.path.shape[1])
        add_to_cards(
            reach.y, h * _LANES, reach.path, at, sums, _ALL * wide, sums, low, sums, high, n
        )


@jit(inner=True)
def mark_reached(reach: Reach, n: int, reached: np.ndarray) -> bool:
    """Marks holdings with positive reach in any lane; returns whether there are any."""
    any_reached = False
    for h in range(index(n)):
        here = False
        for lane in range(_LANES):
            here |= reach.y[h, lane] != 0.0
        if reach.mixed:
            for lane in range(_LANES):
                here |= reach.other_y[h, lane] != 0.0
        reached[h] = here
        any_reached |= here
    return any_reached


@jit(inner=True)
def clear(table: np.ndarray, rows: int, width: int) -> None:
    """Zeroes a part of a table."""
    for k in range(index(rows)):
        for w in range(index(width)):
            table[k, w] = 0.0


@jit(inline=True)
def add_group(
    board: Board, first: Any, last: Any, reach: Reach, reached: Any, n: Any, row: Any, sums: Any
) -> None:
    """Adds the reach of the holdings first .. last - 1 to `sums`."""
    for h in range(first, last):
        if reached[h]:
            _add_reach(board, h, reach, n, row, sums)


@jit(inner=True)
def sum_reach(
    board: Board, reach: Reach, reached: np.ndarray, n: int, row: np.ndarray, sums: np.ndarray
) -> None:
    """Adds the reach of all holdings to `sums`."""
    add_group(board, ZERO, index(board.size[0]), reach, reached, index(n), row, sums)


@jit(inline=True)
def set_unblocked(
    board: Board, h: Any, reach: Reach, reached: Any, n: Any, work: Any, sums: Any
) -> None:
    """Fills `work[1]` with the reach of the holdings that share no card with holding h; `sums` are
    those of `sum_reach`. `work`: rows of a workspace."""
    wide = index(sums.shape[1])
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    set_others(sums, _ALL * wide, sums, low, sums, high, work[1], ZERO, n)
    if reached[h]:  # the same holding was subtracted twice
        set_reach(reach, h, n, work[0])
        add_rows(work[0], ZERO, work[1], ZERO, n)


@jit(inner=True)
def sum_weaker(
    board: Board, reach: Reach, reached: np.ndarray, n: int, row: np.ndarray, sums: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Fills `out[h]` with twice the reach of weaker holdings plus that of equal ones, with card
    removal. Adds twice the reach of all holdings to `sums`."""
    count, wide, row_wide = index(n), index(sums.shape[1]), index(out.shape[1])
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        add_group(board, first, last, reach, reached, count, row, sums)
        for h in range(first, last):
            low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
            set_others(sums, _ALL * wide, sums, low, sums, high, out, h * row_wide, count)
        add_group(board, first, last, reach, reached, count, row, sums)


@jit(inline=True)
def _add_values(
    board: Board, first: Any, last: Any, bucket: Any, n: Any, sums: Any, weight: Any, total: Any,
    value: Any,
) -> None:  # fmt: skip
    """Adds what `sums` hold, with card removal, to `total` by bucket, and times the bucket's
    `weight`, summed over action sequences, to `value` by holding."""
    wide, total_wide = index(sums.shape[1]), index(total.shape[1])
    for h in range(first, last):
        low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
        at = index(bucket[h]) * total_wide
        take(
            sums, _ALL * wide, sums, low, sums, high, total, at, weight, at, value, h * _LANES, n
        )  # fmt: skip


@jit(inner=True)
def add_showdowns(
    board: Board, bucket: np.ndarray, reach: Reach, won: Reach, reached: np.ndarray, n: int,
    row: np.ndarray, sums: np.ndarray, weight: np.ndarray, total: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """As `sum_weaker`, but adds the results to `total` by bucket and, weighted, to `value`. `won`:
    the reach times what a win counts."""
    count = index(n)
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        add_group(board, first, last, reach, reached, count, row, sums)
        _add_values(board, first, last, bucket, count, sums, weight, total, value)
        add_group(board, first, last, won, reached, count, row, sums)


@jit(inner=True)
def add_values(
    board: Board, bucket: np.ndarray, n: int, sums: np.ndarray, weight: np.ndarray,
    total: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """Adds what `sums` hold, with card removal, for all holdings: to `total` by bucket and,
    weighted, to `value`."""
    _add_values(board, ZERO, index(board.size[0]), bucket, index(n), sums, weight, total, value)


@jit(inline=True)
def back_up(
    street: Street, k: Any, player: Any, best: Any, own: Any, start: Any, value: Any
) -> None:
    """Sets the value of decision node k from those of its children: the sum at the opponent's
    nodes, whose reach is in the values; at the player's own nodes the maximum if `best`, else the
    mean by the policy in `own` from position `start` on. If `best` is `BIASED`, those are lower
    bounds of the probabilities, and what they leave goes to the maximum."""
    low = index(street.first_child[k])
    count = index(street.first_child[k + ONE]) - low
    if street.player[k] != player:
        set_sum(value, low * _LANES, value, k * _LANES, count)
    elif best:
        set_most(value, low * _LANES, value, k * _LANES, count)
        if best == BIASED:
            for lane in range(_LANES):
                most = value[k * _LANES + lane]
                for c in range(low, low + count):
                    bound = own.flat[start + c * _LANES + lane]
                    value[k * _LANES + lane] += bound * (value[c * _LANES + lane] - most)
    else:
        set_dot(own, start + low * _LANES, value, low * _LANES, value, k * _LANES, count)
