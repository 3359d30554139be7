"""Holdings in classes: on one board, what matters of a card is its rank and whether it has the suit
of a possible flush.

A board of five cards has at most one suit with three cards or more. A card is of type 2 · rank + (1
if it has that suit), a holding of the class of its two types. All holdings of a class have the same
strength on this board, and also on the board without its last card. There are 91 classes where no
flush is possible and about 260 where one is, instead of 1,081 holdings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.cards.evaluator import BITS, strength_of_masks

N_TYPES = 26
NO_SUIT = -1
NO_VALUE = -1  # of a class without holdings


class Classes(NamedTuple):
    """The classes of one board, for one thread. k types with cards left, `count` classes with
    holdings."""

    left: np.ndarray  # int32[26]: cards of each type that are neither on the board nor dead
    card: np.ndarray  # int64[26, 2]: two of them (one where there is only one)
    value: np.ndarray  # int32[26, 26]: strength of a class on the board, or NO_VALUE; symmetric
    masks: np.ndarray  # int64[4]: scratch


def new_classes() -> Classes:
    return Classes(
        np.zeros(N_TYPES, dtype=np.int32),
        np.zeros((N_TYPES, 2), dtype=np.int64),
        np.full((N_TYPES, N_TYPES), NO_VALUE, dtype=np.int32),
        np.zeros(4, dtype=np.int64),
    )


@jit(inner=True)
def flush_suit(masks: np.ndarray) -> int:
    """The suit with three cards or more on the board, or NO_SUIT."""
    for suit in range(4):
        if BITS[index(masks[index(suit)])] >= 3:
            return suit
    return NO_SUIT


@jit(inner=True)
def find_types(masks: np.ndarray, dead: np.ndarray, suit: int, classes: Classes) -> None:
    """Fill `left` and `card` for a board and dead cards, both as suit masks (int64[4])."""
    for kind in range(index(N_TYPES)):
        classes.left[kind] = 0
    for card in range(52):
        s, rank = card & 3, card >> 2
        if (masks[index(s)] | dead[index(s)]) >> rank & 1:
            continue
        kind = index(2 * rank + (1 if s == suit else 0))
        n = classes.left[kind]
        if n < 2:
            classes.card[kind, index(n)] = card
        classes.left[kind] = n + 1


@jit(inner=True)
def pair_value(masks: np.ndarray, a: Any, b: Any, scratch: np.ndarray) -> Any:
    """Strength of cards a and b with the board. Changes `scratch` (int64[4])."""
    for suit in range(index(4)):
        scratch[suit] = masks[suit]
    scratch[index(a & 3)] |= 1 << (a >> 2)
    scratch[index(b & 3)] |= 1 << (b >> 2)
    return strength_of_masks(scratch[0], scratch[1], scratch[2], scratch[3])


@jit(inner=True)
def find_values(masks: np.ndarray, suit: int, classes: Classes) -> None:
    """Fill `value` for a board whose types were found; only even types where there is no flush
    suit."""
    step = ONE if suit != NO_SUIT else ONE + ONE
    for t in range(index(0), index(N_TYPES), step):
        for u in range(index(0), t + ONE, step):
            worth = NO_VALUE
            if classes.left[t] > (1 if t == u else 0) and classes.left[u] > 0:
                second = classes.card[u, ONE] if t == u else classes.card[u, 0]
                worth = pair_value(masks, classes.card[t, 0], second, classes.masks)
            classes.value[t, u] = worth
            classes.value[u, t] = worth


@jit(inner=True)
def type_of(card: Any, suit: Any) -> Any:
    """The type of a card where `suit` is the flush suit."""
    return 2 * (card >> 2) + (1 if (card & 3) == suit else 0)
