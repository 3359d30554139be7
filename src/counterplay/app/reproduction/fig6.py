"""Figure 6: what restricted Nash responses win from a model, and what they risk, for p from 0 to 1.

Exploitation (gain) is the payoff against the model, summed over both seats (the values of the game
cancel); exploitability (risk) is b1 + b2 of the responses. RNR at full width, the exact curve, is
judged. MCRNR, the article's points, stands beside it by external sampling. Beyond the article, at
paper scale: models that are less exploitable, since the article does not say how exploitable those
of Figure 6 are.

The gap of a response is its distance from the optimum of p · gain - (1 - p) · risk; the rules take
gain and risk as known to ± the gap. Shares are those of what p = 1 adds to p = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import Experiment, Outcome, ResultTable
from counterplay.app.reproduction.harness.judge import (
    Claim,
    Interval,
    Truth,
    above,
    below,
    claim,
    decide,
)
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.models import (
    TARGET,
    ResponseOptions,
    ResponsePoint,
    fixed_profile,
    model_job,
    response_point,
)
from counterplay.core.base.plotting import COLOURS, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback, stage
from counterplay.core.parallel.jobs import Job
from counterplay.core.responses.frontier import PAPER_PS

#: Iterations a second of MCRNR by external sampling. The article's sizes of Goofspiel and PAM are
#: not known.
GAMES = {
    "ocp(500)": 700_000,
    "goofspiel(5)": 100_000,
    "bluff(1,1,6)": 290_000,
    "pam(3,3,8)": 300_000,
}
FOOTNOTE_PS = (0.5, 0.8)  # at which RNR and DBR are compared
HEADER = (
    "game model model_exploitability algorithm p exploitation gain_over_p0 exploitability "
    "gap iterations seconds"
)


class Fig6Scale(NamedTuple):
    gap: float  # at which RNR ends, as a share of the model's exploitability
    full: int  # iterations of RNR at most
    seconds: float  # of one seat of MCRNR, roughly
    finer: tuple[float, ...]  # further targets of models


SCALES = {
    "quick": Fig6Scale(2e-3, 8_000, 0.5, ()),
    "paper": Fig6Scale(5e-4, 40_000, 4.0, (0.03, 0.01)),
}
#: Meaning of the settings, for the report, in addition to harness/report.py.
MEANING = {
    "finer": "further models are trained to these exploitabilities; RNR responds to them",
    "full": "iterations of one exact response (RNR) at most",
    "gap": "of the restricted game, as a share of what can be won, at which RNR stops",
    "seconds": "of one seat of MCRNR (external sampling), roughly",
}


class PlannedCurve(NamedTuple):
    """A curve to compute; `target` is that of its model."""

    algorithm: str
    target: float
    ps: Sequence[float]

    def points(
        self, name: str, ps: Sequence[float], scale: str, store: PieceStore, show: ProgressCallback
    ) -> ResponseCurve:
        """The points of the curve at some values of p."""
        size, model = SCALES[scale], fixed_profile(name, self.target, store, show)
        target = size.gap * model.exploitability
        options = ResponseOptions(self.algorithm, "dcfr", size.full, target, None)
        if self.algorithm == "mcrnr":
            most = max(round(size.seconds * GAMES[name]), 1)
            options = ResponseOptions("mcrnr", "mccfr-external", most, target, max(most // 20, 1))
        found = [response_point(name, model, p, options, store, show) for p in ps]
        return ResponseCurve(found, model.exploitability, name, self.target, self.algorithm)


def _plan(scale: str) -> list[PlannedCurve]:
    plan = [PlannedCurve(algorithm, TARGET, PAPER_PS) for algorithm in ("rnr", "mcrnr")]
    plan.append(PlannedCurve("dbr", TARGET, FOOTNOTE_PS))
    return plan + [PlannedCurve("rnr", target, PAPER_PS) for target in SCALES[scale].finer]


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    def job(name: str, one: PlannedCurve) -> Job:
        def work(progress: ProgressCallback) -> None:
            one.points(name, one.ps, scale, store, progress)

        seconds = 2 * SCALES[scale].seconds if one.algorithm == "mcrnr" else RNR_SECONDS[scale]
        what = f"Figure 6: {name}, {one.algorithm}, model of {one.target:g}"
        after = (model_job(name, one.target, store).name,)
        return Job(what, work, seconds * len(one.ps), 1, after)

    models = [model_job(n, t, store) for t in (TARGET, *SCALES[scale].finer) for n in GAMES]
    later = [one._replace(after=(models[0].name,)) for one in models[1:]]  # with its kernels
    return [models[0], *later, *(job(name, one) for one in _plan(scale) for name in GAMES)]


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    plan = [(name, one) for one in _plan(scale) for name in GAMES]
    curves = [
        one.points(name, one.ps, scale, store, stage(progress, k, len(plan)))
        for k, (name, one) in enumerate(plan)
    ]

    def of(algorithm: str) -> dict[str, ResponseCurve]:
        key = (algorithm, TARGET)
        return {one.game: one for one in curves if (one.algorithm, one.model) == key}

    _picture(of("rnr"), of("mcrnr"), store.folder / "fig6.png")
    rows = []
    for curve in curves:
        model = (curve.game, curve.model, curve.available, curve.algorithm)
        for q in curve.points:
            won = (q.p, q.gain, q.gain - curve.points[0].gain, q.risk)
            rows.append((*model, *won, q.gap, q.iterations, q.seconds))
    setting = {"games": list(GAMES), "p": list(PAPER_PS), **SCALES[scale]._asdict()}
    judged = [boost(of("rnr"), of("mcrnr")), jump(of("rnr")), similar(of("rnr"), of("dbr"))]
    table = [_table([one for one in curves if one.algorithm != "dbr"])]
    return EXPERIMENT.outcome(scale, store.folder, judged, setting, HEADER, rows, table)


# picture and table


def _table(curves: list[ResponseCurve]) -> ResultTable:
    rows = []
    for curve in curves:
        found = (" for ".join(percent(x) for x in shares(curve, p)) for p in BOOST_PS)
        how = (curve.game, f"{curve.available:.3f}", curve.algorithm.upper())
        rows.append([*how, *found, percent(step(curve))])
    header = ["game", "model's exploitability", "", *(f"p = {p:g}" for p in BOOST_PS)]
    title = "Shares of the gain for shares of the risk of p = 1"
    return ResultTable(title, [*header, "risk of the step from 0.97"], rows)


def _picture(exact: dict[str, ResponseCurve], sampled: dict[str, Any], path: Path) -> None:
    figure, axes = new_figure(1, len(exact), 4.1 * len(exact), 4.4)
    for axis, (name, curve) in zip(axes[0], exact.items(), strict=True):
        x, y = ([getattr(q, what) for q in curve.points] for what in ("risk", "gain"))
        axis.plot(x, y, marker="o", markersize=4, color=COLOURS[0], label="RNR, exact")
        ends = ([x[0], x[-1]], [y[0], y[-1]])
        mixed = {"linestyle": ":", "linewidth": 1, "label": "mixtures of p = 0 and p = 1"}
        axis.plot(*ends, color="0.4", **mixed)
        points = sampled[name].points
        marks = {"color": COLOURS[1], "label": "MCRNR, external sampling"}
        axis.plot([q.risk for q in points], [q.gain for q in points], "x", **marks)
        _label_ps(axis, curve, x, y)
        axis.set_title(f"{name}, model exploitable by {curve.available:.2g}", fontsize=9)
        axis.set(xlabel="exploitability b1 + b2", ylabel="exploitation")
        axis.margins(0.16, 0.12)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    title = "What responses win from a model and what they risk (both seats, payoff per game)"
    save_figure(figure, path, title)


def _label_ps(axis: Any, curve: ResponseCurve, x: list[float], y: list[float]) -> None:
    """Write some values of p above their points, left of the curve, where no other points are and
    labels do not overlap."""
    wide, high = max(max(x) - min(x), 1e-12), max(max(y) - min(y), 1e-12)
    last = (-math.inf, -math.inf)
    for j, point in enumerate(curve.points):
        if abs(x[j] - last[0]) / wide + abs(y[j] - last[1]) / high > 0.1:
            where: dict[str, Any] = {
                "textcoords": "offset points",
                "xytext": (-4, 3),
                "ha": "right",
            }
            last = (x[j], y[j])
            axis.annotate(f"{point.p:g}", last, fontsize=8, color=COLOURS[0], **where)


RNR_SECONDS = {"quick": 0.5, "paper": 3.0}  # of one response
TITLE = "Figure 6: exploitation against exploitability"
SECONDS = {"quick": 27, "paper": 350}  # on two cores
STORY = """Curves of gain against risk for p = 0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97 and 1 in OCP(500),
Goofspiel, Bluff and Princess and Monster. No numbers are given.

