"""The name of a hand of seven cards, as players say it: `two pair, kings and sevens`."""

from __future__ import annotations

from collections.abc import Sequence

from counterplay.poker.cards import evaluator
from counterplay.poker.cards.evaluator import CATEGORY_SHIFT, MAIN_SHIFT, strength

_RANKS = (
    *("deuce", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "jack", "queen", "king", "ace"),
)
_MASK = (1 << len(_RANKS)) - 1
_NAMES = {
    evaluator.HIGH_CARD: "{0} high",
    evaluator.PAIR: "a pair of {0}s",
    evaluator.TWO_PAIR: "two pair, {0}s and {1}s",
    evaluator.TRIPS: "three {0}s",
    evaluator.STRAIGHT: "a straight, {0} high",
    evaluator.FLUSH: "a flush, {0} high",
    evaluator.FULL_HOUSE: "a full house, {0}s full of {1}s",
    evaluator.QUADS: "four {0}s",
    evaluator.STRAIGHT_FLUSH: "a straight flush, {0} high",
}


def hand_name(cards: Sequence[int]) -> str:
    """The best hand of these cards in words, without its kickers."""
    code = strength(list(cards))
    ranks = [*_ranks(code >> MAIN_SHIFT & _MASK), *_ranks(code & _MASK)]
    name = _NAMES[code >> CATEGORY_SHIFT].format(*ranks)
    return name.replace("sixs", "sixes")


def _ranks(mask: int) -> list[str]:
    """Names of the ranks in a mask, the highest first."""
    return [name for k, name in reversed(list(enumerate(_RANKS))) if mask >> k & 1]
