"""Cards and pairs of cards as small numbers.

A card is 4 · rank + suit, ranks 0 (deuce) to 12 (ace), suits c d h s. A holding of two cards a < b
is b · (b - 1) / 2 + a, so that the 1,326 holdings are numbered without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterplay.core.base.errors import BadParameter

RANKS = "23456789TJQKA"
SUITS = "cdhs"
N_CARDS = 52
N_HOLDINGS = 1326

#: int8[1326, 2]: the cards of each holding, the lower first.
HOLDING_CARDS = np.array([(a, b) for b in range(N_CARDS) for a in range(b)], dtype=np.int8)


def card(text: str) -> int:
    """`"As"` -> 51."""
    if len(text) != 2 or text[0].upper() not in RANKS or text[1].lower() not in SUITS:
        raise BadParameter(f"not a card: {text!r}; write it like As, Td or 2c")
    return 4 * RANKS.index(text[0].upper()) + SUITS.index(text[1].lower())


def cards(text: str) -> list[int]:
    """`"AsKd 2c"` -> card numbers; each card at most once."""
    compact = "".join(text.split())
    found = [card(compact[k : k + 2]) for k in range(0, len(compact), 2)]
    if len(set(found)) < len(found):
        raise BadParameter(f"a card stands twice in {text!r}")
    return found


def card_text(number: int) -> str:
    """51 -> `"As"`."""
    return RANKS[number // 4] + SUITS[number % 4]


def holding(pair: Sequence[int]) -> int:
    """Number of a holding of two different cards, in any order."""
    low, high = sorted(pair)
    return high * (high - 1) // 2 + low
