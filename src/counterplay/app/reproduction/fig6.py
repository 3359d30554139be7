"""Figure 6: what restricted Nash responses win from a model, and what they risk, for p from 0 to 1.

Exploitation (gain) is the payoff against the model, summed over both seats (the values of the game
cancel); exploitability (risk) is b1 + b2 of the responses. Models are profiles of MCCFR of three
strengths, and uniform play. The paper's points are MCRNR: here by external sampling, until the gap
of the restricted games is a tenth of what can be won from the model; at paper scale also by outcome
sampling, as in the paper, and for the finer models at the values of p that the rules need. Lines
are RNR at full width, the exact oracle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.fig6_rules import (
    CONVERGED,
    ResponseCurve,
    claims,
    share,
    similar,
)
from counterplay.app.reproduction.harness.base import Experiment, Outcome, stage_progress
from counterplay.app.reproduction.harness.old_judge import Claim
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.models import (
    EPSILON,
    FINER,
    GAMES,
    TARGET,
    FixedProfile,
    ResponseOptions,
    ResponsePoint,
    fixed_profile,
    label,
    model_job,
    response_point,
)
from counterplay.app.reproduction.sizes import LIMITS
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.responses.frontier import PAPER_PS

JUDGED_PS = (0.0, 0.5, 0.8, 0.97, 1.0)  # that the rules need
FOOTNOTE_PS = (0.5, 0.8)  # at which RNR and DBR are compared
#: Iterations a second of MCRNR by external sampling on one core.
RATES = {"ocp(500)": 700_000, "bluff(1,1,6)": 290_000, "pam(3,3,8)": 300_000}
OTHER_RATE = 100_000  # of other games, Goofspiel with five cards among them
HEADER = (
    "game model model_exploitability algorithm p exploitation gain_over_p0 exploitability "
    "straight_line gap iterations seconds"
)


class Fig6Scale(NamedTuple):
    gap: float
    full: int
    units: float  # of one MCRNR at most, in RATES of the game
    outcome: int  # of one MCRNR by outcome sampling; 0: none
    finer: float


SCALES = {
    "quick": Fig6Scale(1e-2, 4_000, 0.8, 0, 0.0),
    "paper": Fig6Scale(5e-3, 20_000, 40.0, 20_000_000, 10.0),
}
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "MCRNR": "how the sampled responses were computed",
    "converged": "when a sampled response counts as finished",
    "finer": "effort of one MCRNR that responds to a finer model, in units; 0: none does",
    "full": "iterations of one exact response (RNR) at most",
    "gap": "of the restricted game, as a share of what can be won, at which RNR stops",
}


# the responses


class PlannedCurve(NamedTuple):
    """A curve to compute; `target` is that of its model, None for uniform play."""

    algorithm: str
    target: float | None
    ps: Sequence[float]

    def options(self, game: str, scale: Fig6Scale, model: FixedProfile) -> ResponseOptions:
        """How long its points are computed."""
        bound = CONVERGED * model.exploitability / 2  # for each seat
        if self.algorithm == "mcrnr":
            units = scale.units if self.target == TARGET else scale.finer
            most = round(units * RATES.get(game, OTHER_RATE))
            return ResponseOptions("mcrnr", "mccfr-external", most, bound, max(most // 40, 1))
        if self.algorithm == "mcrnr (outcome)":
            most = scale.outcome
            return ResponseOptions("mcrnr", "mccfr", most, bound, max(most // 10, 1))
        target = scale.gap * model.exploitability
        return ResponseOptions(self.algorithm, "dcfr", scale.full, target, None)


def _plan(scale: Fig6Scale) -> list[PlannedCurve]:
    plan = [PlannedCurve("mcrnr", TARGET, PAPER_PS)]
    plan += [PlannedCurve("rnr", target, PAPER_PS) for target in (TARGET, *FINER, None)]
    plan.append(PlannedCurve("dbr", TARGET, FOOTNOTE_PS))
    if scale.outcome:
        plan.append(PlannedCurve("mcrnr (outcome)", TARGET, JUDGED_PS))
    if scale.finer:
        plan += [PlannedCurve("mcrnr", target, JUDGED_PS) for target in FINER]
    return plan


def _curve(
    name: str,
    one: PlannedCurve,
    ps: Sequence[float],
    scale: str,
    store: PieceStore,
    progress: ProgressCallback,
) -> ResponseCurve:
    """The points of a curve at some values of p."""
    model = fixed_profile(name, one.target, LIMITS[scale], store, progress)
    options = one.options(name, SCALES[scale], model)
    points = [
        response_point(name, model, p, options, store, stage_progress(progress, k, len(ps)))
        for k, p in enumerate(ps)
    ]
    return ResponseCurve(points, model.exploitability, name, model.label, one.algorithm)


def _curves(
    name: str, scale: str, store: PieceStore, progress: ProgressCallback
) -> list[ResponseCurve]:
    plan = _plan(SCALES[scale])
    return [
        _curve(name, one, one.ps, scale, store, stage_progress(progress, k, len(plan)))
        for k, one in enumerate(plan)
    ]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size, limit, names = SCALES[scale], LIMITS[scale], GAMES[scale]

    def job(name: str, one: PlannedCurve, p: float) -> Job:
        def work(progress: ProgressCallback) -> None:
            _curve(name, one, [p], scale, store, progress)

        after = (model_job(name, one.target, limit, store).name,) if one.target else ()
        seconds = 2 * (size.units if one.target == TARGET else size.finer)
        what = f"Figure 6: {name}, {one.algorithm}, {label(one.target)}, p = {p:g}"
        return Job(what, work, seconds if one.algorithm == "mcrnr" else 20.0, 1, after)

    models = [model_job(name, t, limit, store) for t in (TARGET, *FINER) for name in names]
    return models + [job(name, one, p) for one in _plan(size) for p in one.ps for name in names]


def _claims(curves: list[ResponseCurve]) -> list[Claim]:
    def of(algorithm: str, target: float) -> dict[str, ResponseCurve]:
        key = (algorithm, label(target))
        return {one.game: one for one in curves if (one.algorithm, one.model) == key}

    targets = (TARGET, *FINER)
    sampled = {label(t): of("mcrnr", t) for t in targets if of("mcrnr", t)}
    exact = {label(t): of("rnr", t) for t in targets}
    few = {
        game: curve._replace(points=[curve.at(p) for p in FOOTNOTE_PS])
        for game, curve in exact[label(TARGET)].items()
    }
    return [*claims(sampled, exact), similar(few, of("dbr", TARGET), label(TARGET))]


# picture and table

SHOWN = {"rnr": "RNR", "mcrnr": "MCRNR", "mcrnr (outcome)": "MCRNR, outcome sampling"}
Ends = tuple[ResponsePoint, ResponsePoint]


def _picture(curves: list[ResponseCurve], path: Path) -> None:
    names = list(dict.fromkeys(curve.game for curve in curves))
    figure, axes = new_figure(2, len(names), 4.2 * len(names), 7.6)
    for name, top, bottom in zip(names, *axes, strict=True):
        mine = [curve for curve in curves if curve.game == name and curve.algorithm != "dbr"]
        paper = [curve for curve in mine if curve.model == mine[0].model]
        others = [curve for curve in mine if curve not in paper]
        _panel(top, paper, f"{name}, model: MCCFR, exploitable by {mine[0].available:.2g}")
        top.set(xlabel="exploitability b1 + b2", ylabel="exploitation (payoff against the model)")
        ends = {c.model: (c.points[0], c.points[-1]) for c in others if c.algorithm == "rnr"}
        _panel(bottom, others, f"{name}, other models", ends)
        bottom.set_xlabel("share of RNR's exploitability at p = 1")
        bottom.set_ylabel("share of what RNR gains by p = 1")
    title = "What responses win from a model and what they risk (both seats, payoff per game)"
    save_figure(figure, path, title)


def _panel(
    axis: Any, curves: list[ResponseCurve], title: str, ends: dict[str, Ends] | None = None
) -> None:
    """With `ends`, RNR's first and last point by model, values are shares between these."""
    colours: dict[str, str] = {}
    for k, curve in enumerate(curves):
        colour = colours.setdefault(curve.model, COLOURS[len(colours) % len(COLOURS)])
        what = SHOWN[curve.algorithm] + (f", {curve.model}" if ends else "")
        x, y = [q.risk for q in curve.points], [q.gain for q in curve.points]
        if ends is not None:
            first, last = ends[curve.model]
            x = [share(risk, first.risk, last.risk) for risk in x]
            y = [share(gain, first.gain, last.gain) for gain in y]
        if curve.algorithm != "rnr":
            axis.plot(x, y, "x" if curve.algorithm == "mcrnr" else "+", color=colour, label=what)
            continue
        style = STYLES[k % len(STYLES)]
        axis.plot(x, y, marker="o", markersize=4, color=colour, linestyle=style, label=what)
        axis.plot([x[0], x[-1]], [y[0], y[-1]], color=colour, linestyle=":", linewidth=1)
        _label_ps(axis, curve, x, y, colour)
    axis.set_title(title, fontsize=9)
    axis.legend(frameon=False, fontsize=7, loc="lower right")


