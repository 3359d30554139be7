"""Claims of experiments that are not yet judged by `judge`; goes with the last of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.judge import (
    Interval,
    Truth,
    Z,
    above,
    all_hold,
    around,
    at_corners,
    below,
    difference,
    exact,
    median,
    only_if,
    seed_range,
    within,
)

__all__ = [
    "Claim",
    "Interval",
    "Z",
    "above",
    "all_hold",
    "around",
    "at_corners",
    "below",
    "difference",
    "exact",
    "median",
    "only_if",
    "seed_range",
    "within",
]
Verdict = Truth
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
REMAINING = 4.33
SETTLED = 0.05
LEARNING = ""
WITHOUT_CUTOFF = f"without the cut-off at {SETTLED:g} sb/h for who still learns"


def verdict_word(verdict: Truth) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else FAILS


def when_trained(now: Interval, gained: Interval, settled: float = SETTLED) -> Interval:
    """What a player may win after unlimited training, given what it wins `now` and `gained` in the
    second half of its training: no less than now, and at most REMAINING times the gain more. There
    is no upper bound while the gain may exceed `settled`."""
    if gained.high > settled:
        return now._replace(high=math.inf)
    return now._replace(high=now.high + REMAINING * max(gained.high, 0.0))


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
class OldClaim:
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


Claim = OldClaim


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
