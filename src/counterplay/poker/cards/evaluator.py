"""Strength of five to seven cards as one integer: larger is better, equal is a tie.

Cards are four masks of 13 bits, one for each suit, bit r for rank r. The strength is a category
above two masks of 13 bits: the ranks that make the category (the quads, the two pairs, ...) and the
kickers. Masks with equally many bits compare like their highest ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.kernels.jit import index, jit

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORY_SHIFT = 26
MAIN_SHIFT = 13
N_MASKS = 1 << 13


def _highest_straight(mask: int) -> int:
    """Returns 1 << (rank of the highest card of a straight in `mask`), or 0. The ace also counts
    below the deuce."""
    with_low_ace = (mask << 1) | (mask >> 12 & 1)
    for top in range(12, 2, -1):
        if (with_low_ace >> (top - 3)) & 0b11111 == 0b11111:
            return 1 << top
    return 0


def _top(mask: int, count: int) -> int:
    """Returns the `count` highest bits of `mask`."""
    while mask.bit_count() > count:
        mask &= mask - 1
    return mask


STRAIGHT_OF = np.array([_highest_straight(mask) for mask in range(N_MASKS)], dtype=np.int32)
BITS = np.array([mask.bit_count() for mask in range(N_MASKS)], dtype=np.int32)
#: int32[6, 8192]: the k highest bits.
TOP = np.array(
    [[_top(mask, count) for mask in range(N_MASKS)] for count in range(6)], dtype=np.int32
)


@jit(inner=True)
def _strength(category: Any, main: Any, kickers: Any) -> Any:
    return (category << CATEGORY_SHIFT) + (main << MAIN_SHIFT) + kickers


@jit(inner=True)
def strength_of_masks(clubs: Any, diamonds: Any, hearts: Any, spades: Any) -> Any:
    """Returns the strength of the cards in the four suit masks."""
    for suit in (clubs, diamonds, hearts, spades):
        if BITS[index(suit)] >= 5:
            straight = STRAIGHT_OF[index(suit)]
            if straight > 0:
                return _strength(STRAIGHT_FLUSH, 0, straight)
            # at most seven cards: a flush excludes quads and a full house
            return _strength(FLUSH, 0, TOP[index(5), index(suit)])
    once = clubs | diamonds | hearts | spades
    twice = (clubs & diamonds) | (hearts & spades) | ((clubs | diamonds) & (hearts | spades))
    thrice = (clubs & diamonds & (hearts | spades)) | (hearts & spades & (clubs | diamonds))
    quads = clubs & diamonds & hearts & spades
    if quads > 0:
        return _strength(QUADS, quads, TOP[index(1), index(once ^ quads)])
    if thrice > 0:
        trips = TOP[index(1), index(thrice)]
        pairs = twice ^ trips
        if pairs > 0:
            return _strength(FULL_HOUSE, trips, TOP[index(1), index(pairs)])
    straight = STRAIGHT_OF[index(once)]
    if straight > 0:
        return _strength(STRAIGHT, 0, straight)
    if thrice > 0:
        return _strength(TRIPS, thrice, TOP[index(2), index(once ^ thrice)])
    if twice > 0:
        pairs = TOP[index(2), index(twice)]
        if BITS[index(pairs)] == 2:
            return _strength(TWO_PAIR, pairs, TOP[index(1), index(once ^ pairs)])
        return _strength(PAIR, pairs, TOP[index(3), index(once ^ pairs)])
    return _strength(HIGH_CARD, 0, TOP[index(5), index(once)])


@jit
def strengths_of_hands(hands: np.ndarray, masks: np.ndarray, out: np.ndarray) -> None:
    """Fills `out[k]` with the strength of the cards in `hands[k]` (five to seven card numbers).
    `masks`: workspace, int64[4]."""
    for k in range(len(hands)):
        masks[:] = 0
        for j in range(hands.shape[1]):
            masks[hands[k, j] & 3] |= 1 << (hands[k, j] >> 2)
        out[k] = strength_of_masks(masks[0], masks[1], masks[2], masks[3])


def strength(hand: list[int]) -> int:
    """Returns the strength of five to seven cards given by number."""
    out = np.empty(1, dtype=np.int64)
    strengths_of_hands(np.array([hand], dtype=np.int64), np.zeros(4, dtype=np.int64), out)
    return int(out[0])