def _label_ps(axis: Any, curve: ResponseCurve, x: list[float], y: list[float], colour: str) -> None:
    """Write some values of p beside their points, where labels do not overlap."""
    wide, high = max(max(x) - min(x), 1e-12), max(max(y) - min(y), 1e-12)
    last = (-math.inf, -math.inf)
    for j in (0, 1, 4, -2, -1):
        if abs(x[j] - last[0]) / wide + abs(y[j] - last[1]) / high > 0.1:
            where: dict[str, Any] = {"textcoords": "offset points", "xytext": (4, -10)}
            last = (x[j], y[j])
            axis.annotate(f"{curve.points[j].p:g}", last, fontsize=7, color=colour, **where)


def _straight(curve: ResponseCurve, risk: float) -> float:
    """Gain at this risk of a mixture of the two ends of the curve."""
    first, last = curve.points[0], curve.points[-1]
    way = share(min(max(risk, first.risk), last.risk), first.risk, last.risk)
    return last.gain if way != way else (1.0 - way) * first.gain + way * last.gain


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    work = [partial(_curves, name, scale, store) for name in GAMES[scale]]
    curves = [curve for some in in_parallel(work, progress) for curve in some]
    progress(1.0, "drawing")
    _picture(curves, store.folder / "fig6.png")
    rows = []
    for curve in curves:
        model = (curve.game, curve.model, curve.available, curve.algorithm)
        for q in curve.points:
            won = (q.p, q.gain, q.gain - curve.points[0].gain, q.risk, _straight(curve, q.risk))
            rows.append((*model, *won, q.gap, q.iterations, q.seconds))
    setting = {
        "games": list(GAMES[scale]),
        "p": list(PAPER_PS),
        "epsilon": EPSILON,
        **SCALES[scale]._asdict(),
        "converged": f"gap at most {CONVERGED:g} of the model's exploitability",
        "MCRNR": "external sampling; seconds and iterations of each point in fig6.csv",
        "model iterations at most": LIMITS[scale].iterations,
    }
    return EXPERIMENT.outcome(scale, store.folder, [], setting, HEADER, rows)


TITLE = "Figure 6: exploitation against exploitability"
SECONDS = {"quick": 75, "paper": 900}  # on two cores
EXPERIMENT = Experiment("fig6", TITLE, run, SECONDS, _jobs, order=7, priority=6, meaning=MEANING)
