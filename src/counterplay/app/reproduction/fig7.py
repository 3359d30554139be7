"""Figure 7: how fast RNR and MCRNR converge, against nodes touched and against seconds.

As in the caption, models are trained until their exploitability is at most 0.1, and each point is
two runs, one for each restricted seat. The games have the sizes of Lanctot et al. (2009) at paper
scale. The article does not give p; here p = 0.5.

The rule asks what each method needs to halve the gap of the restricted games at uniform play, where
both start. Nodes are exact: RNR walks the tree of the game twice in each pass, once with the model
(Figure 5), and a sampled walk counts the nodes of the model too. Seconds of RNR are those of a walk
of that tree, by nodes and by the seconds a node takes in chance-sampled CFR, which walks the tree
below every deal; this project's own RNR, on the sequence form, is beside it.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    source_version,
)
from counterplay.app.reproduction.harness.judge import Claim, Interval, below, claim, decide
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.models import (
    EPSILON,
    TARGET,
    FixedProfile,
    cached_game,
    fixed_profile,
    model_job,
)
from counterplay.core.base.plotting import band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, no_progress, part, stage
from counterplay.core.base.store import digest
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import take_model_nodes
from counterplay.core.parallel.jobs import Job
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver

P = 0.5
EVERY, FIRST = 16, 100  # RNR is measured after each of so many passes, MCRNR first after so many
FACTOR = 1.3  # between two later measurements
CHUNK = 200_000  # most iterations between two calls of the progress callback
STOP = 0.02  # a run ends at this share of the gap of uniform play
WALKED = 2_000_000  # nodes at least by which the seconds of a node are measured
SEEDS = 3


class GameSize(NamedTuple):
    """Iterations at most, and expected seconds."""

    passes: int  # of RNR
    outcome: int
    external: int
    seconds: tuple[float, float, float]  # of a run of each of these with both seats
    model: float  # of training the model


#: The games of each scale.
GAMES: dict[str, dict[str, GameSize]] = {
    "quick": {
        "ocp(500)": GameSize(60, 400_000, 200_000, (1, 1, 1), 2),
        "goofspiel(6)": GameSize(60, 2_000_000, 20_000, (2, 4, 4), 2),
        "bluff(1,1,6)": GameSize(100, 2_000_000, 100_000, (1, 2, 2), 2),
        "pam(3,3,10)": GameSize(80, 10_000_000, 100_000, (4, 14, 4), 3),
    },
    "paper": {
        "ocp(500)": GameSize(300, 4_000_000, 2_000_000, (3, 5, 8), 1),
        "goofspiel(7)": GameSize(60, 10_000_000, 6_000, (30, 65, 40), 50),
        "bluff(1,1,6)": GameSize(300, 20_000_000, 1_000_000, (2, 10, 16), 1),
        "pam(3,3,12)": GameSize(150, 60_000_000, 200_000, (12, 110, 25), 8),
    },
}


class Method(NamedTuple):
    label: str
    algorithm: str
    engine: str
    options: dict[str, Any]
    size: str  # the field of GameSize with its iterations


METHODS = (
    Method("RNR (CFR)", "rnr", "cfr", {}, "passes"),
    Method("RNR (CFR+)", "rnr", "cfr+", {}, "passes"),
    Method("MCRNR (outcome sampling)", "mcrnr", "mccfr", {"epsilon": EPSILON}, "outcome"),
    Method("MCRNR (external sampling)", "mcrnr", "mccfr-external", {}, "external"),
)
RNR, SAMPLED = METHODS[0], METHODS[2:]


class ConvergencePoint(NamedTuple):
    """Both seats of one run; the first is uniform play."""

    iterations: int
    nodes: float
    seconds: float
    exploitability: float  # b1(σ2) + b2(σ1) of the two responses
    gap: float  # exploitability of the restricted games, summed over seats


RunPoints = Sequence[ConvergencePoint]


class Trace(NamedTuple):
    """A run of a method on a game."""

    game: str
    method: Method
    seed: int
    rows: RunPoints


# the rule

EARLY, LATE = 0.5, 0.1  # share of the gap of uniform play
NODES, WALK, OURS = "nodes", "seconds, RNR walking its tree", "seconds, RNR on the sequence form"


def to_reach(run: RunPoints, share: float, cost: str) -> Interval:
    """Nodes or seconds until the gap is at most this share of that of uniform play. The interval
    is that between the last measurement above it and the first at or below it."""
    for before, row in itertools.pairwise(run):
        if row.gap <= share * run[0].gap:
            found = float(getattr(row, cost))
            exact = row.iterations == before.iterations + 1
            return Interval(found, found if exact else float(getattr(before, cost)), found)
    return Interval(math.inf, float(getattr(run[-1], cost)), math.inf)


def ratio(full: RunPoints, sampled: Sequence[RunPoints], share: float, cost: str) -> Interval:
    """Cost of MCRNR over cost of RNR: the median over seeds, and the range over seeds and between
    measurements."""
    base = to_reach(full, share, cost)
    costs = sorted(to_reach(run, share, cost) for run in sampled)
    middle = costs[len(costs) // 2].value
    low, high = min(one.low for one in costs), max(one.high for one in costs)
    value = middle / base.value if math.isfinite(middle) else math.inf
    return Interval(value, low / base.high, high / base.low if base.low > 0 else math.inf)


class Race(NamedTuple):
    """RNR and one method of MCRNR on a game."""

    full: RunPoints
    sampled: Sequence[RunPoints]
    walk: float  # seconds of a node in a walk of the tree

    def ratio(self, share: float, cost: str) -> Interval:
        full = self.full
        if cost == WALK:
            full = [row._replace(seconds=row.nodes * self.walk) for row in full]
        return ratio(full, self.sampled, share, "nodes" if cost == NODES else "seconds")


def sooner(races: Mapping[str, Race]) -> Claim:
    """Claim 26, by game: the nodes and the seconds that halve the gap of uniform play."""
    ratios = {
        cost: {g: race.ratio(EARLY, cost) for g, race in races.items()} for cost in (NODES, WALK)
    }
    listed = "; ".join(
        f"{cost}: " + ", ".join(f"{game} {as_ratio(one)}" for game, one in found.items())
        for cost, found in ratios.items()
    )
    parts = [below(one, 1.0) for found in ratios.values() for one in found.values()]
    rule = (
        "MCRNR (outcome sampling) needs fewer nodes, and less time than RNR by walking the tree, "
        "to halve the gap that uniform play has in the restricted games, in each game; in part if "
        "in some."
    )
    measured = f"What MCRNR needs to halve the gap, over what RNR needs, {listed}."
    return claim(26, measured, decide(*parts), rule)


def as_ratio(one: Interval) -> str:
    """For example 0.0025 (0.002 to 0.003); a bound where only one of the two came so far."""
    if math.isinf(one.value):
        return f"over {one.low:.2g}" if one.low > 0 else "–"
    if one.value == 0:
        return f"below {one.high:.2g}"
    return f"{one.value:.2g} ({one.low:.2g} to {one.high:.2g})"


# the runs


def trace(
    game: Game,
    model: FixedProfile,
    method: Method,
    seed: int,
    iterations: int,
    progress: ProgressCallback = no_progress,
) -> list[ConvergencePoint]:
    """Both seats in step, measured from uniform play until the gap is small or the iterations are
    done."""
    how = (P, method.algorithm, method.engine, seed, method.options)
    solvers = [ResponseSolver(game, model.strategy, seat, *how).engine for seat in (0, 1)]
    for solver in solvers:
        solver.step(0)  # compile outside the clock
    rows: list[ConvergencePoint] = []
    used, nodes = 0.0, 0
    for target in points(iterations, method.algorithm == "mcrnr"):
        for solver in solvers:
            while solver.iterations < target:
                before, touched = time.thread_time(), solver.nodes_touched
                solver.step(min(target - solver.iterations, CHUNK))
                used += time.thread_time() - before  # of this thread alone
                nodes += all_nodes(solver, solver.nodes_touched - touched)
                progress(solver.iterations / iterations, method.label)
        policies = [solver.policy() for solver in solvers]
        profile = policies[0].copy()
        profile[game.slots(1)] = policies[1][game.slots(1)]
        gap = sum(solver.measure(policy) for solver, policy in zip(solvers, policies, strict=True))
        risk = policy_exploitability(game, profile)
        rows.append(ConvergencePoint(target, nodes, used, risk, gap))
        if gap <= STOP * rows[0].gap:
            break
    return rows


def all_nodes(solver: Solver, counted: int) -> int:
    """The nodes of the restricted game for those that a solver counted in a step. At full width,
    which counts the tree of the game, twice as many; in a sampled walk also the model's."""
    workers = getattr(getattr(solver, "_pool", None), "workers", None)
    if workers is None:
        return 2 * counted
    return counted + sum(take_model_nodes(worker.chance) for worker in workers)


