"""Showdowns and folds of all holdings against all holdings, in one pass over them.

An opponent's reach of a holding is y · path: his probability to come to the street's start, and
that of his line from there, which depends on his bucket; or a mixture of two such (`Reach`). What a
holding wins is the reach of weaker holdings less that of stronger ones, without those that share a
card with it: sums over all holdings, less sums over the holdings with either of its cards. Nothing
else shares both cards but the same holding, and that is neither weaker nor stronger.

Sums are of each card, and behind them of all. They are taken up group by group of equal strength,
half before a group looks at them and half after: so a holding sees twice the weaker ones and once
the equal ones, and the sum over all of them is taken away in the end.

Rows of arrays are lines times lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_row_to_cards,
    add_to_cards,
    set_others,
    set_product,
    take,
)
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.board import Board

ALL = N_CARDS  # the row of sums behind those of the cards
_LANES = index(LANES)
_ALL = index(ALL)


class Reach(NamedTuple):
    """A player's reach: n holdings in b buckets, w = lines times lanes. With `two`, he plays so
    with the first share and otherwise with the second."""

    y: np.ndarray  # [n, LANES]
    path: np.ndarray  # [b, w]
    other_y: np.ndarray  # [n, LANES]
    other_path: np.ndarray  # [b, w]
    share: np.ndarray  # [2]
    two: bool


@jit(inline=True)
def set_reach(reach: Reach, h: Any, b: Any, lines: Any, row: Any) -> None:
    """Fill `row` with the reach of holding h, in bucket b, on each line."""
    at = b * index(reach.path.shape[1])
    set_product(reach.y, h * _LANES, reach.path, at, row, ZERO, lines)
    if reach.two:
        first, second = reach.share[0], reach.share[1]
        for w in range(lines * _LANES):
            mine = reach.other_y[h, w % _LANES] * reach.other_path[b, w]
            row[w] = first * row[w] + second * mine


@jit(inline=True)
def add_reach(
    board: Board, h: Any, bucket: Any, reach: Reach, lines: Any, row: Any, sums: Any
) -> None:
    """Reach of a holding to the sums of its cards and of all."""
    wide = index(sums.shape[1])
    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
    b = index(bucket[h])
    if reach.two:
        set_reach(reach, h, b, lines, row)
        add_row_to_cards(row, ZERO, sums, _ALL * wide, sums, low, sums, high, lines)
    else:
        at = b * index(reach.path.shape[1])
        add_to_cards(
            reach.y, h * _LANES, reach.path, at, sums, _ALL * wide, sums, low, sums, high, lines
        )


@jit(inner=True)
def mark_reached(reach: Reach, n: int, reached: np.ndarray) -> bool:
    """Mark holdings that are held in any lane; whether there are any."""
    found = False
    for h in range(index(n)):
        here = False
        for lane in range(_LANES):
            here |= reach.y[h, lane] != 0.0
        if reach.two:
            for lane in range(_LANES):
                here |= reach.other_y[h, lane] != 0.0
        reached[h] = here
        found |= here
    return found


@jit
def clear(table: np.ndarray, rows: int, width: int) -> None:
    for k in range(index(rows)):
        for w in range(index(width)):
            table[k, w] = 0.0


@jit(inner=True)
def sum_reach(
    board: Board,
    bucket: np.ndarray,
    reach: Reach,
    reached: np.ndarray,
    lines: int,
    row: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add the reach of all holdings to `sums`: what folds need."""
    for h in range(index(board.size[0])):
        if reached[h]:
            add_reach(board, h, bucket, reach, index(lines), row, sums)


@jit
def compare(
    board: Board,
    bucket: np.ndarray,
    reach: Reach,
    reached: np.ndarray,
    lines: int,
    row: np.ndarray,
    sums: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill `out[h]`: twice the reach of weaker holdings and once that of equal ones. `sums` is
    twice that of all in the end."""
    n, wide, row_wide = index(lines), index(sums.shape[1]), index(out.shape[1])
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        for half in range(2):  # of the group's reach, before and after it looks
            for h in range(first, last):
                if reached[h]:
                    add_reach(board, h, bucket, reach, n, row, sums)
            if half == 0:
                for h in range(first, last):
                    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
                    set_others(sums, _ALL * wide, sums, low, sums, high, out, h * row_wide, n)


@jit(inner=True)
def compare_and_add(
    board: Board,
    bucket: np.ndarray,
    reach: Reach,
    reached: np.ndarray,
    lines: int,
    row: np.ndarray,
    sums: np.ndarray,
    weight: np.ndarray,
    total: np.ndarray,
    value: np.ndarray,
) -> None:
    """The same, but only added up: to `total` by bucket, and to `value` by holding, times the
    bucket's `weight`, over lines."""
    n, wide, total_wide = index(lines), index(sums.shape[1]), index(total.shape[1])
    for g in range(index(board.size[1])):
        first, last = index(board.group[g]), index(board.group[g + ONE])
        for half in range(2):  # of the group's reach, before and after it looks
            for h in range(first, last):
                if reached[h]:
                    add_reach(board, h, bucket, reach, n, row, sums)
            if half == 0:
                for h in range(first, last):
                    low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
                    at = index(bucket[h]) * total_wide
                    take(
                        sums, _ALL * wide, sums, low, sums, high, total, at, weight, at, value,
                        h * _LANES, n,
                    )  # fmt: skip


@jit(inner=True)
def take_all(
    board: Board,
    bucket: np.ndarray,
    lines: int,
    sums: np.ndarray,
    weight: np.ndarray,
    total: np.ndarray,
    value: np.ndarray,
) -> None:
    """What all holdings but those with a card of its own have in `sums`, to `total` by bucket and
    to `value` by holding, times the bucket's `weight`."""
    n, wide, total_wide = index(lines), index(sums.shape[1]), index(total.shape[1])
    for h in range(index(board.size[0])):
        low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
        at = index(bucket[h]) * total_wide
        take(
            sums, _ALL * wide, sums, low, sums, high, total, at, weight, at, value, h * _LANES, n
        )  # fmt: skip
