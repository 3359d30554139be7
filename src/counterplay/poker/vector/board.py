"""What the walk knows of a board: the holdings that are left, weakest first, and their buckets.

Holdings of equal strength form a group. On every street the buckets that occur are numbered anew
without gaps, so that tables of a walk are no larger than they need be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.cards.canonical import rename
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, N_DEALT, Deal, bucket_at, find_board
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.cards.strength import sort_numbers

PLACE = 2048  # more than there are holdings: room for one behind a strength


class Board(NamedTuple):
    """n holdings in g groups; b buckets at most on a street."""

    size: np.ndarray  # int64[2]: n and g
    pair: np.ndarray  # int64[1326]: number of each holding
    low: np.ndarray  # int64[1326]: its lower card
    high: np.ndarray  # int64[1326]
    group: np.ndarray  # int64[1327]: where each group begins; n behind the last
    bucket: np.ndarray  # int64[4, 1326]: number of each holding's bucket on each street
    n_buckets: np.ndarray  # int64[4]: how many there are
    name: np.ndarray  # int64[4, 1326]: the bucket behind a number
    number: np.ndarray  # int64[4, b]: the number of a bucket, -1 where there is none
    key: np.ndarray  # int64[1326]: scratch for sorting
    stack: np.ndarray  # int64[128]: the same
    left: np.ndarray  # int64[52]: cards that are not on the board


def new_board(counts: tuple[int, ...]) -> Board:
    """Room for a board seen with so many buckets on each street."""

    def longs(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return Board(
        size=longs(2),
        pair=longs(N_HOLDINGS),
        low=longs(N_HOLDINGS),
        high=longs(N_HOLDINGS),
        group=longs(N_HOLDINGS + 1),
        bucket=longs(4, N_HOLDINGS),
        n_buckets=longs(4),
        name=longs(4, N_HOLDINGS),
        number=np.full((4, max(counts)), -1, dtype=np.int64),
        key=longs(N_HOLDINGS),
        stack=longs(128),
        left=longs(52),
    )


@jit(inner=True)
def _sort_holdings(chance: Deal, board: Board) -> None:
    """All holdings of the cards that are left, by strength."""
    masks = chance.masks
    for suit in range(index(4)):
        masks[suit] = 0
    for k in range(index(FIRST_OF_BOARD), index(N_DEALT)):
        masks[index(chance.deck[k] & 3)] |= 1 << (chance.deck[k] >> 2)
    cards = index(0)
    for k in range(index(len(chance.deck))):
        if k < index(FIRST_OF_BOARD) or k >= index(N_DEALT):
            board.left[cards] = chance.deck[k]
            cards += index(1)
    n = index(0)
    for i in range(cards):
        a = board.left[i]
        masks[index(a & 3)] |= 1 << (a >> 2)
        for j in range(i):
            b = board.left[j]
            masks[index(b & 3)] |= 1 << (b >> 2)
            value = strength_of_masks(masks[0], masks[1], masks[2], masks[3])
            masks[index(b & 3)] ^= 1 << (b >> 2)
            low, high = min(a, b), max(a, b)
            board.key[n] = value * PLACE + high * (high - 1) // 2 + low
            n += index(1)
        masks[index(a & 3)] ^= 1 << (a >> 2)
    sort_numbers(board.key, int(n), board.stack)
    board.size[0] = n


@jit(inner=True)
def find_groups(board: Board, low: np.ndarray, high: np.ndarray) -> None:
    """Cards of the sorted holdings, and where strengths change. `low`, `high`: cards of all."""
    groups, before = index(0), -1
    n = index(board.size[0])
    for k in range(n):
        value, pair = board.key[k] // PLACE, board.key[k] % PLACE
        board.pair[k] = pair
        board.low[k] = low[index(pair)]
        board.high[k] = high[index(pair)]
        if value != before:
            board.group[groups] = k
            groups += index(1)
            before = value
    board.group[groups] = n
    board.size[1] = groups


@jit
def fill_board(
    cards: Any, low: np.ndarray, high: np.ndarray, chance: Deal, streets: int, board: Board
) -> None:
    """The board of a deal, and every holding's buckets on the first `streets` streets."""
    _sort_holdings(chance, board)
    find_groups(board, low, high)
    n = index(board.size[0])
    for street in range(streets):
        s = index(street)
        row = find_board(cards, chance, street)
        for k in range(index(board.n_buckets[s])):
            board.number[s, index(board.name[s, k])] = -1
        found = index(0)
        for k in range(n):
            a, b = board.low[k], board.high[k]
            if street > 0:
                a, b = rename(a, chance.renaming[0]), rename(b, chance.renaming[0])
                a, b = min(a, b), max(a, b)
            bucket = index(bucket_at(cards, street, row, b * (b - 1) // 2 + a))
            if board.number[s, bucket] < 0:
                board.number[s, bucket] = found
                board.name[s, found] = bucket
                found += index(1)
            board.bucket[s, k] = board.number[s, bucket]
        board.n_buckets[s] = found