def points(last: int, sampled: bool) -> list[int]:
    """Iterations at which to measure."""
    counts = [0, min(FIRST, last)] if sampled else list(range(min(EVERY, last) + 1))
    while counts[-1] < last:
        counts.append(min(max(counts[-1] + 1, int(counts[-1] * FACTOR)), last))
    return counts


def walk_seconds(game: Game) -> float:
    """Seconds that a node takes where CFR walks the tree."""
    solver = new_solver(game, "mccfr-chance", 0, {})
    solver.step(1)
    before, touched = time.thread_time(), solver.nodes_touched
    while solver.nodes_touched - touched < WALKED:
        solver.step(max(solver.iterations, 1))
    return (time.thread_time() - before) / (solver.nodes_touched - touched)


def _plan(scale: str) -> list[tuple[Method, int]]:
    """Every run on a game: method and seed. At quick scale what is not judged has one; seed by
    seed, so that jobs which begin together compile different kernels."""
    several = SAMPLED[:1] if scale == "quick" else SAMPLED
    return [(m, seed) for seed in range(SEEDS) for m in METHODS if not seed or m in several]


def _cached_trace(
    name: str, method: Method, seed: int, scale: str, store: PieceStore, progress: ProgressCallback
) -> Trace:
    game, model = cached_game(name), fixed_profile(name, TARGET, store, progress)
    iterations = getattr(GAMES[scale][name], method.size)
    recipe = {"game": [game.name, game.fingerprint], "method": method._asdict(), "seed": seed}
    recipe |= {"model": digest(model.strategy.probabilities), "iterations": iterations, "p": P}
    recipe["points"] = [EVERY, FIRST, FACTOR, STOP]
    recipe["code"] = source_version(trace, points, all_nodes)
    labelled = part(progress, title=f"{name}, seed {seed + 1}: {method.label}")
    arguments = (game, model, method, seed, iterations, labelled)
    rows = store.value("trace", recipe, lambda: trace(*arguments))
    return Trace(name, method, seed, [ConvergencePoint(*row) for row in rows])


