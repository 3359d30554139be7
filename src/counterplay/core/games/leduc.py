"""Leduc hold'em: six cards (J, Q, K in two suits), two rounds with bets of 2 and 4, at most two
bets a round, ante 1. With more ranks, suits or bets it grows beyond a tree.

A pair with the public card wins, otherwise the higher card; equal ranks split the pot. Player 1
acts first in both rounds.

A state: the cards of both, the public card + 1, the round, its actions and raises, whether the last
action was a raise, the player who folded + 1, the chips of both, and the betting as a number in
base 3 with a leading 1. A card is rank x suits + suit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules

CARD, PUBLIC, ROUND, DONE, RAISES, FACING, FOLDED, PAID, BETS = 0, 2, 3, 4, 5, 6, 7, 8, 10
RANKS, SUITS, MOST, SHOWN = range(4)  # constants; SHOWN: whether players see suits
NEXT_ROUND = 2  # a digit of the betting; 0 and 1 are call and raise
LETTERS = "cr/"
RANK_NAMES = "JQKA23456789T"  # from the lowest; the first `ranks` are used
SUIT_NAMES = "shdc"
BET_SIZE = (2, 4)


class Leduc(CompiledRules):
    """Leduc hold'em with cards of so many `ranks` and `suits` and at most `raises` bets a round.

    `suits=True`: two suits. `suits=False`: two suits that players do not see, which merges
    suit-isomorphic information sets (288 instead of 936).
    """

    state_size = 11
    max_actions = 3
    most_nodes = 2**21

    def __init__(self, suits: bool | int = True, ranks: int = 3, raises: int = 2) -> None:
        self.shown = suits is not False
        if not isinstance(suits, bool):
            suits = whole_number(suits, 2, len(SUIT_NAMES), "suits")
        self.suits = SUIT_NAMES[: 2 if isinstance(suits, bool) else suits]
        self.ranks = RANK_NAMES[: whole_number(ranks, 2, len(RANK_NAMES), "ranks")]
        self.raises = whole_number(raises, 1, 12, "raises")
        self.deck = tuple(rank + suit for rank in self.ranks for suit in self.suits)
        if len(self.deck) < 3:
            raise BadParameter("leduc needs at least three cards: give it more ranks or suits")
        self.constants = (len(self.ranks), len(self.suits), self.raises, int(self.shown))
        self.depth = 2 * (self.raises + 2)

    def openspiel(self) -> str | None:
        """The name in OpenSpiel, of the usual game."""
        usual = self.shown and len(self.deck) == 6 and self.raises == 2 and len(self.suits) == 2
        return "leduc_poker" if usual else None

    def count_nodes(self) -> int:
        """Deals times the nodes of a round, and the public card and a second round after each
        first round that ends by a call."""
        m, cards = self.raises, len(self.deck)
        nodes = sum(1 for _ in _rounds(m))
        closed = sum(1 for bets in _rounds(m) if len(bets) >= 2 and bets.endswith("c"))
        return 1 + cards * (cards - 1) * (nodes + closed * (cards - 2) * nodes)

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
        return int(state[FACING])  # after folding, if there is a bet

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

    def cards_and_bets(self, state: Sequence[int]) -> tuple[list[str], list[str]]:
        """The cards of both and the public one, and the letters f, c, r of each round."""
        cards = [self.deck[card] for card in state[CARD : CARD + 2]]
        if state[PUBLIC]:
            cards.append(self.deck[state[PUBLIC] - 1])
        return cards, (_letters(state[BETS]) + "f" * (state[FOLDED] > 0)).split("/")

    def _seen(self, known: tuple[int, ...]) -> tuple[list[str], str]:
        """The cards that a player sees, and the betting as letters."""
        rest, card = divmod(known[0], len(self.deck))
        bets, public = divmod(rest, len(self.deck) + 1)
        names = self.deck if self.shown else self.ranks
        return [names[card], *([names[public - 1]] if public else [])], _letters(bets)

    def label(self, player: int, known: tuple[int, ...]) -> str:
        cards, letters = self._seen(known)
        return f"{'|'.join(cards)} {letters}".rstrip()

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        bets = self._seen(known)[1].split("/")[-1]
        folds = ["fold"] if bets.endswith("r") else []
        return [*folds, "call", *(["raise"] if bets.count("r") < self.raises else [])]


def _letters(bets: int) -> str:
    """The letters of a betting sequence, from its number."""
    letters = ""
    while bets > 1:
        bets, digit = divmod(bets, 3)
        letters = LETTERS[digit] + letters
    return letters


def _rounds(most: int) -> Iterator[str]:
    """All action sequences of a round, complete or not, as letters f, c, r."""
    waiting = [""]
    while waiting:
        bets = waiting.pop()
        yield bets
        if bets.endswith("f") or (len(bets) >= 2 and bets.endswith("c")):
            continue
        facing = "f" if bets.endswith("r") else ""
        waiting += [bets + action for action in f"{facing}c{'r' if bets.count('r') < most else ''}"]


GAME = GameSpec(
    "leduc",
    Leduc,
    "Leduc hold'em: six cards, two rounds; or more ranks, suits and raises",
    ("leduc", "leduc(suits=False)", "leduc(ranks=5,suits=4)"),
)
