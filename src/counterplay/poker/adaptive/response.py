"""Responses in both seats to a model of the opponent that changes during training.

Whenever the model changes, earlier iterations are discounted by half. `ResponseLearner`, that of
Figure 8, learns the model again from all hands, and trusts it by the number of observations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.play import play_match
from counterplay.core.match.result import MatchResult
from counterplay.core.responses.algorithms import RESPONSES, confidence
from counterplay.core.responses.respond import respond
from counterplay.core.responses.solver import ResponseSolver, engines_of
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.models.model import OpponentModel, learn_model
from counterplay.poker.models.observe import check_limit, observe

DISCOUNT = 0.5
ALGORITHM = RESPONSES["mcdbr"]
CHUNK_SECONDS = 0.2  # between two checks of `stop`
QUICK_ITERATIONS = 20_000  # for each seat
QUICK_HANDS = 200_000
QUICK_TRUST = 0.75  # as in `respond`


def engines() -> tuple[str, ...]:
    """The solvers that can continue after a change of the model."""
    return engines_of(ALGORITHM)


class ResponseLearner:
    """The data-biased response in both seats to a model that is learnt again from all hands.
    `p_max`: its largest trust; `trust`: the function from observations to trust (`confidence`);
    `kind`: of the model."""

    def __init__(
        self,
        game: Game,
        *,
        p_max: float = 0.75,
        trust: str = "0-10-linear",
        kind: str = "tree",
        engine: str = "mccfr",
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        if not (game.can("bots") and game.can("hands")):
            raise BadParameter(f"learning while playing is for hold'em, not for {game.name}")
        check_limit(game)
        if engine not in engines():
            raise BadParameter(
                "learning while playing needs an engine that samples "
                f"({', '.join(engines())}), not {engine!r}"
            )
        options = {"threads": threads} if threads > 1 else {}
        self.game, seed, uniform = game, int(check_seed(seed)), Strategy.uniform(game)
        self._solvers = [
            ResponseSolver(
                game, uniform, seat, 0.0, ALGORITHM.name, engine, (seed + seat) % 2**64, options
            )
            for seat in (0, 1)
        ]
        self.p_max, self.trust, self.kind = p_max, trust, kind

    @property
    def iterations(self) -> int:
        return sum(solver.engine.iterations for solver in self._solvers)

    def replace_model(self, model: Strategy, trust: np.ndarray) -> None:
        """Replaces the model; `trust`: float64[n_infosets]."""
        for solver in self._solvers:
            solver.replace_model(model, trust)
            solver.discount(DISCOUNT)

    def step(self, iterations: int) -> None:
        """Runs `iterations` in each seat."""
        for solver in self._solvers:
            solver.engine.step(iterations)

    def strategy(self) -> Strategy:
        one, two = (solver.strategy() for solver in self._solvers)
        return one.replace(two, 1)

    def learn(self, hands: list[HandRecord], opponent: str) -> None:
        """Learns a new model from all `hands`."""
        model = learn_model(observe(hands, opponent), self.game, opponent, self.kind)
        self.replace_model(model.strategy, confidence(model.observed, self.trust, self.p_max))

    def train(self, iterations: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Runs `iterations`, half in each seat, or until `stop` returns True."""
        left, chunk = iterations // 2, 1_000
        while left > 0 and not stop():
            before = time.perf_counter()
            self.step(min(chunk, left))
            left -= chunk
            chunk *= 2 if time.perf_counter() - before < CHUNK_SECONDS / 2 else 1


def quick_response_value(model: OpponentModel, against: OpponentModel) -> MatchResult:
    """The payoff per hand of a quickly trained response to `model` against `against`, a model of
    the same player learnt from other hands. More iterations would win more."""
    options: dict[str, Any] = {"p": QUICK_TRUST, "engine": "mccfr-external"}
    response = respond(
        model.game, model.strategy, algorithm="mcdbr", iterations=QUICK_ITERATIONS, **options
    )
    players = response.strategy, against.strategy
    return play_match(model.game, *players, QUICK_HANDS, luck_adjusted=False)
