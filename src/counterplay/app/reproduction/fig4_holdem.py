"""Figure 4, right: MCCFR and MCTS in limit hold'em with 10 buckets, against a pre-computed MCCFR10
profile.

At regular iterations the strategy plays duplicate hands against a profile trained before by MCCFR
from another seed. That profile uses external sampling, which gets further in the same time; against
one of outcome sampling, far from converged itself, a result near zero would mean little. External
sampling is also the third curve: the paper's conclusion guesses that it converges as fast as MCTS.
Each of its iterations visits about 40 times as many nodes, so it has fewer; an iteration of public
chance sampling, the fourth curve, traverses all betting on a board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    SolverVariant,
    prefixed_progress,
    source_version,
)
from counterplay.app.reproduction.harness.old_judge import Claim, RuleVariant
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve
from counterplay.app.reproduction.players import Pairing, mccfr, training_jobs
from counterplay.app.reproduction.sizes import SIZES
from counterplay.core.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.bots.table import strategy_bot

GAME = "holdem(buckets=10)"
EPSILON, PAPER_C = 0.6, 17.0
#: In small bets: 17 small blinds are 8.5, and 17 big bets 34.
SWEEP = (2.0, 4.25, 8.5, 17.0, 34.0, 68.0)
MATCH_SEED = 77
#: Iterations a second of one thread (benchmarks/RESULTS.md and public_threads.csv).
RATES = {"mcts": 1.6e6, "mccfr": 2.0e6, "mccfr-external": 7.9e4, "mccfr-public": 90.0}
HEADER = "algorithm c seed iterations seconds sb_per_hand standard_error"


class Fig4HoldemScale(NamedTuple):
    iterations: int  # of outcome sampling and of MCTS
    external: int
    public: int
    every: int
    swept: int  # iterations of each C
    seeds: int
    swept_seeds: int
    hands: int
    reference: int


SCALES = {
    scale: Fig4HoldemScale(*numbers, reference=SIZES[scale].external)
    for scale, numbers in (
        ("quick", (8_000_000, 500_000, 500, 1_000_000, 4_000_000, 3, 1, 200_000)),
        ("paper", (200_000_000, 4_000_000, 5_000, 5_000_000, 50_000_000, 3, 3, 400_000)),
    )
}
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "every": "iterations from one measurement to the next",
    "opponent": "whom both algorithms are measured against",
    "reference": "iterations of the profile that is played against",
    "swept_seeds": "runs of each value of C",
}

# the rules, on sb/h against the pre-computed MCCFR10, one number per seed

LONG = 200_000_000  # iterations needed for a verdict against "in the long run"
SWEPT = 50_000_000  # iterations needed for a verdict on C
LEVEL = 0.01  # sb/h
NEAR = 0.02  # sb/h from the best C
#: The paper names no unit for its payoffs: C = 17 of each unit, in small bets.
UNITS = {"small bets": 17.0, "small blinds": 8.5, "big bets": 34.0}


def fast(mcts: Sequence[float], mccfr: Sequence[float], iterations: int) -> Claim:
    """At the first evaluation."""
    margin = judge.difference(judge.seed_range(mcts), judge.seed_range(mccfr))
    return Claim(
        "MCTS converges fast, MCCFR considerably slower.",
        "at the first evaluation MCTS is ahead of MCCFR, over the whole range of seeds",
        f"sb/h after {iterations:,} iterations: MCTS ahead by {margin}",
        judge.above(margin, 0.0),
        RuleVariant("every seed of MCTS is above every one of MCCFR", "", min(mcts) > max(mccfr)),
    )


def surpasses(
    mccfr: Sequence[float], mcts: Sequence[float], iterations: int, two_errors: float
) -> Claim:
    """At the last evaluation. `two_errors`: twice the standard error, for the earlier rule."""
    margin = judge.difference(judge.seed_range(mccfr), judge.seed_range(mcts))
    verdict = judge.above(margin, 0.0)
    return Claim(
        "In the long run MCCFR surpasses MCTS.",
        f"at the last evaluation MCCFR is ahead, over the whole range of seeds; no verdict against "
        f"it under {LONG:,} iterations",
        f"after {iterations:,} iterations MCCFR ahead by {margin}",
        verdict or judge.only_if(iterations >= LONG, verdict),
        RuleVariant(
            "the median of MCCFR is ahead by more than two standard errors",
            f"two standard errors are {two_errors:.3f}",
            margin.value > two_errors,
        ),
    )


def quicker(ratios: Sequence[float]) -> Claim:
    """Seconds of MCTS over seconds of MCCFR for equal iterations, by seed."""
    ratio = judge.seed_range(ratios)
    return Claim(
        "An iteration of MCTS takes less time than one of MCCFR.",
        "seconds of the whole run, MCTS over MCCFR, are below 1 in every seed; it fails where in "
        "none",
        f"ratio {ratio.value:.2f}, from {ratio.low:.2f} to {ratio.high:.2f}",
        judge.below(ratio, 1.0),
        RuleVariant("the median ratio is below 1", f"{ratio.value:.2f}", ratio.value < 1.0),
    )


def smaller(mcts: int, mccfr: int) -> Claim:
    """Bytes of the learnt arrays of each."""
    return Claim(
        "MCTS needs less memory than MCCFR.",
        "the arrays it learns, as they are here, take fewer bytes",
        f"MCTS {mcts / 1e6:.2f} MB (of which visits and values alone would be two numbers an "
        f"action), MCCFR {mccfr / 1e6:.2f} MB (two numbers an action, one an information set)",
        judge.below(judge.exact(mcts / mccfr), 1.0),
    )


def external(
    ours: Sequence[float], mcts: Sequence[float], iterations: int, also: str = ""
) -> Claim:
    margin = judge.difference(judge.seed_range(ours), judge.seed_range(mcts))
    return Claim(
        "External sampling may converge as fast as MCTS, in iterations (the paper's guess).",
        f"at the same number of iterations external sampling is ahead of MCTS, or behind by less "
        f"than {LEVEL:g} sb/h, over the whole range of seeds",
        f"after {iterations:,} iterations ahead by {margin}{also}",
        judge.above(margin, -LEVEL),
        RuleVariant(f"the median is behind by less than {LEVEL:g}", "", margin.value > -LEVEL),
    )


def constant(ends: Mapping[float, Sequence[float]], iterations: int, unit: str) -> Claim:
    """`ends`: for each C, in small bets, sb/h at the end."""
    paper = UNITS[unit]
    ranges = {c: judge.seed_range(values) for c, values in ends.items()}
    others = {c: judge.difference(one, ranges[paper]) for c, one in ranges.items() if c != paper}
    best = max(others, key=lambda c: others[c].value)
    most = max(one.value for one in ranges.values())
    details = ", ".join(f"C = {c:g} {one.value:+.3f}" for c, one in ranges.items())
    return Claim(
        f"C = 17 suits MCTS, if the paper's payoffs are {unit} (C = {paper:g} in small bets).",
        f"no other value tried is ahead by {NEAR:g} sb/h or more, over the whole range of seeds; "
        f"no verdict under {SWEPT:,} iterations",
        f"after {iterations:,} iterations {details}; C = {best:g} is ahead by {others[best]}",
        judge.only_if(
            iterations >= SWEPT, judge.all_hold([judge.below(one, NEAR) for one in others.values()])
        ),
        RuleVariant(
            f"its median is within {NEAR:g} of the best",
            f"behind by {most - ranges[paper].value:.3f}",
            ranges[paper].value > most - NEAR,
        ),
    )


def _claims(
    curves: Sequence[np.ndarray], ends: dict[float, np.ndarray], learnt: tuple[int, int]
) -> list[Claim]:
    """`curves` of MCCFR, MCTS and external sampling. `ends`: for each C float64[seeds, 4], the
    last row of a curve. `learnt`: bytes of MCTS and of MCCFR."""
    mccfr, mcts, sampled = curves[:3]
    error = float(np.sqrt((mcts[:, -1, 3] ** 2).mean() + (mccfr[:, -1, 3] ** 2).mean()))
    at = int(np.median(sampled[:, -1, 0]))
    near = int(np.argmin(np.abs(mcts[0, :, 0] - at)))
    seconds = float(np.median(sampled[:, -1, 1]))
    then = int(np.argmin(np.abs(np.median(mcts[:, :, 1], axis=0) - seconds)))
    also = f"; outcome sampling {np.median(mccfr[:, near, 2]):+.3f}; in the same time "
    also += f"({seconds:.1f} s) MCTS {np.median(mcts[:, then, 2]):+.3f}"
    won = {c: rows[:, 2].tolist() for c, rows in ends.items()}
    swept = int(next(iter(ends.values()))[0, 0])
    return [
        fast(mcts[:, 0, 2].tolist(), mccfr[:, 0, 2].tolist(), int(mcts[0, 0, 0])),
        surpasses(
            mccfr[:, -1, 2].tolist(), mcts[:, -1, 2].tolist(), int(mcts[0, -1, 0]), 2 * error
        ),
        quicker((mcts[:, -1, 1] / np.maximum(mccfr[:, -1, 1], 1e-9)).tolist()),
        smaller(*learnt),
        external(sampled[:, -1, 2].tolist(), mcts[:, near, 2].tolist(), at, also),
        *(constant(won, swept, unit) for unit, c in UNITS.items() if c in won),
    ]


# the runs


MAIN = [
    SolverVariant("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON}),
    SolverVariant("MCTS, C = 17", "mcts", {"c": PAPER_C}),
    SolverVariant("MCCFR, external sampling", "mccfr-external", {}),
    SolverVariant("MCCFR, public sampling", "mccfr-public", {}),
]


def _plan(size: Fig4HoldemScale) -> list[tuple[SolverVariant, int, list[int]]]:
    """Every curve: variant, seed, and the iterations at which it is measured."""
    plan = [(one, seed, _points(one, size)) for one in MAIN for seed in range(size.seeds)]
    swept = [SolverVariant(f"MCTS, C = {c:g}, for the sweep", "mcts", {"c": c}) for c in SWEEP]
    return plan + [(one, seed, [size.swept]) for one in swept for seed in range(size.swept_seeds)]


def _points(variant: SolverVariant, size: Fig4HoldemScale) -> list[int]:
    few = {"mccfr-external": size.external, "mccfr-public": size.public}
    if variant.algorithm in few:
        return [few[variant.algorithm] * k // 10 for k in range(1, 11)]
    return list(range(size.every, size.iterations + 1, size.every))


def reference(iterations: int, store: PieceStore, progress: ProgressCallback) -> Strategy:
    """The pre-computed profile: MCCFR10 of Tables 1 and 2, external sampling."""
    return mccfr(load(GAME), iterations, store, progress, "pre-computed MCCFR10").strategy


def _curve(
    variant: SolverVariant,
    seed: int,
    points: list[int],
    profile: Strategy,
    hands: int,
    store: PieceStore,
    progress: ProgressCallback,
) -> np.ndarray:
    """float64[points, 4]: iterations, seconds, sb/h and its standard error."""
    opponent = strategy_bot(profile, "MCCFR10")

    def against(strategy: Strategy) -> list[float]:
        match = (strategy.game, strategy, opponent, hands, MATCH_SEED + seed)
        result = play_match(*match, luck_adjusted=False)
        return [result.mean, result.standard_error]

    solver = new_solver(load(GAME), variant.algorithm, seed, variant.options)
    recipe = {"against": digest(profile.probabilities), "hands": hands, "seed": MATCH_SEED + seed}
    recipe["code"] = source_version(_curve)
    labelled = prefixed_progress(progress, f"{variant.label}, seed {seed + 1}")
    return learning_curve(store, recipe, solver, points, against, labelled)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    trained = training_jobs(scale, store, Pairing("MCCFR10", "external", 10, "poki"))

    def job(variant: SolverVariant, seed: int, points: list[int]) -> Job:
        def work(progress: ProgressCallback) -> None:
            profile = reference(size.reference, store, progress)
            _curve(variant, seed, points, profile, size.hands, store, progress)

        seconds = 1.2 * points[-1] / RATES[variant.algorithm]
        name, after = f"Figure 4: {variant.label}, seed {seed + 1}", (trained[0].name,)
        return Job(name, work, seconds, 1, after)

    return [*trained, *(job(*one) for one in _plan(size))]


def _learnt_bytes(variant: SolverVariant) -> int:
    """Bytes of the arrays that an algorithm learns."""
    solver = new_solver(load(GAME), variant.algorithm, 0, variant.options)
    return sum(array.nbytes for array in solver.tables().values())


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    profile = reference(size.reference, store, lambda share, what: progress(0.15 * share, what))
    work = [partial(_curve, *one, profile, size.hands, store) for one in _plan(size)]
    results = in_parallel(work, lambda share, what: progress(0.15 + 0.84 * share, what))
    n = size.seeds
    curves = [np.array(results[k * n : (k + 1) * n]) for k in range(len(MAIN))]
    last = np.array([rows[-1] for rows in results[len(MAIN) * n :]])
    by_c = last.reshape(len(SWEEP), size.swept_seeds, -1)
    ends = dict(zip(SWEEP, by_c, strict=True))
    _picture(curves, by_c.mean(axis=1), size.reference, folder / "fig4-holdem.png")
    runs = [
        (one.algorithm, one.options.get("c", ""), seed, rows)
        for one, values in zip(MAIN, curves, strict=True)
        for seed, rows in enumerate(values)
    ]
    runs += [("mcts", c, seed, [row]) for c, one in ends.items() for seed, row in enumerate(one)]
    lines = [(*how, *(f"{value:.6g}" for value in row)) for *how, rows in runs for row in rows]
    setting = {
        **size._asdict(),
        "C": list(SWEEP),
        "epsilon": EPSILON,
        "opponent": f"MCCFR10 after {size.reference:,} iterations",
    }
    return EXPERIMENT.outcome(scale, folder, [], setting, HEADER, lines)


def _picture(curves: list[np.ndarray], ends: np.ndarray, iterations: int, path: Path) -> None:
    figure, axes = new_figure(1, 3, 13, 4.2)
    for order, (variant, values) in enumerate(zip(MAIN, curves, strict=True)):
        band(axes[0, 0], values[0, :, 0], values[:, :, 2], variant.label, order)
        seconds = np.median(values[:, :, 1], axis=0)
        band(axes[0, 1], seconds, values[:, :, 2], variant.label, order)
    label = f"won from MCCFR10 ({iterations / 1e6:,.0f} M iterations), sb/h"
    for axis, what in ((axes[0, 0], "iterations"), (axes[0, 1], "seconds of one core")):
        axis.set(xscale="log", xlabel=what, ylabel=label)
        axis.xaxis.set_minor_formatter("")
        axis.axhline(0.0, color="0.4", linewidth=0.8)
        axis.legend(frameon=False)
    sweep, style = axes[0, 2], {"color": COLOURS[1], "linestyle": STYLES[1]}
    sweep.errorbar(SWEEP, ends[:, 2], yerr=1.96 * ends[:, 3], marker="o", capsize=3, **style)
    sweep.set(xscale="log", xlabel="exploration constant C of MCTS")
    sweep.set_ylabel(f"sb/h after {ends[0, 0] / 1e6:,.0f} M iterations")
    sweep.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
    sweep.minorticks_off()
    seeds = len(curves[0])
    title = f"Limit hold'em, 10 buckets (median and range over {seeds} seeds)"
    save_figure(figure, path, title)


TITLE = "Figure 4, right: MCCFR and MCTS in limit hold'em, 10 buckets"
SECONDS = {"quick": 100, "paper": 750}  # on two cores
EXPERIMENT = Experiment(
    "fig4-holdem", TITLE, run, SECONDS, _jobs, order=2, priority=5, meaning=MEANING
)
