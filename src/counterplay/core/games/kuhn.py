"""Kuhn poker (Section 2.2), for two players as in the paper or for more.

Each player antes 1 and gets one of n + 1 cards. Players pass or bet 1 in turn; after a bet each of
the others bets (calls) or passes (folds) once. The highest card among the players who bet wins the
pot, or among all if there was no bet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from counterplay.core.base.errors import whole_number
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL

RANKS = "3456789TJQK"
PASS, BET = "pass", "bet"


@dataclass(frozen=True)
class KuhnState:
    """The cards and the actions so far."""

    n_players: int
    cards: str = ""  # one per player, empty before the deal
    history: str = ""  # p and b

    def player(self) -> int:
        if not self.cards:
            return CHANCE
        bet = self.history.find("b")
        length = len(self.history)
        over = length == self.n_players if bet < 0 else length == bet + self.n_players
        return TERMINAL if over else length % self.n_players

    def actions(self) -> list[str]:
        if self.cards:
            return [PASS, BET]
        deck = RANKS[-self.n_players - 1 :]
        return ["".join(deal) for deal in permutations(deck, self.n_players)]

    def chance(self) -> list[float]:
        n_deals = len(self.actions())
        return [1.0 / n_deals] * n_deals

    def child(self, action: str) -> KuhnState:
        if not self.cards:
            return KuhnState(self.n_players, action)
        return KuhnState(self.n_players, self.cards, self.history + action[0])

    def infoset(self) -> str:
        card = self.cards[len(self.history) % self.n_players]
        return f"{card} {self.history}" if self.history else card

    def passive(self) -> str:
        """Check, or call a bet."""
        return BET if "b" in self.history else PASS

    def payoffs(self) -> list[float]:
        bettors = [k % self.n_players for k, action in enumerate(self.history) if action == "b"]
        paid = [2.0 if player in bettors else 1.0 for player in range(self.n_players)]
        contenders = bettors or range(self.n_players)
        winner = max(contenders, key=lambda player: RANKS.index(self.cards[player]))
        return [sum(paid) - cost if player == winner else -cost for player, cost in enumerate(paid)]


class Kuhn:
    """Kuhn poker for `players` players."""

    def __init__(self, players: int = 2) -> None:
        self.n_players = whole_number(players, 2, 6, "players")

    def openspiel(self) -> str:
        """The name in OpenSpiel."""
        return f"kuhn_poker(players={self.n_players})"

    def root(self) -> KuhnState:
        return KuhnState(self.n_players)


GAME = GameSpec(
    "kuhn",
    Kuhn,
    "Kuhn poker: three cards, one bet; also for more players",
    ("kuhn", "kuhn(players=3)"),
)
