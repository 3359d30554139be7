"""Whether a view of the cards tells suits apart: boards are walked up to suits, so it must not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS

_known: dict[int, Any] = {}  # views that were looked at, by the address of their table


def swaps() -> np.ndarray:
    """int64[6, 1326]: what each holding becomes when two suits are exchanged."""
    found = []
    for first, second in combinations(range(4), 2):
        suit = np.arange(4)
        suit[[first, second]] = suit[[second, first]]
        cards = HOLDING_CARDS.astype(np.int64)
        renamed = np.sort((cards & ~3) | suit[cards & 3], axis=1)
        found.append(renamed[:, 1] * (renamed[:, 1] - 1) // 2 + renamed[:, 0])
    return np.array(found)


@jit
def _sees_suits(table: np.ndarray, masks: np.ndarray, swap: np.ndarray, pairs: np.ndarray) -> bool:
    """Whether a swap of two suits that a board shows alike changes any bucket on it."""
    for row in range(index(len(masks))):
        for k in range(index(len(swap))):
            if masks[row, index(pairs[k, 0])] == masks[row, index(pairs[k, 1])]:
                for h in range(index(table.shape[1])):
                    if table[row, h] != table[row, index(swap[k, h])]:
                        return True
    return False


def check_suits(cards: Cards) -> None:
    """`BadParameter` if two suits that a board shows alike are told apart. Short decks, whose
    boards are all walked, may."""
    if len(cards.deck) < 52 or _known.get(id(cards.early)) is cards.early:
        return
    swap, pairs = swaps(), np.array(list(combinations(range(4), 2)))
    apart = bool((cards.preflop[swap] != cards.preflop).any())
    flops = len(boards(3).masks)
    tables = (
        (cards.early[:flops], boards(3).masks),
        (cards.early[flops:], boards(4).masks),
        (cards.river_entry, boards(5).masks),
    )
    for table, masks in tables:
        apart = apart or bool(_sees_suits(table, masks, swap, pairs))
    if apart:
        raise BadParameter(
            "this view of the cards tells suits apart, and boards are walked up to suits"
        )
    _known[id(cards.early)] = cards.early