def _cached_walk(name: str, store: PieceStore) -> float:
    game = cached_game(name)
    recipe = {"game": [game.name, game.fingerprint], "code": source_version(walk_seconds)}
    return float(store.value("walk", recipe, lambda: walk_seconds(game)))


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    jobs = []
    for name, size in GAMES[scale].items():
        model = model_job(name, TARGET, store, size.model)

        def work(
            progress: ProgressCallback, name: str = name, one: tuple[Method, int] | None = None
        ) -> None:
            if one is None:
                _cached_walk(name, store)
            else:
                _cached_trace(name, *one, scale, store, progress)

        jobs += [model, Job(f"Figure 7: {name}, walk", work, size.model / 2)]
        for one in _plan(scale):
            label = f"Figure 7: {name}, {one[0].label}, seed {one[1] + 1}"
            bound = partial(work, name=name, one=one)
            seconds = size.seconds[size._fields.index(one[0].size)]
            jobs.append(Job(label, bound, seconds, 1, (model.name,)))
    return jobs


# picture and table


def _picture(
    traces: list[Trace], models: dict[str, FixedProfile], walks: dict[str, float], path: Path
) -> None:
    figure, axes = new_figure(len(models), 3, 13, 3.3 * len(models))
    columns = (("nodes", "gap"), ("seconds", "gap"), ("nodes", "exploitability"))
    labels = {"nodes": "nodes touched", "seconds": "seconds"}
    labels |= {"gap": "gap of the restricted games", "exploitability": "b1 + b2 of the responses"}
    for line, (game, model) in zip(axes, models.items(), strict=True):
        for axis, (x, y) in zip(line, columns, strict=True):
            for k, method in enumerate(METHODS):
                runs = [one.rows for one in traces if (one.game, one.method) == (game, method)]
                length = min(map(len, runs))  # measured at the same iterations in every seed
                across, up = (
                    np.array([[getattr(row, what) for row in rows[1:length]] for rows in runs])
                    for what in (x, y)
                )
                band(axis, np.median(across, axis=0), up, method.label, k)
                if method == RNR and x == "seconds":
                    walked = [row.nodes * walks[game] for row in runs[0][1:length]]
                    axis.plot(
                        walked, up[0], color="0.4", linewidth=1, label="RNR, walking the tree"
                    )
            axis.set(xscale="log", yscale="log", xlabel=labels[x], ylabel=labels[y])
        line[0].set_title(f"{game}; model exploitable by {model.exploitability:.2g}", fontsize=9)
    handles, names = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    title = f"RNR against MCRNR, p = {P:g} (both seats; median and range over seeds)"
    save_figure(figure, path, title)


