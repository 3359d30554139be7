"""One-Card Poker (Section 2.2; Gordon 2005): Kuhn poker with a deck of N cards.

A state: the cards of both, and the history in binary with a leading 1: a 0 for each pass and a 1
for each bet; 0 before the deal.
"""

from __future__ import annotations

from typing import Any

from counterplay.core.base.errors import whole_number
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules

CARD, HISTORY = 0, 2
START, P, B, PP, PB, BP, BB, PBP, PBB = 0b1, 0b10, 0b11, 0b100, 0b101, 0b110, 0b111, 0b1010, 0b1011
SPELLED = {START: "", P: "p", B: "b", PB: "pb"}


class OneCardPoker(CompiledRules):
    """Both players ante one chip, get one of `cards` cards, and may bet one chip."""

    state_size = 3
    max_actions = 2
    depth = 3
    most_nodes = 2**62
    sorted_infosets = True
    payoff_table = ((-2, 2), (-1, 1), (1, -1), (2, -2))

    def __init__(self, cards: int) -> None:
        self.cards = whole_number(cards, 2, 20_000, "the number of cards of ocp")
        self.constants = (cards,)

    def count_nodes(self) -> int:
        return 1 + 9 * self.cards * (self.cards - 1)

    @staticmethod
    def player(c: Any, state: Any) -> int:
        history = state[HISTORY]
        if history == 0:
            return CHANCE
        if history in (START, PB):
            return 0
        return 1 if history in (P, B) else TERMINAL

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        return int(c[0] * (c[0] - 1)) if state[HISTORY] == 0 else 2

    @staticmethod
    def passive(c: Any, state: Any) -> int:
        return int(state[HISTORY] in (B, PB))  # call a bet, else check

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        if state[HISTORY] > 0:
            state[HISTORY] = state[HISTORY] * 2 + action
            return
        one, two = action // (c[0] - 1), action % (c[0] - 1)
        state[CARD] = one
        state[CARD + 1] = two + (two >= one)
        state[HISTORY] = START

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        history = state[HISTORY]
        player = 0 if history in (START, PB) else 1
        known[0] = state[CARD + player] * 16 + history

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        history, won = state[HISTORY], 1 if state[CARD] > state[CARD + 1] else -1
        if history == BP:
            won = 1
        elif history == PBP:
            won = -1
        elif history != PP:
            won *= 2
        payoff[0] = float(won)
        payoff[1] = -payoff[0]

    def label(self, player: int, known: tuple[int, ...]) -> str:
        card, history = divmod(known[0], 16)
        return f"{card + 1} {SPELLED[history]}".rstrip()

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        return ["pass", "bet"]


GAME = GameSpec("ocp", OneCardPoker, "One-Card Poker: Kuhn poker with N cards", ("ocp(500)",))
