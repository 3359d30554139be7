"""Boards up to a renaming of suits: 1,755 flops, 16,432 turns and 134,459 rivers, the order of
dealing forgotten.

A board is four masks of 13 bits. Sorted, they name its class; the order of sorting is the renaming
that turns its cards into those of the class's representative. While a hand is played the class is
followed from street to street instead (`Links`).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit

SIZES = {3: 1_755, 4: 16_432, 5: 134_459}
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(40)
_SHIFTS = (np.uint64(13), np.uint64(26), np.uint64(39))


class Boards(NamedTuple):
    """All classes of boards of one size: b of them. A hash table of h slots finds a class by its
    sorted masks."""

    masks: np.ndarray  # uint16[b, 4]: of the representative, largest first
    weight: np.ndarray  # int64[b]: boards in the class
    key: np.ndarray  # uint64[h]: sorted masks, or 0
    row: np.ndarray  # int32[h]: the class


@cache
def boards(size: int) -> Boards:
    """Classes of boards of 3, 4 or 5 cards."""
    by_count: dict[int, list[int]] = {n: [] for n in range(size + 1)}
    for mask in range(1 << 13):
        if mask.bit_count() <= size:
            by_count[mask.bit_count()].append(mask)
    found: list[tuple[int, ...]] = []
    for counts in combinations_with_replacement(range(size, -1, -1), 4):
        if sum(counts) == size:
            found += _with_counts(counts, by_count)
    masks = np.array(sorted(found), dtype=np.uint16)
    weight = np.array([_renamings(tuple(int(m) for m in row)) for row in masks], dtype=np.int64)
    return Boards(masks, weight, *fill_hash(masks))


def fill_hash(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hash table over rows of sorted masks: keys (uint64[h], 0 where empty) and rows (int32[h])."""
    bits = int(np.ceil(np.log2(4 * len(masks))))
    key, row = np.zeros(1 << bits, dtype=np.uint64), np.zeros(1 << bits, dtype=np.int32)
    _fill(masks, key, row)
    return key, row


def _with_counts(counts: tuple[int, ...], by_count: dict[int, list[int]]) -> list[tuple[int, ...]]:
    """Sorted masks with these numbers of cards; equal numbers are taken in falling order of the
    masks."""
    partial: list[tuple[int, ...]] = [()]
    for k, count in enumerate(counts):
        partial = [
            (*row, mask)
            for row in partial
            for mask in by_count[count]
            if k == 0 or counts[k - 1] != count or mask <= row[-1]
        ]
    return [tuple(sorted(row, reverse=True)) for row in partial]


def _renamings(masks: tuple[int, ...]) -> int:
    """How many different boards the class has: 24 over the product of factorials of equal masks."""
    total = 24
    for mask in set(masks):
        total //= (1, 1, 2, 6, 24)[masks.count(mask)]
    return total


@jit
def _key(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four masks, largest first, as one number."""
    return index(a) << _SHIFTS[2] | index(b) << _SHIFTS[1] | index(c) << _SHIFTS[0] | index(d)


@jit(inner=True)
def hash_place(keys: np.ndarray, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Where these masks, largest first, stand in a hash table, or the empty slot where they
    would."""
    key = _key(a, b, c, d)
    last = index(len(keys)) - ONE
    place = ((key * _MULTIPLIER) >> _HIGH) & last
    while keys[place] != key and keys[place] != ZERO:
        place = (place + ONE) & last
    return place


@jit
def _fill(masks: np.ndarray, keys: np.ndarray, rows: np.ndarray) -> None:
    """Put every row of `masks` into the hash table."""
    for k in range(len(masks)):
        place = hash_place(keys, masks[k, 0], masks[k, 1], masks[k, 2], masks[k, 3])
        keys[place] = _key(masks[k, 0], masks[k, 1], masks[k, 2], masks[k, 3])
        rows[place] = k


@jit
def find_class(table: Boards, masks: np.ndarray, suit_to: np.ndarray) -> int:
    """The class of the board with these suit masks (int64[4]); fills `suit_to[s]` with what suit
    s is called in the class."""
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
    suit_to[order0], suit_to[order1], suit_to[order2], suit_to[order3] = 0, 1, 2, 3
    return int(
        table.row[hash_place(table.key, masks[order0], masks[order1], masks[order2], masks[order3])]
    )


class Links(NamedTuple):
    """How a class follows from the one before: class · 256 + renaming, classes numbered flops,
    turns, rivers in one row.

    A renaming has two bits for each suit: what it is called in the new class.
    """

    flops: np.ndarray  # int32[22100]: by `flop_number`
    # int32[18187, 52]: by class of a flop or turn, and next card as it is called there
    next_boards: np.ndarray


@jit
def rename(card: int, renaming: int) -> int:
    """A card with its suit renamed."""
    return (card & ~3) | ((renaming >> ((card & 3) << 1)) & 3)


@jit(inner=True)
def compose(first: int, second: int) -> int:
    """One renaming after another."""
    out = 0
    for suit in range(4):
        out |= ((second >> (((first >> (2 * suit)) & 3) << 1)) & 3) << (2 * suit)
    return out


@jit
def flop_number(a: int, b: int, c: int) -> int:
    """Number of three cards in any order: 0 .. 22,099."""
    low, high = min(a, b), max(a, b)
    low, middle, high = min(low, c), max(low, min(high, c)), max(high, c)
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low


@jit
def _fill_flops(table: Boards, masks: np.ndarray, suit_to: np.ndarray, out: np.ndarray) -> None:
    for c in range(52):
        for b in range(c):
            for a in range(b):
                masks[:] = 0
                for card in (a, b, c):
                    masks[card & 3] |= 1 << (card >> 2)
                found = find_class(table, masks, suit_to)
                out[flop_number(a, b, c)] = (
                    found << 8 | suit_to[0] | suit_to[1] << 2 | suit_to[2] << 4 | suit_to[3] << 6
                )


@jit
def _fill_next(
    table: Boards,
    before: np.ndarray,
    offset: int,
    masks: np.ndarray,
    suit_to: np.ndarray,
    out: np.ndarray,
) -> None:
    """`before`: masks of the classes one card earlier; `offset`: number of the first class of
    `table`."""
    for k in range(len(before)):
        for card in range(52):
            for suit in range(4):
                masks[suit] = before[k, suit]
            bit = 1 << (card >> 2)
            if masks[card & 3] & bit:
                out[k, card] = -1
                continue
            masks[card & 3] |= bit
            found = offset + find_class(table, masks, suit_to)
            out[k, card] = (
                found << 8 | suit_to[0] | suit_to[1] << 2 | suit_to[2] << 4 | suit_to[3] << 6
            )


def make_links() -> Links:
    """The links between classes of boards; `tables.board_links` has them ready."""
    masks, suit_to = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    flops = np.empty(22_100, dtype=np.int32)
    _fill_flops(boards(3), masks, suit_to, flops)
    links = np.empty((SIZES[3] + SIZES[4], 52), dtype=np.int32)
    _fill_next(boards(4), boards(3).masks, SIZES[3], masks, suit_to, links[: SIZES[3]])
    _fill_next(boards(5), boards(4).masks, SIZES[3] + SIZES[4], masks, suit_to, links[SIZES[3] :])
    return Links(flops, links)
