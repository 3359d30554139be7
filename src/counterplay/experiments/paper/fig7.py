"""Figure 7: how fast RNR and MCRNR converge, against nodes touched and against seconds.

As in the caption: models are run until their exploitability is at most 0.1; each point is two runs,
one per restricted seat; the y axis is b1(σ2) + b2(σ1) of the two responses, which need not go to
zero when p > 0. RNR is counted as the paper had it, a walk of the whole tree per iteration, on the
left, and runs as this project has it, on the sequence form, in the middle. The right column shows
the exploitability of the restricted game itself, which does go to zero. The paper does not say
which p; here p = 0.5.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base.plotting import band, new_figure, save_figure
from counterplay.base.progress import Tell, untold
from counterplay.base.store import digest
from counterplay.evaluation.exact import policy_exploitability
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.models import (
    EPSILON,
    GAMES,
    TARGET,
    FixedProfile,
    game_of,
    late,
    model_job,
)
from counterplay.experiments.paper.players import staged
from counterplay.experiments.paper.rules import speed as rules
from counterplay.experiments.paper.sizes import LIMITS, Limit
from counterplay.forms.game import Game
from counterplay.parallel.jobs import Job, in_parallel
from counterplay.responses.solver import ResponseSolver

P = 0.5
FACTOR = 1.6  # between two measurements, in iterations
CHUNK = 1_000_000  # most iterations between two words of progress


#: Iterations of each of METHODS that took about a second of one core: the unit in which runs are
#: limited.
UNITS = {
    "ocp(500)": (400, 400, 1_600_000, 700_000),
    "goofspiel(5)": (7_800, 7_800, 2_600_000, 100_000),
    "bluff(1,1,6)": (2_000, 2_000, 4_700_000, 290_000),
    "pam(3,3,8)": (3_000, 3_000, 2_300_000, 300_000),
}


class Scale(NamedTuple):
    units: float  # for each seat of each run
    seeds: int


SCALES = {"quick": Scale(0.8, 3), "paper": Scale(12.0, 5)}


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


class Measured(NamedTuple):
    """One measurement of both seats together."""

    iterations: int
    nodes: int
    seconds: float
    exploitability: float  # b1(σ2) + b2(σ1) of the two responses
    gap: float  # exploitability of the restricted games, summed over seats


class Trace(NamedTuple):
    game: str
    method: Method
    seed: int
    rows: list[Measured]


def trace(
    game: Game,
    model: FixedProfile,
    method: Method,
    seed: int,
    iterations: int,
    tell: Tell = untold,
) -> list[Measured]:
    """Both seats side by side, measured ever more seldom until each has done its `iterations`."""
    solvers = [
        ResponseSolver(
            game, model.strategy, seat, P, method.algorithm, method.engine, seed, method.options
        ).engine
        for seat in (0, 1)
    ]
    for solver in solvers:
        solver.step(0)  # compile outside the clock
    rows: list[Measured] = []
    used = 0.0
    for wanted in points(iterations):
        for solver in solvers:
            while solver.iterations < wanted:
                before = time.thread_time()  # of this core, whatever else runs
                solver.step(min(wanted - solver.iterations, CHUNK))
                used += time.thread_time() - before
                tell(solver.iterations / iterations, method.label)
        policies = [solver.policy() for solver in solvers]
        profile = policies[0].copy()
        profile[game.slots(1)] = policies[1][game.slots(1)]
        gap = sum(solver.measure(policy) for solver, policy in zip(solvers, policies, strict=True))
        touched = sum(solver.nodes_touched for solver in solvers)
        rows.append(Measured(wanted, touched, used, policy_exploitability(game, profile), gap))
    return rows


def points(last: int) -> list[int]:
    """Iterations at which to measure, ever further apart."""
    found = [1]
    while found[-1] < last:
        found.append(min(max(found[-1] + 1, int(found[-1] * FACTOR)), last))
    return found


def _runs(traces: list[Trace], label: str) -> dict[str, tuple[rules.Run, list[rules.Run]]]:
    """By game, the run of RNR (CFR) and those of a sampled method."""
    found: dict[str, tuple[rules.Run, list[rules.Run]]] = {}
    for name in dict.fromkeys(one.game for one in traces):
        mine = [one for one in traces if one.game == name]
        (full,) = (_seen(one) for one in mine if one.method.label == "RNR (CFR)")
        found[name] = (full, [_seen(one) for one in mine if one.method.label == label])
    return found


def _seen(one: Trace) -> rules.Run:
    return [rules.Seen(r.nodes, r.seconds, r.exploitability, r.gap) for r in one.rows]


def _claims(traces: list[Trace]) -> list[Claim]:
    outcome, external = (
        _runs(traces, f"MCRNR ({how} sampling)") for how in ("outcome", "external")
    )
    sooner = "MCRNR produces a better approximation in less time"
    early, late, axis = "above all early", "in the end too", "on the caption's axis"
    ours = "The same early with external sampling"
    plan = [
        (outcome, "gap", "nodes", f"{sooner}, {early}: nodes.", rules.EARLY, 0.01),
        (outcome, "exploitability", "nodes", f"The same {axis}: nodes.", rules.EARLY, None),
        (outcome, "gap", "seconds", f"{sooner}, {early}: seconds.", rules.EARLY, None),
        (outcome, "exploitability", "seconds", f"The same {axis}: seconds.", rules.EARLY, None),
        (outcome, "gap", "nodes", f"{sooner}, {late}: nodes.", rules.LATE, None),
        (outcome, "gap", "seconds", f"{sooner}, {late}: seconds.", rules.LATE, 1.0),
        (external, "gap", "nodes", f"{ours}: nodes.", rules.EARLY, 0.01),
        (external, "gap", "seconds", f"{ours}: seconds.", rules.EARLY, None),
    ]
    return [
        rules.ahead(
            runs, which, cost, text, left, rules.at_budget(runs, cost, share) if share else None
        )
        for runs, which, cost, text, left, share in plan
    ]


def _picture(traces: list[Trace], models: dict[str, FixedProfile], path: Path) -> None:
    games = list(dict.fromkeys(trace.game for trace in traces))
    figure, axes = new_figure(len(games), 3, 13, 3.4 * len(games))
    columns = (("nodes", "exploitability"), ("seconds", "exploitability"), ("seconds", "gap"))
    labels = {"nodes": "nodes touched", "seconds": "seconds of solving"}
    for line, game in enumerate(games):
        for column, (x, y) in enumerate(columns):
            axis = axes[line, column]
            for k, method in enumerate(METHODS):
                runs = [
                    trace.rows for trace in traces if trace.game == game and trace.method == method
                ]
                length = min(
                    len(rows) for rows in runs
                )  # measured at the same iterations in every seed
                across = np.array([[getattr(row, x) for row in rows[:length]] for rows in runs])
                up = np.array([[getattr(row, y) for row in rows[:length]] for rows in runs])
                band(axis, np.median(across, axis=0), up, method.label, k)
            axis.set(xscale="log", yscale="log", xlabel=labels[x])
            axis.set_ylabel(
                "b1 + b2 of the responses"
                if y == "exploitability"
                else "gap of the restricted games"
            )
        axes[line, 0].set_title(
            f"{game}; model exploitable by {models[game].exploitability:.2g}", fontsize=9
        )
        axes[line, 2].legend(frameon=False, fontsize=7)
    figure.suptitle(f"RNR against MCRNR, p = {P:g} (both seats; median and range over seeds)")
    save_figure(figure, path)


def _plan(scale: Scale) -> list[tuple[Method, int]]:
    """Every run on a game: method and seed."""
    seeds = range(scale.seeds)
    return [(m, seed) for m in METHODS for seed in (seeds if m.algorithm == "mcrnr" else [0])]


def _game(
    name: str, scale: Scale, limit: Limit, store: Store, tell: Tell
) -> tuple[FixedProfile, list[Trace]]:
    """The model of a game and every run on it."""
    plan = _plan(scale)
    tell(0.0, f"{name}: building")
    model = late(game_of(name), limit, store, staged(tell, 0, len(plan) + 1))
    traces = [
        _kept_trace(name, model, *one, scale, store, staged(tell, k + 1, len(plan) + 1))
        for k, one in enumerate(plan)
    ]
    return model, traces


def _kept_trace(
    name: str,
    model: FixedProfile,
    method: Method,
    seed: int,
    scale: Scale,
    store: Store,
    tell: Tell,
) -> Trace:
    game, iterations = game_of(name), round(scale.units * UNITS[name][METHODS.index(method)])
    recipe = {
        "game": [game.name, game.fingerprint],
        "model": digest(model.strategy.probabilities),
        "method": method._asdict(),
        "seed": seed,
        "p": P,
        "iterations": iterations,
        "file": file_version(__file__),
    }
    say: Tell = partial(_say, tell, f"{name}: seed {seed + 1}, ")
    work = partial(trace, game, model, method, seed, iterations, say)
    rows = store.value("trace", recipe, work)
    return Trace(name, method, seed, [Measured(*row) for row in rows])


def _jobs(scale: str, store: Store) -> list[Job]:
    size, limit = SCALES[scale], LIMITS[scale]

    def job(name: str, method: Method, seed: int) -> Job:
        def work(tell: Tell) -> None:
            model = late(game_of(name), limit, store, tell)
            _kept_trace(name, model, method, seed, size, store, tell)

        after = (model_job(name, TARGET, limit, store).name,)
        label = f"Figure 7: {name}, {method.label}, seed {seed + 1}"
        return Job(label, work, 2.2 * size.units + 2.0, 1, after)

    models = [model_job(name, TARGET, limit, store) for name in GAMES[scale]]
    return models + [job(name, *one) for one in _plan(size) for name in GAMES[scale]]


def _say(tell: Tell, before: str, share: float, what: str) -> None:
    tell(share, before + what)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    setting, limit, folder = SCALES[scale], LIMITS[scale], store.folder
    names = GAMES[scale]
    found = in_parallel([partial(_game, name, setting, limit, store) for name in names], tell)
    models = {name: model for name, (model, _) in zip(names, found, strict=True)}
    traces = [trace for _, some in found for trace in some]
    tell(1.0, "drawing")
    _picture(traces, models, folder / "fig7.png")
    lines = [
        (t.game, models[t.game].exploitability, t.method.label, t.seed, P, *row)
        for t in traces
        for row in t.rows
    ]
    header = ("game", "model_exploitability", "method", "seed", "p", *Measured._fields)
    write_csv(folder / "fig7.csv", header, lines)
    details = {"games": list(names), "p": P, "epsilon": EPSILON, **setting._asdict()}
    details |= {"iterations per unit": {name: list(UNITS[name]) for name in names}}
    details |= {"model iterations at most": limit.iterations}
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(traces),
        details,
        time.perf_counter() - started,
        ["fig7.png", "fig7.csv"],
    )


EXPERIMENT = Experiment(
    "fig7", "Figure 7: convergence of RNR and MCRNR", run, {"quick": 60, "paper": 700}, _jobs
)
