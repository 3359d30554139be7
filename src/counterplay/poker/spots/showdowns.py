"""Folds and showdowns of a range against a range, `LANES` action sequences of the other player at a
time, in one pass over the holdings.

As in `poker/vector/showdown.py`: a sum over all holdings of the other player, less the sums over
those with either card of a holding; the same holding is subtracted twice. Here both players have
their own list of holdings, sorted by strength on each board (`KernelSide.ranked`), and sums are in
double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.cache_lines import aligned_zeros
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_others,
    add_row_to_cards,
    add_rows,
    set_difference,
    set_others,
    set_twice,
)
from counterplay.poker.cards.cards import N_CARDS

_LANES = index(LANES)
_ALL = index(N_CARDS) * _LANES  # where the sums over all holdings are, after those of the cards
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
    #: int16[r, n]: the row of each holding in tables of the river, and int64[r, 2]: the first row
    #: of each board and their number. Empty where every holding has a row on every board.
    row: np.ndarray = np.zeros((0, 0), dtype=np.int16)
    span: np.ndarray = np.zeros((0, 2), dtype=np.int64)


class Sums(NamedTuple):
    """What n holdings meet: sums of the reach of the other player's m holdings without common
    cards, on each of `LANES` action sequences."""

    reach: np.ndarray  # float64[m, LANES]
    by_card: np.ndarray  # float64[53, LANES]: of those with each card, and of all
    met: np.ndarray  # float64[n, LANES]
    behind: np.ndarray  # float64[n, LANES]: of stronger ones less that of weaker ones


def new_sums(holdings: int) -> Sums:
    """Buffers for so many holdings of each player."""
    met = [aligned_zeros((holdings, LANES), np.float64) for _ in range(3)]
    return Sums(met[0], aligned_zeros((N_CARDS + 1, LANES), np.float64), *met[1:])


@jit(inner=True)
def take_reach(reach: Any, first: Any, n: Any, sums: Sums) -> None:
    """Takes the reach of n holdings on the action sequences from `first` on; `reach`: [q, h]."""
    for h in range(n):
        for lane in range(_LANES):
            sums.reach[h, lane] = reach[first + lane, h]


@jit(inner=True)
def _clear(sums: Sums) -> None:
    for c in range(index(N_CARDS) + ONE):
        for lane in range(_LANES):
            sums.by_card[c, lane] = 0.0


@jit(inner=True)
def _add(other: KernelSide, h: Any, sums: Sums) -> None:
    """Adds the reach of a holding of the other player to the sums of its cards and of all."""
    low, high = index(other.cards[h, 0]) * _LANES, index(other.cards[h, 1]) * _LANES
    by_card = sums.by_card
    add_row_to_cards(sums.reach, h * _LANES, by_card, _ALL, by_card, low, by_card, high, ONE)


@jit(inner=True)
def _set_met(side: KernelSide, h: Any, sums: Sums) -> None:
    """Sets what a holding meets, without the same holding, which is subtracted twice."""
    low, high = index(side.cards[h, 0]) * _LANES, index(side.cards[h, 1]) * _LANES
    by_card = sums.by_card
    set_others(by_card, _ALL, by_card, low, by_card, high, sums.met, h * _LANES, ONE)


@jit(inner=True)
def _set_weaker(side: KernelSide, h: Any, twice: bool, sums: Sums) -> None:
    """Sets `behind` to what a holding meets among those that were added, or to twice that."""
    low, high = index(side.cards[h, 0]) * _LANES, index(side.cards[h, 1]) * _LANES
    by_card, at = sums.by_card, h * _LANES
    if twice:
        set_twice(by_card, _ALL, by_card, low, by_card, high, sums.behind, at, ONE)
    else:
        set_others(by_card, _ALL, by_card, low, by_card, high, sums.behind, at, ONE)


@jit(inner=True)
def _add_not_stronger(side: KernelSide, h: Any, sums: Sums) -> None:
    """Adds to `behind` what a holding meets among those that were added."""
    low, high = index(side.cards[h, 0]) * _LANES, index(side.cards[h, 1]) * _LANES
    by_card = sums.by_card
    add_others(by_card, _ALL, by_card, low, by_card, high, sums.behind, h * _LANES, ONE)


@jit(inner=True)
def _add_own(side: KernelSide, h: Any, sums: Sums) -> None:
    """Adds to `met` the same holding, and its copy."""
    for column in (index(SAME), index(COPY)):
        if side.cards[h, column] >= 0:
            at = index(side.cards[h, column]) * _LANES
            add_rows(sums.reach, at, sums.met, h * _LANES, ONE)


@jit(inner=True)
def meet(side: KernelSide, other: KernelSide, sums: Sums) -> None:
    """Fills `met`."""
    _clear(sums)
    for h in range(index(len(other.cards))):
        _add(other, h, sums)
    for h in range(index(len(side.cards))):
        _set_met(side, h, sums)
        _add_own(side, h, sums)


@jit(inner=True)
def show_down(side: KernelSide, other: KernelSide, river: Any, sums: Sums) -> None:
    """Fills `behind` on a board of the river, 0 for holdings with a card of it, and `met`. The
    other player's holdings with a card of the board have a reach of zero.

    The sums are read before and after holdings of equal strength are added: weaker ones are
    counted twice, equal ones once. All holdings less that are the stronger ones less the weaker."""
    _clear(sums)
    ours, others = side.ranked[river], other.ranked[river]
    n, many = index(len(side.cards)), index(len(other.cards))
    mine, theirs = index(ours[HOLDING, n]), index(others[HOLDING, many])
    first, taken = ZERO, ZERO
    while first < mine:  # a group of equal strength
        rank, last = ours[RANK, first], first
        while taken < theirs and others[RANK, taken] < rank:
            _add(other, index(others[HOLDING, taken]), sums)
            taken += ONE
        alone = taken == theirs or others[RANK, taken] != rank
        while last < mine and ours[RANK, last] == rank:
            _set_weaker(side, index(ours[HOLDING, last]), alone, sums)
            last += ONE
        if not alone:
            while taken < theirs and others[RANK, taken] == rank:
                _add(other, index(others[HOLDING, taken]), sums)
                taken += ONE
            for k in range(first, last):
                _add_not_stronger(side, index(ours[HOLDING, k]), sums)
        first = last
    while taken < theirs:
        _add(other, index(others[HOLDING, taken]), sums)
        taken += ONE
    for k in range(n):
        h = index(ours[HOLDING, k])
        _set_met(side, h, sums)
        if k < mine:
            set_difference(sums.met, h * _LANES, sums.behind, h * _LANES, ONE)
        else:
            for lane in range(_LANES):
                sums.behind[h, lane] = 0.0
        _add_own(side, h, sums)


@jit(inner=True)
def set_fold(sums: Sums, lane: Any, n: Any, paid: Any, value: Any) -> None:
    """Fills the values of a fold: what n holdings meet, times the payoff."""
    for h in range(n):
        value[h] = paid * sums.met[h, lane]


@jit(inner=True)
def set_showdown(sums: Sums, lane: Any, n: Any, paid: Any, value: Any) -> None:
    """Fills the values of a showdown; `paid`: for losing, splitting and winning. Compared with
    splitting, losing costs what winning brings, also with rake."""
    split = paid[ONE]
    lost = paid[ZERO] - split
    if split == 0.0:
        for h in range(n):
            value[h] = lost * sums.behind[h, lane]
    else:
        for h in range(n):
            value[h] = split * sums.met[h, lane] + lost * sums.behind[h, lane]
