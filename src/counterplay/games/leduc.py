"""Leduc hold'em: six cards (J, Q, K in two suits), two rounds with bets of 2 and 4, at most two
bets a round, ante 1.

A pair with the public card wins, otherwise the higher card; equal ranks split the pot. Player 1
acts first in both rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from counterplay.forms.rules import CHANCE, TERMINAL
from counterplay.games.spec import GameSpec, yes_or_no

DECK = ("Js", "Jh", "Qs", "Qh", "Ks", "Kh")
RANKS = "JQK"
BET_SIZE = (2, 4)
MAX_BETS = 2
FOLD, CALL, RAISE = "fold", "call", "raise"


@dataclass(frozen=True)
class LeducState:
    suits: bool
    cards: tuple[str, ...] = ()  # player 1, player 2, public
    rounds: tuple[str, ...] = ("",)  # letters f, c, r per round

    @property
    def _closed(self) -> bool:
        """The last round of betting so far is over: a call that answers something."""
        bets = self.rounds[-1]
        return len(bets) >= 2 and bets[-1] == "c"

    def player(self) -> int:
        if len(self.cards) < 2:
            return CHANCE
        if self.rounds[-1].endswith("f"):
            return TERMINAL
        if self._closed:
            return TERMINAL if len(self.rounds) == 2 else CHANCE
        return len(self.rounds[-1]) % 2

    def actions(self) -> list[str]:
        if len(self.cards) < 2:
            return ["".join(deal) for deal in permutations(DECK, 2)]
        if self._closed:
            return [card for card in DECK if card not in self.cards]
        bets = self.rounds[-1]
        facing = [FOLD] if bets.endswith("r") else []
        return [*facing, CALL, *([RAISE] if bets.count("r") < MAX_BETS else [])]

    def chance(self) -> list[float]:
        n = len(self.actions())
        return [1.0 / n] * n

    def child(self, action: str) -> LeducState:
        if len(self.cards) < 2:
            return LeducState(self.suits, (action[:2], action[2:]))
        if self._closed:
            return LeducState(self.suits, (*self.cards, action), (*self.rounds, ""))
        return LeducState(self.suits, self.cards, (*self.rounds[:-1], self.rounds[-1] + action[0]))

    def infoset(self) -> str:
        shown = (self.cards[self.player()], *self.cards[2:])
        cards = "|".join(card if self.suits else card[0] for card in shown)
        return f"{cards} {'/'.join(self.rounds)}".rstrip()

    def passive(self) -> str:
        return CALL

    def _paid(self) -> list[float]:
        """Chips each player put in."""
        paid = [1.0, 1.0]
        for size, bets in zip(BET_SIZE, self.rounds, strict=False):
            for turn, action in enumerate(bets):
                if action in "cr":
                    paid[turn % 2] = max(paid) + (size if action == "r" else 0.0)
        return paid

    def payoffs(self) -> list[float]:
        paid = self._paid()
        if self.rounds[-1].endswith("f"):
            loser = (len(self.rounds[-1]) - 1) % 2
            gain = paid[loser] if loser == 1 else -paid[loser]
            return [gain, -gain]
        public = self.cards[2][0]
        strength = [(card[0] == public, RANKS.index(card[0])) for card in self.cards[:2]]
        gain = paid[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
        return [gain, -gain]


class Leduc:
    """Leduc hold'em. `suits=False` merges information sets that differ only in suits (288
    instead of 936)."""

    n_players = 2

    def __init__(self, suits: bool = True) -> None:
        self.suits = yes_or_no(suits, "suits")

    def root(self) -> LeducState:
        return LeducState(self.suits)

    def openspiel(self) -> str | None:
        """The same game there."""
        return "leduc_poker" if self.suits else None


GAME = GameSpec(
    "leduc", Leduc, "Leduc hold'em: six cards, two rounds", ("leduc", "leduc(suits=False)")
)
