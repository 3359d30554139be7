"""Figure 6: what restricted Nash responses win from a model, and what they risk, for p from 0 to 1.

Exploitation (gain) is the payoff against the model, summed over both seats (the values of the game
cancel); exploitability (risk) is b1 + b2 of the responses. The paper's points are MCRNR: here by
external sampling, until the gap of the restricted games is a tenth of what can be won from the
model, and at paper scale by outcome sampling too, the paper's, for as long as `outcome` says; there
it also responds to the finer models, at the values of p that rules look at, for as long as `finer`
says. Lines are RNR at full width, the exact oracle. Models are profiles of MCCFR of three
strengths, and uniform play.

MCRNR's own points are judged. The gap of a response is how far from the best it is in
p · gain - (1 - p) · risk. Gain and risk are taken to be known to ± the gap, and points count as
converged when it is at most a tenth of what can be won from the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.base import Experiment, Outcome, staged
from counterplay.app.reproduction.harness.judge import Claim, Range, RuleVariant, Verdict
from counterplay.app.reproduction.harness.store import Store
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
    uniform_profile,
)
from counterplay.app.reproduction.sizes import LIMITS, ModelLimit
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job, in_parallel
from counterplay.core.responses.frontier import PAPER_PS

JUDGED_PS = (0.0, 0.5, 0.8, 0.97, 1.0)  # which rules look at
FOOTNOTE_PS = (0.5, 0.8)  # at which RNR and DBR are compared
#: Iterations of MCRNR by external sampling that took about a second of one core.
RATES = {"ocp(500)": 700_000, "bluff(1,1,6)": 290_000, "pam(3,3,8)": 300_000}
USUAL = 100_000  # rate of other games, Goofspiel with five cards among them
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


class ResponseCurve(NamedTuple):
    """Responses to one model in one game, p rising."""

    points: Sequence[ResponsePoint]
    available: float  # exploitability of the model: the most that can be won from it
    game: str = ""
    model: str = ""
    algorithm: str = ""  # rnr, dbr, mcrnr or mcrnr (outcome)

    @property
    def converged(self) -> bool:
        most = CONVERGED * self.available
        return bool(self.points) and all(point.gap <= most for point in self.points)

    def at(self, p: float) -> ResponsePoint:
        return next(point for point in self.points if point.p == p)

    def gain(self, p: float) -> Range:
        return judge.around(self.at(p).gain, self.at(p).gap)

    def risk(self, p: float) -> Range:
        return judge.around(self.at(p).risk, self.at(p).gap)


# the rules

CONVERGED = 0.1  # gap of both seats, as a share of the model's exploitability
NOTICEABLE, TWICE = 0.1, 2.0
JUMP = 0.25
SIMILAR = 0.1  # footnote 10: of what can be won from the model
Curves = Mapping[str, ResponseCurve]  # by game


def share(part: float, start: float, end: float) -> float:
    """How much of the way from `start` to `end` lies before `part`."""
    return (part - start) / (end - start) if end > start else math.nan


def claims(sampled: Mapping[str, Curves], exact: Mapping[str, Curves]) -> list[Claim]:
    """`sampled`: MCRNR by model and game; `exact`: RNR."""
    rules = (grow, boost, jump)
    made = [rule(sampled[model], exact[model], model) for model in sampled for rule in rules]
    return made + [jump(curves, curves, model, "RNR") for model, curves in exact.items()]


def grow(curves: Curves, oracle: Curves, model: str) -> Claim:
    verdicts = {name: _grows(curve) for name, curve in curves.items()}
    old = all(
        b.gain >= a.gain - 2e-3 and b.risk >= a.risk - 2e-3
        for curve in oracle.values()
        for a, b in itertools.pairwise(curve.points)
    )
    return Claim(
        f"Both exploitation and exploitability grow with p (MCRNR, {model}).",
        "both rise from the first p to the last, and fall from no p to the next, by more than the "
        "gaps; all points have converged",
        f"in {list(verdicts.values()).count(True)} of {len(verdicts)} games; {_state(curves)}",
        judge.every(
            [judge.only_if(curves[name].converged, verdict) for name, verdict in verdicts.items()]
        ),
        RuleVariant("neither falls by more than 0.002 in RNR's curves", "", old),
    )


def _grows(curve: ResponseCurve) -> Verdict:
    verdicts: list[Verdict] = []
    for what in (curve.gain, curve.risk):
        values = [what(point.p) for point in curve.points]
        verdicts.append(judge.above(judge.difference(values[-1], values[0]), 0.0))
        verdicts += [judge.difference(b, a).high >= 0.0 for a, b in itertools.pairwise(values)]
    return judge.every(verdicts)


def boosts(curve: ResponseCurve, p: float) -> tuple[Range, Range]:
    """Shares of the whole gain and of the whole risk at p."""
    first, last = curve.points[0].p, curve.points[-1].p
    gain, risk = (
        judge.at_corners(share, what(p), what(first), what(last))
        for what in (curve.gain, curve.risk)
    )
    return gain, risk


def boost(curves: Curves, oracle: Curves, model: str) -> Claim:
    verdicts, told = [], []
    exact = {name: boosts(curve, 0.8) for name, curve in oracle.items()}
    for name, curve in curves.items():
        for p in (0.5, 0.8):
            gain, risk = boosts(curve, p)
            ahead = judge.at_corners(lambda g, r: g - TWICE * r, gain, risk)
            verdict = judge.every([judge.above(ahead, 0.0), judge.above(gain, NOTICEABLE)])
            verdicts.append(judge.only_if(curve.converged, verdict))
        mine, other = ([_percent(x) for x in pair] for pair in (boosts(curve, 0.8), exact[name]))
        told.append(
            f"{name}: {mine[0]} of the gain for {mine[1]} of the risk at 0.8 (RNR "
            f"{other[0]} for {other[1]})"
        )
    return Claim(
        f"For p from 0.5 to 0.8 much is won for a small loss of safety (MCRNR, {model}).",
        f"at p = 0.5 and at 0.8 the share of the whole gain is over {NOTICEABLE:.0%} and more than "
        f"twice the share of the whole risk in every game, whatever lies within the gaps; all "
        f"points have converged",
        f"{', '.join(told)}; {_state(curves)}",
        judge.every(verdicts),
        RuleVariant(
            "at p = 0.8 RNR's share of the gain is more than twice that of the risk",
            "RNR, see above",
            all(gain.value > TWICE * risk.value for gain, risk in exact.values()),
        ),
    )


def step(curve: ResponseCurve) -> Range:
    """The share of all risk that comes between p = 0.97 and p = 1."""
    ends = curve.risk(0.97), curve.risk(curve.points[0].p), curve.risk(1.0)
    return judge.at_corners(lambda part, start, end: 1.0 - share(part, start, end), *ends)


def jump(curves: Curves, oracle: Curves, model: str, who: str = "MCRNR") -> Claim:
    verdicts, told, there = [], [], any(name.startswith("bluff") for name in curves)
    exact = {name: step(curve) for name, curve in oracle.items()}
    for name, curve in curves.items():
        one = step(curve)
        verdict = judge.below(one, JUMP) if name.startswith("bluff") else judge.above(one, JUMP)
        verdicts.append(judge.only_if(curve.converged, verdict))
        told.append(f"{name}: {_percent(one)} (RNR {_percent(exact[name])})")
    old = all(one.value > JUMP for name, one in exact.items() if not name.startswith("bluff"))
    return Claim(
        f"In every game except Bluff the step from p = 0.97 to 1 has a high impact ({who}, "
        f"{model}).",
        f"more than {JUMP:.0%} of all exploitability comes with that step in every game but Bluff, "
        f"and less in Bluff, whatever lies within the gaps; all points have converged",
        f"{', '.join(told)}; {_state(curves)}",
        judge.only_if(there, judge.every(verdicts)),
        RuleVariant(f"RNR: over {JUMP:.0%} in every game but Bluff, Bluff not looked at", "", old),
    )


def similar(rnr: Curves, dbr: Curves, model: str) -> Claim:
    """Footnote 10, at the same values of p."""
    verdicts, told = [], []
    for name, one in rnr.items():
        room, whole, most = SIMILAR * one.available, max(one.available, 1e-12), []
        for mine, other in ((one.gain, dbr[name].gain), (one.risk, dbr[name].risk)):
            apart = [judge.difference(mine(q.p), other(q.p)) for q in one.points]
            verdicts += [judge.within(x, -room, room) for x in apart]
            most.append(max(abs(x.value) for x in apart) / whole)
        told.append(f"{name}: gain {most[0]:.0%}, risk {most[1]:.0%}")
    return Claim(
        f"RNR and DBR with a fixed Pconf differ very little (footnote 10; {model}).",
        f"gain and risk differ by less than {SIMILAR:.0%} of what can be won from the model, at "
        f"{' and '.join(f'p = {q.p:g}' for q in next(iter(rnr.values())).points)} in every game",
        "largest difference, as a share of that: " + ", ".join(told),
        judge.every(verdicts),
    )


def _percent(x: Range) -> str:
    return "–" if math.isnan(x.value) else f"{x.value:.0%}"


def _state(curves: Curves) -> str:
    """Whether all points have converged, and where not."""
    open_ones = [name for name, curve in curves.items() if not curve.converged]
    return "not converged: " + ", ".join(open_ones) if open_ones else "all points have converged"


def _claims(curves: list[ResponseCurve]) -> list[Claim]:
    def of(algorithm: str, target: float) -> dict[str, ResponseCurve]:
        wanted = (algorithm, label(target))
        return {one.game: one for one in curves if (one.algorithm, one.model) == wanted}

    targets = (TARGET, *FINER)
    sampled = {label(t): of("mcrnr", t) for t in targets if of("mcrnr", t)}
    exact = {label(t): of("rnr", t) for t in targets}
    few = {
        game: curve._replace(points=[curve.at(p) for p in FOOTNOTE_PS])
        for game, curve in exact[label(TARGET)].items()
    }
    return [*claims(sampled, exact), similar(few, of("dbr", TARGET), label(TARGET))]


# the responses


class PlannedCurve(NamedTuple):
    """A curve to be made: `target` is its model's, None uniform play."""

    algorithm: str
    target: float | None
    ps: Sequence[float]

    def options(self, game: str, scale: Fig6Scale, model: FixedProfile) -> ResponseOptions:
        """How its points are made: exactly enough, or for as long as the scale says."""
        bound = CONVERGED * model.exploitability / 2  # for each seat
        if self.algorithm == "mcrnr":
            units = scale.units if self.target == TARGET else scale.finer
            most = round(units * RATES.get(game, USUAL))
            return ResponseOptions("mcrnr", "mccfr-external", most, bound, max(most // 40, 1))
        if self.algorithm == "mcrnr (outcome)":
            most = scale.outcome
            return ResponseOptions("mcrnr", "mccfr", most, bound, max(most // 10, 1))
        target = scale.gap * model.exploitability
        return ResponseOptions(self.algorithm, "dcfr", scale.full, target, None)

    def model(
        self, game: str, limit: ModelLimit, store: Store, progress: ProgressCallback
    ) -> FixedProfile:
        if self.target is None:
            return uniform_profile(game)
        return fixed_profile(game, self.target, limit, store, progress)


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
    store: Store,
    progress: ProgressCallback,
) -> ResponseCurve:
    """The points of a curve at some values of p."""
    model = one.model(name, LIMITS[scale], store, progress)
    options = one.options(name, SCALES[scale], model)
    points = [
        response_point(name, model, p, options, store, staged(progress, k, len(ps)))
        for k, p in enumerate(ps)
    ]
    return ResponseCurve(points, model.exploitability, name, model.label, one.algorithm)


def _curves(name: str, scale: str, store: Store, progress: ProgressCallback) -> list[ResponseCurve]:
    plan = _plan(SCALES[scale])
    return [
        _curve(name, one, one.ps, scale, store, staged(progress, k, len(plan)))
        for k, one in enumerate(plan)
    ]


def _jobs(scale: str, store: Store) -> list[Job]:
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


# what is shown

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
    figure.suptitle(
        "What responses win from a model and what they risk (both seats, payoff per game)"
    )
    save_figure(figure, path)


def _panel(
    axis: Any, curves: list[ResponseCurve], title: str, ends: dict[str, Ends] | None = None
) -> None:
    """`ends`: RNR's first and last point by model, of which shares are shown."""
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
    """Write some values of p beside their points, where labels would not lie on each other."""
    wide, high = max(max(x) - min(x), 1e-12), max(max(y) - min(y), 1e-12)
    last = (-math.inf, -math.inf)
    for j in (0, 1, 4, -2, -1):
        if abs(x[j] - last[0]) / wide + abs(y[j] - last[1]) / high > 0.1:
            where: dict[str, Any] = {"textcoords": "offset points", "xytext": (4, -10)}
            last = (x[j], y[j])
            axis.annotate(f"{curve.points[j].p:g}", last, fontsize=7, color=colour, **where)


def _straight(curve: ResponseCurve, risk: float) -> float:
    """What mixing the ends of the curve wins at this risk."""
    first, last = curve.points[0], curve.points[-1]
    way = share(min(max(risk, first.risk), last.risk), first.risk, last.risk)
    return last.gain if way != way else (1.0 - way) * first.gain + way * last.gain


def run(scale: str, store: Store, progress: ProgressCallback) -> Outcome:
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
    return EXPERIMENT.outcome(scale, store.folder, _claims(curves), setting, HEADER, rows)


EXPERIMENT = Experiment(
    "fig6",
    "Figure 6: exploitation against exploitability",
    run,
    {"quick": 75, "paper": 900},
    _jobs,
    order=7,
    priority=6,
    meaning={
        "MCRNR": "how the sampled responses were computed",
        "converged": "when a sampled response counts as finished",
        "finer": "effort of one MCRNR that responds to a finer model, in units; 0: none does",
        "full": "iterations of one exact response (RNR) at most",
        "gap": "of the restricted game, as a share of what can be won, at which RNR stops",
    },
)
