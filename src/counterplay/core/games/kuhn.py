"""Kuhn poker (Section 2.2), for two players as in the paper or for more.

Each player antes 1 and gets one of n + 1 cards. Players pass or bet 1 in turn; after a bet each of
the others bets (calls) or passes (folds) once. The highest card among the players who bet wins the
pot, or among all if there was no bet.

`kuhn_errors` has Figure 4's two measures (Section 3.3.1): squared error and cumulative dominated
error. The equilibria (Section 2.2; facts in Hoehn 2006): player 1 bets J with α, calls with Q with
β, bets K with γ, where (α, β, γ) = (γ/3, (1 + γ)/3, γ) for any γ in [0, 1]; player 2 bluffs J with
η = 1/3 and calls with Q with ξ = 1/3. The other seven of the twelve information sets have one
action that is dominated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GameSpec, load
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.games.players import as_strategy

RANKS = "3456789TJQK"
PASS, BET = "pass", "bet"
#: Information set -> the dominated action there.
DOMINATED = {
    "J pb": "bet",  # player 1 calls with the worst card
    "K pb": "pass",  # player 1 folds the best card
    # player 1 bets Q first (iterated dominance: only K calls, so passing and then calling does as
    # well)
    "Q": "bet",
    "J b": "bet",  # player 2 calls with the worst card
    "K b": "pass",  # player 2 folds the best card
    "Q p": "bet",  # player 2 bets Q after a pass (iterated dominance)
    "K p": "pass",  # player 2 passes the best card
}
THIRD = 1.0 / 3.0


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


@dataclass(frozen=True)
class KuhnErrors:
    """`squared`: SQR-E; `dominated`: DOM-E; `gamma`: γ of the nearest equilibrium."""

    squared: float
    dominated: float
    gamma: float


def kuhn_errors(player: Any) -> KuhnErrors:
    """Returns SQR-E and DOM-E. SQR-E: squared differences of the betting probability from the
    nearest equilibrium, summed over all twelve information sets.

    DOM-E: the probabilities of the seven dominated actions, summed.
    """
    game = getattr(player, "game", None)
    strategy = as_strategy(game if isinstance(game, Game) else load("kuhn"), player)
    if strategy.game.name not in ("kuhn", "ocp(3)"):
        raise BadParameter(
            f"the errors of Figure 4 are defined for kuhn, not for {strategy.game.name}"
        )
    ranks = dict(zip("JQK", "123" if strategy.game.name == "ocp(3)" else "JQK", strict=True))

    def probability(infoset: str, action: str) -> float:
        return strategy.at(ranks[infoset[0]] + infoset[1:])[action]

    dominated = [probability(infoset, action) for infoset, action in DOMINATED.items()]
    alpha, beta, bet_king = (probability(infoset, "bet") for infoset in ("J", "Q pb", "K"))
    # Least squares over the line (γ/3, (1 + γ)/3, γ), cut to [0, 1].
    gamma = min(max((3.0 * alpha + 3.0 * beta - 1.0 + 9.0 * bet_king) / 11.0, 0.0), 1.0)
    differences = [
        alpha - gamma * THIRD,
        beta - (1.0 + gamma) * THIRD,
        bet_king - gamma,
        probability("J p", "bet") - THIRD,
        probability("Q b", "bet") - THIRD,
        *dominated,
    ]
    return KuhnErrors(sum(x * x for x in differences), sum(dominated), gamma)


GAME = GameSpec(
    "kuhn",
    Kuhn,
    "Kuhn poker: three cards, one bet; also for more players",
    ("kuhn", "kuhn(players=3)"),
)
