"""Leduc hold'em as compiled rules, with any number of ranks, suits and raises.

A state: the cards of both and the public one + 1, the round, what was done in it, its raises,
whether the last action was one, who folded + 1, chips of both, and the betting as a number in base
3 with a 1 in front.
"""

from __future__ import annotations

from typing import Any

from counterplay.forms.compiled import CompiledRules
from counterplay.forms.rules import CHANCE, TERMINAL

CARD, PUBLIC, ROUND, DONE, RAISES, FACING, FOLDED, PAID, BETS = 0, 2, 3, 4, 5, 6, 7, 8, 10
RANKS, SUITS, MOST, SHOWN = range(4)  # of the constants; SHOWN: players see suits
NEXT_ROUND = 2  # a digit of the betting; 0 and 1 are call and raise
LETTERS = "cr/"


class CompiledLeduc(CompiledRules):
    """`names`: the ranks as letters; a card is rank x suits + suit."""

    state_size = 11

    def __init__(self, names: str, suits: str, raises: int, shown: bool) -> None:
        self.names, self.suits, self.raises, self.shown = names, suits, raises, shown
        self.constants = (len(names), len(suits), raises, int(shown))
        self.max_actions = 3
        self.depth = 2 * (raises + 2)

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[PAID] == 0:
            return CHANCE
        if state[FOLDED] > 0:
            return TERMINAL
        if state[DONE] >= 2 and state[FACING] == 0:
            return TERMINAL if state[ROUND] == 1 else CHANCE
        return int(state[DONE] % 2)

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        cards = c[RANKS] * c[SUITS]
        if state[PAID] == 0:
            return int(cards * (cards - 1))
        if state[DONE] >= 2 and state[FACING] == 0:
            return int(cards - 2)
        return int(1 + state[FACING] + (state[RAISES] < c[MOST]))

    @staticmethod
    def passive(c: Any, state: Any) -> int:
        return int(state[FACING])  # behind folding, where there is a bet

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        if state[PAID] == 0:
            cards = c[RANKS] * c[SUITS]
            one = action // (cards - 1)
            two = action % (cards - 1)
            state[CARD] = one
            state[CARD + 1] = two + (two >= one)
            state[PAID] = state[PAID + 1] = 1
            state[BETS] = 1
        elif state[DONE] >= 2 and state[FACING] == 0:
            low = min(state[CARD], state[CARD + 1])
            high = max(state[CARD], state[CARD + 1])
            card = action + (action >= low)
            card += card >= high
            state[PUBLIC] = card + 1
            state[ROUND] = 1
            state[DONE] = state[RAISES] = 0
            state[BETS] = state[BETS] * 3 + NEXT_ROUND
        else:
            player = state[DONE] % 2
            most = max(state[PAID], state[PAID + 1])
            action -= state[FACING]  # -1: fold, 0: call, 1: raise
            if action < 0:
                state[FOLDED] = player + 1
                return
            state[PAID + player] = most + action * (2 + 2 * state[ROUND])
            state[RAISES] += action
            state[FACING] = action
            state[DONE] += 1
            state[BETS] = state[BETS] * 3 + action

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        card, public, cards = state[CARD + state[DONE] % 2], state[PUBLIC], c[RANKS] * c[SUITS]
        if c[SHOWN] == 0:
            card //= c[SUITS]
            public = (public + c[SUITS] - 1) // c[SUITS]  # 0 stays
        known[0] = (state[BETS] * (cards + 1) + public) * cards + card

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        if state[FOLDED] > 0:
            loser = state[FOLDED] - 1
            won = state[PAID + loser] * (1 if loser == 1 else -1)
        else:
            one, two = state[CARD] // c[SUITS], state[CARD + 1] // c[SUITS]
            public = (state[PUBLIC] - 1) // c[SUITS]
            one += c[RANKS] * (one == public)
            two += c[RANKS] * (two == public)
            won = state[PAID] * ((one > two) - (one < two))
        payoff[0] = float(won)
        payoff[1] = -payoff[0]

    def _seen(self, known: tuple[int, ...]) -> tuple[int, int, str]:
        """His card, the public one + 1, and the betting as letters."""
        cards = len(self.names) * len(self.suits)
        rest, card = divmod(known[0], cards)
        bets, public = divmod(rest, cards + 1)
        letters = ""
        while bets > 1:
            bets, digit = divmod(bets, 3)
            letters = LETTERS[digit] + letters
        return card, public, letters

    def _name(self, card: int) -> str:
        if not self.shown:
            return self.names[card]
        rank, suit = divmod(card, len(self.suits))
        return self.names[rank] + self.suits[suit]

    def label(self, player: int, known: tuple[int, ...]) -> str:
        card, public, letters = self._seen(known)
        seen = [self._name(card), *([self._name(public - 1)] if public else [])]
        return f"{'|'.join(seen)} {letters}".rstrip()

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        bets = self._seen(known)[2].split("/")[-1]
        folds = ["fold"] if bets.endswith("r") else []
        return [*folds, "call", *(["raise"] if bets.count("r") < self.raises else [])]
