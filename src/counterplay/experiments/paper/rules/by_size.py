"""RNR and MCRNR by size of the game: seconds, building included, and memory to a given gap. Beyond
the paper, whose games all fit.

There is one run of each, so seconds are taken to be known to a factor of two either way, and peaks
of memory to a tenth. A run that was stopped needs at least as long as it ran. Sampling is meant for
large games: below five million histories nothing is decided, neither way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim
from counterplay.experiments.harness.judge import (
    Range,
    Verdict,
    above,
    around,
    below,
    every,
    only_if,
)

CFR, CFR_PLUS = "RNR, CFR", "RNR, CFR+"
OUTCOME, EXTERNAL = "MCRNR, outcome", "MCRNR, external"
OUTCOME_ALONE = "MCRNR, outcome, no tree"
LARGE = 5_000_000  # histories
TIMES, PEAKS = 2.0, 1.1  # factors to which seconds and memory are known
REACHED, NO_TREE, NO_ROOM = "target", "too large for a tree", "out of memory"


class SizeRun(NamedTuple):
    """What one run came to. None: not measured."""

    note: str  # what stopped it, or why it did not start
    seconds: float | None = None  # of solving
    iterations: int | None = None
    gap: float | None = None
    build_seconds: float | None = None  # before the first iteration
    peak_gb: float | None = None
    nodes: int | None = None  # of the tree
    won: float | None = None  # from the model, above what the model wins there; without a tree
    won_error: float | None = None  # half of its 95% interval

    @property
    def reached(self) -> bool:
        return self.note == REACHED

    @property
    def total(self) -> float | None:
        """Seconds with those of building; None: it never ran."""
        if self.seconds is None or self.build_seconds is None:
            return None
        return self.seconds + self.build_seconds


Methods = Mapping[str, SizeRun]
#: By family and game, the games from small to large.
Runs = Mapping[str, Mapping[str, Methods]]


def largest(games: Mapping[str, Methods], *methods: str) -> str | None:
    """The last game on which all of these ran."""
    ran = [
        game
        for game, by in games.items()
        if all(m in by and by[m].total is not None for m in methods)
    ]
    return ran[-1] if ran else None


def ratio(sampled: SizeRun, full: SizeRun) -> Range | None:
    """Seconds to the gap, of sampling over full width; None where neither came to it."""
    if not sampled.total or not full.total or not (sampled.reached or full.reached):
        return None
    found = sampled.total / full.total
    low = found / TIMES if full.reached else 0.0
    return Range(found, low, found * TIMES if sampled.reached else math.inf)


def sooner(runs: Runs, sampled: str, full: str) -> Claim:
    verdicts: list[Verdict] = []
    told = []
    for family, games in runs.items():
        game = largest(games, sampled, full)
        if game is None:
            verdicts.append(None)
            told.append(f"{family}: nothing to compare")
            continue
        mine, other = games[game][sampled], games[game][full]
        found = ratio(mine, other)
        verdicts.append(found and only_if((other.nodes or 0) >= LARGE, below(found, 1.0)))
        told.append(f"{game}: {_compared(mine, other, found)}")
    return Claim(
        f"In the largest games that both can do {sampled} comes to the gap sooner than {full} "
        f"(beyond the paper).",
        f"seconds to the gap, building included, over those of {full} are below 1 by more than "
        f"a factor of {TIMES:g}, in every family; it fails where they are above 1 by as much, and "
        f"no verdict under {LARGE:,} histories, or where neither came to the gap",
        "; ".join(told),
        every(verdicts),
    )


def _compared(mine: SizeRun, other: SizeRun, found: Range | None) -> str:
    if found is None:
        return "neither came to the gap in its time"
    late = "" if mine.reached else ", at least"
    early = "" if other.reached else ", at most"
    return f"{found.value:.2g}{late}{early}"


def smaller(runs: Runs) -> Claim:
    verdicts: list[Verdict] = []
    told = []
    for family, games in runs.items():
        game = largest(games, OUTCOME_ALONE, CFR)
        peaks = [games[game][m].peak_gb for m in (OUTCOME_ALONE, CFR)] if game else []
        if game is None or not all(peaks):
            verdicts.append(None)
            told.append(f"{family}: nothing to compare")
            continue
        mine, other = (float(peak or 0.0) for peak in peaks)
        found = Range(mine / other, mine / other / PEAKS, mine / other * PEAKS)
        enough = (games[game][CFR].nodes or 0) >= LARGE
        verdicts.append(only_if(enough, below(found, 1.0)))
        told.append(f"{game}: {mine:.2g} GB, full width {other:.2g} GB")
    return Claim(
        "In the largest games that both can do sampling without a tree needs less memory than "
        "full width (beyond the paper).",
        f"peak memory of the process over that of {CFR} is below 1 by more than a factor of "
        f"{PEAKS:g}, whether or not the two came to the gap, in every family; no verdict under "
        f"{LARGE:,} histories",
        "; ".join(told),
        every(verdicts),
    )


def goes_on(runs: Runs) -> Claim:
    verdicts: list[Verdict] = []
    told = []
    for games in runs.values():
        for game, by in games.items():
            if OUTCOME_ALONE not in by or not beyond(by):
                continue
            one = by[OUTCOME_ALONE]
            if one.won is None or one.won_error is None:
                verdicts.append(None)
                told.append(f"{game}: {one.note}")
                continue
            verdicts.append(above(around(one.won, one.won_error), 0.0))
            told.append(
                f"{game}: {one.won:+.3f} ± {one.won_error:.3f} after {one.iterations:,} iterations"
            )
    return Claim(
        "Where full width no longer fits, sampling goes on (beyond the paper).",
        "wherever RNR has no tree or no memory, the response of MCRNR without a tree wins more "
        "from the model than the model itself does in that seat, by the whole 95% interval",
        "; ".join(told) or "full width fits everywhere",
        every(verdicts),
    )


def beyond(by: Methods) -> bool:
    """Whether full width does not fit."""
    return any(by[m].note in (NO_TREE, NO_ROOM) for m in (CFR, CFR_PLUS) if m in by)


def claims(runs: Runs) -> list[Claim]:
    return [
        smaller(runs),
        goes_on(runs),
        *(
            sooner(runs, sampled, full)
            for full in (CFR, CFR_PLUS)
            for sampled in (EXTERNAL, OUTCOME_ALONE)
        ),
    ]
