"""Figure 4, right: MCCFR (outcome sampling, ε = 0.6), MCTS (C = 17) and external sampling in limit
hold'em with 10 buckets, by sb/h against a pre-computed equilibrium, iterations and seconds.

Seed k of every algorithm plays the same deals, other than those of the other seeds, so differences
between algorithms are paired by seed, and their interval (Student's t) is over seeds and deals
together. Seconds are of one thread, without the evaluations. A sweep over C, which names no unit in
the article, is beside it without a claim.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction import fig4_holdem_rules as rules
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    SolverVariant,
    source_version,
)
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve, trained
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
REFERENCE_SEED = 999
#: Iterations a second of one thread (benchmarks/RESULTS.md and public_threads.csv).
RATES = {
    "mcts": 1.6e6,
    "mccfr": 2.4e6,
    "mccfr-external": 1.5e5,
    "mccfr-public": 90.0,
    "mccfr-chance": 1.8e3,
}
EVALUATION_RATE = 2.5e6  # hands a second
HEADER = "algorithm c seed iterations seconds sb_per_hand standard_error"
OUTCOME = SolverVariant("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})
MCTS = SolverVariant("MCTS, C = 17", "mcts", {"c": PAPER_C})
EXTERNAL = SolverVariant("MCCFR, external sampling", "mccfr-external", {})
MAIN = (OUTCOME, MCTS, EXTERNAL)
STEPS = (1, 1.5, 2, 3, 5, 7)  # of a decade
#: Variant, seed, and the iterations at which it is measured.
PlannedRun = tuple[SolverVariant, int, list[int]]


class Fig4HoldemScale(NamedTuple):
    iterations: int  # of outcome sampling
    mcts: int
    external: int
    swept: int  # iterations of each C
    seeds: int
    mcts_seeds: int
    swept_seeds: int
    hands: int
    reference: int  # iterations of external sampling for the pre-computed profile


QUICK = (140_000_000, 20_000_000, 500_000, 2_000_000, 3, 5, 1, 300_000, 1_000_000)
PAPER = (200_000_000, 100_000_000, 4_000_000, 10_000_000, 5, 10, 3, 1_000_000, 4_000_000)
SCALES = {
    "quick": Fig4HoldemScale(*QUICK),
    "paper": Fig4HoldemScale(*PAPER),
}
FIRST = 100_000  # iterations at the first evaluation
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "opponent": "whom the algorithms are measured against",
    "reference": "iterations of the profile that is played against",
    "mcts": "iterations of MCTS",
    "mcts_seeds": "runs of MCTS, whose seeds differ more",
    "swept_seeds": "runs of each value of C",
}

# the runs


def points(iterations: int, first: int) -> list[int]:
    """From `first` on, six in a decade, as round numbers; the last is `iterations`."""
    scales = [10**k for k in range(12)]
    found = {int(step * scale) for scale in scales for step in STEPS}
    return [n for n in sorted(found) if first <= n < iterations] + [iterations]


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


def reference(size: Fig4HoldemScale, store: PieceStore, progress: ProgressCallback) -> Strategy:
    """The pre-computed profile: external sampling with a seed of its own."""
    solver = new_solver(load(GAME), "mccfr-external", REFERENCE_SEED, {"threads": 2})
    return trained(store, solver, size.reference, progress, "pre-computed MCCFR10")


def curve(
    variant: SolverVariant,
    seed: int,
    when: list[int],
    profile: Strategy,
    hands: int,
    store: PieceStore,
    progress: ProgressCallback,
) -> np.ndarray:
    """float64[points, 4]: iterations, seconds, sb/h and its standard error."""
    opponent = strategy_bot(profile, "MCCFR10")

    def against(strategy: Strategy) -> list[float]:
        match = (strategy.game, strategy, opponent, hands, MATCH_SEED + seed)
        result = play_match(*match, processes=1, luck_adjusted=False)
        return [result.mean, result.standard_error]

    new_solver(load(GAME), variant.algorithm, seed, dict(variant.options)).step(1)  # compiles
    solver = new_solver(load(GAME), variant.algorithm, seed, dict(variant.options))
    recipe = {"against": digest(profile.probabilities), "hands": hands, "seed": MATCH_SEED + seed}
    recipe["code"] = source_version(curve)

    def labelled(share: float, what: str) -> None:
        progress(share, f"{variant.label}, seed {seed + 1}: {what}")

    return learning_curve(store, recipe, solver, when, against, labelled)


def curve_jobs(size: Fig4HoldemScale, plan: Sequence[PlannedRun], store: PieceStore) -> list[Job]:
    """The reference, and then the curves of a plan."""
    first = Job(
        "Figure 4: pre-computed MCCFR10",
        partial(reference, size, store),
        size.reference / RATES["mccfr-external"] / 1.8,
        2,
    )

    def job(variant: SolverVariant, seed: int, when: list[int]) -> Job:
        def work(progress: ProgressCallback) -> None:
            profile = reference(size, store, progress)
            curve(variant, seed, when, profile, size.hands, store, progress)

        evaluating = len(when) * size.hands / EVALUATION_RATE
        seconds = 2.0 + when[-1] / RATES[variant.algorithm] + evaluating
        name = f"Figure 4: {variant.label}, seed {seed + 1}, {when[-1]:,} iterations"
        return Job(name, work, seconds, 1, (first.name,))

    return [first, *(job(*one) for one in plan)]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    return curve_jobs(SCALES[scale], by_seed(_plan(SCALES[scale])), store)


def by_seed(plan: list[PlannedRun]) -> list[PlannedRun]:
    """Seed by seed, so that jobs which begin together compile different kernels."""
    return sorted(plan, key=lambda one: one[1])


def curves_of(
    size: Fig4HoldemScale,
    plan: Sequence[PlannedRun],
    store: PieceStore,
    progress: ProgressCallback,
) -> list[np.ndarray]:
    """The curves of a plan, on as many threads as there are cores."""
    profile = reference(size, store, lambda share, what: progress(0.1 * share, what))
    work = [partial(curve, *one, profile, size.hands, store) for one in plan]
    return in_parallel(work, lambda share, what: progress(0.1 + 0.89 * share, what))


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
        rules.balanced(mcts, mccfr),
        rules.surpasses(mccfr, mcts),
        rules.quicker(speeds(mcts, mccfr)),
        rules.smaller(*needed_bytes()),
        rules.by_time(mcts, mccfr),
        rules.external(sampled, mcts),
    ]
    shown = ([_table(by_c)], [memory_note()])
    return EXPERIMENT.outcome(scale, folder, judged, setting, HEADER, lines, *shown)


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
