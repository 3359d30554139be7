"""Winnings by number of buckets, beyond the article's 10 and 100: MCCFR with 10, 20, 50, 100 and
200 buckets, trained for about the same time on one thread each, is measured against Sparbot and the
pre-computed MCCFR10 of Figure 4 during training."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction import holdem_runs
from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    source_version,
)
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve
from counterplay.app.reproduction.holdem_runs import PUBLIC, bot_job, public_job
from counterplay.core.base.plotting import band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, part
from counterplay.core.base.store import digest
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.players import bot

BUCKETS = (10, 20, 50, 100, 200)
HALVINGS = 6  # measurements, each at twice the iterations of the one before
MATCH_SEED = 11
HEADER = "engine buckets seed iterations seconds visits sb_per_hand_sparbot sb_per_hand_mccfr10"


class BucketsScale(NamedTuple):
    engine: str
    iterations: tuple[int, ...]  # for each of BUCKETS, of about equal time
    seeds: int
    hands: int  # against Sparbot and MCCFR10
    seconds: float  # of one run


SCALES = {
    "quick": BucketsScale(
        "mccfr-external", (100_000, 80_000, 55_000, 35_000, 25_000), 1, 200_000, 2.0
    ),
    "paper": BucketsScale("mccfr-public", (1_600, 1_200, 750, 480, 330), 3, 1_000_000, 32.0),
}


def points(iterations: int) -> list[int]:
    """Iterations at which to measure."""
    return sorted({max(iterations >> k, 1) for k in range(HALVINGS)})


def _curve(
    buckets: int, seed: int, scale: str, store: PieceStore, progress: ProgressCallback
) -> np.ndarray:
    """float64[points, 5]: iterations, seconds, visits, and sb/h against Sparbot and MCCFR10."""
    size = SCALES[scale]
    opponents = [bot("sparbot", progress), _reference(scale, store, progress)]
    solver = new_solver(load(f"holdem(buckets={buckets})"), size.engine, seed, {})

    def measure(strategy: Strategy) -> list[float]:
        def won(opponent: object) -> float:
            match = (strategy.game, strategy, opponent, size.hands, MATCH_SEED + seed)
            return play_match(*match, processes=1, luck_adjusted=False).mean

        return [float(solver.nodes_touched), *map(won, opponents)]

    recipe = {"hands": size.hands, "against": digest(opponents[1].probabilities)}
    recipe |= {"seed": MATCH_SEED + seed, "code": source_version(_curve)}
    shown = part(progress, title=f"{buckets} buckets, seed {seed + 1}")
    when = points(size.iterations[BUCKETS.index(buckets)])
    return learning_curve(store, recipe, solver, when, measure, shown)


def _reference(scale: str, store: PieceStore, progress: ProgressCallback) -> Strategy:
    return holdem_runs.reference(holdem_runs.SCALES[scale], store, progress)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    _reference(scale, store, lambda share, what: progress(0.1 * share, what))
    bot("sparbot", progress)
    runs = [(n, seed) for n in BUCKETS for seed in range(size.seeds)]
    work = [partial(_curve, n, seed, scale, store) for n, seed in runs]
    made = in_parallel(work, lambda share, what: progress(0.1 + 0.89 * share, what))
    by_run = dict(zip(runs, made, strict=True))
    curves = {n: np.array([by_run[n, seed] for seed in range(size.seeds)]) for n in BUCKETS}
    _picture(curves, folder / "buckets.png")
    lines = [(size.engine, *one, *row) for one, rows in by_run.items() for row in rows.tolist()]
    setting = {**size._asdict(), "buckets": list(BUCKETS), "threads": 1}
    shown = ([_table(curves)], ())
    return EXPERIMENT.outcome(scale, folder, [], setting, HEADER, lines, *shown)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    first = [*holdem_runs.curve_jobs(holdem_runs.SCALES[scale], [], store), bot_job("sparbot")]
    first += [public_job()] if size.engine == PUBLIC else []
    after = tuple(job.name for job in first)
    return first + [
        Job(
            f"{n} buckets, seed {seed + 1}",
            partial(_curve, n, seed, scale, store),
            size.seconds,
            1,
            after,
        )
        for seed in range(size.seeds)
        for n in BUCKETS
    ]


# picture and table


def _table(curves: dict[int, np.ndarray]) -> ResultTable:
    """At the end of training."""
    rows = []
    for n, some in curves.items():
        iterations, seconds, visits = np.median(some[:, -1, :3], axis=0)
        numbers = [f"{iterations:,.0f}", f"{seconds:.1f}", f"{visits / 1e6:,.0f}"]
        rows.append([str(n), *numbers, *(str(judge.mean_over(some[:, -1, k])) for k in (3, 4))])
    header = ["buckets", "iterations", "seconds", "million visits", "Sparbot", "MCCFR10"]
    return ResultTable("sb/h at the end, 95% interval over seeds", header, rows)


def _picture(curves: dict[int, np.ndarray], path: Path) -> None:
    figure, axes = new_figure(2, 2, 11, 8)
    columns = ((1, "seconds of one core"), (2, "information sets visited"))
    for line, (column, who) in enumerate(((3, "Sparbot (re-created)"), (4, "MCCFR10"))):
        for axis, (x, label) in zip(axes[line], columns, strict=True):
            for order, (n, some) in enumerate(curves.items()):
                across = np.median(some[:, :, x], axis=0)
                band(axis, across, some[:, :, column], f"{n} buckets", order)
            axis.set(xscale="log", xlabel=label, ylabel=f"won from {who}, sb/h")
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=len(curves), frameon=False)
    title = "Finer buckets at equal time and at equal visits (median and range over seeds)"
    save_figure(figure, path, title)


TITLE = "Beyond the article: 10 to 200 buckets at equal time and visits"
SECONDS = {"quick": 12, "paper": 250}  # on two cores
MEANING = {"engine": "how MCCFR samples", "seconds": "of one run, expected"}
STORY = """100 buckets are much better than 10, and less abstraction would be better still.

MCCFR with 10 to 200 buckets is trained for about the same time, and measured by time (left) and by
visits of information sets (right). Finer buckets can express more, and need longer to train. So
the best number depends on the time there is."""
EXPERIMENT = Experiment(
    "buckets", TITLE, run, SECONDS, _jobs, order=21, priority=20, meaning=MEANING, story=STORY
)
