"""Do finer buckets win more? The paper says that 100 are much better than 10, and that less
abstraction would be better still.

MCCFR with 10, 20, 50, 100 and 200 buckets, one thread each, about as long: against Sparbot and a
common MCCFR10 while training, against Poki in the end. At quick scale external sampling and one
seed; at paper scale public sampling and three.
"""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.base.plotting import band, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.base.store import digest
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.harness.training import learning_curve
from counterplay.experiments.paper.cells import Wanted, seconds_of, training_jobs
from counterplay.experiments.paper.players import MATCH_SEED, RECREATED, Company
from counterplay.experiments.paper.rules import buckets as rules
from counterplay.experiments.paper.sizes import ENGINES, POKI_RATE
from counterplay.forms.strategy import Strategy
from counterplay.match.play import play_match
from counterplay.parallel.jobs import Job, in_parallel
from counterplay.solvers.algorithms import new_solver

BUCKETS = (10, 20, 50, 100, 200)
PAIRS = ((100, 10), (200, 100))
HALVINGS = 6  # measurements, each at twice the iterations of the one before


class Scale(NamedTuple):
    engine: str
    iterations: tuple[int, ...]  # for each of BUCKETS, about as long
    seeds: int
    hands: int  # against Sparbot and MCCFR10
    poki: int  # hands against Poki in the end; 0: none


SCALES = {
    "quick": Scale("external", (200_000, 160_000, 110_000, 70_000, 50_000), 1, 200_000, 0),
    "paper": Scale("public", (4_800, 3_600, 2_200, 1_450, 1_000), 3, 2_000_000, 30_000),
}
VALUES = ("visits", "sparbot", "mccfr10", "poki")


def points(iterations: int) -> list[int]:
    """Iterations at which to measure."""
    found = {max(iterations >> k, 1) for k in range(HALVINGS)}
    return sorted(found)


def _curve(
    buckets: int, seed: int, size: Scale, company: Company, foe: Strategy, tell: Tell
) -> np.ndarray:
    """float64[points, 6]: iterations, seconds and VALUES."""
    algorithm, options = ENGINES[size.engine]
    solver = new_solver(company.game(buckets), algorithm, seed, dict(options))
    mine = Company(company.scale, company.store, tell)  # bots are not shared by threads
    when = points(size.iterations[BUCKETS.index(buckets)])

    def measure(strategy: Strategy) -> list[float]:
        won = [
            play_match(
                strategy.game,
                strategy,
                other,
                size.hands,
                MATCH_SEED + seed,
                luck_adjusted=False,
            ).mean
            for other in (mine.bot("sparbot"), foe)
        ]
        poki = math.nan
        if size.poki and solver.iterations == when[-1]:  # one process: this is a thread
            match = (strategy.game, strategy, mine.bot("poki"), size.poki, MATCH_SEED + seed)
            poki = play_match(*match, processes=1, luck_adjusted=False).mean
        return [float(solver.nodes_touched), *won, poki]

    recipe = {
        "hands": [size.hands, size.poki],
        "against": digest(foe.probabilities),
        "seed": MATCH_SEED + seed,
        "file": file_version(__file__),
    }
    about: Tell = lambda share, how: tell(share, f"{buckets} buckets, seed {seed + 1}")  # noqa: E731
    return learning_curve(company.store, recipe, solver, when, measure, about)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    size, folder = SCALES[scale], store.folder
    company = Company(scale, store, lambda share, what: tell(0.1 * share, what))
    foe = company.equilibrium(10, "external").whole
    jobs = [(n, seed) for n in BUCKETS for seed in range(size.seeds)]
    for n in BUCKETS:
        company.game(n)
    found = in_parallel(
        [partial(_curve, n, seed, size, company, foe) for n, seed in jobs],
        lambda share, what: tell(0.1 + 0.89 * share, what),
    )
    curves = {
        n: np.array([rows for (m, _), rows in zip(jobs, found, strict=True) if m == n])
        for n in BUCKETS
    }
    _picture(curves, folder / "buckets.png")
    lines = [
        (size.engine, n, seed, *("" if math.isnan(value) else value for value in row))
        for n in BUCKETS
        for seed, one in enumerate(curves[n])
        for row in one.tolist()
    ]
    header = ("engine", "buckets", "seed", "iterations", "seconds", "visits")
    columns = ("sb_per_hand_sparbot", "sb_per_hand_mccfr10", "sb_per_hand_poki_at_the_end")
    write_csv(folder / "buckets.csv", (*header, *columns), lines)
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(curves, bool(size.poki)),
        {**size._asdict(), "buckets": list(BUCKETS), "threads": 1},
        time.perf_counter() - started,
        ["buckets.png", "buckets.csv"],
        [_sheet(curves)],
        [RECREATED],
    )


