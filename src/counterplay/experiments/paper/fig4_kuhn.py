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
from counterplay.evaluation.exact import exploitability
from counterplay.evaluation.kuhn import kuhn_errors
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.games.registry import load
from counterplay.solvers.run import Progress, solve

EVERY = 10_000
EPSILON = 0.6
PAPER_C = 2.0
SWEEP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SCALES = {"quick": (1_000_000, 8), "paper": (10_000_000, 20)}  # iterations, seeds
MEASURES = ("SQR-E", "DOM-E", "exploitability")
AXES = ("squared error SQR-E", "dominated error DOM-E", "exploitability b1 + b2 (antes per hand)")


class Series(NamedTuple):
    """Runs of one algorithm: float[seeds, measurements, 3] in the order of MEASURES."""

    label: str
    algorithm: str
    options: dict[str, Any]
    values: np.ndarray


def _one_run(
    algorithm: str, options: dict[str, Any], iterations: int, seed: int
) -> list[tuple[float, float, float]]:
    game = load("kuhn")
    rows: list[tuple[float, float, float]] = []

    def measure(progress: Progress) -> None:
        strategy = progress.strategy()
        errors = kuhn_errors(strategy)
        rows.append((errors.squared, errors.dominated, exploitability(game, strategy)))

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


def _claims(mccfr: np.ndarray, mcts: np.ndarray) -> list[Claim]:
    """`mccfr`, `mcts`: float[seeds, measurements, 3]."""
    tenth = mccfr.shape[1] // 10 - 1  # at a tenth of the iterations

    def at(values: np.ndarray, when: int, measure: str) -> float:
        return float(np.median(values[:, when, MEASURES.index(measure)]))

    falls = [
        at(mccfr, -1, m) < 0.5 * at(mccfr, tenth, m) and at(mccfr, -1, m) < 0.01 for m in MEASURES
    ]
    worst = at(mccfr, -1, "SQR-E")
    off = float(mcts[:, -1, MEASURES.index("SQR-E")].min())
    dominated = mcts[:, -1, MEASURES.index("DOM-E")]
    return [
        Claim(
            "MCCFR learns a Nash equilibrium: both errors go to zero.",
            "the medians of SQR-E, DOM-E and exploitability end below 0.01, each under half of "
            "what it was at a tenth of the run",
            "medians at the end: " + ", ".join(f"{m} {at(mccfr, -1, m):.2g}" for m in MEASURES),
            all(falls),
        ),
        Claim(
            "MCTS settles slightly off the equilibrium.",
            "in every seed MCTS ends with more than ten times MCCFR's median SQR-E",
            f"smallest SQR-E of MCTS {off:.2g}, median of MCCFR {worst:.2g}",
            off > 10 * worst,
        ),
        Claim(
            "MCTS still plays dominated actions.",
            "in every seed MCTS ends with more than ten times MCCFR's median DOM-E",
            f"DOM-E of MCTS from {dominated.min():.2g} to {dominated.max():.2g}, median of MCCFR "
            f"{at(mccfr, -1, 'DOM-E'):.2g}",
            bool(dominated.min() > 10 * at(mccfr, -1, "DOM-E")),
        ),
        Claim(
            "MCTS is still unlearning the dominated actions.",
            "the median of DOM-E at the end is below that at a tenth of the run",
            f"{at(mcts, tenth, 'DOM-E'):.2g} at a tenth, {at(mcts, -1, 'DOM-E'):.2g} at the end",
            at(mcts, -1, "DOM-E") < at(mcts, tenth, "DOM-E"),
        ),
    ]


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


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    iterations, seeds = SCALES[scale]
    started = time.perf_counter()
    plans: list[tuple[str, str, dict[str, Any]]] = [
        ("MCCFR, ε = 0.6", "mccfr", {"epsilon": EPSILON})
    ]
    plans += [(f"MCTS, C = {c:g}", "mcts", {"c": c}) for c in SWEEP]
    all_series = []
    for k, (label, algorithm, options) in enumerate(plans):
        runs = []
        for seed in range(seeds):
            tell((k + seed / seeds) / len(plans), f"{label}, seed {seed + 1} of {seeds}")
            recipe = {
                "algorithm": algorithm,
                "options": options,
                "iterations": iterations,
                "seed": seed,
                "file": file_version(__file__),
            }
            runs.append(
                store.value(
                    "errors", recipe, partial(_one_run, algorithm, options, iterations, seed)
                )
            )
        all_series.append(Series(label, algorithm, options, np.array(runs)))
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
            t,
            *measured,
        )
        for series in all_series
        for seed, one in enumerate(series.values)
        for t, measured in zip(x.tolist(), one.tolist(), strict=True)
    ]
    header = ("algorithm", "c", "epsilon", "seed", "iterations", "sqr_e", "dom_e", "exploitability")
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
    "fig4-kuhn", "Figure 4, left: MCCFR and MCTS in Kuhn poker", run, {"quick": 10, "paper": 200}
)
