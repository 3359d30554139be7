"""The rules of Figure 6, which judge RNR at full width.

The gap of a response is its distance from the optimum of p · gain - (1 - p) · risk; gain and risk
are taken as known to ± the gap. Shares are those of what p = 1 adds to p = 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from counterplay.app.reproduction.harness import judge
from counterplay.app.reproduction.harness.judge import (
    Claim,
    Interval,
    Truth,
    above,
    below,
    claim,
    decide,
)
from counterplay.app.reproduction.models import ResponsePoint

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
    parts, told = [], []
    for name, curve in curves.items():
        p = best(curve)
        gain, risk = shares(curve, p)
        ahead = judge.at_corners(lambda g, r: g - TWICE * r, gain, risk)
        parts.append(judge.all_hold([above(ahead, 0.0), above(gain, NOTICEABLE)]))
        other = shares(sampled[name], p) if name in sampled else None
        beside = f"; MCRNR {percent(other[0])} for {percent(other[1])}" if other else ""
        told.append(f"{name} {percent(gain)} of the gain for {percent(risk)} of the risk{beside}")
    rule = (
        f"At the best p of 0.5, 0.7 and 0.8 RNR has over {NOTICEABLE:.0%} of the gain of p = 1, "
        f"and more than twice the share of its risk, in each game; in part if in some."
    )
    return claim(23, f"At the best p from 0.5 to 0.8: {', '.join(told)}.", decide(*parts), rule)


def step(curve: ResponseCurve) -> Interval:
    """The share of all risk that comes between p = 0.97 and p = 1."""
    ends = curve.risk(0.97), curve.risk(curve.points[0].p), curve.risk(1.0)
    return judge.at_corners(lambda part, start, end: 1.0 - share(part, start, end), *ends)


def jump(curves: Curves) -> Claim:
    """Claim 24: the games but Bluff, and Bluff."""
    steps = {name: step(curve) for name, curve in curves.items()}
    bluff = [below(one, JUMP) for name, one in steps.items() if name.startswith("bluff")]
    others = [above(one, JUMP) for name, one in steps.items() if not name.startswith("bluff")]
    told = ", ".join(f"{name} {percent(one)}" for name, one in steps.items())
    measured = (
        f"Of all risk the step from 0.97 brings {told}: high elsewhere {decide(*others)}, "
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
    told: dict[str, list[str]] = {"gain": [], "risk": []}
    for name, other in dbr.items():
        room, one = SIMILAR * other.available, rnr[name]
        for what, mine, its in (("gain", one.gain, other.gain), ("risk", one.risk, other.risk)):
            margin = [judge.difference(mine(q.p), its(q.p)) for q in other.points]
            parts[what].append(judge.all_hold(judge.within(x, -room, room) for x in margin))
            most = max(abs(x.value) for x in margin) / max(other.available, 1e-12)
            told[what].append(f"{name} {most:.0%}")
    ps = " and ".join(f"{q.p:g}" for q in next(iter(dbr.values())).points)
    measured = "; ".join(f"{what} differs by " + ", ".join(told[what]) for what in parts)
    rule = (
        f"At p = {ps} gain and risk of RNR and DBR differ by less than {SIMILAR:.0%} of what can "
        f"be won from the model in every game; in part if only one of the two does."
    )
    verdict = decide(*(judge.all_hold(found) for found in parts.values()))
    return claim(25, f"Of what can be won, {measured}.", verdict, rule)


def percent(x: Interval) -> str:
    return "–" if math.isnan(x.value) else f"{x.value:.0%}"
