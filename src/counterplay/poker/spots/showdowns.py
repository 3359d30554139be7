"""Folds and showdowns of a range against a range, in one pass over the holdings.

As in `poker/vector/showdown.py`: a sum over all holdings of the other player, less the sums over
those with either card of a holding; the same holding is subtracted twice. Here both players have
their own list of holdings, sorted by strength on each board (`Side.order`), and sums are in double
precision.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots.cards import Side

_CARDS = index(N_CARDS)


@jit(inner=True)
def fold(side: Side, other: Side, payoff: Any, reach: Any, value: Any, by_card: Any) -> None:
    """Fills the values of a fold: the other's reach without common cards, times the payoff."""
    for c in range(_CARDS + ONE):
        by_card[c] = 0.0
    for h in range(index(len(other.holding))):
        y = reach[h]
        by_card[_CARDS] += y
        by_card[index(other.cards[h, 0])] += y
        by_card[index(other.cards[h, 1])] += y
    for h in range(index(len(side.holding))):
        met = by_card[_CARDS] - by_card[index(side.cards[h, 0])] - by_card[index(side.cards[h, 1])]
        if side.same[h] >= 0:  # was subtracted twice
            met += reach[index(side.same[h])]
        value[h] = payoff * met


@jit(inner=True)
def _add_sorted(
    side: Side, other: Side, river: Any, upward: bool, factor: Any, reach: Any, value: Any,
    by_card: Any,
) -> None:  # fmt: skip
    """Adds to the values of the live holdings the other's reach of weaker holdings (`upward`) or
    stronger ones, with card removal, times a factor."""
    for c in range(_CARDS + ONE):
        by_card[c] = 0.0
    mine, theirs = index(side.live[river]), index(other.live[river])
    taken = ZERO
    for step in range(mine):
        k = step if upward else mine - ONE - step
        h, rank = index(side.order[river, k]), side.rank[river, k]
        while taken < theirs:
            j = taken if upward else theirs - ONE - taken
            beaten = other.rank[river, j] < rank if upward else other.rank[river, j] > rank
            if not beaten:
                break
            their = index(other.order[river, j])
            y = reach[their]
            by_card[_CARDS] += y
            by_card[index(other.cards[their, 0])] += y
            by_card[index(other.cards[their, 1])] += y
            taken += ONE
        low, high = index(side.cards[h, 0]), index(side.cards[h, 1])
        value[h] += factor * (by_card[_CARDS] - by_card[low] - by_card[high])


@jit(inner=True)
def show_down(
    side: Side, other: Side, river: Any, payoff: Any, reach: Any, value: Any, by_card: Any
) -> None:
    """Fills the values of a showdown: `payoff` has those for losing, splitting and winning."""
    lost, split, won = payoff[0], payoff[1], payoff[2]
    if split != 0.0:  # everyone is paid as for a split first
        fold(side, other, split, reach, value, by_card)
    else:
        for h in range(index(len(side.holding))):
            value[h] = 0.0
    _add_sorted(side, other, river, True, won - split, reach, value, by_card)
    _add_sorted(side, other, river, False, lost - split, reach, value, by_card)
