"""The rules of Figure 4 in hold'em, and of the time that sampling takes there.

They judge curves float64[seeds, points, 4]: iterations, seconds, sb/h and its standard error, at
the same iterations for all seeds. MCTS, whose seeds differ more, may have more of them than MCCFR,
and shorter runs; what is paired by seed takes those that both have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.judge import Claim, Interval, claim, decide

EARLY = 5_000_000  # the early phase: up to so many iterations
TENTH = 0.1  # of what MCTS has learnt; less is flat
MUCH = 0.5  # "much less": at most half
LEVEL = 0.01  # sb/h; less is as fast


def at(curve: np.ndarray, x: float, axis: int = 0) -> float:
    """sb/h at so many iterations, or seconds (`axis` 1), linear in the logarithm."""
    return float(np.interp(np.log(x), np.log(np.maximum(curve[:, axis], 1e-9)), curve[:, 2]))


def gained(curves: np.ndarray, since: float) -> list[float]:
    """What each seed gained since so many iterations."""
    return [float(curve[-1, 2]) - at(curve, since) for curve in curves]


def lead(a: np.ndarray, b: np.ndarray, iterations: float) -> Interval:
    """a - b at so many iterations, paired by seed."""
    n = min(len(a), len(b))
    return judge.paired([at(x, iterations) for x in a[:n]], [at(x, iterations) for x in b[:n]])


def balanced(mcts: np.ndarray, mccfr: np.ndarray) -> Claim:
    last = float(mcts[0, -1, 0])
    early = lead(mcts, mccfr, EARLY)
    late, whole = gained(mcts, last / 2), gained(mcts, mcts[0, 0, 0])
    flat = judge.mean_over(x - TENTH * y for x, y in zip(late, whole, strict=True))
    return claim(
        6,
        f"after {EARLY / 1e6:.0f} M iterations MCTS is ahead of MCCFR by {early} sb/h; from "
        f"{last / 2e6:.0f} M to {last / 1e6:.0f} M it gains {judge.mean_over(late)}, of "
        f"{np.mean(whole):.3f} in all",
        decide(judge.above(early, 0.0), judge.below(flat, 0.0)),
        f"MCTS is ahead after {EARLY:,} iterations, and gains less than a tenth of what it has "
        f"learnt in the second half of its run",
    )


def reaches(curve: np.ndarray, level: float, axis: int = 0) -> float:
    """Iterations, or seconds (`axis` 1), after which a curve stays above this level, linear in the
    logarithm; infinity if it ends below."""
    won, x = curve[:, 2], np.log(np.maximum(curve[:, axis], 1e-9))
    below = np.flatnonzero(won <= level)
    k = int(below[-1]) if len(below) else -1
    if k == len(x) - 1:
        return float("inf")
    if k < 0:
        return float(curve[0, axis])
    share = (level - won[k]) / (won[k + 1] - won[k])
    return float(np.exp(x[k] + share * (x[k + 1] - x[k])))


def surpasses(mccfr: np.ndarray, mcts: np.ndarray) -> Claim:
    last, end = float(mccfr[0, -1, 0]), float(mcts[0, -1, 0])
    late = judge.mean_over(gained(mccfr, last / 2))
    more = max(float(np.mean(gained(mcts, end / 2))), 0.0) if end < last else 0.0
    level = judge.mean_over(mcts[:, -1, 2] + more)
    ahead = judge.difference(judge.mean_over(mccfr[:, -1, 2]), level)
    mean = mccfr.mean(axis=0)
    low, value, high = (reaches(mean, x) / 1e6 for x in (level.low, level.value, level.high))
    return claim(
        7,
        f"after {last / 1e6:.0f} M iterations MCCFR is ahead by {ahead} sb/h; it comes to MCTS's "
        f"level after {value:.0f} M ({low:.0f} to {high:.0f}; the article about 45 M); the second "
        f"half of its run gains {late}",
        decide(judge.above(late, 0.0), judge.above(ahead, 0.0)),
        "MCCFR gains in the second half of its run, and at its end is ahead of MCTS, to which as "
        "much as the second half of its own run gained is added where that run is shorter",
    )


def quicker(ratios: Sequence[float]) -> Claim:
    """Seconds of MCTS over seconds of MCCFR for equal iterations, by seed."""
    ratio = judge.mean_over(ratios)
    return claim(
        8,
        f"in this implementation an iteration of MCTS takes {ratio.value:.2f} times as long as one "
        f"of MCCFR ({ratio.low:.2f} to {ratio.high:.2f})",
        decide(judge.below(ratio, 1.0), judge.below(ratio, MUCH)),
        "the ratio is below 1, and at most a half (much less)",
    )


def smaller(mcts: int, mccfr: int) -> Claim:
    """Bytes of the statistics that the article needs."""
    ratio = judge.exact(mcts / mccfr)
    return claim(
        9,
        f"{mcts / 1e6:.2f} MB against {mccfr / 1e6:.2f} MB, {ratio.value:.2f} times as much",
        decide(judge.below(ratio, 1.0), judge.below(ratio, MUCH)),
        "bytes of visit count and value per action, over those of regret and sum per action and "
        "the last visit, are below 1, and at most a half (much less)",
    )


def by_time(mcts: np.ndarray, mccfr: np.ndarray) -> Claim:
    """At the seconds at which MCCFR has done EARLY iterations, as claim 6 at these iterations."""
    pairs = list(zip(mcts, mccfr, strict=False))
    seconds = [
        float(np.exp(np.interp(np.log(EARLY), np.log(one[:, 0]), np.log(one[:, 1]))))
        for _, one in pairs
    ]
    timed = [at(ours, when, 1) for (ours, _), when in zip(pairs, seconds, strict=True)]
    ahead = judge.paired(timed, [at(theirs, EARLY) for _, theirs in pairs])
    more = judge.paired(timed, [at(ours, EARLY) for ours, _ in pairs])
    return claim(
        10,
        f"after {np.mean(seconds):.1f} s MCTS is ahead by {ahead} sb/h, which is {more} more than "
        f"at equal iterations",
        decide(judge.above(ahead, 0.0), judge.above(more, 0.0)),
        f"at the seconds in which MCCFR does {EARLY:,} iterations MCTS is ahead, and by more than "
        f"at equal iterations",
    )


def external(ours: np.ndarray, mcts: np.ndarray) -> Claim:
    last = float(ours[0, -1, 0])
    ahead = lead(ours, mcts, last)
    seconds = float(ours[:, -1, 1].mean())
    then = judge.mean_over(at(curve, seconds, 1) for curve in mcts)
    return claim(
        11,
        f"after {last:,.0f} iterations external sampling is ahead of MCTS by {ahead} sb/h; in the "
        f"same time ({seconds:.0f} s) MCTS has {then}, external sampling "
        f"{judge.mean_over(ours[:, -1, 2])}",
        decide(judge.above(ahead, -LEVEL)),
        f"at equal iterations external sampling is ahead of MCTS, or behind by less than {LEVEL:g} "
        f"sb/h",
    )


# the time of sampling


def times(sampled: np.ndarray, earlier: np.ndarray, level: float) -> Interval:
    """Seconds to a level, of sampling over an earlier algorithm, paired by seed: the geometric
    mean. Curves that end below the level count with all their seconds, which bounds the ratio from
    one side."""
    mine, other = ([reaches(c, level, 1) for c in curves] for curves in (sampled, earlier))
    ends = [[float(c[-1, 1]) for c in curves] for curves in (sampled, earlier)]
    least, most = np.isfinite(mine).all(), np.isfinite(other).all()
    logs = [
        np.log(min(a, end)) - np.log(min(b, last))
        for a, b, end, last in zip(mine, other, *ends, strict=True)
    ]
    middle = judge.mean_over(logs)
    low, value, high = (float(np.exp(x)) for x in (middle.low, middle.value, middle.high))
    return Interval(value, low if most else 0.0, high if least else np.inf)


def fraction(
    curves: Mapping[str, np.ndarray], earlier: np.ndarray, level: float, vanilla: float
) -> Claim:
    """`curves` of the sampling engines by name; `earlier`: of chance-sampled CFR; `vanilla`: the
    seconds of one pass of vanilla CFR."""
    ratios = {name: times(one, earlier, level) for name, one in curves.items()}
    first = float(np.mean([min(reaches(c, level, 1), c[-1, 1]) for c in earlier]))
    shown = ", ".join(
        f"{name} {x.value:.2f} ({x.low:.2f} to {x.high:.2f})" for name, x in ratios.items()
    )
    return claim(
        27,
        f"seconds to {level:+g} sb/h, over the {first:.0f} s of chance-sampled CFR: {shown}; one "
        f"pass of vanilla CFR takes about {vanilla / 3600:.1f} h",
        decide(*(judge.below(x, MUCH) for x in ratios.values())),
        f"each sampling engine needs less than half of the seconds of chance-sampled CFR to come "
        f"within {-level:g} sb/h of the pre-computed equilibrium",
    )
