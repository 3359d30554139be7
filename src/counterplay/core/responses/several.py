"""`SeveralResponse`: the response of one seat in a game of more than two players, with what it gets
when the others follow their models, when one of them deviates, and when they play together
(`core/evaluation/several.py`).

The restricted game of MCRNR has a coin for each other player (`core/forms/restricted.py`).
Deviation from Algorithm 2, which is for two players: with more, no regret minimisation is known to
reach an equilibrium of the restricted game, so p is no guarantee; the payoffs are exact for the
strategy that was found, and with p = 1 it approaches a best response to the models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterplay.core.base.display import Columns
from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.several import Coalition, coalition_payoff, selfish_payoff
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of
from counterplay.core.responses.result import Response


@dataclass(frozen=True, repr=False)
class SeveralResponse(Response):
    """A response of one of several players. `payoff`: when the others follow their models.
    `worst_case`: the bound of `coalition`. There is no exploitability, since a game of several
    players has no value."""

    #: What the responder gets when another player deviates for its own sake, by seat; NaN for its
    #: own seat.
    selfish: tuple[float, ...]
    coalition: Coalition  # what it gets when all others play together against it

    def __repr__(self) -> str:
        trust = "" if self.p is None else f", p {self.p:g}"
        return (
            f"SeveralResponse({self.game.name}, {self.algorithm} ({self.engine}), "
            f"{self.game.seat(self.seats[0])}{trust}, payoff {self.payoff:.4g}, least with one "
            f"selfish deviator {self.selfish_worst:.4g}, against a coalition "
            f"{self.coalition.found:.4g} {self.game.unit})"
        )

    @property
    def selfish_worst(self) -> float:
        """The least of `selfish`."""
        return min(payoff for payoff in self.selfish if not math.isnan(payoff))

    @property
    def _relative(self) -> bool:
        return False

    def columns(self) -> Columns:
        """One row, as of any response, with the three payoffs of deviations."""
        row = dict(super().columns())
        row |= {f"selfish_player_{k + 1}": [payoff] for k, payoff in enumerate(self.selfish)}
        found, bound = self.coalition.found, self.coalition.bound
        return row | {"coalition_found": [found], "coalition_bound": [bound]}


def several_risks(profile: Strategy, player: int) -> dict[str, Any]:
    """Returns what deviations of the others cost `player`, who plays its part of `profile`."""
    game = profile.game
    selfish = tuple(
        math.nan if other == player else selfish_payoff(game, profile, player, other)
        for other in range(game.n_players)
    )
    return {"selfish": selfish, "coalition": coalition_payoff(game, profile, player)}


def models_of_others(game: Game, models: Sequence[Any], player: int | None) -> Strategy:
    """Returns the profile of a list of models, one for each seat but that of `player`."""
    if player is None:
        raise BadParameter("a list of models needs the seat that responds: player=0")
    game.check_player(player)
    seats = [seat for seat in range(game.n_players) if seat != player]
    if len(models) != len(seats):
        raise BadParameter(
            f"{game.name} has {len(seats)} other players, and {len(models)} models are given"
        )
    players = players_of(game)
    profile = players.strategy(models[0])
    for seat, model in zip(seats, models, strict=True):
        profile = profile.replace(players.strategy(model), seat)
    return profile
