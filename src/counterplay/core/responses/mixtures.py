"""Mixtures of two responses within a limit on exploitability.

One of two strategies is drawn before the game. What such a mixture wins is the mixture of what its
parts win, and its exploitability, a maximum of linear functions, is at most the mixture of theirs;
that bound is reported. Where players forget earlier cards no single strategy plays a mixture, so
the player is a `Mixture`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from counterplay.core.evaluation.estimate import upper_end
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.result import Response


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
