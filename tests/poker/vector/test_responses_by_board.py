"""What responses in hold'em win and risk, measured by traversing boards: on a short deck, where the
sequence form gives the same."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.small_holdem import RIVER_BETS, on_tree, random_strategy, tree_game, walked_game

import counterplay as cp
from counterplay.core.base.errors import BadParameter, Interrupted, UnknownName
from counterplay.core.evaluation.estimate import FlopEstimate, upper_end
from counterplay.core.forms import strategy as strategies
from counterplay.core.responses import frontier as frontiers
from counterplay.core.responses import respond as responds
from counterplay.core.responses.compute import ResponseParameters
from counterplay.core.responses.frontier import Frontier, frontier_point
from counterplay.core.solvers.limits import Limits

VIEW = "forgetful"
NUMBERS = ("payoff", "worst_case", "exploitation", "exploitability")
SAMPLED: dict[str, Any] = {"algorithm": "mcrnr", "iterations": 3_000, "seed": 1}


@pytest.fixture(scope="module")
def model() -> cp.Strategy:
    return random_strategy(walked_game(RIVER_BETS, VIEW), 5)


def on_sequences(response: cp.Response) -> tuple[float, float]:
    """Payoff and worst case by the sequence form, means of the seats."""
    tree = tree_game(RIVER_BETS)
    mine, model = (on_tree(s, RIVER_BETS, VIEW) for s in (response.strategy, response.model))
    payoff = worst = 0.0
    for seat in response.seats:
        payoff += float(cp.expected_value(tree, model.replace(mine, seat))[seat])
        worst -= cp.best_response(tree, mine, 1 - seat).value
    return payoff / len(response.seats), worst / len(response.seats)


def numbers(response: cp.Response) -> list[float]:
    return [getattr(response, name) for name in NUMBERS]


@pytest.mark.parametrize("player", [pytest.param(None, marks=pytest.mark.first), 0, 1])
def test_numbers_are_those_of_the_sequence_form(model: cp.Strategy, player: int | None) -> None:
    plain = cp.respond(model.game, model, player, 0.7, **SAMPLED)
    assert all(math.isnan(number) for number in numbers(plain))
    found = plain.measured()
    payoff, worst = on_sequences(found)
    assert (found.payoff, found.worst_case) == pytest.approx((payoff, worst), abs=1e-9)
    if player is None:
        sums = (2 * found.payoff, -2 * found.worst_case)
        assert (found.exploitation, found.exploitability) == pytest.approx(sums, abs=1e-12)
    else:  # relative to the value of the game, which hold'em lacks
        assert math.isnan(found.exploitation)
        assert math.isnan(found.exploitability)
    if player == 0:
        asked = cp.respond(model.game, model, player, 0.7, measure={}, **SAMPLED)
        assert (asked.payoff, asked.worst_case) == (found.payoff, found.worst_case)


def test_estimates_keep_their_intervals(model: cp.Strategy) -> None:
    response = cp.respond(model.game, model, None, 0.7, measure={"flops": 40}, **SAMPLED)
    exact = response.measured()
    for name in NUMBERS:
        found = getattr(response, name)
        assert isinstance(found, FlopEstimate)
        assert found.flops == 40
        assert found.error > 0.0
        assert abs(found - getattr(exact, name)) < 4.0 * found.error
    assert response.worst_case.bias <= 0.0 <= response.exploitability.bias
    other = cp.respond(model.game, model, None, 0.7, measure={"flops": 40, "seed": 1}, **SAMPLED)
    assert other.payoff != response.payoff  # other flops


def test_arithmetic_of_estimates() -> None:
    one, two = FlopEstimate(1.0, 0.1, 0.02, 40), FlopEstimate(0.25, 0.05, -0.01, 40)
    assert str(one - two) == "0.75 ± 0.15 (95%, from 40 flops)"
    cases = [
        (one + two, 1.25, 0.15, 0.01),
        (sum([one, two]), 1.25, 0.15, 0.01),
        (one - two, 0.75, 0.15, 0.03),
        (2.0 - one, 1.0, 0.1, -0.02),
        (-two, -0.25, 0.05, 0.01),
        (500.0 * two, 125.0, 25.0, -5.0),
        (one * -2, -2.0, 0.2, -0.04),
    ]
    for found, value, error, bias in cases:
        assert isinstance(found, FlopEstimate)
        assert (float(found), found.error, found.bias) == pytest.approx((value, error, bias))
    assert (upper_end(one), upper_end(1.0)) == (1.1, 1.0)


# --- the frontier, and the best within a limit


def test_a_frontier(model: cp.Strategy, tmp_path: Path) -> None:
    said: list[str] = []
    curve = cp.frontier(
        model.game,
        model,
        (0.0, 1.0),
        measure={"flops": 12},
        progress=lambda share, what: said.append(what),
        **SAMPLED,
    )
    assert "p = 1, traversing the boards" in said
    for point in curve.points:
        again = point.response.measured(flops=12)
        assert point.exploitation == sum(again.payoffs)
        assert point.exploitability == -sum(again.worst_cases)
    assert curve.points[1].exploitation > curve.points[0].exploitation
    assert "±" in curve.table()
    curve.save_csv(tmp_path / "curve.csv")
    curve.plot(tmp_path / "curve.png")
    (first, _) = list(csv.DictReader((tmp_path / "curve.csv").open()))
    assert float(first["exploitability_within"]) == curve.points[0].exploitability.error


def test_advice_goes_by_the_upper_end(model: cp.Strategy) -> None:
    response = cp.respond(model.game, model, None, 0.5, **SAMPLED)
    points = [
        frontier_point(
            replace(
                response,
                p=p,
                payoffs=(FlopEstimate(p, 0.1, 0.0, 40), 0.0),
                worst_cases=(FlopEstimate(-p, 0.2, 0.0, 40), 0.0),
            )
        )
        for p in (0.25, 0.5)
    ]
    curve = Frontier(model.game, None, "mcrnr", tuple(points))
    assert curve.recommend(0.6).p == 0.25
    assert curve.recommend(0.7).p == 0.5
    with pytest.raises(BadParameter, match=r"the safest risks 0\.45"):
        curve.recommend(0.4)


@pytest.mark.slow
def test_the_most_within_a_limit(model: cp.Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few traversals, and a mixture of the two last responses whose bound is the limit."""
    ends = [cp.respond(model.game, model, p=p, measure={}, **SAMPLED) for p in (0.0, 1.0)]
    limit = (ends[0].exploitability + ends[1].exploitability) / 2.0
    traversals = []
    monkeypatch.setattr(
        cp.Response,
        "with_worst_case",
        lambda self, _real=cp.Response.with_worst_case, **o: (
            traversals.append(self.p) or _real(self, **o)
        ),
    )
    found = cp.respond(model.game, model, max_exploitability=limit, measure={}, **SAMPLED)
    assert traversals[:3] == [1.0, 0.0, 0.5]
    assert len(traversals) == 6
    assert 0.0 < (found.p or 0.0) < 1.0
    mixture: Any = found.strategy
    one, other = (on_sequences(replace(found, strategy=s)) for s in (mixture.one, mixture.other))
    weights = mixture.weight, 1.0 - mixture.weight
    payoff, worst = ([a, b] @ np.array(weights) for a, b in zip(one, other, strict=True))
    assert (found.payoff, found.worst_case) == pytest.approx((payoff, worst), abs=1e-9)
    assert found.exploitability == pytest.approx(limit, abs=1e-9)
    with pytest.raises(BadParameter, match="even the safest strategy found risks"):
        cp.respond(model.game, model, max_exploitability=1e-6, measure={}, **SAMPLED)


