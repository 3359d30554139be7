"""The 27 claims of the article that are judged, in its own words, and their verdicts: a claim
holds, holds in part, fails, or is open.

A rule is a pure function of numbers with 95% intervals. Each of its comparisons is true or false
where the whole interval says so, and None where it does not; `decide` makes a verdict of them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from counterplay.core.evaluation.estimate import half_width


class ArticleClaim(NamedTuple):
    figure: str  # figure or table, as printed in the summary
    experiment: str  # name of the experiment that judges it
    text: str


_PARTS: dict[tuple[str, str], list[str]] = {
    ("Figure 4, Kuhn poker", "fig4-kuhn"): [
        "MCCFR learns a Nash equilibrium",
        "MCTS settles in a balanced situation that is not an equilibrium",
        "where MCTS settles depends on C",
        "MCTS still plays dominated actions, and is unlearning them",
        "MCTS is exploitable, yet does not lose much to an equilibrium",
    ],
    ("Figure 4, hold'em", "fig4-holdem"): [
        "MCTS converges fast to a balanced situation",
        "MCCFR is slower, but continues to improve and surpasses MCTS",
        "an iteration of MCTS requires much less computation time",
        "an iteration of MCTS requires much less memory",
        "by time the early advantage of MCTS is larger",
        "external sampling may converge as fast as MCTS, in iterations",
    ],
    ("Table 1", "table1"): [
        "MCCFR10 wins by a small margin from Poki",
        "MCCFR10 loses a small amount to Sparbot",
        "MCCFR100 wins convincingly from Poki and Sparbot",
        "100 buckets perform much better than 10",
        "MCTS10 and MCCFR10 do about equally well",
    ],
    ("Table 2", "table2"): [
        "MCRNR exploits Poki considerably more than MCCFR, with 10 and with 100 buckets",
        "MCRNR10 earns much more from Poki than MCCFR100",
        "MCRNR100 wins more from Poki than MCRNR10",
        "against Sparbot MCRNR and MCCFR do not differ significantly",
    ],
    ("Figure 8", "fig8"): [
        "MCRNR10 has learnt to exploit Poki in about 20 million sampled iterations",
        "with more opponent data the response wins more",
    ],
    ("Figure 6", "fig6"): [
        "for 0.5 ≤ p ≤ 0.8 a noticeable boost can be had for a small loss of exploitability",
        "the region from p = 0.97 to 1 has high impact in every game except Bluff",
        "RNR and DBR with a fixed Pconf differ very little (footnote 10)",
    ],
    ("Figure 7", "fig7"): [
        "MCRNR gives a better approximation in less time, especially in the early iterations",
    ],
    ("Section 5", "holdem-time"): [
        "in poker sampling takes a fraction of the time of earlier algorithms",
    ],
}
#: By number, from 1.
ARTICLE: dict[int, ArticleClaim] = dict(
    enumerate((ArticleClaim(*part, text) for part, texts in _PARTS.items() for text in texts), 1)
)


#: True, false, or None where an interval decides nothing.
Truth = bool | None
#: A standard error is half of a 95% interval divided by this.
Z = 1.959964
#: Runs below which the interval of a median is their range.
FEW_RUNS = 6


class Verdict(StrEnum):
    HOLDS = "holds"
    IN_PART = "in part"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Claim:
    """A claim of the article: what was measured (one sentence, with the number and its 95%
    interval), the verdict, and the rule that gives it (one sentence)."""

    number: int  # in `ARTICLE`; 0: of a user's own experiment
    text: str  # the article's words
    measured: str
    verdict: Verdict
    rule: str


def claim(number: int, measured: str, verdict: Verdict, rule: str) -> Claim:
    """The article's claim of this number; `measured` and `rule` become sentences."""
    return Claim(number, ARTICLE[number].text, _sentence(measured), verdict, _sentence(rule))


def _sentence(text: str) -> str:
    first = text[:1] if text[:1] == "ε" else text[:1].upper()  # a symbol stays as it is
    return text and first + text[1:].rstrip(".") + "."


def decide(*parts: Truth) -> Verdict:
    """All parts true: holds. All false: fails. Some true and some false: in part. Else open."""
    if True in parts and False in parts:
        return Verdict.IN_PART
    if None in parts or not parts:
        return Verdict.OPEN
    return Verdict.HOLDS if parts[0] else Verdict.FAILS


