"""The response that wins the most while risking at most so much (Section 4.3.1): a search over
p."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.evaluation.estimate import upper_end
from counterplay.core.responses.question import (
    Budget,
    Question,
    answer,
    default_limits,
    default_target,
    put_together,
)
from counterplay.core.responses.result import Response
from counterplay.core.solvers.base import real
from counterplay.core.solvers.limits import DEFAULT_SECONDS, Limits

SEARCH_STEPS = 12
STEPS_BY_BOARD = 4  # where each is a walk over boards
MIXING_STEPS = 40


def safest_best(question: Question, limit: float, limits: Limits) -> Response:
    """Win the most while risking at most `limit`: bisection over p, then a mixture of the two
    responses around the limit.

    Between the last p that is safe enough and the first that is not lies an edge of the curve;
    mixing the two moves along it.
    """
    _check_limit(limit)
    if not limits.bounded:
        close = min(default_target(question.game), limit / 4.0)
        limits = default_limits(question.game, limits, close)
        limits = replace(limits, seconds=(SEARCH_STEPS + 2) * DEFAULT_SECONDS)
    search = _Search(limit, _asking(question, Budget(limits, SEARCH_STEPS + 2)))
    try:
        safe, risky = search.run(SEARCH_STEPS)
        return safe if risky is None else _mix_to(question, limit, safe, risky)
    except KeyboardInterrupt:
        raise Interrupted(search.safe) from None


def safest_by_board(
    question: Question, limit: float, limits: Limits, measure: Mapping[str, Any]
) -> Response:
    """The same in hold'em: the largest p of a short bisection that is safe. Of all but the last
    only the risk is measured, of an estimate the upper end counts.

    Nothing is mixed: where players forget, no strategy of the game plays a mixture.
    """
    _check_limit(limit)
    ask = _asking(question, Budget(limits, STEPS_BY_BOARD + 2))
    search = _Search(limit, lambda p: ask(p).with_worst_case(**measure))
    try:
        safe, _ = search.run(STEPS_BY_BOARD)
        return safe.with_payoff(**measure)
    except KeyboardInterrupt:
        raise Interrupted(search.safe) from None


def _asking(question: Question, budget: Budget) -> Callable[[float], Response]:
    """The response at a p, within its share of the seconds."""

    def ask(p: float) -> Response:
        response = answer(question.at(p), budget.next())
        budget.spend(response.seconds)
        return response

    return ask


def _check_limit(limit: float) -> None:
    if real(limit, "max_exploitability") <= 0:
        raise BadParameter(f"max_exploitability must be above 0, not {limit!r}")


class _Search:
    """Bisection over p. `safe`: the response of the largest p so far that risks at most the
    limit."""

    def __init__(self, limit: float, at: Callable[[float], Response]) -> None:
        self.limit, self.at = limit, at
        self.safe: Response | None = None

    def run(self, steps: int) -> tuple[Response, Response | None]:
        """The last safe response, and the first that is not: None where all are."""
        risky = self.at(1.0)
        if self._within(risky):
            self.safe = risky
            return risky, None
        safe = self.at(0.0)
        if not self._within(safe):
            raise BadParameter(
                f"even the safest strategy found risks {upper_end(safe.exploitability):.3g} "
                f"{safe.game.unit}, more than {self.limit:g}; allow more, or give more iterations"
            )
        self.safe = safe
        for _ in range(steps):
            middle = self.at((_p(safe) + _p(risky)) / 2.0)
            if self._within(middle):
                self.safe = safe = middle
            else:
                risky = middle
        return safe, risky

    def _within(self, response: Response) -> bool:
        return upper_end(response.exploitability) <= self.limit


def _p(response: Response) -> float:
    return response.p or 0.0


def _mix_to(question: Question, limit: float, safe: Response, risky: Response) -> Response:
    """The mixture of two responses that risks `limit`; exploitability is convex in the weight,
    exploitation linear."""
    best = safe
    low, high = 0.0, 1.0  # weight of the risky response
    for _ in range(MIXING_STEPS):
        weight = (low + high) / 2.0
        mixed = _mixture(question, safe, risky, weight)
        if mixed.exploitability <= limit:
            low = weight
            if mixed.exploitation > best.exploitation:
                best = mixed
        else:
            high = weight
    return best


def _mixture(question: Question, safe: Response, risky: Response, weight: float) -> Response:
    model, runs = question.model, []
    for one, two in zip(safe.runs, risky.runs, strict=True):
        seat = one.strategy.player
        assert seat is not None
        mixed = model.replace(two.strategy.mix(one.strategy, weight), seat).for_player(seat)
        runs.append(replace(one, strategy=mixed))
    p = _p(safe) * (1.0 - weight) + _p(risky) * weight
    return put_together(question.at(p), runs)
