"""Numbers with an interval say that it is of 95%, and their unit, in `repr` and `str` too."""

from __future__ import annotations

import pickle
from dataclasses import replace

import counterplay as cp
from counterplay.core.evaluation.estimate import FlopEstimate
from counterplay.core.responses.frontier import Frontier, frontier_point
from counterplay.core.responses.lines import LineEvidence
from counterplay.core.responses.terminals import ReachedTerminals
from counterplay.core.solvers.lower_bound import LowerBound

UNIFORM = cp.Strategy.uniform("kuhn")
KUHN = UNIFORM.game


def estimated() -> cp.Response:
    """A response whose payoffs were estimated, with the unit of their game or without."""
    plain = cp.respond(KUHN, UNIFORM, None, 0.5)
    least = FlopEstimate(-0.1, 0.02, 0.0, 12, unit=str(KUHN.unit))
    return replace(plain, payoffs=(FlopEstimate(0.5, 0.01, 0.0, 12), 0.5), worst_cases=(least, 0.0))


def test_of_sampled_flops() -> None:
    one, two = (FlopEstimate(x, 0.125, 0.0, 12, unit="sb/h") for x in (0.5, 0.25))
    assert repr(one) == str(one) == "0.5 ± 0.12 sb/h (95%, from 12 flops)"
    for value in (one + two, -one, one - two, 0 + one, pickle.loads(pickle.dumps(one))):
        assert " sb/h (95%, from 12 flops)" in repr(value)
    assert repr(500.0 * one) == "250 ± 62 (95%, from 12 flops)"  # in a unit that nobody said


def test_of_responses() -> None:
    said = repr(cp.respond(KUHN, UNIFORM, 0, 0.5))
    assert said.count(" per game") == 2
    said = repr(estimated())
    assert "mean payoff 0.5 ± 0.005 (95%, from 12 flops) per game," in said
    assert "exploitability 0.1 ± 0.02 per game (95%, from 12 flops), b1 + b2" in said


def test_of_frontiers() -> None:
    curve = Frontier(KUHN, None, "rnr", (frontier_point(estimated()),))
    assert curve.intervals() == [(0.01, 0.02)]
    head, row, unit = curve.table().splitlines()
    assert head.count("± (95%)") == 2
    assert row.count("±") == 2
    assert unit == "payoffs per game"
    assert repr(curve).splitlines() == [
        "Frontier(kuhn, rnr, both seats, payoffs per game)",
        *curve.table().splitlines(),
    ]
    said = repr(curve.points[0])
    assert said.count("(95%, from 12 flops)") == 2
    assert said.count(" per game") == 2


def test_of_lower_bounds() -> None:
    bound = cp.exploitability(KUHN, UNIFORM, method="play", iterations=200, games=1_000, seed=1)
    assert isinstance(bound, LowerBound)
    assert f" ± {bound.error:.2g} per game (a lower bound: " in repr(bound)
    assert repr(bound).endswith("95%)")


def test_of_frequencies() -> None:
    evidence = LineEvidence(ReachedTerminals(KUHN, 0), UNIFORM)
    always = cp.Strategy.from_table(KUHN, {name: {"bet": 1.0} for name in KUHN.infoset_names})
    me = cp.Adaptive(KUHN, equilibrium=UNIFORM)
    cp.play_match(KUHN, me, always, hands=400, seed=1)
    for seat, end in me.memory:
        if seat == 0:
            evidence.add(end)
    said = [text for _, text in evidence.findings()]
    assert said
    assert all("% (95%), an equilibrium " in text for text in said)
