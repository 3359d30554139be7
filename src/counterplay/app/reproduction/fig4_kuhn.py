"""Figure 4, left: MCCFR (ε = 0.6) and MCTS (C = 2, and a sweep over C) in Kuhn poker.

Measured at about forty numbers of iterations: the squared error to the nearest equilibrium (SQR-E),
the summed probability of dominated actions (DOM-E), and, which the article does not show, the
exploitability ε = b1 + b2 and the loss to the equilibrium that wins the most. Levels are medians
over seeds with 95% intervals by ranks. Slopes are those of the logarithm over the last decade of
iterations, means over seeds with Student's t.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    SolverVariant,
    source_version,
)
from counterplay.app.reproduction.harness.judge import Claim, Interval, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve
from counterplay.core.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, part
from counterplay.core.evaluation.exact import expected_value, exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.kuhn import DOMINATED, kuhn_errors
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.solvers.algorithms import new_solver

EVERY = 10_000  # the article's measurements; ours are multiples of it
MEASUREMENTS = 40
EPSILON = 0.6
PAPER_C = 2.0
SWEEP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SCALES = {"quick": (20_000_000, 6), "paper": (20_000_000, 20)}  # iterations, seeds
SECONDS = {"quick": 25, "paper": 100}
RUN_SECONDS = 1.0  # of one seed of one variant, one thread
MEASURES = ("SQR-E", "DOM-E", "ε", "loss")
AXES = ("squared error SQR-E", "dominated error DOM-E", "exploitability ε (antes per hand)")
GAMMAS = (0.0, 0.5, 1.0)  # of the equilibria of player 1
HEADER = "algorithm c epsilon seed iterations sqr_e dom_e exploitability lost_to_equilibrium"

# the rules, over seeds

NEAR = 0.01  # an error close to zero; and a small loss, in antes per hand
STEADY = float(np.log10(2.0))  # slope below which an error has settled: a factor of two per decade
TIMES = 10.0  # the errors of MCCFR
SAME = 1.1  # ratio of errors that are the same


class Errors(NamedTuple):
    """One measure of one algorithm: its end and its slope over the last decade, by seed."""

    end: np.ndarray
    slope: np.ndarray

    @property
    def level(self) -> Interval:
        return judge.median(self.end)

    @property
    def trend(self) -> Interval:
        return judge.mean_over(self.slope)


By = Mapping[str, Errors]


def errors(iterations: np.ndarray, values: np.ndarray) -> dict[str, Errors]:
    """`values`: float[seeds, measurements, 4]."""
    late = iterations >= iterations[-1] / 10
    x = np.log10(iterations[late])
    x = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    y = np.log10(np.maximum(values[:, late], 1e-15))
    slopes = np.einsum("k,skm->sm", x, y)
    return {m: Errors(values[:, -1, k], slopes[:, k]) for k, m in enumerate(MEASURES)}


def text(x: Interval) -> str:
    return f"{x.value:.2g} ({x.low:.2g} to {x.high:.2g})"


def learns(mccfr: By) -> Claim:
    shown = {m: mccfr[m] for m in MEASURES[:3]}
    parts = [
        judge.all_hold([judge.below(one.level, NEAR), judge.below(one.trend, 0.0)])
        for one in shown.values()
    ]
    return claim(
        1,
        ", ".join(f"{m} {text(one.level)}" for m, one in shown.items())
        + f"; slopes over the last decade {', '.join(str(one.trend) for one in shown.values())}",
        decide(*parts),
        f"SQR-E, DOM-E and ε end below {NEAR:g}, and still fall over the last decade",
    )


def settles(mccfr: By, mcts: By) -> Claim:
    ours, theirs = mcts["SQR-E"], mccfr["SQR-E"].level
    off = judge.above(ours.level, TIMES * theirs.value)
    return claim(
        2,
        f"SQR-E {text(ours.level)} against {theirs.value:.2g} of MCCFR; its slope over the "
        f"last decade is {ours.trend}",
        decide(judge.within(ours.trend, -STEADY, STEADY), off),
        "SQR-E changes by less than a factor of two in the last decade, and ends above ten times "
        "MCCFR's",
    )


def depends(ends: Mapping[float, np.ndarray]) -> Claim:
    """`ends`: SQR-E at the end for each C, by seed."""
    levels = {c: judge.median(values) for c, values in ends.items()}
    ratios = {
        (a, b): judge.at_corners(lambda x, y: x / max(y, 1e-15), levels[a], levels[b])
        for a in levels
        for b in levels
        if a != b
    }
    (a, b), ratio = max(ratios.items(), key=lambda one: one[1].low)
    same = all(one.high < SAME for one in ratios.values())
    return claim(
        3,
        f"SQR-E {text(levels[a])} at C = {a:g}, {text(levels[b])} at C = {b:g}: a factor of "
        f"{text(ratio)}",
        decide(True if ratio.low > 1.0 else False if same else None),
        f"for some two of C = {', '.join(f'{c:g}' for c in ends)} the intervals of SQR-E do not "
        f"overlap; it fails where all agree to {SAME - 1:.0%}",
    )


def unlearns(mccfr: By, mcts: By) -> Claim:
    ours, theirs = mcts["DOM-E"], mccfr["DOM-E"].level
    return claim(
        4,
        f"DOM-E {text(ours.level)} against {theirs.value:.2g} of MCCFR; its slope over the last "
        f"decade is {ours.trend}",
        decide(judge.above(ours.level, TIMES * theirs.value), judge.below(ours.trend, 0.0)),
        "DOM-E ends above ten times MCCFR's, and still falls over the last decade",
    )


def loses_little(mccfr: By, mcts: By) -> Claim:
    ours, theirs, lost = mcts["ε"].level, mccfr["ε"].level, mcts["loss"].level
    return claim(
        5,
        f"ε {text(ours)} against {theirs.value:.2g} of MCCFR; it loses {text(lost)} antes per hand "
        f"to the equilibrium that wins the most",
        decide(judge.above(ours, TIMES * theirs.value), judge.below(lost, NEAR)),
        f"ε ends above ten times MCCFR's, and the loss, mean of both seats, is below {NEAR:g} "
        f"antes per hand",
    )


# the runs


def _variants() -> list[SolverVariant]:
    mccfr = SolverVariant("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})
    return [mccfr, *(SolverVariant(f"MCTS, C = {c:g}", "mcts", {"c": c}) for c in SWEEP)]


def how(variant: SolverVariant) -> tuple[str, object, object]:
    return variant.algorithm, variant.options.get("c", ""), variant.options.get("epsilon", "")


def points(iterations: int) -> list[int]:
    """Multiples of the article's 10^4, in geometric progression."""
    most = max(iterations // EVERY, 1)
    steps = np.geomspace(1, most, min(MEASUREMENTS, most)).round().astype(int)
    return [int(step) * EVERY for step in sorted(set(steps.tolist()))]


def _curve(
    variant: SolverVariant,
    seed: int,
    iterations: int,
    store: PieceStore,
    progress: ProgressCallback,
) -> np.ndarray:
    """float[points, 2 + 4]: iterations, seconds, MEASURES."""
    game = load("kuhn")
    equilibria = [equilibrium(gamma) for gamma in GAMMAS]

    def measure(strategy: Strategy) -> list[float]:
        found = kuhn_errors(strategy)
        lost = max(loss(game, strategy, other) for other in equilibria)
        return [found.squared, found.dominated, exploitability(game, strategy), lost]

    recipe = {"gammas": GAMMAS, "code": source_version(_curve, equilibrium, loss)}
    solver = new_solver(game, variant.algorithm, seed, dict(variant.options))
    shown = part(progress, title=f"{variant.label}, seed {seed + 1}")
    return learning_curve(store, recipe, solver, points(iterations), measure, shown)


def equilibrium(gamma: float) -> Strategy:
    """The equilibrium of Kuhn poker with this γ (core/games/kuhn.py)."""
    game = load("kuhn")
    bets = {label: 1.0 - (action == "bet") for label, action in DOMINATED.items()}
    bets |= {"J": gamma / 3, "Q pb": (1 + gamma) / 3, "K": gamma, "J p": 1 / 3, "Q b": 1 / 3}
    return Strategy.from_table(game, {key: {"pass": 1 - x, "bet": x} for key, x in bets.items()})


def loss(game: Game, strategy: Strategy, other: Strategy) -> float:
    """What a strategy loses to an equilibrium, as the mean of both seats, in which the values of
    the game cancel."""
    first = expected_value(game, strategy.replace(other, 1))[0]
    second = expected_value(game, other.replace(strategy, 1))[1]
    return float(-(first + second) / 2)


def _runs(
    variant: SolverVariant, scale: str, store: PieceStore, progress: ProgressCallback
) -> np.ndarray:
    """float[seeds, points, 6]: all seeds of one variant."""
    iterations, seeds = SCALES[scale]
    some = [partial(_curve, variant, seed, iterations, store) for seed in range(seeds)]
    return np.array([one(progress) for one in some])


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    seconds = RUN_SECONDS * SCALES[scale][1]
    return [
        Job(f"Kuhn poker: {one.label}", partial(_runs, one, scale, store), seconds)
        for one in _variants()
    ]


# picture and outcome


def _picture(runs: Mapping[str, np.ndarray], path: Path) -> None:
    """`runs` by label: MCCFR first, then MCTS for each C of the sweep."""
    figure, axes = new_figure(2, 3, 12, 7)
    (first, mccfr), *sweep = runs.items()
    paper, own = sweep[SWEEP.index(PAPER_C)], {"color": COLOURS[1]}
    x = mccfr[0, :, 0]
    for k, name in enumerate(AXES):
        top, bottom = axes[0, k], axes[1, k]
        for order, (label, values) in enumerate(((first, mccfr), paper)):
            band(top, x, values[:, :, 2 + k], label, order)
        top.set(xscale="log", yscale="log", xlabel="iterations", ylabel=name)
        ends = np.array([values[:, -1, 2 + k] for _, values in sweep])
        middle, low, high = np.median(ends, axis=1), ends.min(axis=1), ends.max(axis=1)
        bottom.plot(SWEEP, middle, linestyle=STYLES[1], marker="o", **own)
        bottom.fill_between(SWEEP, low, high, alpha=0.18, linewidth=0, **own)
        bottom.axhline(np.median(mccfr[:, -1, 2 + k]), color=COLOURS[0])
        bottom.set(xscale="log", yscale="log", xlabel="exploration constant C of MCTS")
        bottom.set_ylabel(f"{name}\nat the end")
        bottom.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
        bottom.minorticks_off()
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=2, frameon=False)
    title = f"Kuhn poker: median and range over {len(mccfr)} seeds, {int(x[-1]):,} iterations"
    save_figure(figure, path, title)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    (iterations, seeds), variants, folder = SCALES[scale], _variants(), store.folder
    made = in_parallel([partial(_runs, one, scale, store) for one in variants], progress)
    runs = dict(zip((one.label for one in variants), made, strict=True))
    progress(1.0, "drawing")
    _picture(runs, folder / "fig4-kuhn.png")
    rows = [
        (*how(one), seed, int(row[0]), *(f"{value:.6g}" for value in row[2:]))
        for one, values in zip(variants, made, strict=True)
        for seed, curve in enumerate(values)
        for row in curve
    ]
    x = made[0][0, :, 0]
    mccfr, mcts = (
        errors(x, runs[label][:, :, 2:]) for label in (variants[0].label, f"MCTS, C = {PAPER_C:g}")
    )
    ends = {c: values[:, -1, 2] for c, values in zip(SWEEP, made[1:], strict=True)}
    judged = [
        learns(mccfr),
        settles(mccfr, mcts),
        depends(ends),
        unlearns(mccfr, mcts),
        loses_little(mccfr, mcts),
    ]
    setting = {"iterations": iterations, "seeds": seeds, "epsilon": EPSILON, "C": list(SWEEP)}
    return EXPERIMENT.outcome(scale, folder, judged, setting, HEADER, rows)


TITLE = "Figure 4, left: MCCFR and MCTS in Kuhn poker"
STORY = """MCCFR's squared and dominated errors are close to zero. MCTS (C = 2) has converged
slightly off the equilibrium, plays dominated actions and is still unlearning them. No numbers are
given.

MCCFR's errors fall by about a factor of ten with each decade of iterations. MCTS stops at a
distance from every equilibrium that depends on C, while its dominated actions become ever rarer. A
best response exploits it; an equilibrium wins almost nothing from it."""
EXPERIMENT = Experiment("fig4-kuhn", TITLE, run, SECONDS, _jobs, order=1, priority=1, story=STORY)
