"""Seconds to a given strength in limit hold'em with 10 buckets: MCCFR by outcome, external and
public sampling against the earlier algorithms, chance-sampled CFR and vanilla CFR.

All engines run on one thread, and are measured as in Figure 4, against the same pre-computed
profile; outcome and external sampling are the runs of Figure 4. A pass of vanilla CFR visits every
history of the bucketed game. It is not run: its time is the number of these histories over the
nodes a second of chance-sampled CFR, which walks the same betting tree for one deal.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.app.reproduction import holdem_runs
from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    SolverVariant,
    source_version,
)
from counterplay.app.reproduction.harness.judge import Claim, Interval, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.holdem_runs import (
    EXTERNAL,
    FIRST,
    GAME,
    OUTCOME,
    PlannedRun,
    by_seed,
    curve_jobs,
    curves_of,
    points,
    public_job,
    reaches,
)
from counterplay.core.base.plotting import band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.parallel.jobs import Job
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.holdem.bucket_pairs import pair_chance

PUBLIC = SolverVariant("MCCFR, public sampling", "mccfr-public", {})
CHANCE = SolverVariant("CFR, chance-sampled", "mccfr-chance", {})
VARIANTS = {"outcome": OUTCOME, "external": EXTERNAL, "public": PUBLIC, "chance": CHANCE}
MUCH = 0.5  # "a fraction": less than half
LEVEL = -0.2  # sb/h, the strength that is judged; all engines come to it at quick scale
LEVELS = (-0.3, LEVEL, -0.1, -0.05, -0.02)
HEADER = "algorithm seed iterations seconds sb_per_hand standard_error"


class HoldemTimeScale(NamedTuple):
    public: int
    chance: int
    seeds: int


SCALES = {"quick": HoldemTimeScale(500, 8_000, 3), "paper": HoldemTimeScale(4_000, 100_000, 5)}


def histories(game: Game) -> int:
    """Nodes of the bucketed game's tree: betting histories by the pairs of bucket sequences that a
    sample of deals shows to be possible, street by street (a Markov chain)."""
    chance, nodes = pair_chance(game), game.rules.tree.nodes
    paths, count = (chance.first > 0).astype(np.float64), 0.0
    for street in range(4):
        if street:
            paths = paths @ (chance.step[street - 1] > 0)
        count += float(paths.sum()) * int((nodes.street == street).sum())
    return int(count)


def vanilla_seconds(game: Game) -> float:
    """Seconds of one pass of vanilla CFR at the speed of chance-sampled CFR."""
    solver = new_solver(game, CHANCE.algorithm, 0, {})
    solver.step(1)
    before, started = solver.nodes_touched, time.thread_time()
    solver.step(2_000)
    speed = (solver.nodes_touched - before) / (time.thread_time() - started)
    return histories(game) / speed


def _plan(scale: str) -> list[PlannedRun]:
    size, drawn = SCALES[scale], holdem_runs.SCALES[scale]
    last = {"outcome": drawn.iterations, "external": drawn.external}
    last |= {"public": size.public, "chance": size.chance}
    first = {**{name: n // 50 for name, n in last.items()}, "outcome": FIRST}
    return [
        (VARIANTS[name], seed, points(last[name], first[name]))
        for name in VARIANTS
        for seed in range(size.seeds)
    ]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    kernels, plan = public_job(), by_seed(_plan(scale))
    first, *curves = curve_jobs(holdem_runs.SCALES[scale], plan, store)
    return [
        first,
        kernels,
        *(
            job._replace(after=(*job.after, kernels.name)) if one[0] is PUBLIC else job
            for one, job in zip(plan, curves, strict=True)
        ),
    ]


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, drawn, folder = SCALES[scale], holdem_runs.SCALES[scale], store.folder
    made = curves_of(drawn, _plan(scale), store, progress)
    n = size.seeds
    curves = {name: np.array(made[k * n : (k + 1) * n]) for k, name in enumerate(VARIANTS)}
    vanilla = store.value(
        "vanilla", {"code": source_version(vanilla_seconds)}, lambda: vanilla_seconds(load(GAME))
    )
    _picture(curves, drawn.reference, folder / "holdem-time.png")
    sampled = {name: one for name, one in curves.items() if name != "chance"}
    judged = [fraction(sampled, curves["chance"], LEVEL, vanilla)]
    rows = [
        (VARIANTS[name].algorithm, seed, *(f"{value:.6g}" for value in row))
        for name, some in curves.items()
        for seed, curve in enumerate(some)
        for row in curve
    ]
    setting = {**size._asdict(), "histories": histories(load(GAME)), "threads": 1}
    shown = ([_table(curves)], ())
    return EXPERIMENT.outcome(scale, folder, judged, setting, HEADER, rows, *shown)


# rule


def times(sampled: np.ndarray, earlier: np.ndarray, level: float) -> Interval:
    """Seconds to a level, of sampling over an earlier algorithm, paired by seed: the geometric
    mean. Curves that end below the level count with all their seconds, which bounds the ratio from
    one side."""
    mine, other = ([reaches(c, level, 1) for c in curves] for curves in (sampled, earlier))
    ends = [[float(c[-1, 1]) for c in curves] for curves in (sampled, earlier)]
    least, most = np.isfinite(mine).all(), np.isfinite(other).all()
    logs = [
        np.log(min(a, end)) - np.log(min(b, last))
        for a, b, end, last in zip(mine, other, *ends, strict=True)
    ]
    middle = judge.mean_over(logs)
    low, value, high = (float(np.exp(x)) for x in (middle.low, middle.value, middle.high))
    return Interval(value, low if most else 0.0, high if least else np.inf)


def fraction(
    curves: Mapping[str, np.ndarray], earlier: np.ndarray, level: float, vanilla: float
) -> Claim:
    """`curves` of the sampling engines by name; `earlier`: of chance-sampled CFR; `vanilla`: the
    seconds of one pass of vanilla CFR."""
    ratios = {name: times(one, earlier, level) for name, one in curves.items()}
    first = float(np.mean([min(reaches(c, level, 1), c[-1, 1]) for c in earlier]))
    shown = ", ".join(
        f"{name} {x.value:.2f} ({x.low:.2f} to {x.high:.2f})" for name, x in ratios.items()
    )
    return claim(
        27,
        f"seconds to {level:+g} sb/h, over the {first:.0f} s of chance-sampled CFR: {shown}; one "
        f"pass of vanilla CFR takes about {vanilla / 3600:.1f} h",
        decide(*(judge.below(x, MUCH) for x in ratios.values())),
        f"each sampling engine needs less than half of the seconds of chance-sampled CFR to come "
        f"within {-level:g} sb/h of the pre-computed equilibrium",
    )


# picture and table


def _table(curves: Mapping[str, np.ndarray]) -> ResultTable:
    """Seconds to several levels; the mean over seeds where all came to it."""
    rows = []
    for name, some in curves.items():
        cells = []
        for level in LEVELS:
            found = [reaches(one, level, 1) for one in some]
            if all(np.isfinite(found)):
                x = judge.mean_over(found)
                cells.append(f"{x.value:.2g} ± {x.half:.1g}")
            else:
                cells.append(f"> {some[:, -1, 1].mean():.2g}")
        rows.append([VARIANTS[name].label, *cells])
    header = ["engine, one thread", *(f"{level:+g} sb/h" for level in LEVELS)]
    return ResultTable("Seconds to a strength against the pre-computed MCCFR10", header, rows)


def _picture(curves: Mapping[str, np.ndarray], iterations: int, path: Path) -> None:
    figure, axes = new_figure(1, 1, 8, 5)
    axis = axes[0, 0]
    for order, (name, some) in enumerate(curves.items()):
        label = VARIANTS[name].label
        band(axis, np.median(some[:, :, 1], axis=0), some[:, :, 2], label, order)
    axis.axhline(LEVEL, color="0.4", linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel="seconds of one core")
    axis.set_ylabel(f"won from MCCFR10 ({iterations / 1e6:,.0f} M iterations), sb/h")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    seeds = len(curves["chance"])
    save_figure(figure, path, f"Limit hold'em, 10 buckets: median and range over {seeds} seeds")


TITLE = "Section 5: time of sampling and of earlier algorithms in limit hold'em"
MEANING = {
    "chance": "iterations of chance-sampled CFR",
    "histories": "nodes of the bucketed game's tree, which vanilla CFR visits in one pass",
}
SECONDS = {"quick": 45, "paper": 280}  # on two cores, after Figure 4
STORY = """MCRNR achieves its performance in a fraction of the computation time required by
previous algorithms; 20 million sampled iterations require much less time than as many full
backups. No times are given.

A full pass of CFR over the bucketed game takes long enough for every sampling engine to become
strong. Against chance-sampled CFR, which Zinkevich et al. (2008) used in poker, external and
public sampling need a small fraction of the time. Outcome sampling, the article's engine, needs
more than chance-sampled CFR."""
EXPERIMENT = Experiment(
    "holdem-time", TITLE, run, SECONDS, _jobs, order=2.5, priority=3.5, meaning=MEANING, story=STORY
)
