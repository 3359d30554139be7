"""Figure 4, left: MCCFR (ε = 0.6) and MCTS (C = 2, and a sweep over C) in Kuhn poker.

Measured every 10^4 iterations: the squared error to the nearest equilibrium (SQR-E), the summed
probability of dominated actions (DOM-E), and the exploitability b1 + b2, which the paper does not
show. Bands are the range over seeds.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    SolverVariant,
    source_version,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, RuleVariant
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.evaluation.exact import expected_value, exploitability
from counterplay.core.evaluation.kuhn import DOMINATED, kuhn_errors
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.jobs import Job
from counterplay.core.solvers.run import Progress, solve

EVERY = 10_000
WRITTEN = 100  # measurements of a run in the CSV
EPSILON = 0.6
PAPER_C = 2.0
SWEEP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SCALES = {"quick": (1_000_000, 8), "paper": (10_000_000, 20)}  # iterations, seeds
SECONDS = {"quick": 10, "paper": 200}
MEASURES = ("SQR-E", "DOM-E", "exploitability")
LOSS = len(MEASURES)  # column of the loss to an equilibrium, after those
AXES = ("squared error SQR-E", "dominated error DOM-E", "exploitability b1 + b2 (antes per hand)")
GAMMAS = (0.0, 0.5, 1.0)  # of the equilibria of player 1
HEADER = "algorithm c epsilon seed iterations sqr_e dom_e exploitability lost_to_equilibrium"

# the rules, over seeds

SMALL, FALL = 0.01, 0.5  # errors at the end, and as a share of those at a tenth of the run
TIMES = 10.0  # MCCFR's error
LITTLE = 0.01  # antes per hand
ENOUGH = 1_000_000  # iterations; a hundred of the paper's measurements


class SeedErrors(NamedTuple):
    """One number per seed at a tenth of the run and at its end."""

    tenth: np.ndarray
    end: np.ndarray

    @property
    def now(self) -> Interval:
        return judge.seed_range(self.end)

    @property
    def falls(self) -> np.ndarray:
        """Errors at the end as shares of those at a tenth."""
        return np.asarray(self.end / np.maximum(self.tenth, 1e-15))

    @property
    def fall(self) -> Interval:
        return judge.seed_range(self.falls)


def claims(mccfr: np.ndarray, mcts: np.ndarray) -> list[Claim]:
    """`mccfr`, `mcts`: float[seeds, measurements, 4]."""
    tenth, iterations = mccfr.shape[1] // 10 - 1, mccfr.shape[1] * EVERY
    one, two = (
        {m: SeedErrors(values[:, tenth, k], values[:, -1, k]) for k, m in enumerate(MEASURES)}
        for values in (mccfr, mcts)
    )
    return [
        learns(one, iterations),
        off(one, two, "SQR-E", "MCTS settles slightly off the equilibrium."),
        off(one, two, "DOM-E", "MCTS still plays dominated actions."),
        unlearns(two["DOM-E"]),
        loses_little(judge.seed_range(mcts[:, -1, LOSS]), iterations),
    ]


def learns(mccfr: dict[str, SeedErrors], iterations: int) -> Claim:
    pairs = [(judge.median(one.end), judge.median(one.falls)) for one in mccfr.values()]
    verdict = judge.all_hold(
        [x for end, fall in pairs for x in (judge.below(end, SMALL), judge.below(fall, FALL))]
    )
    each = judge.all_hold(
        [
            x
            for one in mccfr.values()
            for x in (judge.below(one.now, SMALL), judge.below(one.fall, FALL))
        ]
    )
    medians = {name: float(np.median(one.end)) for name, one in mccfr.items()}
    tenths = [float(np.median(one.tenth)) for one in mccfr.values()]
    old = all(a < FALL * b and a < SMALL for a, b in zip(medians.values(), tenths, strict=True))
    return Claim(
        "MCCFR learns a Nash equilibrium: both errors go to zero.",
        f"the medians over seeds of SQR-E, DOM-E and exploitability end below {SMALL:g}, and of "
        f"what is left since a tenth of the run below half, with their whole 95% intervals; no "
        f"verdict against it under {ENOUGH:,} iterations",
        "medians at the end: " + ", ".join(f"{name} {x:.2g}" for name, x in medians.items()),
        verdict or judge.only_if(iterations >= ENOUGH, verdict),
        RuleVariant("the medians, as they are", "see above", old),
        (RuleVariant("in every seed, by the rule before the last", "", each),),
    )


def off(
    mccfr: dict[str, SeedErrors], mcts: dict[str, SeedErrors], measure: str, text: str
) -> Claim:
    middle, ends = float(np.median(mccfr[measure].end)), mcts[measure].end
    return Claim(
        text,
        f"in every seed MCTS ends with more than ten times MCCFR's median {measure}; it fails "
        f"where none does",
        f"{measure} of MCTS from {ends.min():.2g} to {ends.max():.2g}, median of MCCFR "
        f"{middle:.2g}",
        judge.above(mcts[measure].now, TIMES * middle),
    )


def unlearns(dominated: SeedErrors) -> Claim:
    tenth, end = np.median(dominated.tenth), np.median(dominated.end)
    return Claim(
        "MCTS is still unlearning the dominated actions.",
        "in every seed DOM-E ends below what it was at a tenth of the run; it fails where in none",
        f"medians {tenth:.2g} at a tenth, {end:.2g} at the end",
        judge.below(judge.seed_range(dominated.end - dominated.tenth), 0.0),
        RuleVariant("the same for the medians", "see above", bool(end < tenth)),
    )


def loses_little(loss: Interval, iterations: int) -> Claim:
    verdict = judge.below(loss, LITTLE)
    return Claim(
        "MCTS does not lose much to an equilibrium strategy.",
        f"in every seed it loses less than {LITTLE:g} antes per hand, mean of both seats, to the "
        f"equilibrium that wins the most from it; not against it under {ENOUGH:,} iterations",
        f"median {loss.value:.2g}, from {loss.low:.2g} to {loss.high:.2g} antes per hand",
        verdict or judge.only_if(iterations >= ENOUGH, verdict),
    )


# the runs


def _variants() -> list[SolverVariant]:
    mccfr = SolverVariant("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})
    return [mccfr, *(SolverVariant(f"MCTS, C = {c:g}", "mcts", {"c": c}) for c in SWEEP)]


def _one_run(variant: SolverVariant, iterations: int, seed: int) -> list[tuple[float, ...]]:
    """At each measurement MEASURES, and the loss to an equilibrium."""
    game = load("kuhn")
    rows: list[tuple[float, ...]] = []
    equilibria = [equilibrium(gamma) for gamma in GAMMAS]

    def measure(progress: Progress) -> None:
        strategy = progress.strategy()
        errors = kuhn_errors(strategy)
        lost = max(loss(game, strategy, other) for other in equilibria)
        rows.append((errors.squared, errors.dominated, exploitability(game, strategy), lost))

    how = {"seed": seed, "measure_every": EVERY, "callback": measure, **variant.options}
    solve(game, variant.algorithm, iterations=iterations, **how)
    return rows


def equilibrium(gamma: float) -> Strategy:
    """The equilibrium of Kuhn poker with this γ (core/evaluation/kuhn.py)."""
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
    """float[seeds, measurements, 4]: all seeds of one variant."""
    (iterations, seeds), runs = SCALES[scale], []
    for seed in range(seeds):
        progress(seed / seeds, f"{variant.label}, seed {seed + 1} of {seeds}")
        recipe = {**variant._asdict(), "iterations": iterations, "seed": seed, "every": EVERY}
        recipe |= {"gammas": GAMMAS, "code": source_version(_one_run, equilibrium, loss)}
        runs.append(store.value("errors", recipe, partial(_one_run, variant, iterations, seed)))
    return np.array(runs)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    return [
        Job(f"Kuhn poker: {one.label}", partial(_runs, one, scale, store), SECONDS[scale] / 7)
        for one in _variants()
    ]


# picture and table


def _picture(x: np.ndarray, runs: dict[str, np.ndarray], path: Path) -> None:
    """`runs` by label: MCCFR first, then MCTS for each C of the sweep."""
    figure, axes = new_figure(2, 3, 12, 7)
    (first, mccfr), *sweep = runs.items()
    paper, own = sweep[SWEEP.index(PAPER_C)], {"color": COLOURS[1]}
    for k, name in enumerate(AXES):
        top, bottom = axes[0, k], axes[1, k]
        for order, (label, values) in enumerate(((first, mccfr), paper)):
            band(top, x, values[:, :, k], label, order)
        top.set(xscale="log", yscale="log", xlabel="iterations", ylabel=name)
        top.legend(frameon=False)
        ends = np.array([values[:, -1, k] for _, values in sweep])
        middle, low, high = np.median(ends, axis=1), ends.min(axis=1), ends.max(axis=1)
        bottom.plot(SWEEP, middle, linestyle=STYLES[1], marker="o", label="MCTS", **own)
        bottom.fill_between(SWEEP, low, high, alpha=0.18, linewidth=0, **own)
        bottom.axhline(np.median(mccfr[:, -1, k]), color=COLOURS[0], label="MCCFR")
        bottom.set(xscale="log", yscale="log", xlabel="exploration constant C of MCTS")
        bottom.set_ylabel(f"{name}\nat the end")
        bottom.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
        bottom.minorticks_off()
        bottom.legend(frameon=False)
    title = (
        f"Kuhn poker: MCCFR against MCTS (median and range over {len(mccfr)} seeds, "
        f"{int(x[-1]):,} iterations)"
    )
    save_figure(figure, path, title)


def written(measurements: int) -> list[int]:
    """Indices of the measurements that go into the CSV: all, or about a hundred in geometric
    progression."""
    if measurements <= WRITTEN:
        return list(range(measurements))
    chosen = np.geomspace(1, measurements, WRITTEN).round().astype(int) - 1
    return sorted(set(chosen.tolist()))


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    (iterations, seeds), variants, folder = SCALES[scale], _variants(), store.folder
    runs = {
        one.label: _runs(one, scale, store, stage_progress(progress, k, len(variants)))
        for k, one in enumerate(variants)
    }
    progress(1.0, "drawing")
    x = np.arange(1, iterations // EVERY + 1) * EVERY
    _picture(x, runs, folder / "fig4-kuhn.png")
    rows = []
    for one in variants:
        how = (one.algorithm, one.options.get("c", ""), one.options.get("epsilon", ""))
        for seed, values in enumerate(runs[one.label]):
            for k in written(len(x)):
                rows.append((*how, seed, int(x[k]), *(f"{value:.6g}" for value in values[k])))
    setting = {
        "iterations": iterations,
        "seeds": seeds,
        "measured every": EVERY,
        "epsilon": EPSILON,
        "C": list(SWEEP),
    }
    return EXPERIMENT.outcome(scale, folder, [], setting, HEADER, rows)


TITLE = "Figure 4, left: MCCFR and MCTS in Kuhn poker"
MEANING = {"measured every": "iterations from one measurement to the next"}
EXPERIMENT = Experiment(
    "fig4-kuhn", TITLE, run, SECONDS, _jobs, order=1, priority=10, meaning=MEANING
)
