"""Figure 4, right: MCCFR (outcome sampling, ε = 0.6), MCTS (C = 17) and external sampling in limit
hold'em with 10 buckets, by sb/h against a pre-computed equilibrium, iterations and seconds.

Differences between algorithms are paired by seed (`holdem_runs.py`), and their interval (Student's
t) is over seeds and deals together. MCTS, whose seeds differ more, may have more of them than
MCCFR, and shorter runs; what is paired takes those that both have. A sweep over C, which names no
unit in the article, is beside it without a claim.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    SolverVariant,
)
from counterplay.app.reproduction.harness.judge import Claim, Interval, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.holdem_runs import (
    EPSILON,
    EXTERNAL,
    FIRST,
    GAME,
    MCTS,
    OUTCOME,
    PAPER_C,
    SCALES,
    Fig4HoldemScale,
    PlannedRun,
    at,
    by_seed,
    curve_jobs,
    curves_of,
    points,
    reaches,
)
from counterplay.core.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.registry import load
from counterplay.core.parallel.jobs import Job
from counterplay.core.solvers.algorithms import new_solver

#: In small bets: 17 small blinds are 8.5, and 17 big bets 34.
SWEEP = (2.0, 4.25, 8.5, 17.0, 34.0, 68.0)
EARLY = 5_000_000  # the early phase: up to so many iterations
TENTH = 0.1  # of what MCTS has learnt; less is flat
MUCH = 0.5  # "much less": at most half
LEVEL = 0.01  # sb/h; less is as fast
HEADER = "algorithm c seed iterations seconds sb_per_hand standard_error"
MAIN = (OUTCOME, MCTS, EXTERNAL)
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "opponent": "whom the algorithms are measured against",
    "reference": "iterations of the profile that is played against",
    "mcts": "iterations of MCTS",
    "mcts_seeds": "runs of MCTS, whose seeds differ more",
    "swept_seeds": "runs of each value of C",
}


def _plan(size: Fig4HoldemScale) -> list[PlannedRun]:
    """Every curve."""
    runs = (
        (OUTCOME, points(size.iterations, FIRST), size.seeds),
        (MCTS, points(size.mcts, FIRST), size.mcts_seeds),
        (EXTERNAL, points(size.external, size.external // 50), size.seeds),
    )
    plan = [(one, seed, when) for one, when, seeds in runs for seed in range(seeds)]
    swept = [SolverVariant(f"MCTS, C = {c:g}, for the sweep", "mcts", {"c": c}) for c in SWEEP]
    return plan + [(one, seed, [size.swept]) for one in swept for seed in range(size.swept_seeds)]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    return curve_jobs(SCALES[scale], by_seed(_plan(SCALES[scale])), store)


def needed_bytes() -> tuple[int, int]:
    """Of the statistics that the article needs: MCTS keeps a visit count and a value per action,
    MCCFR a regret and a sum per action and the last visit of each information set."""
    tables = new_solver(load(GAME), "mccfr", 0, {"epsilon": EPSILON}).tables()
    own = {name: tables[name].nbytes for name in ("regret", "strategy_sum", "last_visit")}
    return own["regret"] + own["strategy_sum"], sum(own.values())


def memory_note() -> str:
    """What this implementation keeps in addition."""
    tables = new_solver(load(GAME), "mcts", 0, {"c": PAPER_C}).tables()
    whole = sum(array.nbytes for array in tables.values())
    return (
        f"MCTS here keeps {whole / 1e6:.2f} MB: beside visit counts and values the sums and spread "
        f"that its options need."
    )


def speeds(mcts: np.ndarray, mccfr: np.ndarray) -> list[float]:
    """Seconds of an iteration of MCTS over those of one of MCCFR, by seed."""
    each = [some[:, -1, 1] / some[:, -1, 0] for some in (mcts, mccfr)]
    return [float(a / max(b, 1e-15)) for a, b in zip(*each, strict=False)]


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    results = curves_of(size, _plan(size), store, progress)
    ends = np.cumsum((0, size.seeds, size.mcts_seeds, size.seeds))
    curves = [np.array(results[a:b]) for a, b in itertools.pairwise(ends)]
    last = np.array([rows[-1] for rows in results[ends[-1] :]])
    by_c = last.reshape(len(SWEEP), size.swept_seeds, -1)
    _picture(curves, by_c, size.reference, folder / "fig4-holdem.png")
    runs = [
        (one.algorithm, one.options.get("c", ""), seed, rows)
        for one, values in zip(MAIN, curves, strict=True)
        for seed, rows in enumerate(values)
    ]
    swept = zip(SWEEP, by_c, strict=True)
    runs += [("mcts", c, seed, [row]) for c, one in swept for seed, row in enumerate(one)]
    lines = [(*who, *(f"{value:.6g}" for value in row)) for *who, rows in runs for row in rows]
    setting = {
        **size._asdict(),
        "C": list(SWEEP),
        "epsilon": EPSILON,
        "opponent": f"MCCFR10, external sampling, {size.reference:,} iterations",
    }
    mccfr, mcts, sampled = curves
    judged = [
        balanced(mcts, mccfr),
        surpasses(mccfr, mcts),
        quicker(speeds(mcts, mccfr)),
        smaller(*needed_bytes()),
        by_time(mcts, mccfr),
        external(sampled, mcts),
    ]
    shown = ([_table(by_c)], [memory_note()])
    return EXPERIMENT.outcome(scale, folder, judged, setting, HEADER, lines, *shown)


# rules


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


# picture and table


def _table(by_c: np.ndarray) -> ResultTable:
    """Beyond the article: the sweep over C."""
    rows = [
        [f"{c:g}", *(f"{f(some[:, 2]):+.3f}" for f in (np.median, np.min, np.max))]
        for c, some in zip(SWEEP, by_c, strict=True)
    ]
    title = f"MCTS by C, in small bets, after {by_c[0, 0, 0] / 1e6:,.0f} M iterations, sb/h"
    return ResultTable(title, ["C", "median", "lowest", "highest"], rows)


def _picture(curves: list[np.ndarray], by_c: np.ndarray, iterations: int, path: Path) -> None:
    figure, axes = new_figure(1, 3, 13, 4.6)
    for order, (variant, values) in enumerate(zip(MAIN, curves, strict=True)):
        band(axes[0, 0], values[0, :, 0], values[:, :, 2], variant.label, order)
        seconds = np.median(values[:, :, 1], axis=0)
        band(axes[0, 1], seconds, values[:, :, 2], variant.label, order)
    label = f"won from MCCFR10 ({iterations / 1e6:,.0f} M iterations), sb/h"
    for axis, what in ((axes[0, 0], "iterations"), (axes[0, 1], "seconds of one core")):
        axis.set(xscale="log", xlabel=what, ylabel=label)
        axis.xaxis.set_minor_formatter("")
        axis.axhline(0.0, color="0.4", linewidth=0.8)
    axes[0, 0].axvline(45e6, color="0.4", linewidth=0.8, linestyle=":")
    axes[0, 0].set_title("dotted: where the article's curves cross", fontsize=9)
    sweep, style = axes[0, 2], {"color": COLOURS[1], "linestyle": STYLES[1]}
    won = by_c[:, :, 2]
    middle = np.median(won, axis=1)
    spread = [middle - won.min(axis=1), won.max(axis=1) - middle]
    sweep.errorbar(SWEEP, middle, yerr=spread, marker="o", capsize=3, **style)
    sweep.set(xscale="log", xlabel="exploration constant C of MCTS, small bets")
    sweep.set_ylabel(f"sb/h after {by_c[0, 0, 0] / 1e6:,.0f} M iterations")
    sweep.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
    sweep.minorticks_off()
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=3, frameon=False)
    title = "Limit hold'em, 10 buckets: median and range over seeds"
    save_figure(figure, path, title)


TITLE = "Figure 4, right: MCCFR and MCTS in limit hold'em, 10 buckets"
SECONDS = {"quick": 150, "paper": 800}  # on two cores
STORY = """MCTS (C = 17) rises fast and stays where it is; MCCFR (ε = 0.6) rises slowly and
surpasses it at about 45 million iterations (read from the curves; the text gives no number).

MCTS is the stronger of the two for some tens of millions of iterations, then stops improving,
while outcome sampling goes on. An iteration of it is not cheaper here, where both spend most of
their time on cards and memory. External sampling, at which the article only guesses, is far
ahead of both in iterations and in time."""
EXPERIMENT = Experiment(
    "fig4-holdem", TITLE, run, SECONDS, _jobs, order=2, priority=3, meaning=MEANING, story=STORY
)