def _race(traces: list[Trace], walks: dict[str, float], game: str, method: Method) -> Race:
    full, sampled = (
        [one.rows for one in traces if (one.game, one.method) == (game, which)]
        for which in (RNR, method)
    )
    return Race(full[0], sampled, walks[game])


def _table(traces: list[Trace], walks: dict[str, float]) -> ResultTable:
    rows = []
    for game, method, share in itertools.product(walks, SAMPLED, (EARLY, LATE)):
        race = _race(traces, walks, game, method)
        found = (as_ratio(race.ratio(share, cost)) for cost in (NODES, WALK, OURS))
        rows.append([game, method.label, f"{share:g} of uniform play's gap", *found])
    header = ["game", "method", "until", NODES, WALK, OURS]
    return ResultTable("What MCRNR needs over what RNR (CFR) needs", header, rows)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    names, folder, plan = list(GAMES[scale]), store.folder, _plan(scale)
    traces, models, walks = [], {}, {}
    for k, name in enumerate(names):
        shown = stage(progress, k, len(names))
        models[name] = fixed_profile(name, TARGET, store, shown)
        walks[name] = _cached_walk(name, store)
        traces += [_cached_trace(name, *one, scale, store, shown) for one in plan]
    progress(1.0, "drawing")
    _picture(traces, models, walks, folder / "fig7.png")
    lines = [
        (t.game, models[t.game].exploitability, t.method.label, t.seed, P, *row, walks[t.game])
        for t in traces
        for row in t.rows
    ]
    header = "game model_exploitability method seed p " + " ".join(ConvergencePoint._fields)
    header += " walk_seconds_per_node"
    setting = {
        "games": names,
        "p": P,
        "epsilon": EPSILON,
        "seeds": SEEDS,
        "models": "MCCFR by external sampling, the first measured at 0.1 or below",
    }
    judged = [sooner({name: _race(traces, walks, name, SAMPLED[0]) for name in names})]
    table = [_table(traces, walks)]
    return EXPERIMENT.outcome(scale, folder, judged, setting, header, lines, table)


TITLE = "Figure 7: convergence of RNR and MCRNR"
SECONDS = {"quick": 60, "paper": 450}  # on two cores
MEANING = {"models": "what the responses respond to"}
STORY = """MCRNR is below RNR in all four games, above all at the left end of the curves. No
numbers are given.

Both algorithms respond to the same model; the curves are the exploitability of the pair of
responses by nodes and by seconds. Where a game has much chance, sampling reaches a good
approximation before full width has ended its first pass. The verdict is game by game."""
EXPERIMENT = Experiment(
    "fig7", TITLE, run, SECONDS, _jobs, order=8, priority=8, meaning=MEANING, story=STORY
)
