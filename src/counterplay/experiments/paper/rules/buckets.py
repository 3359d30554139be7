"""Do finer buckets win more? At equal time and at equal visits of information sets, over seeds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import Range, Verdict, above, difference, over_seeds

CLOSED = 0.005  # sb/h that the finer buckets may still catch up in the last doubling
WITHOUT = "whether or not they are still catching up"  # that was left out after numbers were seen
AXES = {"seconds": "equal time", "visits": "equal visits"}


class Seen(NamedTuple):
    """A measurement while training: sb/h against an opponent."""

    seconds: float
    visits: float
    won: float


#: by number of buckets: the curves of all seeds
Curves = Mapping[int, Sequence[Sequence[Seen]]]


def at(curve: Sequence[Seen], axis: str, budget: float) -> float:
    """sb/h when so much was used: a straight line between measurements, over the logarithm. NaN
    before the first and after the last."""
    for a, b in itertools.pairwise(curve):
        x, y = getattr(a, axis), getattr(b, axis)
        if x <= budget <= y and y > x > 0:
            return a.won + (b.won - a.won) * math.log(budget / x) / math.log(y / x)
    return math.nan


def largest(curves: Curves, axis: str) -> float:
    """What every run has used in the end."""
    return min(float(getattr(curve[-1], axis)) for some in curves.values() for curve in some)


def won(curves: Curves, buckets: int, axis: str, budget: float) -> Range:
    values = [at(curve, axis, budget) for curve in curves[buckets]]
    if any(math.isnan(value) for value in values):
        return Range(math.nan, -math.inf, math.inf)
    return over_seeds(values)


def crossing(curves: Curves, fine: int, coarse: int, axis: str) -> float | None:
    """From where on the finer buckets stay ahead (medians), None if they are behind at the end."""
    budget, last = largest(curves, axis), None
    first = max(float(getattr(c[0], axis)) for n in (fine, coarse) for c in curves[n])
    if not first < budget:
        return None
    for k in range(41):
        here = budget * (first / budget) ** (k / 40)
        ahead = won(curves, fine, axis, here).value - won(curves, coarse, axis, here).value
        if not ahead > 0:
            break
        last = here
    return last


def closing(curves: Curves, fine: int, coarse: int, axis: str) -> bool:
    """Whether the finer buckets were still catching up over the last doubling of the budget, or
    nobody knows: then being behind is for want of training."""
    most = largest(curves, axis)
    late, early = (
        won(curves, fine, axis, budget).value - won(curves, coarse, axis, budget).value
        for budget in (most, most / 2)
    )
    return not late - early <= CLOSED


def finer(curves: Curves, fine: int, coarse: int, axis: str, opponent: str) -> Claim:
    budget = largest(curves, axis)
    apart = difference(won(curves, fine, axis, budget), won(curves, coarse, axis, budget))
    unit = "s" if axis == "seconds" else "visits"
    where = crossing(curves, fine, coarse, axis)
    crossed = "not ahead in the end" if where is None else f"ahead from {where:,.3g} {unit} on"
    return Claim(
        f"{fine} buckets win more than {coarse} from {opponent}, at {AXES[axis]}.",
        "the difference at the largest budget that all runs have used is above zero over the whole "
        f"range of seeds; no verdict against it while it rises by over {CLOSED:g} in a doubling",
        f"after {budget:,.3g} {unit} {apart}; the median is {crossed}",
        _unless(closing(curves, fine, coarse, axis), above(apart, 0.0)),
        also=(Reading(WITHOUT, "", above(apart, 0.0)),),
    )


def _unless(catching_up: bool, verdict: Verdict) -> Verdict:
    return None if catching_up and verdict is False else verdict


def finer_in_the_end(
    wins: Mapping[int, Sequence[float]], fine: int, coarse: int, who: str, catching_up: bool
) -> Claim:
    """At the end of training, which took about as long for each."""
    apart = difference(over_seeds(wins[fine]), over_seeds(wins[coarse]))
    return Claim(
        f"{fine} buckets win more than {coarse} from {who}, trained about as long.",
        "the difference is above zero over the whole range of seeds; no verdict against it while "
        "the finer buckets catch up against Sparbot",
        str(apart),
        _unless(catching_up, above(apart, 0.0)),
        also=(Reading(WITHOUT, "", above(apart, 0.0)),),
    )
