"""Goofspiel (Section 2.2): both players bid a card for the top point card and learn who won it.

The point stack is N, N-1, ..., 1; equal bids discard the points; the higher total wins 1. A
simultaneous bid is a bid of player 1 followed by one of player 2, who does not see it. The forced
last card is a move too.

A state: the cards of both as bits, the bid of player 1 + 1 in this round, player 1's lead in
points, what each player knows, and the rounds played. What a player knows is a number with two
digits for each own bid: its rank among the cards in hand, and the result.
"""

from __future__ import annotations

from math import perm
from typing import Any

from counterplay.core.base.errors import whole_number
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import TERMINAL, CompiledRules

HAND, BID, LEAD, KEY, ROUND = 0, 2, 3, 4, 6
RESULT = "LTW"  # lost, tied, won, as digits 0, 1, 2


class Goofspiel(CompiledRules):
    """Hidden bids with cards 1..`cards`; an information set is the own bids and their results."""

    state_size = 7
    sorted_infosets = True
    payoff_table = ((-1, 1), (0, 0), (1, -1))

    def __init__(self, cards: int) -> None:
        self.cards = whole_number(cards, 1, 13, "the number of cards of goofspiel")
        self.constants = (cards,)
        self.max_actions = cards
        self.depth = 2 * cards

    def openspiel(self) -> str:
        """The name in OpenSpiel."""
        return (
            f"goofspiel(imp_info=True,num_cards={self.cards},players=2,"
            "points_order=descending,returns_type=win_loss)"
        )

    def count_nodes(self) -> int:
        rounds = (perm(self.cards, k) ** 2 * (1 + self.cards - k) for k in range(self.cards))
        return sum(rounds) + perm(self.cards) ** 2

    @staticmethod
    def start(c: Any, state: Any) -> None:
        state[HAND] = state[HAND + 1] = (1 << c[0]) - 1

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[ROUND] == c[0]:
            return TERMINAL
        return 0 if state[BID] == 0 else 1

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        return int(c[0] - state[ROUND])

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        player = 0 if state[BID] == 0 else 1
        card, left = 0, action
        while left > 0 or (state[HAND + player] >> card) & 1 == 0:  # the action-th card in hand
            left -= (state[HAND + player] >> card) & 1
            card += 1
        state[HAND + player] ^= 1 << card
        cards = c[0] - state[ROUND]
        state[KEY + player] = state[KEY + player] * cards + action
        if player == 0:
            state[BID] = card + 1
            return
        won = int(state[BID] > card + 1) - int(state[BID] < card + 1)
        state[LEAD] += won * cards  # as many cards are left as the top point card is worth
        state[KEY] = state[KEY] * 3 + 1 + won
        state[KEY + 1] = state[KEY + 1] * 3 + 1 - won
        state[BID] = 0
        state[ROUND] += 1

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        player = 0 if state[BID] == 0 else 1
        known[0] = state[KEY + player] * (c[0] + 1) + state[ROUND]

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = float((state[LEAD] > 0) - (state[LEAD] < 0))
        payoff[1] = -payoff[0]

    def _played(self, known: tuple[int, ...]) -> tuple[list[str], list[int]]:
        """Each round as text, and the cards left."""
        key, played = divmod(known[0], self.cards + 1)
        digits: list[tuple[int, int]] = []
        for k in range(played - 1, -1, -1):
            key, result = divmod(key, 3)
            key, rank = divmod(key, self.cards - k)
            digits.insert(0, (rank, result))
        hand = list(range(1, self.cards + 1))
        return [f"{hand.pop(rank)}{RESULT[result]}" for rank, result in digits], hand

    def label(self, player: int, known: tuple[int, ...]) -> str:
        return " ".join(self._played(known)[0]) or "start"

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        return [str(card) for card in self._played(known)[1]]


GAME = GameSpec(
    "goofspiel",
    Goofspiel,
    "Goofspiel with hidden bids and N cards",
    ("goofspiel(4)", "goofspiel(7)"),
)
