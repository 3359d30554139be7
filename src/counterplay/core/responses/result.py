"""`Response`: a counter-strategy with its payoffs in the original game, and mixtures of two of them
within a limit on exploitability.

Of a mixture one strategy is drawn before the game. What it wins is the mixture of what its parts
win, and its exploitability, a maximum of linear functions, is at most the mixture of theirs; that
bound is reported. Where players forget earlier cards no single strategy plays a mixture, so the
player is a `Mixture`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular, one_row
from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.estimate import FlopEstimate, upper_end
from counterplay.core.forms.game import Game, Payoff
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers.measures import game_value
from counterplay.core.solvers.run import Run, draw_runs


@dataclass(frozen=True, repr=False)
class Response(Tabular):
    """A counter-strategy with its payoffs in the original game. In hold'em they are NaN until they
    are requested: `measured`, or `measure` of `respond`.

    Payoffs of both seats are given seat by seat and as their mean, which is what a match estimates;
    exploitation and exploitability are sums over the seats."""

    game: Game
    algorithm: str
    engine: str
    player: int | None  # the responder; None: both seats
    p: float | None  # None: an array per information set
    #: The responder; a single seat plays against the model. A mixture: within a limit in hold'em.
    strategy: Strategy | Mixture = field(repr=False)
    payoffs: tuple[float, ...]  # of the responder against the model, in each of its seats
    worst_cases: tuple[float, ...]  # its least payoff against any opponent, in each of its seats
    runs: tuple[Run, ...] = field(repr=False)  # none if it was read from the folder of a frontier
    model: Strategy = field(repr=False)

    def __repr__(self) -> str:
        seat = "both seats" if self.player is None else self.game.seat(self.player)
        mean = "payoff" if self.player is not None else "mean payoff"
        trust = "by information set" if self.p is None else f"{self.p:g}"
        said = f"{self.game.name}, {self.algorithm} ({self.engine}), {seat}, p {trust}"
        for name, value in ((mean, self.payoff), ("exploitability", self.exploitability)):
            if not math.isnan(value):
                said += f", {name} {with_unit(value, self.game)}"
        return f"Response({said}{', b1 + b2' if self.player is None else ''})"

    @property
    def payoff(self) -> float:
        """The payoff of the responder against the model, the mean of its seats."""
        return sum(self.payoffs) * (1.0 / len(self.payoffs))

    @property
    def worst_case(self) -> float:
        """The least payoff of the responder against any opponent, the mean of its seats."""
        return sum(self.worst_cases) * (1.0 / len(self.worst_cases))

    def columns(self) -> Columns:
        """One row: parameters, payoffs, exploitation and exploitability."""
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

    def _figure(self) -> Any:
        """The gap of the restricted game for each seat."""
        return draw_runs(list(self.runs), f"{self.game.name}, {self.algorithm}", "restricted gap")

    def _repr_html_(self) -> str:
        facts = {name.replace("_", " "): values[0] for name, values in self.columns().items()}
        facts |= {} if self.too_few is None else {"note": self.too_few}
        return display.facts(facts) + self.strategy._repr_html_()

    @property
    def exploitation(self) -> float:
        """The payoff against the model above the value of the game, summed over the seats; for both
        the values cancel. NaN for one seat of hold'em, whose value is not known."""
        return (
            sum(self.payoffs) - responder_value(self.game, self.player)
            if self._relative
            else math.nan
        )

    @property
    def exploitability(self) -> float:
        """How far below the value of the game the worst case is; for both seats b1 + b2. NaN for
        one seat of hold'em, whose value is not known."""
        if not self._relative:
            return math.nan
        loss = responder_value(self.game, self.player) - sum(self.worst_cases)
        return loss if isinstance(loss, FlopEstimate) else max(loss, 0.0)

    @property
    def _relative(self) -> bool:
        """Whether the value of the game for the responder is known."""
        return self.player is None or seat_value_known(self.game)

    def measured(self, **options: Any) -> Response:
        """The same with `payoff` and `worst_case` measured: in hold'em by a traversal of its
        boards, with the options of `exploitability` there (`backend`, `flops`, `seed`,
        `progress`). With `flops` they are estimates, whose `error` is half a 95% interval; so are
        sums and differences of them."""
        if not check_measure(self.game, self.player, options):
            return self
        payoffs = self.game.evaluator.payoffs([*_gains(self), *_risks(self)], **options)
        half = len(payoffs) // 2
        least = tuple(-value for value in payoffs[half:])
        return replace(self, payoffs=tuple(payoffs[:half]), worst_cases=least)

    def with_payoff(self, **options: Any) -> Response:
        """`measured`, for the payoff alone: half the work."""
        return replace(self, payoffs=tuple(self.game.evaluator.payoffs(_gains(self), **options)))

    def with_worst_case(self, **options: Any) -> Response:
        """`measured`, for the worst case alone: half the work."""
        risks = self.game.evaluator.payoffs(_risks(self), **options)
        return replace(self, worst_cases=tuple(-value for value in risks))

    @property
    def seats(self) -> tuple[int, ...]:
        """The seats of the responder."""
        return (0, 1) if self.player is None else (self.player,)

    @property
    def seconds(self) -> float:
        return sum(run.seconds for run in self.runs)

    @property
    def iterations(self) -> int:
        return max((run.iterations for run in self.runs), default=0)

    @property
    def too_few(self) -> str | None:
        """As `Run.too_few`, of the seat with the fewest visits."""
        fewest = min(self.runs, key=lambda run: run.visits, default=None)
        return None if fewest is None else fewest.too_few


