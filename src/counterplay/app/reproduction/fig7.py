"""Figure 7: how fast RNR and MCRNR converge, against nodes touched and against seconds.

As in the caption: models are trained until their exploitability is at most 0.1; each point is two
runs, one per restricted seat; the y axis is b1(σ2) + b2(σ1) of the two responses, which need not go
to zero when p > 0. On the left, nodes of RNR are counted as in the paper, a traversal of the whole
tree per iteration; in the middle are the seconds of this project's RNR, on the sequence form. The
right column shows the exploitability of the restricted game itself, which goes to zero. The paper
does not give p; here p = 0.5.

The rules compare the nodes and seconds that RNR and MCRNR need to reach a level. Levels lie between
RNR's value after its first iteration and the worse of the two final values, so no method is
compared before it has done an iteration, and both reach every level. Nodes of the model: no player
acts twice in a row in these games, so a sampled history passes at most one node of the model for
each that is counted, and a traversal of RNR's tree at most as many again; the ratio of nodes is
known to a factor of two either way.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    prefixed_progress,
    source_version,
    stage_progress,
)
from counterplay.app.reproduction.harness.old_judge import (
    Claim,
    Interval,
    RuleVariant,
    all_hold,
    below,
)
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.models import (
    EPSILON,
    GAMES,
    TARGET,
    FixedProfile,
    cached_game,
    fixed_profile,
    model_job,
)
from counterplay.app.reproduction.sizes import LIMITS
from counterplay.core.base.plotting import band, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import digest
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.responses.solver import ResponseSolver

P = 0.5
FACTOR = 1.6  # between two measurements, in iterations
CHUNK = 1_000_000  # most iterations between two calls of the progress callback
#: Iterations a second of each of METHODS on one core; runs are limited in these units.
UNITS = {
    "ocp(500)": (400, 400, 1_600_000, 700_000),
    "goofspiel(5)": (7_800, 7_800, 2_600_000, 100_000),
    "bluff(1,1,6)": (2_000, 2_000, 4_700_000, 290_000),
    "pam(3,3,8)": (3_000, 3_000, 2_300_000, 300_000),
}


class Fig7Scale(NamedTuple):
    units: float  # for each seat of each run
    seeds: int


SCALES = {"quick": Fig7Scale(0.8, 3), "paper": Fig7Scale(12.0, 5)}


class Method(NamedTuple):
    label: str
    algorithm: str
    engine: str
    options: dict[str, Any]


METHODS = (
    Method("RNR (CFR)", "rnr", "cfr", {}),
    Method("RNR (CFR+)", "rnr", "cfr+", {}),
    Method("MCRNR (outcome sampling)", "mcrnr", "mccfr", {"epsilon": EPSILON}),
    Method("MCRNR (external sampling)", "mcrnr", "mccfr-external", {}),
)


class ConvergencePoint(NamedTuple):
    """Both seats of one run."""

    iterations: int
    nodes: float
    seconds: float
    exploitability: float  # b1(σ2) + b2(σ1) of the two responses
    gap: float  # exploitability of the restricted games, summed over seats


Run = Sequence[ConvergencePoint]
Runs = Mapping[str, tuple[Run, Sequence[Run]]]  # by game, that of RNR and those of MCRNR


class Trace(NamedTuple):
    """A run of a method on a game."""

    game: str
    method: Method
    seed: int
    rows: Run


# the rules

EARLY, LATE = 0.5, 0.1  # remaining share of the way
MODEL_NODES = 2.0
AXES = {"gap": "gap of the restricted games", "exploitability": "b1 + b2 of the responses"}


def to_reach(run: Run, axis: str, level: float, cost: str) -> float | None:
    """Nodes or seconds of the first measurement at or below the level."""
    for row in run:
        if getattr(row, axis) <= level:
            return float(getattr(row, cost))
    return None


def level(full: Run, sampled: Sequence[Run], axis: str, left: float) -> float | None:
    """The level at which `left` remains of the way from RNR's first iteration to the worse of the
    final values; None if the latter is not lower."""
    first: float = getattr(full[0], axis)
    worst = max(getattr(run[-1], axis) for run in (full, *sampled))
    return worst + left * (first - worst) if first > worst else None


def ratio(full: Run, sampled: Sequence[Run], axis: str, left: float, cost: str) -> Interval | None:
    """Cost of MCRNR over cost of RNR, over seeds; None where there is nothing to compare."""
    where = level(full, sampled, axis, left)
    if where is None or len(full) < 2 or len(sampled) < 2:
        return None
    base = to_reach(full, axis, where, cost)
    costs = [to_reach(run, axis, where, cost) for run in sampled]
    if not base or any(one is None for one in costs):
        return None
    ratios = sorted(one / base for one in costs if one is not None)
    room = MODEL_NODES if cost == "nodes" else 1.0
    return Interval(ratios[len(ratios) // 2], ratios[0] / room, ratios[-1] * room)


def ahead(
    runs: Runs, axis: str, cost: str, text: str, left: float, before: RuleVariant | None = None
) -> Claim:
    ratios = {game: ratio(full, some, axis, left, cost) for game, (full, some) in runs.items()}
    when = "half" if left == EARLY else "nine tenths"
    details = ", ".join(
        f"{game}: " + ("nothing to compare" if one is None else f"{one.value:.2g}")
        for game, one in ratios.items()
    )
    return Claim(
        text,
        f"MCRNR needs fewer {cost} than RNR to come {when} of the way from RNR's first iteration "
        f"to where the worse of both ends, on the {AXES[axis]}, in every seed and game"
        + (", the model's nodes counted" if cost == "nodes" else ""),
        f"{cost} of MCRNR over those of RNR, {details}",
        all_hold([None if one is None else below(one, 1) for one in ratios.values()]),
        before,
    )


def at_budget(runs: Runs, cost: str, part: float) -> RuleVariant:
    """The earlier rule: gaps at a part of the largest common budget, even where RNR has not
    finished its first iteration."""
    ratios = {}
    for game, (full, sampled) in runs.items():
        budget = part * min(getattr(run[-1], cost) for run in (full, *sampled))
        one, *others = (_gap_at(run, cost, budget) for run in (full, *sampled))
        ratios[game] = sorted(others)[len(others) // 2] / max(one, 1e-15)
    return RuleVariant(
        f"at {'all' if part == 1 else 'a hundredth'} of the largest common number of {cost} "
        f"MCRNR's median gap is smaller than RNR's in every game",
        ", ".join(f"{game}: {ratio:.2g} of it" for game, ratio in ratios.items()),
        all(ratio < 1 for ratio in ratios.values()),
    )


def _gap_at(run: Run, cost: str, budget: float) -> float:
    gaps = [row.gap for row in run if getattr(row, cost) <= budget]
    return gaps[-1] if gaps else run[0].gap


def _compared(traces: list[Trace], sampled: str) -> Runs:
    """By game, the run of RNR (CFR) and those of a sampled method."""
    runs = {}
    for name in dict.fromkeys(one.game for one in traces):
        by = {
            label: [one.rows for one in traces if (one.game, one.method.label) == (name, label)]
            for label in ("RNR (CFR)", sampled)
        }
        runs[name] = (by["RNR (CFR)"][0], by[sampled])
    return runs


def _claims(traces: list[Trace]) -> list[Claim]:
    outcome, external = (
        _compared(traces, f"MCRNR ({how} sampling)") for how in ("outcome", "external")
    )
    sooner = "MCRNR produces a better approximation in less time"
    early, late, axis = "above all early", "in the end too", "on the caption's axis"
    ours = "The same early with external sampling"
    plan = [
        (outcome, "gap", "nodes", f"{sooner}, {early}: nodes.", EARLY, 0.01),
        (outcome, "exploitability", "nodes", f"The same {axis}: nodes.", EARLY, None),
        (outcome, "gap", "seconds", f"{sooner}, {early}: seconds.", EARLY, None),
        (outcome, "exploitability", "seconds", f"The same {axis}: seconds.", EARLY, None),
        (outcome, "gap", "nodes", f"{sooner}, {late}: nodes.", LATE, None),
        (outcome, "gap", "seconds", f"{sooner}, {late}: seconds.", LATE, 1.0),
        (external, "gap", "nodes", f"{ours}: nodes.", EARLY, 0.01),
        (external, "gap", "seconds", f"{ours}: seconds.", EARLY, None),
    ]
    return [
        ahead(runs, which, cost, text, left, at_budget(runs, cost, part) if part else None)
        for runs, which, cost, text, left, part in plan
    ]


# the runs


def trace(
    game: Game,
    model: FixedProfile,
    method: Method,
    seed: int,
    iterations: int,
    progress: ProgressCallback = no_progress,
) -> list[ConvergencePoint]:
    """Both seats in step, measured at `points` until each has done its `iterations`."""
    how = (P, method.algorithm, method.engine, seed, method.options)
    solvers = [ResponseSolver(game, model.strategy, seat, *how).engine for seat in (0, 1)]
    for solver in solvers:
        solver.step(0)  # compile outside the clock
    rows: list[ConvergencePoint] = []
    used = 0.0
    for target in points(iterations):
        for solver in solvers:
            while solver.iterations < target:
                before = time.thread_time()  # of this thread alone
                solver.step(min(target - solver.iterations, CHUNK))
                used += time.thread_time() - before
                progress(solver.iterations / iterations, method.label)
        policies = [solver.policy() for solver in solvers]
        profile = policies[0].copy()
        profile[game.slots(1)] = policies[1][game.slots(1)]
        gap = sum(solver.measure(policy) for solver, policy in zip(solvers, policies, strict=True))
        touched = sum(solver.nodes_touched for solver in solvers)
        risk = policy_exploitability(game, profile)
        rows.append(ConvergencePoint(target, touched, used, risk, gap))
    return rows


def points(last: int) -> list[int]:
    """Iterations at which to measure, in geometric progression."""
    counts = [1]
    while counts[-1] < last:
        counts.append(min(max(counts[-1] + 1, int(counts[-1] * FACTOR)), last))
    return counts


def _plan(scale: str) -> list[tuple[Method, int]]:
    """Every run on a game: method and seed."""
    seeds = range(SCALES[scale].seeds)
    return [(m, seed) for m in METHODS for seed in (seeds if m.algorithm == "mcrnr" else [0])]


def _cached_trace(
    name: str,
    model: FixedProfile,
    method: Method,
    seed: int,
    scale: str,
    store: PieceStore,
    progress: ProgressCallback,
) -> Trace:
    game = cached_game(name)
    iterations = round(SCALES[scale].units * UNITS[name][METHODS.index(method)])
    recipe = {"game": [game.name, game.fingerprint], "method": method._asdict(), "seed": seed}
    recipe |= {"model": digest(model.strategy.probabilities), "iterations": iterations, "p": P}
    recipe |= {"factor": FACTOR, "code": source_version(trace, points)}
    labelled = prefixed_progress(progress, f"{name}, seed {seed + 1}")
    work = partial(trace, game, model, method, seed, iterations, labelled)
    rows = store.value("trace", recipe, work)
    return Trace(name, method, seed, [ConvergencePoint(*row) for row in rows])


def _game(
    name: str, scale: str, store: PieceStore, progress: ProgressCallback
) -> tuple[FixedProfile, list[Trace]]:
    """The model of a game and every run on it."""
    plan = _plan(scale)
    n = len(plan) + 1
    model = fixed_profile(name, TARGET, LIMITS[scale], store, stage_progress(progress, 0, n))
    traces = [
        _cached_trace(name, model, *one, scale, store, stage_progress(progress, k + 1, n))
        for k, one in enumerate(plan)
    ]
    return model, traces


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    names, limit = GAMES[scale], LIMITS[scale]
    models = {name: model_job(name, TARGET, limit, store) for name in names}

    def job(name: str, method: Method, seed: int) -> Job:
        def work(progress: ProgressCallback) -> None:
            model = fixed_profile(name, TARGET, limit, store, progress)
            _cached_trace(name, model, method, seed, scale, store, progress)

        label = f"Figure 7: {name}, {method.label}, seed {seed + 1}"
        return Job(label, work, 2.2 * SCALES[scale].units + 2.0, 1, (models[name].name,))

    return [*models.values(), *(job(name, *one) for one in _plan(scale) for name in names)]


# picture and table


def _picture(traces: list[Trace], models: dict[str, FixedProfile], path: Path) -> None:
    figure, axes = new_figure(len(models), 3, 13, 3.4 * len(models))
    columns = (("nodes", "exploitability"), ("seconds", "exploitability"), ("seconds", "gap"))
    labels = {"nodes": "nodes touched", "seconds": "seconds of solving"}
    for line, (game, model) in zip(axes, models.items(), strict=True):
        for axis, (x, y) in zip(line, columns, strict=True):
            for k, method in enumerate(METHODS):
                runs = [one.rows for one in traces if (one.game, one.method) == (game, method)]
                length = min(map(len, runs))  # measured at the same iterations in every seed
                across, up = (
                    np.array([[getattr(row, what) for row in rows[:length]] for rows in runs])
                    for what in (x, y)
                )
                band(axis, np.median(across, axis=0), up, method.label, k)
            axis.set(xscale="log", yscale="log", xlabel=labels[x], ylabel=AXES[y])
        line[0].set_title(f"{game}; model exploitable by {model.exploitability:.2g}", fontsize=9)
        line[2].legend(frameon=False, fontsize=7)
    title = f"RNR against MCRNR, p = {P:g} (both seats; median and range over seeds)"
    save_figure(figure, path, title)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    names, folder = GAMES[scale], store.folder
    made = in_parallel([partial(_game, name, scale, store) for name in names], progress)
    models = {name: model for name, (model, _) in zip(names, made, strict=True)}
    traces = [trace for _, some in made for trace in some]
    progress(1.0, "drawing")
    _picture(traces, models, folder / "fig7.png")
    lines = [
        (t.game, models[t.game].exploitability, t.method.label, t.seed, P, *row)
        for t in traces
        for row in t.rows
    ]
    header = f"game model_exploitability method seed p {' '.join(ConvergencePoint._fields)}"
    setting = {
        "games": list(names),
        "p": P,
        "epsilon": EPSILON,
        **SCALES[scale]._asdict(),
        "iterations per unit": {name: list(UNITS[name]) for name in names},
        "model iterations at most": LIMITS[scale].iterations,
    }
    return EXPERIMENT.outcome(scale, folder, [], setting, header, lines)


TITLE = "Figure 7: convergence of RNR and MCRNR"
SECONDS = {"quick": 60, "paper": 700}  # on two cores
MEANING = {"iterations per unit": "how many iterations one unit of effort is, by game and method"}
EXPERIMENT = Experiment("fig7", TITLE, run, SECONDS, _jobs, order=8, priority=8, meaning=MEANING)