Trust in the model buys winnings from the model at the price of being exploitable. RNR at full
width, which is exact, is judged; MCRNR is beside it. How much the last step of p costs depends on
the game and on how good the model is."""
EXPERIMENT = Experiment(
    "fig6", TITLE, run, SECONDS, _jobs, order=7, priority=2, meaning=MEANING, story=STORY
)


BOOST_PS = (0.5, 0.7, 0.8)
NOTICEABLE, TWICE = 0.1, 2.0
JUMP = 0.25
SIMILAR = 0.1  # footnote 10: of what can be won from the model


class ResponseCurve(NamedTuple):
    """Responses to one model in one game, p rising."""

    points: Sequence[ResponsePoint]
    available: float  # exploitability of the model: the most that can be won from it
    game: str = ""
    model: float = 0.0  # its target
    algorithm: str = ""  # rnr, dbr or mcrnr

    def at(self, p: float) -> ResponsePoint:
        return next(point for point in self.points if point.p == p)

    def gain(self, p: float) -> Interval:
        return judge.around(self.at(p).gain, self.at(p).gap)

    def risk(self, p: float) -> Interval:
        return judge.around(self.at(p).risk, self.at(p).gap)


Curves = Mapping[str, ResponseCurve]  # by game


def share(part: float, start: float, end: float) -> float:
    """Position of `part` between `start` (0) and `end` (1)."""
    return (part - start) / (end - start) if end > start else math.nan


def shares(curve: ResponseCurve, p: float) -> tuple[Interval, Interval]:
    """Shares of the whole gain and of the whole risk at p."""
    first, last = curve.points[0].p, curve.points[-1].p
    gain, risk = (
        judge.at_corners(share, what(p), what(first), what(last))
        for what in (curve.gain, curve.risk)
    )
    return gain, risk


def best(curve: ResponseCurve) -> float:
    """The p from 0.5 to 0.8 with the most gain for its risk."""
    return max(
        BOOST_PS, key=lambda p: shares(curve, p)[0].value - TWICE * shares(curve, p)[1].value
    )


def boost(curves: Curves, sampled: Curves) -> Claim:
    """Claim 23; `sampled`: MCRNR's curves, which are shown beside RNR's."""
    parts, listed = [], []
    for name, curve in curves.items():
        p = best(curve)
        gain, risk = shares(curve, p)
        ahead = judge.at_corners(lambda g, r: g - TWICE * r, gain, risk)
        parts.append(judge.all_hold([above(ahead, 0.0), above(gain, NOTICEABLE)]))
        other = shares(sampled[name], p) if name in sampled else None
        beside = f"; MCRNR {percent(other[0])} for {percent(other[1])}" if other else ""
        listed.append(f"{name} {percent(gain)} of the gain for {percent(risk)} of the risk{beside}")
    rule = (
        f"At the best p of 0.5, 0.7 and 0.8 RNR has over {NOTICEABLE:.0%} of the gain of p = 1, "
        f"and more than twice the share of its risk, in each game; in part if in some."
    )
    return claim(23, f"At the best p from 0.5 to 0.8: {', '.join(listed)}.", decide(*parts), rule)


def step(curve: ResponseCurve) -> Interval:
    """The share of all risk that comes between p = 0.97 and p = 1."""
    ends = curve.risk(0.97), curve.risk(curve.points[0].p), curve.risk(1.0)
    return judge.at_corners(lambda part, start, end: 1.0 - share(part, start, end), *ends)


def jump(curves: Curves) -> Claim:
    """Claim 24: the games but Bluff, and Bluff."""
    steps = {name: step(curve) for name, curve in curves.items()}
    bluff = [below(one, JUMP) for name, one in steps.items() if name.startswith("bluff")]
    others = [above(one, JUMP) for name, one in steps.items() if not name.startswith("bluff")]
    listed = ", ".join(f"{name} {percent(one)}" for name, one in steps.items())
    measured = (
        f"Of all risk the step from 0.97 brings {listed}: high elsewhere {decide(*others)}, "
        f"not in Bluff {decide(*bluff)}."
    )
    rule = (
        f"Two halves: RNR's step brings over {JUMP:.0%} of the risk of p = 1 in every game but "
        f"Bluff, and less in Bluff; in part if so in some games."
    )
    return claim(24, measured, decide(*others, *bluff), rule)


def similar(rnr: Curves, dbr: Curves) -> Claim:
    """Claim 25, footnote 10: gain and risk apart, at the same values of p."""
    parts: dict[str, list[Truth]] = {"gain": [], "risk": []}
    listed: dict[str, list[str]] = {"gain": [], "risk": []}
    for name, other in dbr.items():
        room, one = SIMILAR * other.available, rnr[name]
        for what, mine, its in (("gain", one.gain, other.gain), ("risk", one.risk, other.risk)):
            margin = [judge.difference(mine(q.p), its(q.p)) for q in other.points]
            parts[what].append(judge.all_hold(judge.within(x, -room, room) for x in margin))
            most = max(abs(x.value) for x in margin) / max(other.available, 1e-12)
            listed[what].append(f"{name} {most:.0%}")
    ps = " and ".join(f"{q.p:g}" for q in next(iter(dbr.values())).points)
    measured = "; ".join(f"{what} differs by " + ", ".join(listed[what]) for what in parts)
    rule = (
        f"At p = {ps} gain and risk of RNR and DBR differ by less than {SIMILAR:.0%} of what can "
        f"be won from the model in every game; in part if only one of the two does."
    )
    verdict = decide(*(judge.all_hold(found) for found in parts.values()))
    return claim(25, f"Of what can be won, {measured}.", verdict, rule)


def percent(x: Interval) -> str:
    return "–" if math.isnan(x.value) else f"{x.value:.0%}"
