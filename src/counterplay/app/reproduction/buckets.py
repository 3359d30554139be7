"""Winnings by number of buckets. The paper says that 100 are much better than 10, and that less
abstraction would be better still.

MCCFR with 10, 20, 50, 100 and 200 buckets is trained for about the same time, one thread each. It
is measured against Sparbot and a common MCCFR10 during training, and against Poki at the end. Quick
scale has external sampling and one seed, paper scale public sampling and three. The rules compare
at equal time and at equal visits of information sets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    source_version,
    titled_progress,
)
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, RuleVariant, Verdict
from counterplay.app.reproduction.harness.store import PieceStore, learning_curve
from counterplay.app.reproduction.players import (
    MATCH_SEED,
    RECREATED,
    Pairing,
    PlayerFactory,
    training_jobs,
    training_seconds,
)
from counterplay.app.reproduction.sizes import ENGINES, POKI_RATE
from counterplay.core.base.plotting import band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.solvers.algorithms import new_solver

BUCKETS = (10, 20, 50, 100, 200)
PAIRS = ((100, 10), (200, 100))
HALVINGS = 6  # measurements, each at twice the iterations of the one before
HEADER = (
    "engine buckets seed iterations seconds visits "
    "sb_per_hand_sparbot sb_per_hand_mccfr10 sb_per_hand_poki_at_the_end"
)


class BucketsScale(NamedTuple):
    engine: str
    iterations: tuple[int, ...]  # for each of BUCKETS, of about equal time
    seeds: int
    hands: int  # against Sparbot and MCCFR10
    poki: int  # hands against Poki at the end; 0: none


SCALES = {
    "quick": BucketsScale("external", (200_000, 160_000, 110_000, 70_000, 50_000), 1, 200_000, 0),
    "paper": BucketsScale("public", (4_800, 3_600, 2_200, 1_450, 1_000), 3, 2_000_000, 30_000),
}

# the rules, over seeds

CLOSED = 0.005  # sb/h by which the finer buckets may still catch up in the last doubling
WITHOUT = "whether or not they are still catching up"  # condition set after seeing numbers
AXES = {"seconds": "equal time", "visits": "equal visits"}


class TrainingPoint(NamedTuple):
    """A measurement while training: sb/h against an opponent."""

    seconds: float
    visits: float
    won: float


#: The curves of all seeds, by number of buckets.
Curves = Mapping[int, Sequence[Sequence[TrainingPoint]]]


def at(curve: Sequence[TrainingPoint], axis: str, budget: float) -> float:
    """sb/h at this budget, interpolated linearly in its logarithm. NaN before the first measurement
    and after the last."""
    for a, b in itertools.pairwise(curve):
        x, y = getattr(a, axis), getattr(b, axis)
        if x <= budget <= y and y > x > 0:
            return a.won + (b.won - a.won) * math.log(budget / x) / math.log(y / x)
    return math.nan


def largest(curves: Curves, axis: str) -> float:
    """The largest budget that every run has used."""
    return min(float(getattr(curve[-1], axis)) for some in curves.values() for curve in some)


def won(curves: Curves, buckets: int, axis: str, budget: float) -> Interval:
    values = [at(curve, axis, budget) for curve in curves[buckets]]
    if any(math.isnan(value) for value in values):
        return Interval(math.nan, -math.inf, math.inf)
    return judge.seed_range(values)


def lead(curves: Curves, fine: int, coarse: int, axis: str, budget: float) -> Interval:
    """Lead of the finer buckets at this budget."""
    return judge.difference(*(won(curves, n, axis, budget) for n in (fine, coarse)))


def crossing(curves: Curves, fine: int, coarse: int, axis: str) -> float | None:
    """Budget from which the finer buckets stay ahead (medians); None if behind at the end."""
    budget, last = largest(curves, axis), None
    first = max(float(getattr(c[0], axis)) for n in (fine, coarse) for c in curves[n])
    if not first < budget:
        return None
    for k in range(41):
        here = budget * (first / budget) ** (k / 40)
        if not lead(curves, fine, coarse, axis, here).value > 0:
            break
        last = here
    return last


def closing(curves: Curves, fine: int, coarse: int, axis: str) -> bool:
    """Whether the finer buckets were still catching up over the last doubling of the budget, or it
    cannot be told: being behind may then be due to short training."""
    most = largest(curves, axis)
    late, early = (lead(curves, fine, coarse, axis, x).value for x in (most, most / 2))
    return not late - early <= CLOSED


def finer(curves: Curves, fine: int, coarse: int, axis: str, opponent: str) -> Claim:
    budget = largest(curves, axis)
    margin = lead(curves, fine, coarse, axis, budget)
    unit = "s" if axis == "seconds" else "visits"
    where = crossing(curves, fine, coarse, axis)
    crossed = "not ahead in the end" if where is None else f"ahead from {where:,.3g} {unit} on"
    return Claim(
        f"{fine} buckets win more than {coarse} from {opponent}, at {AXES[axis]}.",
        "the difference at the largest budget that all runs have used is above zero over the whole "
        f"range of seeds; no verdict against it while it rises by over {CLOSED:g} in a doubling",
        f"after {budget:,.3g} {unit} {margin}; the median is {crossed}",
        _unless(closing(curves, fine, coarse, axis), judge.above(margin, 0.0)),
        also=(RuleVariant(WITHOUT, "", judge.above(margin, 0.0)),),
    )


def _unless(catching_up: bool, verdict: Verdict) -> Verdict:
    return None if catching_up and verdict is False else verdict


def finer_in_the_end(
    wins: Mapping[int, Sequence[float]], fine: int, coarse: int, who: str, catching_up: bool
) -> Claim:
    """At the end of training, which took about the same time for each."""
    margin = judge.difference(judge.seed_range(wins[fine]), judge.seed_range(wins[coarse]))
    return Claim(
        f"{fine} buckets win more than {coarse} from {who}, trained about as long.",
        "the difference is above zero over the whole range of seeds; no verdict against it while "
        "the finer buckets catch up against Sparbot",
        str(margin),
        _unless(catching_up, judge.above(margin, 0.0)),
        also=(RuleVariant(WITHOUT, "", judge.above(margin, 0.0)),),
    )


def _claims(curves: dict[int, np.ndarray], poki: bool) -> list[Claim]:
    sparbot, mccfr = (
        {
            n: [[TrainingPoint(r[1], r[2], r[column]) for r in one] for one in some.tolist()]
            for n, some in curves.items()
        }
        for column in (3, 4)
    )
    made = []
    for fine, coarse in PAIRS:
        for axis in AXES:
            made.append(finer(sparbot, fine, coarse, axis, "Sparbot"))
            made.append(finer(mccfr, fine, coarse, axis, "MCCFR10"))
        if poki:
            ends = {n: some[:, -1, 5].tolist() for n, some in curves.items()}
            late = closing(sparbot, fine, coarse, "seconds")
            made.append(finer_in_the_end(ends, fine, coarse, "Poki", late))
    return made


# the runs


def points(iterations: int) -> list[int]:
    """Iterations at which to measure."""
    return sorted({max(iterations >> k, 1) for k in range(HALVINGS)})


def _curve(
    buckets: int,
    seed: int,
    size: BucketsScale,
    players: PlayerFactory,
    opponent: Strategy,
    progress: ProgressCallback,
) -> np.ndarray:
    """float64[points, 6]: iterations, seconds, visits, and sb/h against Sparbot, MCCFR10 (the
    `opponent`) and, at the end, Poki."""
    algorithm, options = ENGINES[size.engine]
    solver = new_solver(players.game(buckets), algorithm, seed, dict(options))
    own = PlayerFactory(players.scale, players.store, progress)  # threads share no bots
    when = points(size.iterations[BUCKETS.index(buckets)])

    def measure(strategy: Strategy) -> list[float]:
        def against(bot: object, hands: int, processes: int | None = None) -> float:
            match = (strategy.game, strategy, bot, hands, MATCH_SEED + seed)
            return play_match(*match, processes=processes, luck_adjusted=False).mean

        poki, sparbot = math.nan, against(own.bot("sparbot"), size.hands)
        mccfr = against(opponent, size.hands)
        if size.poki and solver.iterations == when[-1]:  # one process, as this is a thread
            poki = against(own.bot("poki"), size.poki, 1)
        return [float(solver.nodes_touched), sparbot, mccfr, poki]

    recipe: dict[str, Any] = {
        "hands": [size.hands, size.poki],
        "against": digest(opponent.probabilities),
    }
    recipe |= {"seed": MATCH_SEED + seed, "code": source_version(_curve)}
    shown = titled_progress(progress, f"{buckets} buckets, seed {seed + 1}")
    return learning_curve(players.store, recipe, solver, when, measure, shown)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    players = PlayerFactory(scale, store, lambda share, what: progress(0.1 * share, what))
    opponent = players.equilibrium(10, "external").strategy
    for n in BUCKETS:
        players.game(n)
    runs = [(n, seed) for n in BUCKETS for seed in range(size.seeds)]
    work = [partial(_curve, n, seed, size, players, opponent) for n, seed in runs]
    made = in_parallel(work, lambda share, what: progress(0.1 + 0.89 * share, what))
    by_run = dict(zip(runs, made, strict=True))
    curves = {n: np.array([by_run[n, seed] for seed in range(size.seeds)]) for n in BUCKETS}
    _picture(curves, folder / "buckets.png")
    lines = [
        (size.engine, *one, *("" if math.isnan(value) else value for value in row))
        for one, rows in by_run.items()
        for row in rows.tolist()
    ]
    setting = {**size._asdict(), "buckets": list(BUCKETS), "threads": 1}
    shown = ([_table(curves)], [RECREATED])
    return EXPERIMENT.outcome(scale, folder, [], setting, HEADER, lines, *shown)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    trained = training_jobs(scale, store, Pairing("MCCFR10", "external", 10, "poki"))

    def job(n: int, seed: int) -> Job:
        def work(progress: ProgressCallback) -> None:
            players = PlayerFactory(scale, store, progress)
            opponent = players.equilibrium(10, "external").strategy
            _curve(n, seed, size, players, opponent, progress)

        iterations = size.iterations[BUCKETS.index(n)]
        seconds = 2 * training_seconds(size.engine, n, iterations)  # rates are of two threads
        seconds += 2 * size.poki / POKI_RATE
        return Job(f"{n} buckets, seed {seed + 1}", work, seconds, 1, (trained[0].name,))

    return [*trained, *(job(n, seed) for seed in range(size.seeds) for n in BUCKETS)]


# picture and table


def _table(curves: dict[int, np.ndarray]) -> ResultTable:
    """Medians at the end of training."""
    rows = []
    for n, some in curves.items():
        iterations, seconds, visits, sparbot, mccfr, poki = np.median(some[:, -1], axis=0)
        numbers = [f"{iterations:,.0f}", f"{seconds:.1f}", f"{visits / 1e6:,.0f}"]
        rows.append([str(n), *numbers, f"{sparbot:+.3f}", f"{mccfr:+.3f}"])
        rows[-1].append("–" if math.isnan(poki) else f"{poki:+.3f}")
    header = ["buckets", "iterations", "seconds", "million visits", "Sparbot", "MCCFR10", "Poki"]
    return ResultTable("sb/h at the end, medians (Poki only at paper scale)", header, rows)


def _picture(curves: dict[int, np.ndarray], path: Path) -> None:
    figure, axes = new_figure(2, 2, 11, 8)
    columns = ((1, "seconds of one core"), (2, "information sets visited"))
    for line, (column, who) in enumerate(((3, "Sparbot (re-created)"), (4, "MCCFR10"))):
        for axis, (x, label) in zip(axes[line], columns, strict=True):
            for order, (n, some) in enumerate(curves.items()):
                across = np.median(some[:, :, x], axis=0)
                band(axis, across, some[:, :, column], f"{n} buckets", order)
            axis.set(xscale="log", xlabel=label, ylabel=f"won from {who}, sb/h")
            axis.legend(frameon=False, fontsize=8)
    title = "Finer buckets at equal time and at equal visits (median and range over seeds)"
    save_figure(figure, path, title)


TITLE = "Finer buckets: 10 to 200 at equal time and visits"
SECONDS = {"quick": 30, "paper": 450}  # on two cores
MEANING = {"engine": "how MCCFR samples: outcome (the paper's), external or public (ours)"}
EXPERIMENT = Experiment("buckets", TITLE, run, SECONDS, _jobs, order=6, priority=3, meaning=MEANING)
