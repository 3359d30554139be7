"""`Mixture`: one of two strategies, drawn before the game."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy, check_same_game


@dataclass(frozen=True)
class Mixture:
    """Every player plays `one` with probability `weight`, otherwise `other`, decided once before
    the game and each for himself.

    With perfect recall `strategy()` is one strategy that plays the same (`Strategy.mix`). Players
    of hold'em forget earlier buckets, so there is none: what was played so far says something about
    which of the two is played. A mixture is measured there as it is, by `cp.expected_value`,
    `cp.best_response` and `cp.exploitability`.
    """

    one: Strategy = field(repr=False)
    other: Strategy = field(repr=False)
    weight: float

    def __post_init__(self) -> None:
        check_same_game(self.one.game, self.other)
        check_weight(self.weight)

    @property
    def game(self) -> Game:
        """The game of both."""
        return self.one.game

    def strategy(self) -> Strategy:
        """One strategy that plays the same; needs perfect recall."""
        return self.one.mix(self.other, self.weight)


def check_weight(weight: float) -> None:
    """`BadStrategy` unless it is a probability."""
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not number or not 0.0 <= weight <= 1.0:
        raise BadStrategy(f"weight must be from 0 to 1, not {weight!r}")
