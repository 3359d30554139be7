"""How many hands a match has, and the cards of a caller who deals them himself."""

from __future__ import annotations

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.holdem.cards import N_CARDS
from counterplay.holdem.deal import N_DEALT

MOST_HANDS = 10**9
USUAL_HANDS = 100_000


def check_hands(hands: int) -> None:
    whole_number(hands, 2, MOST_HANDS, "hands")


def check_blocks(hands: int, every: int) -> None:
    """Of a player who is looked at every so many hands."""
    check_hands(hands)
    if isinstance(every, bool) or not isinstance(every, int) or every < 2 or hands < every:
        raise BadParameter(
            f"a block needs at least 2 hands and a match at least one block; got {hands} hands in "
            f"blocks of {every!r}"
        )


def check_deals(cards: np.ndarray | None, hands: int, duplicate: bool) -> int:
    """How many hands to play, or `BadParameter`."""
    if cards is None:
        check_hands(hands)
        return hands
    fine = isinstance(cards, np.ndarray) and cards.ndim == 2 and cards.shape[1] == N_DEALT
    if not fine or len(cards) == 0 or not np.issubdtype(cards.dtype, np.integer):
        raise BadParameter(f"cards are whole numbers in an array of deals by {N_DEALT}")
    ordered = np.sort(cards, axis=1)
    if ordered.min() < 0 or ordered.max() >= N_CARDS or (ordered[:, 1:] == ordered[:, :-1]).any():
        raise BadParameter(f"the cards of a deal are different numbers from 0 to {N_CARDS - 1}")
    most = len(cards) * (2 if duplicate else 1)
    if hands not in (USUAL_HANDS, most):
        raise BadParameter(f"these cards are {most:,} hands; leave out hands, or say so")
    return most
