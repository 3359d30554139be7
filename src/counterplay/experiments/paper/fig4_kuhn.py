"""Figure 4, left: MCCFR (ε = 0.6) and MCTS (C = 2, and a sweep over C) in Kuhn poker.

Measured every 10^4 iterations: squared error to the nearest equilibrium (SQR-E), summed probability
of dominated actions (DOM-E), and exploitability b1 + b2, which the paper does not show. Bands are
the range over seeds.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base.plotting import COLOURS, STYLES, band, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.evaluation.exact import expected_value, exploitability
from counterplay.evaluation.kuhn import DOMINATED, kuhn_errors
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.players import staged
from counterplay.experiments.paper.rules import kuhn as rules
from counterplay.forms.game import Game
from counterplay.forms.registry import load
from counterplay.forms.strategy import Strategy
from counterplay.parallel.jobs import Job
from counterplay.solvers.run import Progress, solve

EVERY = 10_000
WRITTEN = 100  # measurements of a run in the CSV
EPSILON = 0.6
PAPER_C = 2.0
SWEEP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SCALES = {"quick": (1_000_000, 8), "paper": (10_000_000, 20)}  # iterations, seeds
SECONDS = {"quick": 10, "paper": 200}
MEASURES = ("SQR-E", "DOM-E", "exploitability")
LOSS = len(MEASURES)  # the column after them: what is lost to an equilibrium
AXES = ("squared error SQR-E", "dominated error DOM-E", "exploitability b1 + b2 (antes per hand)")
GAMMAS = (0.0, 0.5, 1.0)  # of the equilibria of player 1


class Series(NamedTuple):
    """Runs of one algorithm: float[seeds, measurements, 4] in the order of MEASURES, and what is
    lost to an equilibrium."""

    label: str
    algorithm: str
    options: dict[str, Any]
    values: np.ndarray


def _one_run(
    algorithm: str, options: dict[str, Any], iterations: int, seed: int
) -> list[tuple[float, ...]]:
    game = load("kuhn")
    rows: list[tuple[float, ...]] = []
    equilibria = [equilibrium(gamma) for gamma in GAMMAS]

    def measure(progress: Progress) -> None:
        strategy = progress.strategy()
        errors = kuhn_errors(strategy)
        lost = max(loss(game, strategy, other) for other in equilibria)
        rows.append((errors.squared, errors.dominated, exploitability(game, strategy), lost))

    solve(
        game,
        algorithm,
        iterations=iterations,
        seed=seed,
        measure_every=EVERY,
        callback=measure,
        **options,
    )
    return rows


def equilibrium(gamma: float) -> Strategy:
    """The equilibrium of Kuhn poker with this γ (evaluation/kuhn.py)."""
    game = load("kuhn")
    bets = {label: 1.0 - (action == "bet") for label, action in DOMINATED.items()}
    bets |= {"J": gamma / 3, "Q pb": (1 + gamma) / 3, "K": gamma, "J p": 1 / 3, "Q b": 1 / 3}
    return Strategy.from_table(game, {key: {"pass": 1 - x, "bet": x} for key, x in bets.items()})


def loss(game: Game, strategy: Strategy, other: Strategy) -> float:
    """What a strategy loses to an equilibrium, mean of both seats: the values of the game
    cancel."""
    first = expected_value(game, strategy.replace(other, 1))[0]
    second = expected_value(game, other.replace(strategy, 1))[1]
    return float(-(first + second) / 2)


def _claims(mccfr: np.ndarray, mcts: np.ndarray) -> list[Claim]:
    """`mccfr`, `mcts`: float[seeds, measurements, 4]."""
    tenth = mccfr.shape[1] // 10 - 1  # at a tenth of the iterations

    def errors(values: np.ndarray) -> dict[str, rules.Errors]:
        return {
            m: rules.Errors(values[:, tenth, k], values[:, -1, k]) for k, m in enumerate(MEASURES)
        }

    iterations = mccfr.shape[1] * EVERY
    return rules.claims(errors(mccfr), errors(mcts), mcts[:, -1, LOSS], iterations)


def _picture(x: np.ndarray, mccfr: Series, sweep: list[Series], path: Path) -> None:
    figure, axes = new_figure(2, 3, 12, 7)
    paper = next(series for series in sweep if series.options["c"] == PAPER_C)
    for k, name in enumerate(AXES):
        top, bottom = axes[0, k], axes[1, k]
        for order, series in enumerate((mccfr, paper)):
            band(top, x, series.values[:, :, k], series.label, order)
        top.set(xscale="log", yscale="log", xlabel="iterations", ylabel=name)
        top.legend(frameon=False)
        ends = np.array([series.values[:, -1, k] for series in sweep])
        bottom.plot(
            SWEEP,
            np.median(ends, axis=1),
            color=COLOURS[1],
            linestyle=STYLES[1],
            marker="o",
            label="MCTS",
        )
        bottom.fill_between(
            SWEEP, ends.min(axis=1), ends.max(axis=1), color=COLOURS[1], alpha=0.18, linewidth=0
        )
        bottom.axhline(np.median(mccfr.values[:, -1, k]), color=COLOURS[0], label="MCCFR")
        bottom.set(
            xscale="log",
            yscale="log",
            xlabel="exploration constant C of MCTS",
            ylabel=f"{name}\nat the end",
        )
        bottom.set_xticks(SWEEP, [f"{c:g}" for c in SWEEP], minor=False)
        bottom.minorticks_off()
        bottom.legend(frameon=False)
    seeds = mccfr.values.shape[0]
    figure.suptitle(
        f"Kuhn poker: MCCFR against MCTS (median and range over {seeds} seeds, {int(x[-1]):,} "
        f"iterations)"
    )
    save_figure(figure, path)


Plan = tuple[str, str, dict[str, Any]]


def _plans() -> list[Plan]:
    """Label, algorithm and options."""
    found: list[Plan] = [("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})]
    return found + [(f"MCTS, C = {c:g}", "mcts", {"c": c}) for c in SWEEP]


def _series(plan: Plan, scale: str, store: Store, tell: Tell) -> Series:
    """All seeds of one algorithm, kept."""
    (iterations, seeds), runs = SCALES[scale], []
    label, algorithm, options = plan
    for seed in range(seeds):
        tell(seed / seeds, f"{label}, seed {seed + 1} of {seeds}")
        recipe = {
            "algorithm": algorithm,
            "options": options,
            "iterations": iterations,
            "seed": seed,
            "file": file_version(__file__),
        }
        work = partial(_one_run, algorithm, options, iterations, seed)
        runs.append(store.value("errors", recipe, work))
    return Series(*plan, np.array(runs))


def _jobs(scale: str, store: Store) -> list[Job]:
    return [
        Job(f"Kuhn poker: {plan[0]}", partial(_series, plan, scale, store), SECONDS[scale] / 7)
        for plan in _plans()
    ]


def written(measurements: int) -> list[int]:
    """Which of so many measurements go into the CSV: all, or about a hundred that lie ever
    further apart."""
    if measurements <= WRITTEN:
        return list(range(measurements))
    found = np.geomspace(1, measurements, WRITTEN).round().astype(int) - 1
    return sorted(set(found.tolist()))


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    iterations, seeds = SCALES[scale]
    started = time.perf_counter()
    plans = _plans()
    all_series = [
        _series(plan, scale, store, staged(tell, k, len(plans))) for k, plan in enumerate(plans)
    ]
    tell(1.0, "drawing")
    x = np.arange(1, iterations // EVERY + 1) * EVERY
    mccfr, sweep = all_series[0], all_series[1:]
    paper = next(series for series in sweep if series.options["c"] == PAPER_C)
    folder = store.folder
    _picture(x, mccfr, sweep, folder / "fig4-kuhn.png")
    rows = [
        (
            series.algorithm,
            series.options.get("c", ""),
            series.options.get("epsilon", ""),
            seed,
            int(x[k]),
            *(f"{value:.6g}" for value in one[k]),
        )
        for series in all_series
        for seed, one in enumerate(series.values)
        for k in written(len(x))
    ]
    header = (
        "algorithm",
        "c",
        "epsilon",
        "seed",
        "iterations",
        "sqr_e",
        "dom_e",
        "exploitability",
        "lost_to_equilibrium",
    )
    write_csv(folder / "fig4-kuhn.csv", header, rows)
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(mccfr.values, paper.values),
        {
            "iterations": iterations,
            "seeds": seeds,
            "measured every": EVERY,
            "epsilon": EPSILON,
            "C": list(SWEEP),
        },
        time.perf_counter() - started,
        ["fig4-kuhn.png", "fig4-kuhn.csv"],
    )


EXPERIMENT = Experiment(
    "fig4-kuhn", "Figure 4, left: MCCFR and MCTS in Kuhn poker", run, SECONDS, _jobs
)
