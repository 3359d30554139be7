"""Numbers of cards and holdings.

A card is 4 · rank + suit, ranks 0 (deuce) to 12 (ace), suits c d h s. A holding is a player's two
private cards; with cards a < b its number is b · (b - 1) / 2 + a, which numbers the 1,326 holdings
without gaps. (A "hand" is one deal that is played.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterplay.core.base.errors import BadParameter, shown

RANKS = "23456789TJQKA"
SUITS = "cdhs"
N_CARDS = 52
N_HOLDINGS = 1326

#: int8[1326, 2]: the cards of each holding, the lower first.
HOLDING_CARDS = np.array([(a, b) for b in range(N_CARDS) for a in range(b)], dtype=np.int8)


def card(text: str) -> int:
    """Returns the number of a card: `"As"` -> 51."""
    if len(text) != 2 or text[0].upper() not in RANKS or text[1].lower() not in SUITS:
        raise BadParameter(f"not a card: {shown(text)}; write it like As, Td or 2c")
    return 4 * RANKS.index(text[0].upper()) + SUITS.index(text[1].lower())


def cards(text: str) -> list[int]:
    """Returns the numbers of the cards in a text such as `"AsKd 2c"`; each card at most once."""
    if not isinstance(text, str):
        raise BadParameter(f"cards are a text such as 'AsKd 2c', not {shown(text)}")
    compact = "".join(text.split())
    numbers = [card(compact[k : k + 2]) for k in range(0, len(compact), 2)]
    if len(set(numbers)) < len(numbers):
        raise BadParameter(f"a card stands twice in {shown(text)}")
    return numbers


def card_text(number: int) -> str:
    """Returns the text of a card: 51 -> `"As"`."""
    return RANKS[number // 4] + SUITS[number % 4]


def holding(cards: Sequence[int]) -> int:
    """Returns the number of the holding of two different cards, in any order."""
    low, high = sorted(cards)
    return high * (high - 1) // 2 + low
