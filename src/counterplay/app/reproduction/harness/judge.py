"""How a rule comes to a verdict: a claim holds, fails, or is undecided.

A rule is a pure function of numbers with 95% intervals. It says yes or no where the whole interval
does, and None, undecided, where it does not. A run that is too short widens the interval of what it
measured by what training may still add, so "too short" and "too few hands" are one thing here.
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
#: Where the second half of training gave more than this, nobody knows where it ends (sb/h).
SETTLED = 0.05
LEARNING = (
    f"What training may still add: {REMAINING:g} times what its second half gave, and nobody knows "
    f"how much where that was over {SETTLED:g} sb/h; nothing is held against a player for want of "
    f"training."
)
WITHOUT_CUTOFF = f"without the cut-off at {SETTLED:g} sb/h for who still learns"
#: Runs below which the interval of a median is their range.
FEW_RUNS = 6


class Range(NamedTuple):
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


def word(verdict: Verdict) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else FAILS


def exactly(value: float) -> Range:
    """A number that is known."""
    return Range(value, value, value)


def around(value: float, half: float) -> Range:
    """A number and half of its interval."""
    return Range(value, value - half, value + half)


def over_seeds(values: Iterable[float]) -> Range:
    """Median and range of a few runs. One run alone says nothing about the next."""
    found = sorted(float(value) for value in values)
    if not found:
        raise ValueError("no runs")
    middle = (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2
    if len(found) == 1:
        return Range(middle, -math.inf, math.inf)
    return Range(middle, found[0], found[-1])


def median(values: Iterable[float]) -> Range:
    """Median of many runs and its 95% interval by ranks, which more runs make narrower. The range
    where there are fewer than six, for which no interval of ranks is that sure."""
    found = sorted(float(value) for value in values)
    n = len(found)
    if n < FEW_RUNS:
        return over_seeds(found)
    beyond, k = 0.5**n, 0  # of the runs k may be cut off at each end
    while beyond + math.comb(n, k + 1) * 0.5**n <= 0.025:
        k += 1
        beyond += math.comb(n, k) * 0.5**n
    return Range(over_seeds(found).value, found[k], found[n - 1 - k])


def difference(a: Range, b: Range) -> Range:
    """a - b, measured apart."""
    value = a.value - b.value
    low = math.hypot(a.value - a.low, b.high - b.value)
    high = math.hypot(a.high - a.value, b.value - b.low)
    return Range(value, value - low, value + high)


def at_corners(what: Callable[..., float], *ranges: Range) -> Range:
    """A function of several numbers that rises or falls in each: its value, and the least and most
    over the ends of their intervals. NaN anywhere leaves it open."""
    found = [what(*ends) for ends in itertools.product(*[(r.low, r.high) for r in ranges])]
    value = what(*(r.value for r in ranges))
    if any(math.isnan(x) for x in (value, *found)):
        return Range(value, -math.inf, math.inf)
    return Range(value, min(found), max(found))


def grown(now: Range, gained: Range, settled: float = SETTLED) -> Range:
    """What a player may win when trained to the end, who wins `now` and `gained` so much in the
    second half of his training: no less, and no more than REMAINING says once he has `settled`."""
    if gained.high > settled:
        return now._replace(high=math.inf)
    return now._replace(high=now.high + REMAINING * max(gained.high, 0.0))


def above(x: Range, bound: float) -> Verdict:
    """Whether x is above the bound."""
    if math.isnan(x.value):
        return None
    return True if x.low > bound else False if x.high <= bound else None


def below(x: Range, bound: float) -> Verdict:
    """Whether x is below the bound."""
    return above(Range(-x.value, -x.high, -x.low), -bound)


def within(x: Range, low: float, high: float) -> Verdict:
    """Whether x lies between two bounds."""
    return every([above(x, low), below(x, high)])


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """No if one is no; undecided if one is undecided; or if there is nothing to judge."""
    found = list(verdicts)
    if False in found:
        return False
    return None if not found or None in found else True


def some(verdicts: Iterable[Verdict]) -> Verdict:
    """Yes if one is yes."""
    return opposite(every([opposite(verdict) for verdict in verdicts]))


def opposite(verdict: Verdict) -> Verdict:
    return None if verdict is None else not verdict


def only_if(enough: bool, verdict: Verdict) -> Verdict:
    """Undecided unless the run was long `enough` for the claim."""
    return verdict if enough else None


def counted(verdicts: Sequence[Verdict]) -> str:
    """How many hold, fail and are undecided, in words."""
    numbers = [(verdicts.count(True), "hold"), (verdicts.count(False), "fail")]
    numbers.append((verdicts.count(None), UNDECIDED))
    return ", ".join(f"{n} {what}" for n, what in numbers if n)


@dataclass(frozen=True)
class RuleVariant:
    """What another rule than the one that decides says of a claim."""

    rule: str
    measured: str
    holds: Verdict

    @property
    def verdict(self) -> str:
        return word(self.holds)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the rule that decides it, what was measured, and whether it holds;
    None: undecided."""

    text: str
    rule: str
    measured: str
    holds: Verdict
    before: RuleVariant | None = None  # the earlier rule, if numbers were seen before this one
    also: tuple[RuleVariant, ...] = ()  # without a cut-off that was set after numbers were seen

    @property
    def verdict(self) -> str:
        """holds, fails or undecided."""
        return word(self.holds)


class Winnings(NamedTuple):
    """What a player wins from a bot, in sb/h. `gained`: what the second half of training gave."""

    now: Range
    gained: Range
    settled: float = SETTLED

    @property
    def final(self) -> Range:
        """What the player may win when trained to the end."""
        return grown(self.now, self.gained, self.settled)


def both_ways(
    judge: Callable[[Mapping[Any, Winnings]], list[Claim]], winnings: Mapping[Any, Winnings]
) -> list[Claim]:
    """The claims, each with its verdict without the cut-off at SETTLED, which was set after numbers
    had been seen."""
    other = judge({key: one._replace(settled=math.inf) for key, one in winnings.items()})
    return [
        replace(claim, also=(*claim.also, RuleVariant(WITHOUT_CUTOFF, "", plain.holds)))
        for claim, plain in zip(judge(winnings), other, strict=True)
    ]