def count_verdicts(claims: Iterable[Claim]) -> str:
    """For example: 18 hold, 4 in part, 3 fail, 2 open."""
    counts = Counter(one.verdict for one in claims)
    words = {
        Verdict.HOLDS: "hold",
        Verdict.IN_PART: "in part",
        Verdict.FAILS: "fail",
        Verdict.OPEN: "open",
    }
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items())


# numbers with intervals


class Interval(NamedTuple):
    """A number and its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        below, above = self.value - self.low, self.high - self.value
        if math.isinf(below) or math.isinf(above):
            return f"{self.value:+.3f} (one run)"
        if math.isclose(below, above, rel_tol=1e-6, abs_tol=5e-4):
            return f"{self.value:+.3f} ± {self.half:.3f}"
        return f"{self.value:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


def exact(value: float) -> Interval:
    """A number without uncertainty."""
    return Interval(value, value, value)


def around(value: float, half: float) -> Interval:
    """A number and half the width of its interval."""
    return Interval(value, value - half, value + half)


def mean_over(values: Iterable[float]) -> Interval:
    """Mean over training seeds and its 95% interval by Student's t; infinite for a single
    run."""
    runs = np.array(list(values), dtype=np.float64)
    if not len(runs):
        raise ValueError("no runs")
    mean = float(runs.mean())
    if len(runs) == 1:
        return Interval(mean, -math.inf, math.inf)
    error = float(runs.std(ddof=1)) / math.sqrt(len(runs))
    return around(mean, half_width(error, len(runs) - 1))


def paired(a: Sequence[float], b: Sequence[float]) -> Interval:
    """Mean of a - b over pairs that share their seed or their deals (see `mean_over`)."""
    return mean_over(x - y for x, y in zip(a, b, strict=True))


def seed_range(values: Iterable[float]) -> Interval:
    """Median and range of a few runs; an infinite interval for a single run."""
    runs = sorted(float(value) for value in values)
    if not runs:
        raise ValueError("no runs")
    middle = (runs[(len(runs) - 1) // 2] + runs[len(runs) // 2]) / 2
    if len(runs) == 1:
        return Interval(middle, -math.inf, math.inf)
    return Interval(middle, runs[0], runs[-1])


def median(values: Iterable[float]) -> Interval:
    """Median of many runs and its 95% interval by ranks. With fewer than six runs, for which no
    interval of ranks has that coverage, their range."""
    runs = sorted(float(value) for value in values)
    n = len(runs)
    if n < FEW_RUNS:
        return seed_range(runs)
    tail, k = 0.5**n, 0  # k runs may be cut off at each end
    while tail + math.comb(n, k + 1) * 0.5**n <= 0.025:
        k += 1
        tail += math.comb(n, k) * 0.5**n
    return Interval(seed_range(runs).value, runs[k], runs[n - 1 - k])


def difference(a: Interval, b: Interval) -> Interval:
    """a - b, for independent measurements."""
    value = a.value - b.value
    low = math.hypot(a.value - a.low, b.high - b.value)
    high = math.hypot(a.high - a.value, b.value - b.low)
    return Interval(value, value - low, value + high)


def at_corners(function: Callable[..., float], *intervals: Interval) -> Interval:
    """The value of a function that is monotone in each argument, with its least and largest value
    over the ends of the intervals; an infinite interval if any value is NaN."""
    corners = [function(*ends) for ends in itertools.product(*[(x.low, x.high) for x in intervals])]
    value = function(*(x.value for x in intervals))
    if any(math.isnan(x) for x in (value, *corners)):
        return Interval(value, -math.inf, math.inf)
    return Interval(value, min(corners), max(corners))


# comparisons


def above(x: Interval, bound: float) -> Truth:
    """Whether x is above the bound."""
    if math.isnan(x.value):
        return None
    return True if x.low > bound else False if x.high <= bound else None


def below(x: Interval, bound: float) -> Truth:
    """Whether x is below the bound."""
    return above(Interval(-x.value, -x.high, -x.low), -bound)


def within(x: Interval, low: float, high: float) -> Truth:
    """Whether x lies between two bounds."""
    return all_hold([above(x, low), below(x, high)])


def all_hold(parts: Iterable[Truth]) -> Truth:
    """False if one is false; None if one is None or there are none; else true."""
    listed = list(parts)
    if False in listed:
        return False
    return None if not listed or None in listed else True


def only_if(enough: bool, part: Truth) -> Truth:
    """None unless the run was long `enough` for the claim."""
    return part if enough else None
