"""Figure 6: what MCRNR wins from a model and what it risks, for p from 0 to 1. MCRNR's own points
are judged; RNR at full width stands beside them as the exact oracle.

The gap of a response is how far from the best it is in p · gain - (1 - p) · risk. Gain and risk are
taken to be known to ± the gap, and points count as converged when it is at most a tenth of what can
be won from the model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from counterplay.experiments.harness.base import Claim, Reading
from counterplay.experiments.harness.judge import (
    Range,
    above,
    around,
    at_corners,
    below,
    difference,
    every,
    only_if,
    within,
)

CONVERGED = 0.1  # gap of both seats, as a share of the model's exploitability
NOTICEABLE, TWICE = 0.1, 2.0
JUMP = 0.25
SIMILAR = 0.1  # footnote 10: of what can be won from the model


class Seen(NamedTuple):
    """A response in both seats."""

    p: float
    gain: float  # payoff against the model
    risk: float  # b1 + b2
    gap: float  # of the restricted games, both seats


class Curve(NamedTuple):
    """Responses to one model in one game, p rising."""

    spots: Sequence[Seen]
    available: float  # exploitability of the model: the most that can be won from it

    @property
    def converged(self) -> bool:
        return bool(self.spots) and all(
            spot.gap <= CONVERGED * self.available for spot in self.spots
        )

    def at(self, p: float) -> Seen:
        return next(spot for spot in self.spots if spot.p == p)

    def gain(self, p: float) -> Range:
        return around(self.at(p).gain, self.at(p).gap)

    def risk(self, p: float) -> Range:
        return around(self.at(p).risk, self.at(p).gap)


Curves = Mapping[str, Curve]  # by game


def share(part: float, start: float, end: float) -> float:
    """How much of the way from `start` to `end` lies before `part`."""
    return (part - start) / (end - start) if end > start else math.nan


def claims(sampled: Mapping[str, Curves], exact: Mapping[str, Curves]) -> list[Claim]:
    """`sampled`: MCRNR by model and game; `exact`: RNR."""
    made = []
    for model, curves in sampled.items():
        oracle = exact[model]
        made += [
            grow(curves, oracle, model),
            boost(curves, oracle, model),
            jump(curves, oracle, model),
        ]
    return made + [jump(curves, curves, model, "RNR") for model, curves in exact.items()]


def grow(curves: Curves, oracle: Curves, model: str) -> Claim:
    found = {name: _grows(curve) for name, curve in curves.items()}
    old = all(
        b.gain >= a.gain - 2e-3 and b.risk >= a.risk - 2e-3
        for curve in oracle.values()
        for a, b in itertools.pairwise(curve.spots)
    )
    return Claim(
        f"Both exploitation and exploitability grow with p (MCRNR, {model}).",
        "both rise from the first p to the last, and fall from no p to the next, by more than the "
        "gaps; all points have converged",
        f"{_few(found)}; {_state(curves)}",
        every([only_if(curves[name].converged, verdict) for name, verdict in found.items()]),
        Reading("neither falls by more than 0.002 in RNR's curves", "", old),
    )


def _grows(curve: Curve) -> bool | None:
    verdicts = []
    for what in (curve.gain, curve.risk):
        values = [what(spot.p) for spot in curve.spots]
        verdicts.append(above(difference(values[-1], values[0]), 0.0))
        steps = [difference(b, a) for a, b in itertools.pairwise(values)]
        verdicts += [one.high >= 0.0 for one in steps]
    return every(verdicts)


def boosts(curve: Curve, p: float) -> tuple[Range, Range]:
    """Shares of the whole gain and of the whole risk at p."""
    found = []
    for what in (curve.gain, curve.risk):
        ends = what(curve.spots[0].p), what(curve.spots[-1].p)
        found.append(at_corners(share, what(p), *ends))
    return found[0], found[1]


def boost(curves: Curves, oracle: Curves, model: str) -> Claim:
    ps, found, told = (0.5, 0.8), [], []
    for name, curve in curves.items():
        for p in ps:
            gain, risk = boosts(curve, p)
            ahead = at_corners(lambda g, r: g - TWICE * r, gain, risk)
            verdict = every([above(ahead, 0.0), above(gain, NOTICEABLE)])
            found.append(only_if(curve.converged, verdict))
        gain, risk = boosts(oracle[name], 0.8)
        mine = boosts(curve, 0.8)
        told.append(
            f"{name}: {_pc(mine[0])} of the gain for {_pc(mine[1])} of the risk at 0.8 (RNR "
            f"{_pc(gain)} for {_pc(risk)})"
        )
    pairs = [boosts(curve, 0.8) for curve in oracle.values()]
    return Claim(
        f"For p from 0.5 to 0.8 much is won for a small loss of safety (MCRNR, {model}).",
        f"at p = 0.5 and at 0.8 the share of the whole gain is over {NOTICEABLE:.0%} and more than "
        f"twice the share of the whole risk in every game, whatever lies within the gaps; all "
        f"points have converged",
        f"{', '.join(told)}; {_state(curves)}",
        every(found),
        Reading(
            "at p = 0.8 RNR's share of the gain is more than twice that of the risk",
            "RNR, see above",
            all(gain.value > TWICE * risk.value for gain, risk in pairs),
        ),
    )


def step(curve: Curve) -> Range:
    """The share of all risk that comes between p = 0.97 and p = 1."""
    ends = curve.risk(0.97), curve.risk(curve.spots[0].p), curve.risk(1.0)
    return at_corners(lambda part, start, end: 1.0 - share(part, start, end), *ends)


def jump(curves: Curves, oracle: Curves, model: str, who: str = "MCRNR") -> Claim:
    steps = {name: step(curve) for name, curve in curves.items()}
    verdicts = {
        name: below(one, JUMP) if name.startswith("bluff") else above(one, JUMP)
        for name, one in steps.items()
    }
    exact = {name: step(curve) for name, curve in oracle.items()}
    told = ", ".join(f"{name}: {_pc(one)} (RNR {_pc(exact[name])})" for name, one in steps.items())
    old = all(one.value > JUMP for name, one in exact.items() if not name.startswith("bluff"))
    there = any(name.startswith("bluff") for name in steps)
    return Claim(
        f"In every game except Bluff the step from p = 0.97 to 1 has a high impact ({who}, "
        f"{model}).",
        f"more than {JUMP:.0%} of all exploitability comes with that step in every game but Bluff, "
        f"and less in Bluff, whatever lies within the gaps; all points have converged",
        f"{told}; {_state(curves)}",
        only_if(
            there,
            every([only_if(curves[name].converged, one) for name, one in verdicts.items()]),
        ),
        Reading(f"RNR: over {JUMP:.0%} in every game but Bluff, Bluff not looked at", "", old),
    )


def similar(rnr: Curves, dbr: Curves, model: str) -> Claim:
    """Footnote 10, at the same values of p."""
    found, told = [], []
    for name, one in rnr.items():
        room = SIMILAR * one.available
        gains = [difference(one.gain(s.p), dbr[name].gain(s.p)) for s in one.spots]
        risks = [difference(one.risk(s.p), dbr[name].risk(s.p)) for s in one.spots]
        found += [within(x, -room, room) for x in [*gains, *risks]]
        most = [
            max(abs(x.value) for x in side) / max(one.available, 1e-12) for side in (gains, risks)
        ]
        told.append(f"{name}: gain {most[0]:.0%}, risk {most[1]:.0%}")
    return Claim(
        f"RNR and DBR with a fixed Pconf differ very little (footnote 10; {model}).",
        f"gain and risk differ by less than {SIMILAR:.0%} of what can be won from the model, at "
        f"{' and '.join(f'p = {s.p:g}' for s in next(iter(rnr.values())).spots)} in every game",
        "largest difference, as a share of that: " + ", ".join(told),
        every(found),
    )


def _few(found: Mapping[str, bool | None]) -> str:
    return f"in {list(found.values()).count(True)} of {len(found)} games"


def _pc(x: Range) -> str:
    return "–" if math.isnan(x.value) else f"{x.value:.0%}"


def _state(curves: Curves) -> str:
    """How many points have converged."""
    open_ones = [name for name, curve in curves.items() if not curve.converged]
    return "not converged: " + ", ".join(open_ones) if open_ones else "all points have converged"
