"""OCHS, opponent cluster hand strength (Johanson et al., AAMAS 2013): on the board of the showdown,
the strength of a holding against each of eight groups of opponent holdings.

Groups are clusters of starting hands by the earth mover's distance of their equity histograms. A
coordinate is the share of wins, a tie counting half, against the holdings of a group that share no
card with the board or the own holding; a half where there are none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.kmeans import SCALE
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.cards.strength import Workspace, sort_numbers

GROUPS = 8
_CARDS = HOLDING_CARDS.astype(np.int64)


class GroupCounts(NamedTuple):
    """Opponent holdings by group, and by group and card: int64[GROUPS, 53], the last column for all
    cards."""

    below: np.ndarray  # weaker ones
    level: np.ndarray  # equally strong ones
    every: np.ndarray  # all


def new_counts() -> GroupCounts:
    return GroupCounts(*(np.zeros((GROUPS, 53), dtype=np.int64) for _ in range(3)))


@jit(inner=True)
def _add(table: np.ndarray, group: Any, holding: Any) -> None:
    table[group, index(52)] += 1
    table[group, index(_CARDS[holding, index(0)])] += 1
    table[group, index(_CARDS[holding, index(1)])] += 1


@jit(inner=True)
def _without(table: np.ndarray, g: Any, a: Any, b: Any) -> Any:
    """Holdings of group g without either card, those with both subtracted twice."""
    return table[g, index(52)] - table[g, index(a)] - table[g, index(b)]


@jit
def fill_ochs(
    masks: np.ndarray, group: np.ndarray, work: Workspace, counts: GroupCounts, out: np.ndarray
) -> None:
    """Fills `out`, int16[boards, 1326, GROUPS], for boards of a showdown given by suit masks; 0
    where the board blocks the holding. `group`: uint8[1326]."""
    for k in range(index(len(masks))):
        n = 0
        out[k] = 0
        counts.below[:] = 0
        counts.every[:] = 0
        counts.level[:] = 0
        for h in range(index(len(_CARDS))):
            a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
            for suit in range(index(4)):
                work.masks[suit] = masks[k, suit]
            if (work.masks[a & 3] >> (a >> 2) | work.masks[b & 3] >> (b >> 2)) & 1:
                continue
            work.masks[a & 3] |= 1 << (a >> 2)
            work.masks[b & 3] |= 1 << (b >> 2)
            value = strength_of_masks(work.masks[0], work.masks[1], work.masks[2], work.masks[3])
            work.order[n] = (np.int64(value) << 11) + np.int64(h)
            n += 1
            _add(counts.every, index(group[h]), h)
        sort_numbers(work.order, n, work.stack)
        start = 0
        while start < n:  # equally strong holdings at a time
            stop = start
            while stop < n and work.order[stop] >> 11 == work.order[start] >> 11:
                h = index(work.order[stop] & 2047)
                _add(counts.level, index(group[h]), h)
                stop += 1
            for i in range(start, stop):
                _fill_one(index(work.order[i] & 2047), group, counts, out[k])
            for i in range(start, stop):
                h = index(work.order[i] & 2047)
                g = index(group[h])
                _add(counts.below, g, h)
                counts.level[g, index(52)] = 0
                counts.level[g, index(_CARDS[h, index(0)])] = 0
                counts.level[g, index(_CARDS[h, index(1)])] = 0
            start = stop


@jit(inner=True)
def _fill_one(h: Any, group: np.ndarray, counts: GroupCounts, out: np.ndarray) -> None:
    a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
    for g in range(index(GROUPS)):
        own = 1 if index(group[h]) == g else 0  # the holding itself was subtracted twice
        wins = _without(counts.below, g, a, b)
        ties = _without(counts.level, g, a, b) + own
        n = _without(counts.every, g, a, b) + own
        twice = 2 * wins + ties
        out[h, g] = (SCALE * twice + n) // (2 * n) if n > 0 else SCALE // 2
