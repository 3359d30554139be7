"""Figure 8: learning while playing Poki. What was learnt must beat MCCFR10's own winnings and its
own earlier self, not uniform play, with which it starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    Range,
    above,
    difference,
    every,
    only_if,
)
from counterplay.experiments.paper.rules.rows import Rows, Standing, both_ways

WANTED, ROOM = 20e6, 5e6  # iterations: "about 20 million"


class LearntCell(NamedTuple):
    """A frozen policy: after how many iterations, and what it wins from Poki."""

    games: float
    iterations: float
    won: Range


def claims(
    fixed: Sequence[LearntCell], online: Sequence[LearntCell], mccfr: Standing
) -> list[Claim]:
    """`mccfr`: what MCCFR10 wins from Poki. Claims that name him come both ways."""

    def judge(rows: Rows) -> list[Claim]:
        (found,) = (row.final for row in rows.values())
        return [exploits(fixed, found), from_nothing(online, found)]

    first, last = both_ways(judge, {("MCCFR10", "outcome", "poki"): mccfr})
    return [first, improves(fixed), last]


def exploits(fixed: Sequence[LearntCell], mccfr: Range) -> Claim:
    near = min(fixed, key=lambda one: abs(one.iterations - WANTED))
    apart = difference(near.won, mccfr)
    return Claim(
        "MCRNR10 has learnt to exploit Poki after about 20 million sampled iterations.",
        "the policy nearest to 20 million iterations wins more from Poki than MCCFR10 does "
        "(outcome sampling, with what training may still add), the 95% interval being above zero",
        f"{near.won} sb/h after {near.iterations / 1e6:.0f} M iterations, MCCFR10 {mccfr}: {apart}",
        only_if(abs(near.iterations - WANTED) <= ROOM, above(apart, 0.0)),
        Reading("the 95% interval of what it wins is above zero", str(near.won), near.won.low > 0),
    )


def improves(fixed: Sequence[LearntCell]) -> Claim:
    first, last = _learnt(fixed)
    rise, whole = difference(last.won, first.won), difference(fixed[-1].won, fixed[0].won)
    return Claim(
        "The longer it learns the more it wins.",
        "the last policy wins more than the first that had learnt anything, the 95% interval of "
        "the difference being above zero",
        f"{rise} sb/h from {first.iterations / 1e6:.0f} M to {last.iterations / 1e6:.0f} M",
        only_if(last.iterations > first.iterations, above(rise, 0.0)),
        Reading("it wins more than uniform play, with which it starts", str(whole), whole.low > 0),
    )


def from_nothing(online: Sequence[LearntCell], mccfr: Range) -> Claim:
    first, last = _learnt(online)
    rise, ahead = difference(last.won, first.won), difference(last.won, mccfr)
    before = online[-1].won.value - online[0].won.value
    return Claim(
        "It also works from nothing, model and response learnt while playing (beyond the paper).",
        "the last policy wins more than MCCFR10 and than the first that had learnt anything, both "
        "95% intervals being above zero",
        f"{last.won} sb/h after {last.games:,.0f} games; {ahead} more than MCCFR10, {rise} more "
        f"than after {first.games:,.0f} games",
        every([above(ahead, 0.0), only_if(last.games > first.games, above(rise, 0.0))]),
        Reading(
            "the last policy wins, and more than uniform play",
            f"{last.won}; {before:+.3f}",
            last.won.low > 0 and before > 0,
        ),
    )


def _learnt(policies: Sequence[LearntCell]) -> tuple[LearntCell, LearntCell]:
    """The first that had learnt anything, and the last."""
    some = [one for one in policies if one.iterations > 0] or list(policies)
    return some[0], some[-1]