def test_a_limit_goes_by_the_upper_end(model: cp.Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where p risks p ± 0.1, a bisection ends at 0.375 and 0.4375, on both sides of 0.5, and the
    mixture of the two that risks 0.5 at most has the mean p 0.4."""
    plain = cp.respond(model.game, model, None, 0.5, **SAMPLED)
    monkeypatch.setattr(
        responds, "compute_response", lambda parameters, *_, **__: replace(plain, p=parameters.p)
    )
    monkeypatch.setattr(
        cp.Response,
        "with_worst_case",
        lambda self, **_: replace(self, worst_cases=(FlopEstimate(-self.p, 0.1, 0.0, 40), 0.0)),
    )
    monkeypatch.setattr(cp.Response, "with_payoff", lambda self, **_: self)
    parameters = ResponseParameters(model.game, model, None, 0.0, "mcrnr")
    found = responds.respond_within_measured(parameters, 0.5, Limits(), {})
    assert found.p == pytest.approx(0.4)
    assert upper_end(found.exploitability) == pytest.approx(0.5)
    assert responds.respond_within_measured(parameters, 1.1, Limits(), {}).p == 1.0


# --- stopping and going on


def test_a_folder_is_measured_as_it_is(model: cp.Strategy, tmp_path: Path) -> None:
    made = cp.respond(model.game, model, None, 0.7, folder=tmp_path / "run", **SAMPLED).measured()
    found = cp.resume_response(tmp_path / "run", game=model.game, measure={})
    assert numbers(found) == numbers(made)
    assert (found.iterations, found.runs[0].started_at) == (3_000, 3_000)
    for file in (tmp_path / "run").glob("*2*/checkpoint*"):
        file.unlink()
    with pytest.raises(BadParameter, match="no iterations yet; give a limit"):
        cp.resume_response(tmp_path / "run", game=model.game, measure={})


def test_stopped_while_it_is_measured(model: cp.Strategy) -> None:
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        cp.respond(model.game, model, None, 0.7, measure={"progress": stop}, **SAMPLED)
    assert isinstance(stopped.value.result, cp.Response)
    assert math.isnan(stopped.value.result.payoff)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"measure": {"flops": 3}}, "at least 12 flops"),
        ({"measure": {"flop": 40}}, "unknown option of measure 'flop'; did you mean 'flops'"),
        ({"measure": 40}, "options by name"),
        ({"measure": {"seed": -1}}, "seed must be at least 0"),
        ({"max_exploitability": 0.1}, "traversing its boards"),
        ({"max_exploitability": 0.1, "measure": {}, "player": 0}, "respond in both seats"),
    ],
)
def test_refused_before_any_work(
    model: cp.Strategy, arguments: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (frontiers, responds):
        monkeypatch.setattr(module, "compute_response", None)
    with pytest.raises((BadParameter, UnknownName), match=sentence):
        cp.respond(model.game, model, algorithm="mcrnr", **arguments)
    curve = {name: value for name, value in arguments.items() if name != "max_exploitability"}
    with pytest.raises((BadParameter, UnknownName), match=sentence):
        cp.frontier(model.game, model, algorithm="mcrnr", **curve)


def test_other_games_are_measured_anyway() -> None:
    game = cp.load("kuhn")
    model = cp.Strategy.uniform(game)
    for ask in (cp.respond, cp.frontier):
        with pytest.raises(BadParameter, match="flops is for games that take long to measure"):
            ask(game, model, measure={"flops": 40})
    response = cp.respond(game, model, measure={}, iterations=10)
    assert response.measured() is response


# --- commands


@pytest.fixture
def small(model: cp.Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short deck as a game that commands can name."""
    monkeypatch.setattr("counterplay.core.forms.registry.load", lambda name: model.game)
    monkeypatch.setattr(strategies, "load", lambda name: model.game)


RESPOND = ["respond", "uniform", "--game", "small", "-a", "mcrnr", "-n", "500"]
RISK = "exploitability"


def test_respond(small: None, tmp_path: Path) -> None:
    done = typed(tmp_path, *RESPOND, "--out", "run")
    assert (done.code, "--resume run --flops 40" in done.stdout) == (0, True)
    done = typed(tmp_path, *RESPOND, "--json", "--out", "other")
    assert json.loads(done.stdout)[RISK] is None
    done = typed(tmp_path, "respond", "--resume", "run", "--flops", "12", "--json")
    facts = json.loads(done.stdout)
    assert (facts["new_iterations"], facts["flops_traversed"]) == (0, 12)
    assert facts[f"{RISK}_within"] > 0.0
    assert facts["exploitability_mbg"] == 500.0 * facts[RISK]
    seats = (facts["payoff_as_player_1"], facts["payoff_as_player_2"])
    assert facts["exploitation"] == pytest.approx(sum(seats), abs=1e-12)
    assert facts["payoff"] == pytest.approx(sum(seats) / 2, abs=1e-12)  # as a match estimates it
    text = typed(tmp_path, "respond", "--resume", "run", "--flops", "12").stdout
    assert f"{RISK} (b1 + b2), 95% within" in text
    assert "not measured" not in text


def test_one_seat_has_no_exploitability(small: None, tmp_path: Path) -> None:
    words = [*RESPOND, "--player", "1", "--flops", "12", "--json"]
    facts = json.loads(typed(tmp_path, *words).stdout)
    assert facts["worst_case_within"] > 0.0
    assert facts["exploitability"] is None


def test_within_a_limit(small: None, tmp_path: Path) -> None:
    words = [*RESPOND, "--max-exploitability", "9", "--flops", "12", "--json", "--out", "run"]
    facts = json.loads(typed(tmp_path, *words).stdout)
    assert facts["p"] == 1.0
    assert facts[RISK] + facts[f"{RISK}_within"] <= 9.0
    assert (tmp_path / "run" / "strategy.npz").exists()


def test_frontier(small: None, tmp_path: Path) -> None:
    words = ["frontier", *RESPOND[1:], "--ps", "0,1", "--flops", "12", "--max-exploitability", "9"]
    done = typed(tmp_path, *words)
    assert done.code == 0, done.stderr
    for text in ("±", "in mb/g, averaged over the seats", "from 12 flops", "p = 1 wins"):
        assert text in done.stdout
    again = typed(tmp_path, *words, "--json")
    assert one_sentence(again)
    assert "--resume" in again.stderr  # the points of the first are not overwritten
    points = json.loads(typed(tmp_path, *words, "--json", "--out", "other").stdout)["points"]
    assert points[0]["exploitability_within"] > 0.0


@pytest.mark.parametrize("command", ["respond", "frontier"])
def test_options_that_would_do_nothing(command: str, tmp_path: Path) -> None:
    done = typed(tmp_path, command, "uniform", "--game", "kuhn", "--flops", "40")
    assert one_sentence(done)
    assert "flops is for games" in done.stderr
    assert list(tmp_path.iterdir()) == []
