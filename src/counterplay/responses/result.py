"""`Response`: a counter-strategy, and what it is worth on the original game."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from counterplay.evaluation.exact import best_response, expected_value
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.solvers.run import Run
from counterplay.solvers.value import game_value


@dataclass(frozen=True)
class Response:
    """A counter-strategy and what it is worth on the original game."""

    game: Game
    algorithm: str
    engine: str
    player: int | None  # who responds; None: both seats
    p: float | None  # None: an array per information set
    strategy: Strategy = field(
        repr=False
    )  # the responder(s) as computed; in one seat the other player is the model
    # of the responder against the model, summed over seats for both; NaN in hold'em: play a match
    payoff: float
    # least payoff of the responder against anybody, summed over seats for both; NaN in hold'em
    worst_case: float
    runs: tuple[Run, ...] = field(repr=False)

    @property
    def exploitation(self) -> float:
        """The payoff against the model above the value of the game; for both seats the values
        cancel."""
        return self.payoff - self._value

    @property
    def exploitability(self) -> float:
        """How far below the value of the game the worst case is; for both seats b1 + b2."""
        return max(self._value - self.worst_case, 0.0) if self.game.abilities.exact else math.nan

    @property
    def _value(self) -> float:
        """What the responder gets in equilibrium."""
        if self.player is None or not self.game.abilities.exact:
            return 0.0
        return game_value(self.game) * (1 if self.player == 0 else -1)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def iterations(self) -> int:
        return max(run.iterations for run in self.runs)


def assemble(
    game: Game,
    model: Strategy,
    player: int | None,
    p: float | np.ndarray,
    algorithm: str,
    runs: list[Run],
) -> Response:
    """Score finished runs, one per seat, on the original game."""
    seats = (0, 1) if player is None else (player,)
    strategy, payoff, worst_case = model, 0.0, 0.0
    for seat, run in zip(seats, runs, strict=True):
        gain, least = score(game, model, run.strategy, seat)
        strategy = strategy.replace(run.strategy, seat)
        payoff, worst_case = payoff + gain, worst_case + least
    number = float(p) if np.ndim(p) == 0 else None
    strategy = strategy.for_player(player)
    return Response(
        game,
        algorithm,
        runs[0].algorithm,
        player,
        number,
        strategy,
        payoff,
        worst_case,
        tuple(runs),
    )


def score(game: Game, model: Strategy, response: Strategy, player: int) -> tuple[float, float]:
    """What `player` gets against the model by playing `response`, and the least he gets against
    anybody."""
    if not game.abilities.exact:
        return math.nan, math.nan  # a match tells
    gain = float(expected_value(game, model.replace(response, player))[player])
    return gain, -best_response(game, response, 1 - player).value
