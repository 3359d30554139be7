"""`Response`: a counter-strategy, and what it is worth on the original game."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular, one_row
from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.estimate import FlopEstimate
from counterplay.core.forms.evaluator import Payoff
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.measures import game_value
from counterplay.core.solvers.run import Run, draw_runs


@dataclass(frozen=True)
class Response(Tabular):
    """A counter-strategy and what it is worth on the original game. In hold'em the numbers are NaN
    until they are asked for: `measured`, or `measure` of `respond`."""

    game: Game
    algorithm: str
    engine: str
    player: int | None  # who responds; None: both seats
    p: float | None  # None: an array per information set
    strategy: Strategy = field(
        repr=False
    )  # the responder(s) as computed; in one seat the other player is the model
    # of the responder against the model, summed over seats for both
    payoff: float
    # least payoff of the responder against anybody, summed over seats for both
    worst_case: float
    runs: tuple[Run, ...] = field(repr=False)
    model: Strategy = field(repr=False)  # whom it responds to

    def columns(self) -> Columns:
        """One row: what it is, what it wins and what it risks."""
        return one_row(
            {
                "game": self.game.name,
                "algorithm": self.algorithm,
                "engine": self.engine,
                "player": self.player,
                "p": self.p,
                "payoff": float(self.payoff),
                "worst_case": float(self.worst_case),
                "exploitation": float(self.exploitation),
                "exploitability": float(self.exploitability),
                "iterations": self.iterations,
                "seconds": self.seconds,
            }
        )

    def _drawn(self) -> Any:
        """Of each seat the gap of the restricted game."""
        return draw_runs(list(self.runs), f"{self.game.name}, {self.algorithm}", "restricted gap")

    def _repr_html_(self) -> str:
        facts = {name.replace("_", " "): values[0] for name, values in self.columns().items()}
        return display.facts(facts) + self.strategy._repr_html_()

    @property
    def exploitation(self) -> float:
        """The payoff against the model above the value of the game; for both seats the values
        cancel. NaN for one seat of hold'em, whose value nobody knows."""
        return self.payoff - self._value if self._relative else math.nan

    @property
    def exploitability(self) -> float:
        """How far below the value of the game the worst case is; for both seats b1 + b2. NaN for
        one seat of hold'em, whose value nobody knows."""
        if not self._relative:
            return math.nan
        found = self._value - self.worst_case
        return found if isinstance(found, FlopEstimate) else max(found, 0.0)

    @property
    def _relative(self) -> bool:
        """Whether it is known what the responder gets in equilibrium."""
        return self.player is None or self.game.evaluator.immediate

    @property
    def _value(self) -> float:
        """What the responder gets in equilibrium, where that is known."""
        if self.player is None:
            return 0.0
        return game_value(self.game) * (1 if self.player == 0 else -1)

    def measured(self, **options: Any) -> Response:
        """The same with `payoff` and `worst_case` as numbers: in hold'em by walking its boards,
        with the options of `exploitability` there (`backend`, `flops`, `seed`, `progress`). With
        `flops` they are estimates, whose `error` is half a 95% interval; so are sums and
        differences of them."""
        if not check_measure(self.game, self.player, options):
            return self
        found = self.game.evaluator.payoffs([*_gains(self), *_risks(self)], **options)
        half = len(found) // 2
        return replace(self, payoff=sum(found[:half]), worst_case=-sum(found[half:]))

    def with_payoff(self, **options: Any) -> Response:
        """`measured`, of the payoff alone: half the work."""
        return replace(self, payoff=sum(self.game.evaluator.payoffs(_gains(self), **options)))

    def with_worst_case(self, **options: Any) -> Response:
        """`measured`, of the worst case alone: half the work."""
        return replace(self, worst_case=-sum(self.game.evaluator.payoffs(_risks(self), **options)))

    @property
    def seats(self) -> tuple[int, ...]:
        """Those of the responder."""
        return (0, 1) if self.player is None else (self.player,)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def iterations(self) -> int:
        return max(run.iterations for run in self.runs)


def check_measure(game: Game, player: int | None, options: Mapping[str, Any] | None) -> bool:
    """Whether a response is measured by walking boards, with these options; `BadParameter` where
    they make no sense, before any work."""
    if options is not None and not isinstance(options, Mapping):
        raise BadParameter(f"measure takes options by name, as {{'flops': 40}}, not {options!r}")
    return game.evaluator.check(options, 4 if player is None else 2)


def _gains(response: Response) -> list[Payoff]:
    """What the responder gets from the model, by seat."""
    return [Payoff(seat, response.model, response.strategy) for seat in response.seats]


def _risks(response: Response) -> list[Payoff]:
    """What the best opponent gets from the responder."""
    return [Payoff(1 - seat, response.strategy) for seat in response.seats]


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
        model,
    )


def score(game: Game, model: Strategy, response: Strategy, player: int) -> tuple[float, float]:
    """What `player` gets against the model by playing `response`, and the least he gets against
    anybody."""
    if not game.evaluator.immediate:
        return math.nan, math.nan  # until it is asked for
    asked = [Payoff(player, model, response), Payoff(1 - player, response)]
    gain, risk = game.evaluator.payoffs(asked)
    return gain, -risk
