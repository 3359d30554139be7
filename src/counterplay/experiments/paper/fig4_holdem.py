"""Figure 4, right: MCCFR and MCTS in limit hold'em with 10 buckets, against a pre-computed MCCFR10
profile.

Every so many iterations the strategy plays duplicate hands against a profile that MCCFR learnt
before, from another seed. That one uses external sampling, which gets further in the same time;
against a profile of outcome sampling that is itself far from converged, "near zero" would say
little. External sampling is also the third curve: the paper's conclusion guesses that it converges
as fast as MCTS. One of its iterations visits about 40 times as many nodes, so it is run for fewer.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.arena.match import play_match
from counterplay.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.parallel import in_parallel
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store, digest
from counterplay.experiments.harness.training import learning_curve
from counterplay.experiments.paper.players import SIZES, mccfr
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.opponents.bots.table import strategy_bot
from counterplay.solvers.algorithms import new_solver

GAME = "holdem(buckets=10)"
EPSILON, PAPER_C = 0.6, 17.0
SWEEP = (2.0, 5.0, 10.0, 17.0, 30.0, 60.0)
EVERY = 1_000_000
MATCH_SEED = 77


class Scale(NamedTuple):
    iterations: int  # of outcome sampling and of MCTS
    external: int  # of external sampling
    every: int  # iterations between evaluations
    swept: int  # iterations of each C
    reference: int  # iterations of the profile played against
    seeds: int
    hands: int


SCALES = {
    "quick": Scale(8_000_000, 500_000, EVERY, 4_000_000, SIZES["quick"].mccfr10, 3, 200_000),
    "paper": Scale(
        1_000_000_000, 40_000_000, EVERY, 50_000_000, SIZES["paper"].mccfr10, 3, 200_000
    ),
}


class Plan(NamedTuple):
    label: str
    algorithm: str
    options: dict[str, Any]


class Curve(NamedTuple):
    label: str
    algorithm: str
    options: dict[str, Any]
    values: np.ndarray  # float64[seeds, points, 4]: iterations, seconds, sb/h, its standard error


def reference(iterations: int, store: Store, tell: Tell) -> Strategy:
    """The pre-computed profile: MCCFR10 of Tables 1 and 2."""
    return mccfr(load(GAME), iterations, store, tell, "pre-computed MCCFR10")


def _curve(
    plan: Plan, seed: int, points: list[int], foe: Strategy, hands: int, store: Store, tell: Tell
) -> np.ndarray:
    opponent = strategy_bot(foe, "MCCFR10")

    def against(strategy: Strategy) -> list[float]:
        result = play_match(strategy.game, strategy, opponent, hands, MATCH_SEED + seed)
        return [result.mean, result.standard_error]

    solver = new_solver(load(GAME), plan.algorithm, seed, plan.options)
    recipe = {
        "against": digest(foe.probabilities),
        "hands": hands,
        "seed": MATCH_SEED + seed,
        "file": file_version(__file__),
    }
    what = plan.label or f"MCTS, C = {plan.options['c']:g}"
    about: Tell = lambda share, how: tell(share, f"{what}, seed {seed + 1}: {how}")  # noqa: E731
    return learning_curve(store, recipe, solver, points, against, about)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    size, folder = SCALES[scale], store.folder
    started = time.perf_counter()
    foe = reference(size.reference, store, lambda share, what: tell(0.15 * share, what))
    main = [
        Plan("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON}),
        Plan("MCTS, C = 17", "mcts", {"c": PAPER_C}),
        Plan("MCCFR, external sampling", "mccfr-external", {}),
    ]
    jobs = [(plan, seed, _points(plan, size)) for plan in main for seed in range(size.seeds)]
    jobs += [(Plan("", "mcts", {"c": c}), 0, [size.swept]) for c in SWEEP]
    results = in_parallel(
        [
            partial(_curve, plan, seed, points, foe, size.hands, store)
            for plan, seed, points in jobs
        ],
        lambda share, what: tell(0.15 + 0.84 * share, what),
    )
    curves = [
        Curve(*plan, np.array(results[k * size.seeds : (k + 1) * size.seeds]))
        for k, plan in enumerate(main)
    ]
    ends = np.array([rows[-1] for rows in results[len(main) * size.seeds :]])
    _picture(curves, ends, foe_iterations=size.reference, path=folder / "fig4-holdem.png")
    rows = [
        (curve.algorithm, curve.options.get("c", ""), seed, *(f"{value:.6g}" for value in row))
        for curve in curves
        for seed, one in enumerate(curve.values)
        for row in one
    ]
    rows += [
        ("mcts", c, 0, *(f"{value:.6g}" for value in row))
        for c, row in zip(SWEEP, ends, strict=True)
    ]
    write_csv(
        folder / "fig4-holdem.csv",
        ("algorithm", "c", "seed", "iterations", "seconds", "sb_per_hand", "standard_error"),
        rows,
    )
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(curves, ends),
        {
            **size._asdict(),
            "C": list(SWEEP),
            "epsilon": EPSILON,
            "opponent": f"MCCFR10 after {size.reference:,} iterations",
        },
        time.perf_counter() - started,
        ["fig4-holdem.png", "fig4-holdem.csv"],
    )


def _points(plan: Plan, size: Scale) -> list[int]:
    if plan.algorithm == "mccfr-external":
        return [size.external * k // 10 for k in range(1, 11)]
    return list(range(size.every, size.iterations + 1, size.every))


def _claims(curves: list[Curve], ends: np.ndarray) -> list[Claim]:
    mccfr, mcts, external = (curve.values for curve in curves)
    early, late = (mcts[:, 0, 2], mccfr[:, 0, 2]), (mcts[:, -1, 2], mccfr[:, -1, 2])
    error = float(np.sqrt((mcts[:, -1, 3] ** 2).mean() + (mccfr[:, -1, 3] ** 2).mean()))
    gap = float(np.median(late[1]) - np.median(late[0]))
    at = np.median(external[:, -1, 0])
    nearest = int(np.argmin(np.abs(mcts[0, :, 0] - at)))
    ext, tree, plain = (
        float(np.median(v)) for v in (external[:, -1, 2], mcts[:, nearest, 2], mccfr[:, nearest, 2])
    )
    rate = float(np.median(mcts[:, -1, 1]) / np.median(mccfr[:, -1, 1]))
    when = _at_time(external, mcts)
    best = SWEEP[int(np.argmax(ends[:, 2]))]
    return [
        Claim(
            "MCTS converges fast, MCCFR considerably slower.",
            "at the first evaluation every seed of MCTS is above every seed of MCCFR",
            f"sb/h after {mcts[0, 0, 0]:,.0f} iterations: MCTS {np.median(early[0]):+.3f}, MCCFR "
            f"{np.median(early[1]):+.3f}",
            bool(early[0].min() > early[1].max()),
        ),
        Claim(
            "In the long run MCCFR surpasses MCTS.",
            "at the last evaluation the median of MCCFR is above that of MCTS by more than two "
            "standard errors",
            f"sb/h after {mcts[0, -1, 0]:,.0f} iterations: MCCFR {np.median(late[1]):+.3f}, MCTS "
            f"{np.median(late[0]):+.3f} "
            f"(standard error of the difference {error:.3f})",
            gap > 2 * error,
        ),
        Claim(
            "An iteration of MCTS takes less time than one of MCCFR.",
            "median seconds of the whole run, MCTS over MCCFR, below 1",
            f"ratio {rate:.2f}; an MCTS hand is longer, {_note(curves)}",
            rate < 1.0,
        ),
        Claim(
            "External sampling may converge as fast as MCTS, in iterations (the paper's guess).",
            "at the same number of iterations external sampling is at least level with MCTS "
            "(within 0.01 sb/h)",
            f"after {at:,.0f} iterations: external {ext:+.3f}, MCTS {tree:+.3f}, outcome sampling "
            f"{plain:+.3f}; "
            f"in the same time {when}",
            ext > tree - 0.01,
        ),
        Claim(
            "C = 17 suits MCTS.",
            "of the values tried, 17 is within 0.02 sb/h of the best",
            f"after {ends[0, 0]:,.0f} iterations: best C = {best:g} ({ends[:, 2].max():+.3f}), "
            f"C = 17 {ends[SWEEP.index(PAPER_C), 2]:+.3f}",
            bool(ends[SWEEP.index(PAPER_C), 2] > ends[:, 2].max() - 0.02),
        ),
    ]


def _note(curves: list[Curve]) -> str:
    seconds = ", ".join(
        f"{curve.algorithm} {np.median(curve.values[:, -1, 1]):.1f} s" for curve in curves[:2]
    )
    return f"seconds: {seconds}"


def _at_time(external: np.ndarray, mcts: np.ndarray) -> str:
    """MCTS when it has used the seconds that external sampling used."""
    seconds = float(np.median(external[:, -1, 1]))
    k = int(np.argmin(np.abs(np.median(mcts[:, :, 1], axis=0) - seconds)))
    return f"({seconds:.1f} s) MCTS {np.median(mcts[:, k, 2]):+.3f}"


def _picture(curves: list[Curve], ends: np.ndarray, foe_iterations: int, path: Path) -> None:
    figure, axes = new_figure(1, 3, 13, 4.2)
    for order, curve in enumerate(curves):
        iterations, seconds = curve.values[0, :, 0], np.median(curve.values[:, :, 1], axis=0)
        band(axes[0, 0], iterations, curve.values[:, :, 2], curve.label, order)
        band(axes[0, 1], seconds, curve.values[:, :, 2], curve.label, order)
    label = f"won from MCCFR10 ({foe_iterations / 1e6:,.0f} M iterations), sb/h"
    axes[0, 0].set(xscale="log", xlabel="iterations", ylabel=label)
    axes[0, 1].set(xscale="log", xlabel="seconds of one core", ylabel=label)
    for axis in axes[0, :2]:
        axis.xaxis.set_minor_formatter("")
        axis.axhline(0.0, color="0.4", linewidth=0.8)
        axis.legend(frameon=False)
    sweep = axes[0, 2]
    sweep.errorbar(
        SWEEP,
        ends[:, 2],
        yerr=1.96 * ends[:, 3],
        color=COLOURS[1],
        linestyle=STYLES[1],
        marker="o",
        capsize=3,
    )
    sweep.set(
        xscale="log",
        xlabel="exploration constant C of MCTS",
        ylabel=f"sb/h after {ends[0, 0] / 1e6:,.0f} M iterations",
    )
    sweep.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
    sweep.minorticks_off()
    seeds = curves[0].values.shape[0]
    figure.suptitle(f"Limit hold'em, 10 buckets (median and range over {seeds} seeds)")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    "fig4-holdem",
    "Figure 4, right: MCCFR and MCTS in limit hold'em, 10 buckets",
    run,
    {"quick": 100, "paper": 9000},
)
