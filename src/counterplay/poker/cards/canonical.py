"""Canonical boards, one of each class of suit-isomorphic boards: 1,755 flops, 16,432 turns and
134,459 rivers. The order of the cards does not matter.

A board is four masks of 13 bits, one for each suit. The sorted masks are those of the canonical
board, and the order of sorting is the suit permutation that maps the board to it. A suit
permutation is packed into eight bits: bits 2s and 2s + 1 are the image of suit s. During play the
canonical board of a street is looked up from that of the street before (`Links`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit

SIZES = {3: 1_755, 4: 16_432, 5: 134_459}
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(40)
_SHIFTS = (np.uint64(13), np.uint64(26), np.uint64(39))


class Boards(NamedTuple):
    """All b canonical boards of one size, and a hash table of h slots over their masks."""

    masks: np.ndarray  # uint16[b, 4]: of the suits, largest first
    weight: np.ndarray  # int64[b]: number of suit-isomorphic boards
    key: np.ndarray  # uint64[h]: sorted masks, or 0
    row: np.ndarray  # int32[h]: number of the canonical board


@cache
def boards(size: int) -> Boards:
    """Returns the canonical boards of 3, 4 or 5 cards. Every canonical board with one more card is
    one of the next size, and each board has `size` boards of one card less."""
    shifts, cards = np.array([39, 26, 13, 0]), np.arange(52)
    bit = 1 << (cards >> 2)
    masks, weight = np.zeros((1, 4), dtype=np.int64), np.ones(1, dtype=np.int64)
    for n in range(1, size + 1):
        before, card = np.nonzero((masks[:, cards & 3] & bit) == 0)
        longer = masks[before]
        longer[np.arange(len(card)), card & 3] |= bit[card]
        keys = np.sort(longer, axis=1)[:, ::-1] @ (1 << shifts)
        key, board = np.unique(keys, return_inverse=True)
        masks = key[:, None] >> shifts & (1 << 13) - 1
        weight = np.bincount(board, weight[before]).astype(np.int64) // n
    masks = masks.astype(np.uint16)
    return Boards(masks, weight, *fill_hash(masks))


def fill_hash(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a hash table over rows of sorted masks: keys (uint64[h], 0 where empty) and row
    numbers (int32[h])."""
    bits = int(np.ceil(np.log2(4 * len(masks))))
    key, row = np.zeros(1 << bits, dtype=np.uint64), np.zeros(1 << bits, dtype=np.int32)
    _fill(masks, key, row)
    return key, row


@jit
def _key(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Packs four masks, largest first, into one number."""
    return index(a) << _SHIFTS[2] | index(b) << _SHIFTS[1] | index(c) << _SHIFTS[0] | index(d)


@jit(inner=True)
def hash_slot(keys: np.ndarray, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Returns the slot of these masks, largest first, or the empty slot where they belong."""
    key = _key(a, b, c, d)
    last = index(len(keys)) - ONE
    slot = ((key * _MULTIPLIER) >> _HIGH) & last
    while keys[slot] != key and keys[slot] != ZERO:
        slot = (slot + ONE) & last
    return slot


@jit
def _fill(masks: np.ndarray, keys: np.ndarray, rows: np.ndarray) -> None:
    """Inserts every row of `masks` into the hash table."""
    for k in range(len(masks)):
        slot = hash_slot(keys, masks[k, 0], masks[k, 1], masks[k, 2], masks[k, 3])
        keys[slot] = _key(masks[k, 0], masks[k, 1], masks[k, 2], masks[k, 3])
        rows[slot] = k


@jit
def find_canonical(table: Any, masks: np.ndarray) -> int:
    """Returns 256 · c + p for the board with these suit masks (int64[4]): c is the number of its
    canonical board in `table` (a `Boards`, or another with `key` and `row`), p the suit permutation
    that maps the board to it."""
    order0, order1, order2, order3 = 0, 1, 2, 3
    if masks[order0] < masks[order1]:
        order0, order1 = order1, order0
    if masks[order2] < masks[order3]:
        order2, order3 = order3, order2
    if masks[order0] < masks[order2]:
        order0, order2 = order2, order0
    if masks[order1] < masks[order3]:
        order1, order3 = order3, order1
    if masks[order1] < masks[order2]:
        order1, order2 = order2, order1
    slot = hash_slot(table.key, masks[order0], masks[order1], masks[order2], masks[order3])
    permutation = 1 << 2 * order1 | 2 << 2 * order2 | 3 << 2 * order3
    return int(np.int64(table.row[slot]) << 8 | permutation)


class Links(NamedTuple):
    """How canonical boards follow each other. An entry is 256 · c + p as in `find_canonical`, with
    flops, turns and rivers numbered in one row; -1 where the card is on the board."""

    flops: np.ndarray  # int32[22100]: by `flop_number`
    next_boards: np.ndarray  # int32[18187, 52]: by canonical flop or turn, and permuted next card


@jit
def permute_suit(card: int, permutation: int) -> int:
    """Returns the image of a card under a suit permutation."""
    return (card & ~3) | ((permutation >> ((card & 3) << 1)) & 3)


@jit(inner=True)
def compose(first: int, second: int) -> int:
    """Returns the suit permutation `first` followed by `second`."""
    out = 0
    for suit in range(4):
        out |= ((second >> (((first >> (2 * suit)) & 3) << 1)) & 3) << (2 * suit)
    return out


@jit(inner=True)
def permuted_holding(a: Any, b: Any, permutation: Any) -> Any:
    """Returns the number of the holding of two cards after a suit permutation."""
    a, b = permute_suit(a, permutation), permute_suit(b, permutation)
    low, high = min(a, b), max(a, b)
    return high * (high - 1) // 2 + low


@jit
def flop_number(a: int, b: int, c: int) -> int:
    """Returns the number of three cards in any order: 0 .. 22,099."""
    low, high = min(a, b), max(a, b)
    low, middle, high = min(low, c), max(low, min(high, c)), max(high, c)
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low


@jit
def _fill_flops(table: Boards, masks: np.ndarray, out: np.ndarray) -> None:
    for c in range(52):
        for b in range(c):
            for a in range(b):
                masks[:] = 0
                for card in (a, b, c):
                    masks[card & 3] |= 1 << (card >> 2)
                out[flop_number(a, b, c)] = find_canonical(table, masks)


@jit
def _fill_next(
    table: Boards, before: np.ndarray, offset: int, masks: np.ndarray, out: np.ndarray
) -> None:
    """`before`: masks of the canonical boards one card earlier; `offset`: number of the first
    board of `table` in `Links`."""
    for k in range(len(before)):
        for card in range(52):
            for suit in range(4):
                masks[suit] = before[k, suit]
            bit = 1 << (card >> 2)
            if masks[card & 3] & bit:
                out[k, card] = -1
                continue
            masks[card & 3] |= bit
            out[k, card] = (offset << 8) + find_canonical(table, masks)


def make_links() -> Links:
    """Computes the links between canonical boards; `tables.board_links` has them from disk."""
    masks = np.zeros(4, dtype=np.int64)
    flops = np.empty(22_100, dtype=np.int32)
    _fill_flops(boards(3), masks, flops)
    links = np.empty((SIZES[3] + SIZES[4], 52), dtype=np.int32)
    _fill_next(boards(4), boards(3).masks, SIZES[3], masks, links[: SIZES[3]])
    _fill_next(boards(5), boards(4).masks, SIZES[3] + SIZES[4], masks, links[SIZES[3] :])
    return Links(flops, links)
