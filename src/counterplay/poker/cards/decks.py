"""Decks: which cards are in play, and how boards follow each other.

The full deck uses canonical boards (`canonical.py`). A short deck, some of the 52 cards, numbers
every board by itself, in the order of dealing; it makes small games with exact solutions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.cards.canonical import Links, flop_number
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.strength import board_links

LEAST_CARDS = 9  # two holdings and five cards of the board
_IDENTITY = 0b11100100  # the identity suit permutation


@dataclass(frozen=True)
class Deck:
    """Some of the 52 cards, by number."""

    cards: tuple[int, ...] = tuple(range(N_CARDS))

    def __post_init__(self) -> None:
        different = set(self.cards)
        too_few = len(different) < max(LEAST_CARDS, len(self.cards))
        if too_few or not different <= set(range(N_CARDS)):
            raise BadParameter(
                f"a deck has at least {LEAST_CARDS} different cards from 0 to {N_CARDS - 1}; "
                f"got {self.cards}"
            )

    @property
    def full(self) -> bool:
        return len(self.cards) == N_CARDS

    def links(self) -> Links:
        """Returns how boards follow each other."""
        return board_links() if self.full else _ordered_links(self.cards)


FULL = Deck()


@cache
def _ordered_links(cards: tuple[int, ...]) -> Links:
    """Returns the links between all boards of a short deck, numbered in the order of dealing."""
    flops = np.full(22_100, -1, dtype=np.int32)
    before = [set(flop) for flop in combinations(sorted(cards), 3)]
    for k, flop in enumerate(before):
        flops[flop_number(*sorted(flop))] = k << 8 | _IDENTITY
    rows: list[np.ndarray] = []
    number = len(before)
    for _ in range(2):  # turns, then rivers
        after = []
        for board in before:
            row = np.full(N_CARDS, -1, dtype=np.int32)
            for card in sorted(set(cards) - board):
                row[card] = number << 8 | _IDENTITY
                number += 1
                after.append(board | {card})
            rows.append(row)
        before = after
    return Links(flops, np.array(rows))
