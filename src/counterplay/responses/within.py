"""The response that wins the most while risking at most so much (Section 4.3.1): a search over
p."""

from __future__ import annotations

from dataclasses import replace

from counterplay.base.errors import BadParameter, Interrupted
from counterplay.responses.question import (
    Question,
    answer,
    default_limits,
    default_target,
    put_together,
)
from counterplay.responses.result import Response
from counterplay.solvers.base import real
from counterplay.solvers.limits import Limits

SEARCH_STEPS = 12
MIXING_STEPS = 40


def safest_best(question: Question, limit: float, limits: Limits) -> Response:
    """Win the most while risking at most `limit`: bisection over p, then a mixture of the two
    responses around the limit.

    Between the last p that is safe enough and the first that is not lies an edge of the curve;
    mixing the two moves along it.
    """
    if real(limit, "max_exploitability") <= 0:
        raise BadParameter(f"max_exploitability must be above 0, not {limit!r}")
    if not limits.bounded:
        close = min(default_target(question.game), limit / 4.0)
        limits = default_limits(question.game, limits, close)
    safe: Response | None = None
    try:
        risky = answer(question.at(1.0), limits)
        if risky.exploitability <= limit:
            return risky
        found = answer(question.at(0.0), limits)
        if found.exploitability > limit:
            raise BadParameter(
                f"even the safest strategy found risks {found.exploitability:.3g} "
                f"{question.game.unit}, more than {limit:g}; allow more, or give more iterations"
            )
        safe = found
        for _ in range(SEARCH_STEPS):
            middle = answer(question.at((_p(safe) + _p(risky)) / 2.0), limits)
            if middle.exploitability <= limit:
                safe = middle
            else:
                risky = middle
        return _mix_to(question, limit, safe, risky)
    except KeyboardInterrupt:
        raise Interrupted(safe) from None


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
