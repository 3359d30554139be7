"""A board for the vector-form traversal: the possible holdings, weakest first, and their buckets.

Holdings of equal strength form a group. On every street the buckets that occur are renumbered
without gaps (local buckets), so that the tables of a traversal are no larger than necessary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.cards.canonical import permuted_holding
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, N_DEALT, Deal, bucket_at, find_board
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.cards.strength import sort_numbers

KEY_BASE = 2048  # more than there are holdings: a sort key is strength · KEY_BASE + holding
#: Lower and higher card of every holding.
LOW, HIGH = (np.ascontiguousarray(HOLDING_CARDS[:, k], dtype=np.int64) for k in (0, 1))


class Board(NamedTuple):
    """n holdings in g groups of equal strength; at most b buckets on a street."""

    size: np.ndarray  # int64[2]: n and g
    holding: np.ndarray  # int64[1326]: the holdings, weakest first
    low: np.ndarray  # int64[1326]: lower card of each
    high: np.ndarray  # int64[1326]: higher card of each
    group: np.ndarray  # int64[1327]: first position of each group; n after the last
    bucket: np.ndarray  # int64[4, 1326]: local bucket of each holding on each street
    n_buckets: np.ndarray  # int64[4]: number of local buckets
    global_bucket: np.ndarray  # int64[4, 1326]: the bucket of a local bucket
    local_bucket: np.ndarray  # int64[4, b]: the local bucket of a bucket, -1 where it is absent
    key: np.ndarray  # int64[1326]: sort keys
    stack: np.ndarray  # int64[128]: workspace of the sort
    live: np.ndarray  # int64[52]: cards that are not on the board


def new_board(counts: tuple[int, ...]) -> Board:
    """Returns an empty board for a card abstraction with `counts` buckets on the streets."""

    def longs(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    return Board(
        size=longs(2),
        holding=longs(N_HOLDINGS),
        low=longs(N_HOLDINGS),
        high=longs(N_HOLDINGS),
        group=longs(N_HOLDINGS + 1),
        bucket=longs(4, N_HOLDINGS),
        n_buckets=longs(4),
        global_bucket=longs(4, N_HOLDINGS),
        local_bucket=np.full((4, max(counts)), -1, dtype=np.int64),
        key=longs(N_HOLDINGS),
        stack=longs(128),
        live=longs(52),
    )


@jit(inner=True)
def list_holdings(chance: Deal, cards: int, live: Any, by_strength: bool, board: Board) -> None:
    """Lists the holdings of the first `live` cards of `board.live`, which are those not among the
    first `cards` cards of the board; weakest first if `by_strength`."""
    masks = chance.masks
    for suit in range(index(4)):
        masks[suit] = 0
    for k in range(index(cards)):
        card = chance.deck[index(FIRST_OF_BOARD) + k]
        masks[index(card & 3)] |= 1 << (card >> 2)
    n = index(0)
    for i in range(live):
        a = board.live[i]
        masks[index(a & 3)] |= 1 << (a >> 2)
        for j in range(i):
            b = board.live[j]
            strength = 0
            if by_strength:
                masks[index(b & 3)] |= 1 << (b >> 2)
                strength = strength_of_masks(masks[0], masks[1], masks[2], masks[3])
                masks[index(b & 3)] ^= 1 << (b >> 2)
            low, high = min(a, b), max(a, b)
            board.key[n] = strength * KEY_BASE + high * (high - 1) // 2 + low
            n += ONE
        masks[index(a & 3)] ^= 1 << (a >> 2)
    if by_strength:
        sort_numbers(board.key, int(n), board.stack)
    board.size[0] = n
    groups, before = index(0), -1
    for k in range(n):
        strength, holding = board.key[k] // KEY_BASE, board.key[k] % KEY_BASE
        board.holding[k] = holding
        board.low[k] = LOW[index(holding)]
        board.high[k] = HIGH[index(holding)]
        if strength != before:
            board.group[groups] = k
            groups += ONE
            before = strength
    board.group[groups] = n
    board.size[1] = groups


@jit
def fill_board(cards: Any, chance: Deal, streets: int, board: Board) -> None:
    """Fills the board of a deal, and every holding's buckets on the first `streets` streets."""
    live = index(0)
    for k in range(index(len(chance.deck))):
        if k < index(FIRST_OF_BOARD) or k >= index(N_DEALT):
            board.live[live] = chance.deck[k]
            live += ONE
    list_holdings(chance, N_DEALT - FIRST_OF_BOARD, live, True, board)
    for street in range(streets):
        s = index(street)
        row = find_board(cards, chance, street)
        for k in range(index(board.n_buckets[s])):
            board.local_bucket[s, index(board.global_bucket[s, k])] = -1
        count = index(0)
        for k in range(index(board.size[0])):
            holding = board.holding[k]
            if street > 0:
                holding = permuted_holding(board.low[k], board.high[k], chance.permutation[0])
            before = 0
            if street > 0:
                before = board.global_bucket[s - ONE, index(board.bucket[s - ONE, k])]
            bucket = index(bucket_at(cards, street, row, holding, before))
            if board.local_bucket[s, bucket] < 0:
                board.local_bucket[s, bucket] = count
                board.global_bucket[s, count] = bucket
                count += ONE
            board.bucket[s, k] = board.local_bucket[s, bucket]
        board.n_buckets[s] = count