def with_unit(value: float, game: Game) -> str:
    """A payoff as text with its unit; an estimate with its interval."""
    shown = str(value) if isinstance(value, FlopEstimate) else f"{value:.4g}"
    return shown if getattr(value, "unit", "") else f"{shown} {game.unit}"


def seat_value_known(game: Game) -> bool:
    """Whether the value of the game for one seat is known: in all games but hold'em."""
    return game.evaluator.immediate and game.capabilities.listed


def responder_value(game: Game, player: int | None) -> float:
    """The value of the game for the responder; 0 in both seats."""
    return 0.0 if player is None else game_value(game) * (1 if player == 0 else -1)


def check_measure(game: Game, player: int | None, options: Mapping[str, Any] | None) -> bool:
    """Whether these options ask for a traversal of the boards; `BadParameter` if invalid."""
    if options is not None and not isinstance(options, Mapping):
        raise BadParameter(f"measure takes options by name, as {{'flops': 40}}, not {options!r}")
    return game.evaluator.check(options, 4 if player is None else 2)


def _gains(response: Response) -> list[Payoff]:
    """The payoff of the responder against the model, by seat."""
    return [Payoff(seat, response.model, response.strategy) for seat in response.seats]


def _risks(response: Response) -> list[Payoff]:
    """The payoff of a best response against the responder, by seat."""
    return [Payoff(1 - seat, response.strategy) for seat in response.seats]


# --- mixtures of two responses


def mix_responses(safe: Response, risky: Response, limit: float) -> Response:
    """The mixture of responses within and beyond `limit` whose bound on exploitability, for
    estimates the upper end, is the limit. Both are for both seats."""
    low, high = upper_end(safe.exploitability), upper_end(risky.exploitability)
    share = (limit - low) / (high - low) if high > limit else 1.0
    one, other = safe.strategy, risky.strategy
    if not 0.0 < share < 1.0 or not (isinstance(one, Strategy) and isinstance(other, Strategy)):
        return safe if high > limit else risky

    def mixed(of_safe: Sequence[float], of_risky: Sequence[float]) -> tuple[float, ...]:
        pairs = zip(of_safe, of_risky, strict=True)
        return tuple((1.0 - share) * a + share * b for a, b in pairs)

    return replace(
        safe,
        p=mixed([safe.p or 0.0], [risky.p or 0.0])[0],
        strategy=Mixture(one, other, 1.0 - share),
        payoffs=mixed(safe.payoffs, risky.payoffs),
        worst_cases=mixed(safe.worst_cases, risky.worst_cases),
        runs=(*safe.runs, *risky.runs),
    )


def best_mixture(responses: Sequence[Response], limit: float) -> Response | None:
    """The response, or mixture of two, that wins the most at an exploitability of at most `limit`;
    None if every one is beyond it."""
    safe = [one for one in responses if upper_end(one.exploitability) <= limit]
    risky = [one for one in responses if upper_end(one.exploitability) > limit]
    found = [*safe, *(mix_responses(one, other, limit) for one in safe for other in risky)]
    found = [one for one in found if not math.isnan(one.exploitation)]
    return max(found, key=lambda one: float(one.exploitation), default=None)
