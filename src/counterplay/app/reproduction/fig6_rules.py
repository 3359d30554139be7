"""The rules of Figure 6, which judge the points of MCRNR.

The gap of a response is its distance from the optimum of p · gain - (1 - p) · risk. Gain and risk
are taken as known to ± the gap, and points count as converged when the gap is at most a tenth of
what can be won from the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, RuleVariant, Verdict
from counterplay.app.reproduction.models import ResponsePoint

CONVERGED = 0.1  # gap of both seats, as a share of the model's exploitability
NOTICEABLE, TWICE = 0.1, 2.0
JUMP = 0.25
SIMILAR = 0.1  # footnote 10: of what can be won from the model


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

    def gain(self, p: float) -> Interval:
        return judge.around(self.at(p).gain, self.at(p).gap)

    def risk(self, p: float) -> Interval:
        return judge.around(self.at(p).risk, self.at(p).gap)


Curves = Mapping[str, ResponseCurve]  # by game


def share(part: float, start: float, end: float) -> float:
    """Position of `part` between `start` (0) and `end` (1)."""
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
        judge.all_hold(
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
    return judge.all_hold(verdicts)


def boosts(curve: ResponseCurve, p: float) -> tuple[Interval, Interval]:
    """Shares of the whole gain and of the whole risk at p."""
    first, last = curve.points[0].p, curve.points[-1].p
    gain, risk = (
        judge.at_corners(share, what(p), what(first), what(last))
        for what in (curve.gain, curve.risk)
    )
    return gain, risk


def boost(curves: Curves, oracle: Curves, model: str) -> Claim:
    verdicts, details = [], []
    exact = {name: boosts(curve, 0.8) for name, curve in oracle.items()}
    for name, curve in curves.items():
        for p in (0.5, 0.8):
            gain, risk = boosts(curve, p)
            ahead = judge.at_corners(lambda g, r: g - TWICE * r, gain, risk)
            verdict = judge.all_hold([judge.above(ahead, 0.0), judge.above(gain, NOTICEABLE)])
            verdicts.append(judge.only_if(curve.converged, verdict))
        mine, rnr = ([_percent(x) for x in pair] for pair in (boosts(curve, 0.8), exact[name]))
        details.append(
            f"{name}: {mine[0]} of the gain for {mine[1]} of the risk at 0.8 (RNR "
            f"{rnr[0]} for {rnr[1]})"
        )
    return Claim(
        f"For p from 0.5 to 0.8 much is won for a small loss of safety (MCRNR, {model}).",
        f"at p = 0.5 and at 0.8 the share of the whole gain is over {NOTICEABLE:.0%} and more than "
        f"twice the share of the whole risk in every game, whatever lies within the gaps; all "
        f"points have converged",
        f"{', '.join(details)}; {_state(curves)}",
        judge.all_hold(verdicts),
        RuleVariant(
            "at p = 0.8 RNR's share of the gain is more than twice that of the risk",
            "RNR, see above",
            all(gain.value > TWICE * risk.value for gain, risk in exact.values()),
        ),
    )


def step(curve: ResponseCurve) -> Interval:
    """The share of all risk that comes between p = 0.97 and p = 1."""
    ends = curve.risk(0.97), curve.risk(curve.points[0].p), curve.risk(1.0)
    return judge.at_corners(lambda part, start, end: 1.0 - share(part, start, end), *ends)


def jump(curves: Curves, oracle: Curves, model: str, who: str = "MCRNR") -> Claim:
    verdicts, details, there = [], [], any(name.startswith("bluff") for name in curves)
    exact = {name: step(curve) for name, curve in oracle.items()}
    for name, curve in curves.items():
        one = step(curve)
        verdict = judge.below(one, JUMP) if name.startswith("bluff") else judge.above(one, JUMP)
        verdicts.append(judge.only_if(curve.converged, verdict))
        details.append(f"{name}: {_percent(one)} (RNR {_percent(exact[name])})")
    old = all(one.value > JUMP for name, one in exact.items() if not name.startswith("bluff"))
    return Claim(
        f"In every game except Bluff the step from p = 0.97 to 1 has a high impact ({who}, "
        f"{model}).",
        f"more than {JUMP:.0%} of all exploitability comes with that step in every game but Bluff, "
        f"and less in Bluff, whatever lies within the gaps; all points have converged",
        f"{', '.join(details)}; {_state(curves)}",
        judge.only_if(there, judge.all_hold(verdicts)),
        RuleVariant(f"RNR: over {JUMP:.0%} in every game but Bluff, Bluff not looked at", "", old),
    )


def similar(rnr: Curves, dbr: Curves, model: str) -> Claim:
    """Footnote 10, at the same values of p."""
    verdicts, details = [], []
    for name, one in rnr.items():
        room, whole, most = SIMILAR * one.available, max(one.available, 1e-12), []
        for mine, other in ((one.gain, dbr[name].gain), (one.risk, dbr[name].risk)):
            margin = [judge.difference(mine(q.p), other(q.p)) for q in one.points]
            verdicts += [judge.within(x, -room, room) for x in margin]
            most.append(max(abs(x.value) for x in margin) / whole)
        details.append(f"{name}: gain {most[0]:.0%}, risk {most[1]:.0%}")
    return Claim(
        f"RNR and DBR with a fixed Pconf differ very little (footnote 10; {model}).",
        f"gain and risk differ by less than {SIMILAR:.0%} of what can be won from the model, at "
        f"{' and '.join(f'p = {q.p:g}' for q in next(iter(rnr.values())).points)} in every game",
        "largest difference, as a share of that: " + ", ".join(details),
        judge.all_hold(verdicts),
    )


def _percent(x: Interval) -> str:
    return "–" if math.isnan(x.value) else f"{x.value:.0%}"


def _state(curves: Curves) -> str:
    """Which games have points that have not converged, as text."""
    open_ones = [name for name, curve in curves.items() if not curve.converged]
    return "not converged: " + ", ".join(open_ones) if open_ones else "all points have converged"
