"""Figure 7: how fast RNR and MCRNR converge, against nodes touched and against seconds.

As in the caption: models are run until their exploitability is at most 0.1; each point is two runs, one per restricted seat;
the y axis is b1(σ2) + b2(σ1) of the two responses, which need not go to zero when p > 0. RNR is counted as the paper had it,
a walk of the whole tree per iteration, on the left, and runs as this project has it, on the sequence form, in the middle.
The right column shows the exploitability of the restricted game itself, which does go to zero. The paper does not say which
p; here p = 0.5.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base.plotting import band, new_figure, save_figure
from counterplay.evaluation.exact import policy_exploitability
from counterplay.experiments.base import Claim, Experiment, Outcome, Tell, write_csv
from counterplay.experiments.models import EPSILON, GAMES, Model, trained
from counterplay.experiments.training import kept
from counterplay.forms.game import Game
from counterplay.games.registry import load
from counterplay.responses.respond import response_solver

P = 0.5
FACTOR = 1.6  # between two measurements, in iterations


class Scale(NamedTuple):
    model_seconds: float  # at most, for the model
    seconds: float  # of solving for each seat of each run
    seeds: int


SCALES = {"quick": Scale(20.0, 0.7, 3), "paper": Scale(1800.0, 300.0, 5)}


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


def _trace(game: Game, model: Model, method: Method, seed: int, seconds: float) -> list[Measured]:
    """Both seats side by side, measured ever more seldom until the time is used."""
    solvers = [
        response_solver(game, model.strategy, seat, P, method.algorithm, method.engine, seed, method.options) for seat in (0, 1)
    ]
    for solver in solvers:
        solver.step(0)  # compile outside the clock
    rows: list[Measured] = []
    used, wanted = 0.0, 1
    while used < 2 * seconds:
        for solver in solvers:
            before = time.perf_counter()
            solver.step(wanted - solver.iterations)
            used += time.perf_counter() - before
        policies = [solver.policy() for solver in solvers]
        profile = policies[0].copy()
        profile[game.slots(1)] = policies[1][game.slots(1)]
        gap = sum(solver.measure(policy) for solver, policy in zip(solvers, policies, strict=True))
        nodes = sum(solver.nodes_touched for solver in solvers)
        rows.append(Measured(wanted, nodes, used, policy_exploitability(game, profile), gap))
        wanted = max(wanted + 1, int(wanted * FACTOR))
    return rows


def _at(trace: Trace, axis: str, budget: float) -> float:
    """The gap after `budget` nodes or seconds."""
    values = [row.gap for row in trace.rows if getattr(row, axis) <= budget]
    return values[-1] if values else trace.rows[0].gap


def _compare(traces: list[Trace], game: str, full: str, sampled: str, axis: str) -> tuple[float, float]:
    """Median gap of `sampled` over that of `full`, at a hundredth of the largest budget both have, and at all of it."""
    a = [trace for trace in traces if trace.game == game and trace.method.label == full]
    b = [trace for trace in traces if trace.game == game and trace.method.label == sampled]
    most = min(getattr(trace.rows[-1], axis) for trace in [*a, *b])
    ratios = []
    for budget in (most / 100, most):
        one, two = (np.median([_at(trace, axis, budget) for trace in runs]) for runs in (a, b))
        ratios.append(float(two / max(one, 1e-15)))
    return ratios[0], ratios[1]


def _claims(traces: list[Trace]) -> list[Claim]:
    games = list(dict.fromkeys(trace.game for trace in traces))
    nodes = {game: _compare(traces, game, "RNR (CFR)", "MCRNR (outcome sampling)", "nodes") for game in games}
    seconds = {game: _compare(traces, game, "RNR (CFR)", "MCRNR (outcome sampling)", "seconds") for game in games}
    external = {game: _compare(traces, game, "RNR (CFR)", "MCRNR (external sampling)", "nodes") for game in games}

    def text(ratios: dict[str, tuple[float, float]]) -> str:
        return ", ".join(f"{game}: {first:.2g} early and {last:.2g} late" for game, (first, last) in ratios.items())

    return [
        Claim(
            "Per node touched MCRNR is ahead of RNR, above all early.",
            "at a hundredth of the largest common number of nodes, MCRNR (outcome sampling) has a smaller median gap "
            "than RNR (CFR) in every game",
            "gap of MCRNR over gap of RNR, " + text(nodes),
            all(first < 1 for first, _ in nodes.values()),
        ),
        Claim(
            "The same with external sampling.",
            "the same rule for MCRNR (external sampling)",
            "gap of MCRNR over gap of RNR, " + text(external),
            all(first < 1 for first, _ in external.values()),
        ),
        Claim(
            "MCRNR produces a better approximation in less time.",
            "at the largest common number of seconds MCRNR has a smaller median gap than RNR on the sequence form in every game",
            "gap of MCRNR over gap of RNR, " + text(seconds),
            all(last < 1 for _, last in seconds.values()),
        ),
    ]


def _picture(traces: list[Trace], models: dict[str, Model], path: Path) -> None:
    games = list(dict.fromkeys(trace.game for trace in traces))
    figure, axes = new_figure(len(games), 3, 13, 3.4 * len(games))
    columns = (("nodes", "exploitability"), ("seconds", "exploitability"), ("seconds", "gap"))
    labels = {"nodes": "nodes touched", "seconds": "seconds of solving"}
    for line, game in enumerate(games):
        for column, (x, y) in enumerate(columns):
            axis = axes[line, column]
            for k, method in enumerate(METHODS):
                runs = [trace.rows for trace in traces if trace.game == game and trace.method == method]
                length = min(len(rows) for rows in runs)  # measured at the same iterations in every seed
                across = np.array([[getattr(row, x) for row in rows[:length]] for rows in runs])
                up = np.array([[getattr(row, y) for row in rows[:length]] for rows in runs])
                band(axis, np.median(across, axis=0), up, method.label, k)
            axis.set(xscale="log", yscale="log", xlabel=labels[x])
            axis.set_ylabel("b1 + b2 of the responses" if y == "exploitability" else "gap of the restricted games")
        axes[line, 0].set_title(f"{game}; model exploitable by {models[game].exploitability:.2g}", fontsize=9)
        axes[line, 2].legend(frameon=False, fontsize=7)
    figure.suptitle(f"RNR against MCRNR, p = {P:g} (both seats; median and range over seeds)")
    save_figure(figure, path)


def run(scale: str, folder: Path, tell: Tell) -> Outcome:
    started = time.perf_counter()
    setting = SCALES[scale]
    names = GAMES[scale]
    traces: list[Trace] = []
    models: dict[str, Model] = {}
    plan = [(method, seed) for method in METHODS for seed in range(setting.seeds if method.algorithm == "mcrnr" else 1)]
    for k, name in enumerate(names):
        tell(k / len(names), f"{name}: model")
        game = load(name)
        models[name] = trained(game, setting.model_seconds, folder)
        for j, (method, seed) in enumerate(plan):
            tell((k + (j + 1) / (len(plan) + 1)) / len(names), f"{name}: {method.label}, seed {seed + 1}")
            key = {"seconds": setting.seconds, "model exploitability": models[name].exploitability, "p": P}
            work = partial(_trace, game, models[name], method, seed, setting.seconds)
            rows = kept(folder, f"fig7-{name}-{method.label}-seed{seed}", key, work)
            traces.append(Trace(name, method, seed, [Measured(*row) for row in rows]))
    tell(1.0, "drawing")
    _picture(traces, models, folder / "fig7.png")
    lines = [(t.game, models[t.game].exploitability, t.method.label, t.seed, P, *row) for t in traces for row in t.rows]
    header = ("game", "model_exploitability", "method", "seed", "p", *Measured._fields)
    write_csv(folder / "fig7.csv", header, lines)
    details = {"games": list(names), "p": P, "epsilon": EPSILON, **setting._asdict()}
    return Outcome(
        EXPERIMENT.name, EXPERIMENT.title, scale, _claims(traces), details, time.perf_counter() - started,
        ["fig7.png", "fig7.csv"],
    )  # fmt: skip


EXPERIMENT = Experiment("fig7", "Figure 7: convergence of RNR and MCRNR", run, {"quick": 105, "paper": 7000})
