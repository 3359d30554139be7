"""A small game with what Kuhn lacks: a biased coin in mid-game, hidden simultaneous moves, uneven
action counts.

Player 1 takes one of three actions, player 2 one of two without seeing it, a coin falls, both see
the coin; player 1, who knows only its own action and the coin, moves again. Payoffs are arbitrary
and zero-sum.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterplay.core.forms.game import Game
from counterplay.core.forms.rules import CHANCE, TERMINAL

COIN = (0.3, 0.7)


@dataclass(frozen=True)
class ToyState:
    moves: tuple[int, ...] = ()

    def player(self) -> int:
        return (0, 1, CHANCE, 0, TERMINAL)[len(self.moves)]

    def actions(self) -> list[int]:
        return list(range((3, 2, 2, 2)[len(self.moves)]))

    def chance(self) -> tuple[float, ...]:
        return COIN

    def child(self, action: int) -> ToyState:
        return ToyState((*self.moves, action))

    def infoset(self) -> str:
        return ("start", "hidden", "", f"own {self.moves[:1]} coin {self.moves[2:]}")[
            len(self.moves)
        ]

    def payoffs(self) -> list[float]:
        a, b, coin, c = self.moves
        gain = float((5 * a + 3 * b + 7 * coin + 2 * c + a * b + 3 * b * c) % 7 - 3)
        return [gain, -gain]


class Toy:
    n_players = 2

    def root(self) -> ToyState:
        return ToyState()


def toy() -> Game:
    return Game("toy", Toy())
