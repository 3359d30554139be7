"""What the rules of Tables 1 and 2, Figure 8 and the buckets judge: players' winnings in sb/h, now
and when trained to the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    REMAINING,
    SETTLED,
    Range,
    Verdict,
    above,
    difference,
    grown,
)

#: The paper's 95% interval of a cell, and of the difference of two (slips.md).
CELL, APART = 0.12, 0.17
#: What counts as equal where we can resolve it, in sb/h.
EQUAL = 0.02
BOTS = ("poki", "sparbot")
NAMES = {
    "outcome": "outcome sampling",
    "external": "external sampling",
    "public": "public sampling",
}
WHOSE = {"outcome": "as in the paper", "external": "ours", "public": "ours"}


LEARNING = (
    f"What training may still add: {REMAINING:g} times what its second half gave, and nobody knows "
    f"how much where that was over {SETTLED:g} sb/h; nothing is held against a player for want of "
    f"training."
)


class Standing(NamedTuple):
    """What a player wins from a bot. `gained`: what the second half of his training gave."""

    now: Range
    gained: Range
    settled: float = SETTLED

    @property
    def final(self) -> Range:
        """What he may win when trained to the end (judge.py)."""
        return grown(self.now, self.gained, self.settled)


#: player, engine, opponent
Key = tuple[str, str, str]
Rows = Mapping[Key, Standing]


WITHOUT = f"without the cut-off at {SETTLED:g} sb/h for who still learns"


def both_ways(judge: Callable[[Rows], list[Claim]], rows: Rows) -> list[Claim]:
    """The claims, each with what it would be without the cut-off, which was set after numbers
    had been seen."""
    other = judge({key: row._replace(settled=math.inf) for key, row in rows.items()})
    return [
        replace(claim, also=(*claim.also, Reading(WITHOUT, "", plain.holds)))
        for claim, plain in zip(judge(rows), other, strict=True)
    ]


def more(rows: Rows, a: Key, b: Key, by: float = 0.0) -> Verdict:
    """Whether one wins more than the other by more than so much, however long both are trained."""
    return above(difference(rows[a].final, rows[b].final), by)


def between(rows: Rows, a: Key, b: Key) -> str:
    """The difference as measured."""
    return str(difference(rows[a].now, rows[b].now))


def training(rows: Rows, *keys: Key) -> str:
    """What the second half of the training gave, in words; the largest over bots."""
    most: dict[tuple[str, str], Range] = {}
    for key in keys:
        one, name = rows[key].gained, key[:2]
        most[name] = max(most.get(name, one), one, key=lambda gain: gain.value)
    said = ", ".join(f"{player} {gain}" for (player, _), gain in most.items())
    return f"the second half of training gave {said}"
