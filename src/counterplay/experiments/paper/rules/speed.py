"""Figure 7: nodes and seconds that RNR and MCRNR need to come down to a level, on the caption's
axis (b1 + b2 of the responses) and on the gap of the restricted games.

Levels lie between what RNR has after its first iteration and the worse of where the two end, so no
method is compared before it has done an iteration, and both reach every level. The model's nodes:
no player acts twice in a row in these games, so a sampled walk passes over at most one node of the
model for each it counts, and a walk of RNR's tree over at most as many again; the ratio of nodes is
known to a factor of two either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import Range, Verdict, below, every

EARLY, LATE = 0.5, 0.1  # how much of the way is left
MODEL_NODES = 2.0
AXES = {"gap": "gap of the restricted games", "exploitability": "b1 + b2 of the responses"}


class Seen(NamedTuple):
    """A measurement of one run."""

    nodes: float
    seconds: float
    exploitability: float
    gap: float


Run = Sequence[Seen]


def to_reach(run: Run, axis: str, level: float, cost: str) -> float | None:
    """Nodes or seconds of the first measurement at or below the level."""
    for seen in run:
        if getattr(seen, axis) <= level:
            return float(getattr(seen, cost))
    return None


def level(full: Run, sampled: Sequence[Run], axis: str, left: float) -> float | None:
    """Of the way from RNR's first iteration to where the worse of both ends, so much is left; None
    if there is no such way."""
    first = getattr(full[0], axis)
    ends = [getattr(run[-1], axis) for run in (full, *sampled)]
    return max(ends) + left * (first - max(ends)) if first > max(ends) else None


def ratio(full: Run, sampled: Sequence[Run], axis: str, left: float, cost: str) -> Range | None:
    """Cost of MCRNR over cost of RNR, over seeds; None where nothing can be compared."""
    where = level(full, sampled, axis, left)
    if where is None or len(full) < 2 or len(sampled) < 2:
        return None
    base = to_reach(full, axis, where, cost)
    costs = [to_reach(run, axis, where, cost) for run in sampled]
    if not base or any(one is None for one in costs):
        return None
    found = sorted(one / base for one in costs if one is not None)
    room = MODEL_NODES if cost == "nodes" else 1.0
    return Range(found[len(found) // 2], found[0] / room, found[-1] * room)


def ahead(
    runs: Mapping[str, tuple[Run, Sequence[Run]]],
    axis: str,
    cost: str,
    text: str,
    left: float,
    before: Reading | None = None,
) -> Claim:
    """`runs`: by game, that of RNR and those of MCRNR."""
    found = {game: ratio(full, some, axis, left, cost) for game, (full, some) in runs.items()}
    when = "half" if left == EARLY else "nine tenths"
    verdict: Verdict = every([None if one is None else below(one, 1) for one in found.values()])
    told = ", ".join(
        f"{game}: " + ("nothing to compare" if one is None else f"{one.value:.2g}")
        for game, one in found.items()
    )
    return Claim(
        text,
        f"MCRNR needs fewer {cost} than RNR to come {when} of the way from RNR's first iteration "
        f"to where the worse of both ends, on the {AXES[axis]}, in every seed and game"
        + (", the model's nodes counted" if cost == "nodes" else ""),
        f"{cost} of MCRNR over those of RNR, {told}",
        verdict,
        before,
    )


def at_budget(runs: Mapping[str, tuple[Run, Sequence[Run]]], cost: str, share: float) -> Reading:
    """The rule used before: gaps at a share of the largest budget that both have, also where RNR
    has not finished its first iteration."""
    ratios = {}
    for game, (full, sampled) in runs.items():
        budget = share * min(getattr(run[-1], cost) for run in (full, *sampled))
        one, *others = (_gap_at(run, cost, budget) for run in (full, *sampled))
        ratios[game] = sorted(others)[len(others) // 2] / max(one, 1e-15)
    return Reading(
        f"at {'all' if share == 1 else 'a hundredth'} of the largest common number of {cost} "
        f"MCRNR's median gap is smaller than "
        f"RNR's in every game",
        ", ".join(f"{game}: {ratio:.2g} of it" for game, ratio in ratios.items()),
        all(ratio < 1 for ratio in ratios.values()),
    )


def _gap_at(run: Run, cost: str, budget: float) -> float:
    found = [seen.gap for seen in run if getattr(seen, cost) <= budget]
    return found[-1] if found else run[0].gap
