"""Folds and showdowns of a range against a range, in one pass over the holdings.

As in `poker/vector/showdown.py`: a sum over all holdings of the other player, less the sums over
those with either card of a holding; the same holding is subtracted twice. Here both players have
their own list of holdings, sorted by strength on each board (`Side.order`), and sums are in double
precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import N_CARDS

_CARDS = index(N_CARDS)
SAME, COPY = 2, 3  # columns of `cards`
HOLDING, RANK = 0, 1  # rows of `ranked`


class KernelSide(NamedTuple):
    """One player's n holdings; r boards of the river, g suit permutations."""

    #: int64[n, 4]: both cards; the same holding of the other player, and its copy, or -1
    cards: np.ndarray
    image: np.ndarray  # int64[g, n]: of each holding under each suit permutation
    #: int16[r, 2, n + 1]: holdings on a board, weakest first, and the rank of their strength among
    #: both players'; those that share a card with the board come last, and their number at the end.
    ranked: np.ndarray


@jit(inner=True)
def fold(side: Any, other: Any, payoff: Any, reach: Any, value: Any, by_card: Any) -> None:
    """Fills the values of a fold: the other's reach without common cards, times the payoff."""
    for c in range(_CARDS + ONE):
        by_card[c] = 0.0
    for h in range(index(len(other.cards))):
        y = reach[h]
        if y == 0.0:
            continue
        by_card[_CARDS] += y
        by_card[index(other.cards[h, 0])] += y
        by_card[index(other.cards[h, 1])] += y
    for h in range(index(len(side.cards))):
        met = by_card[_CARDS] - by_card[index(side.cards[h, 0])] - by_card[index(side.cards[h, 1])]
        if side.cards[h, SAME] >= 0:  # was subtracted twice
            met += reach[index(side.cards[h, SAME])]
        if side.cards[h, COPY] >= 0:
            met += reach[index(side.cards[h, COPY])]
        value[h] = payoff * met


@jit(inner=True)
def _add_sorted(
    side: Any, other: Any, river: Any, upward: bool, factor: Any, reach: Any, value: Any,
    by_card: Any,
) -> None:  # fmt: skip
    """Adds to the values of the live holdings the other's reach of weaker holdings (`upward`) or
    stronger ones, with card removal, times a factor."""
    for c in range(_CARDS + ONE):
        by_card[c] = 0.0
    ours, others = side.ranked[river], other.ranked[river]
    mine, theirs = index(ours[HOLDING, len(side.cards)]), index(others[HOLDING, len(other.cards)])
    taken = ZERO
    for step in range(mine):
        k = step if upward else mine - ONE - step
        h, rank = index(ours[HOLDING, k]), ours[RANK, k]
        while taken < theirs:
            j = taken if upward else theirs - ONE - taken
            beaten = others[RANK, j] < rank if upward else others[RANK, j] > rank
            if not beaten:
                break
            their = index(others[HOLDING, j])
            y = reach[their]
            taken += ONE
            if y != 0.0:
                by_card[_CARDS] += y
                by_card[index(other.cards[their, 0])] += y
                by_card[index(other.cards[their, 1])] += y
        low, high = index(side.cards[h, 0]), index(side.cards[h, 1])
        value[h] += factor * (by_card[_CARDS] - by_card[low] - by_card[high])


@jit(inner=True)
def show_down(
    side: Any,
    other: Any,
    river: Any,
    payoff: Any,
    reach: Any,
    value: Any,
    by_card: Any,
) -> None:
    """Fills the values of a showdown: `payoff` has those for losing, splitting and winning."""
    lost, split, won = payoff[0], payoff[1], payoff[2]
    if split != 0.0:  # everyone is paid as for a split first
        fold(side, other, split, reach, value, by_card)
    else:
        for h in range(index(len(side.cards))):
            value[h] = 0.0
    _add_sorted(side, other, river, True, won - split, reach, value, by_card)
    _add_sorted(side, other, river, False, lost - split, reach, value, by_card)
