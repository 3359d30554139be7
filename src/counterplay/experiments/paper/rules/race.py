"""Figure 4, right: MCCFR and MCTS in hold'em, sb/h against a pre-computed MCCFR10, over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    above,
    below,
    difference,
    every,
    exactly,
    only_if,
    over_seeds,
)

LONG = 200_000_000  # iterations: what "in the long run" needs before it may fail
SWEPT = 50_000_000  # iterations of a sweep over C that may decide
LEVEL = 0.01  # sb/h
NEAR = 0.02  # sb/h from the best C
#: The paper names no unit for its payoffs. C = 17 in each, in the small bets that ours are paid in.
UNITS = {"small bets": 17.0, "small blinds": 8.5, "big bets": 34.0}


def fast(mcts: Sequence[float], mccfr: Sequence[float], iterations: int) -> Claim:
    """At the first evaluation, a number for each seed."""
    apart = difference(over_seeds(mcts), over_seeds(mccfr))
    return Claim(
        "MCTS converges fast, MCCFR considerably slower.",
        "at the first evaluation MCTS is ahead of MCCFR, over the whole range of seeds",
        f"sb/h after {iterations:,} iterations: MCTS ahead by {apart}",
        above(apart, 0.0),
        Reading("every seed of MCTS is above every one of MCCFR", "", min(mcts) > max(mccfr)),
    )


def surpasses(
    mccfr: Sequence[float], mcts: Sequence[float], iterations: int, two_errors: float
) -> Claim:
    """At the last evaluation. `two_errors`: of the difference, as the rule before had it."""
    apart = difference(over_seeds(mccfr), over_seeds(mcts))
    found = above(apart, 0.0)
    return Claim(
        "In the long run MCCFR surpasses MCTS.",
        f"at the last evaluation MCCFR is ahead, over the whole range of seeds; no verdict against "
        f"it under {LONG:,} iterations",
        f"after {iterations:,} iterations MCCFR ahead by {apart}",
        found or only_if(iterations >= LONG, found),
        Reading(
            "the median of MCCFR is ahead by more than two standard errors",
            f"two standard errors are {two_errors:.3f}",
            apart.value > two_errors,
        ),
    )


def quicker(ratios: Sequence[float]) -> Claim:
    """Seconds of MCTS over seconds of MCCFR for as many iterations, of each seed."""
    found = over_seeds(ratios)
    return Claim(
        "An iteration of MCTS takes less time than one of MCCFR.",
        "seconds of the whole run, MCTS over MCCFR, are below 1 in every seed; it fails where in "
        "none",
        f"ratio {found.value:.2f}, from {found.low:.2f} to {found.high:.2f}",
        below(found, 1.0),
        Reading("the median ratio is below 1", f"{found.value:.2f}", found.value < 1.0),
    )


def smaller(mcts: int, mccfr: int) -> Claim:
    """Bytes of what each has learnt."""
    return Claim(
        "MCTS needs less memory than MCCFR.",
        "the arrays it learns, as they are here, take fewer bytes",
        f"MCTS {mcts / 1e6:.2f} MB (of which visits and values alone would be two numbers an "
        f"action), MCCFR {mccfr / 1e6:.2f} MB (two numbers an action, one an information set)",
        below(exactly(mcts / mccfr), 1.0),
    )


def external(
    ours: Sequence[float], mcts: Sequence[float], iterations: int, also: str = ""
) -> Claim:
    apart = difference(over_seeds(ours), over_seeds(mcts))
    return Claim(
        "External sampling may converge as fast as MCTS, in iterations (the paper's guess).",
        f"at the same number of iterations external sampling is ahead of MCTS, or behind by less "
        f"than {LEVEL:g} sb/h, over the whole range of seeds",
        f"after {iterations:,} iterations ahead by {apart}{also}",
        above(apart, -LEVEL),
        Reading(f"the median is behind by less than {LEVEL:g}", "", apart.value > -LEVEL),
    )


def constant(ends: Mapping[float, Sequence[float]], iterations: int, unit: str) -> Claim:
    """`ends`: for each C, in small bets, sb/h at the end for each seed."""
    mine = UNITS[unit]
    others = {
        c: difference(over_seeds(values), over_seeds(ends[mine]))
        for c, values in ends.items()
        if c != mine
    }
    best = max(others, key=lambda c: others[c].value)
    found = every([below(one, NEAR) for one in others.values()])
    medians = {c: over_seeds(values).value for c, values in ends.items()}
    told = ", ".join(f"C = {c:g} {value:+.3f}" for c, value in medians.items())
    return Claim(
        f"C = 17 suits MCTS, if the paper's payoffs are {unit} (C = {mine:g} in small bets).",
        f"no other value tried is ahead by {NEAR:g} sb/h or more, over the whole range of seeds; "
        f"no verdict under {SWEPT:,} iterations",
        f"after {iterations:,} iterations {told}; C = {best:g} is ahead by {others[best]}",
        only_if(iterations >= SWEPT, found),
        Reading(
            f"its median is within {NEAR:g} of the best",
            f"behind by {max(medians.values()) - medians[mine]:.3f}",
            medians[mine] > max(medians.values()) - NEAR,
        ),
    )