def _claims(curves: dict[int, np.ndarray], poki: bool) -> list[Claim]:
    sparbot, mccfr = (
        {
            n: [[rules.Seen(r[1], r[2], r[column]) for r in one] for one in some.tolist()]
            for n, some in curves.items()
        }
        for column in (3, 4)
    )
    made = []
    for fine, coarse in PAIRS:
        for axis in rules.AXES:
            made.append(rules.finer(sparbot, fine, coarse, axis, "Sparbot"))
            made.append(rules.finer(mccfr, fine, coarse, axis, "MCCFR10"))
        if poki:
            ends = {n: some[:, -1, 5].tolist() for n, some in curves.items()}
            late = rules.closing(sparbot, fine, coarse, "seconds")
            made.append(rules.finer_in_the_end(ends, fine, coarse, "Poki", late))
    return made


def _sheet(curves: dict[int, np.ndarray]) -> Sheet:
    """Medians at the end."""
    rows = []
    for n, some in curves.items():
        iterations, seconds, visits, sparbot, mccfr, poki = np.median(some[:, -1], axis=0)
        numbers = [f"{iterations:,.0f}", f"{seconds:.1f}", f"{visits / 1e6:,.0f}"]
        rows.append([str(n), *numbers, f"{sparbot:+.3f}", f"{mccfr:+.3f}"])
        rows[-1].append("–" if math.isnan(poki) else f"{poki:+.3f}")
    header = ["buckets", "iterations", "seconds", "million visits", "Sparbot", "MCCFR10", "Poki"]
    return Sheet("sb/h at the end, medians (Poki only at paper scale)", header, rows)


def _picture(curves: dict[int, np.ndarray], path: Path) -> None:
    figure, axes = new_figure(2, 2, 11, 8)
    for line, (column, who) in enumerate(((3, "Sparbot (re-created)"), (4, "MCCFR10"))):
        for k, (x, label) in enumerate(
            ((1, "seconds of one core"), (2, "information sets visited"))
        ):
            axis = axes[line, k]
            for order, (n, some) in enumerate(curves.items()):
                across = np.median(some[:, :, x], axis=0)
                band(axis, across, some[:, :, column], f"{n} buckets", order)
            axis.set(xscale="log", xlabel=label, ylabel=f"won from {who}, sb/h")
            axis.legend(frameon=False, fontsize=8)
    figure.suptitle("Finer buckets at equal time and at equal visits (median and range over seeds)")
    save_figure(figure, path)


def _jobs(scale: str, store: Store) -> list[Job]:
    size = SCALES[scale]
    foe = training_jobs(scale, store, Wanted("MCCFR10", "external", 10, "poki"))

    def job(n: int, seed: int) -> Job:
        def work(tell: Tell) -> None:
            company = Company(scale, store, tell)
            against = company.equilibrium(10, "external").whole
            _curve(n, seed, size, company, against, tell)

        many = size.iterations[BUCKETS.index(n)]
        seconds = 2 * seconds_of(size.engine, n, many)  # rates are those of two threads
        return Job(
            f"{n} buckets, seed {seed + 1}",
            work,
            seconds + 2 * size.poki / POKI_RATE,
            1,
            (foe[0].name,),
        )

    return [*foe, *(job(n, seed) for seed in range(size.seeds) for n in BUCKETS)]


EXPERIMENT = Experiment(
    "buckets",
    "Finer buckets: 10 to 200 at equal time and visits",
    run,
    {"quick": 30, "paper": 450},
    _jobs,
)
