"""Which cards are in play, and how boards follow each other.

The full deck has its boards up to suits (`boards.py`). A short deck, some of the 52 cards, keeps
every board apart, in the order it was dealt: small games for exact answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.cards.canonical import Links, flop_number
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.tables import board_links

LEAST_CARDS = 9  # two holdings and a board
_SAME_SUITS = 0b11100100  # the renaming that changes nothing


@dataclass(frozen=True)
class Deck:
    """Some of the 52 cards, by number."""

    cards: tuple[int, ...] = tuple(range(N_CARDS))

    def __post_init__(self) -> None:
        known = set(self.cards)
        if len(known) < max(LEAST_CARDS, len(self.cards)) or not known <= set(range(N_CARDS)):
            raise BadParameter(
                f"a deck has at least {LEAST_CARDS} different cards from 0 to {N_CARDS - 1}; "
                f"got {self.cards}"
            )

    @property
    def full(self) -> bool:
        return len(self.cards) == N_CARDS

    def links(self) -> Links:
        """How boards follow each other."""
        return board_links() if self.full else _in_order(self.cards)


FULL = Deck()


@cache
def _in_order(cards: tuple[int, ...]) -> Links:
    """Every board of a short deck, in the order it was dealt."""
    flops = np.full(22_100, -1, dtype=np.int32)
    seen = [set(flop) for flop in combinations(sorted(cards), 3)]
    for k, flop in enumerate(seen):
        flops[flop_number(*sorted(flop))] = k << 8 | _SAME_SUITS
    rows: list[np.ndarray] = []
    before = seen
    number = len(seen)
    for _ in range(2):  # turns, then rivers
        after = []
        for board in before:
            row = np.full(N_CARDS, -1, dtype=np.int32)
            for card in sorted(set(cards) - board):
                row[card] = number << 8 | _SAME_SUITS
                number += 1
                after.append(board | {card})
            rows.append(row)
        before = after
    return Links(flops, np.array(rows))
