"""Claims and their verdicts: a claim holds, fails, or is undecided.

A rule is a pure function of numbers with 95% intervals. Its verdict is yes or no where the whole
interval agrees, and None, undecided, where it does not. A run that is too short widens the interval
of its measurement by what training may still add, so a short training and few hands are treated
alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

#: Yes, no, undecided.
Verdict = bool | None
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
#: A standard error is half of a 95% interval divided by this.
Z = 1.959964
#: What training may still add, as a multiple of what its second half added: 1 / (2^0.3 - 1), for
#: an error that falls as T^-0.3, the slowest published curve of outcome sampling (Gibson et al.
#: 2012, Bluff).
REMAINING = 4.33
#: If the second half of training gave more than this (sb/h), no upper bound is assumed.
SETTLED = 0.05
LEARNING = (
    f"What training may still add: {REMAINING:g} times what its second half gave, and nobody knows "
    f"how much where that was over {SETTLED:g} sb/h; nothing is held against a player for want of "
    f"training."
)
WITHOUT_CUTOFF = f"without the cut-off at {SETTLED:g} sb/h for who still learns"
#: Runs below which the interval of a median is their range.
FEW_RUNS = 6


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


def verdict_word(verdict: Verdict) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else FAILS


def exact(value: float) -> Interval:
    """A number without uncertainty."""
    return Interval(value, value, value)


def around(value: float, half: float) -> Interval:
    """A number and half the width of its interval."""
    return Interval(value, value - half, value + half)


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


def when_trained(now: Interval, gained: Interval, settled: float = SETTLED) -> Interval:
    """What a player may win after unlimited training, given what it wins `now` and `gained` in the
    second half of its training: no less than now, and at most REMAINING times the gain more. There
    is no upper bound while the gain may exceed `settled`."""
    if gained.high > settled:
        return now._replace(high=math.inf)
    return now._replace(high=now.high + REMAINING * max(gained.high, 0.0))


def above(x: Interval, bound: float) -> Verdict:
    """Whether x is above the bound."""
    if math.isnan(x.value):
        return None
    return True if x.low > bound else False if x.high <= bound else None


def below(x: Interval, bound: float) -> Verdict:
    """Whether x is below the bound."""
    return above(Interval(-x.value, -x.high, -x.low), -bound)


def within(x: Interval, low: float, high: float) -> Verdict:
    """Whether x lies between two bounds."""
    return all_hold([above(x, low), below(x, high)])


def all_hold(verdicts: Iterable[Verdict]) -> Verdict:
    """No if one is no; undecided if one is undecided or there are none; else yes."""
    listed = list(verdicts)
    if False in listed:
        return False
    return None if not listed or None in listed else True


def only_if(enough: bool, verdict: Verdict) -> Verdict:
    """Undecided unless the run was long `enough` for the claim."""
    return verdict if enough else None


def count_verdicts(verdicts: Sequence[Verdict]) -> str:
    """Numbers of claims that hold, fail and are undecided, as text."""
    numbers = [(verdicts.count(True), "hold"), (verdicts.count(False), "fail")]
    numbers.append((verdicts.count(None), UNDECIDED))
    return ", ".join(f"{n} {what}" for n, what in numbers if n)


@dataclass(frozen=True)
class RuleVariant:
    """The verdict of a rule other than the deciding one."""

    rule: str
    measured: str
    holds: Verdict

    @property
    def verdict(self) -> str:
        return verdict_word(self.holds)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the rule that decides it, what was measured, and whether it holds;
    None: undecided."""

    text: str
    rule: str
    measured: str
    holds: Verdict
    before: RuleVariant | None = None  # earlier rule, if this one was set after seeing numbers
    also: tuple[RuleVariant, ...] = ()  # without a cut-off that was set after seeing numbers

    @property
    def verdict(self) -> str:
        """holds, fails or undecided."""
        return verdict_word(self.holds)


class Winnings(NamedTuple):
    """What a player wins from a bot, in sb/h. `gained`: by the second half of its training."""

    now: Interval
    gained: Interval
    settled: float = SETTLED

    @property
    def final(self) -> Interval:
        """What the player may win after unlimited training."""
        return when_trained(self.now, self.gained, self.settled)


def with_and_without_cutoff(
    judge: Callable[[Mapping[Any, Winnings]], list[Claim]], winnings: Mapping[Any, Winnings]
) -> list[Claim]:
    """The claims, each with its verdict without the cut-off at SETTLED, which was set after seeing
    numbers."""
    other = judge({key: one._replace(settled=math.inf) for key, one in winnings.items()})
    return [
        replace(claim, also=(*claim.also, RuleVariant(WITHOUT_CUTOFF, "", plain.holds)))
        for claim, plain in zip(judge(winnings), other, strict=True)
    ]
