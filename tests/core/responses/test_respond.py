"""respond, confidence and frontier: formulas, arguments, the search for the best response within
a limit on risk."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import BATTLE
from support.lp import lp_value
from support.response_lp import most_within

import counterplay as cp
from counterplay.core.responses.algorithms import KINDS
from counterplay.core.responses.frontier import PAPER_PS, frontier_point

NAN = float("nan")
KUHN = cp.load("kuhn")
MODEL = cp.Strategy.random(KUHN, 8)


@settings(max_examples=50, deadline=None)
@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=30),
    p_max=st.floats(0.0, 1.0),
    s=st.floats(0.01, 100.0),
)
def test_confidence_formulas(counts: list[int], p_max: float, s: float) -> None:
    """Johanson & Bowling 2009, Section 5, one information set at a time."""
    formulas = {
        "1-step": lambda n: p_max if n >= 1 else 0.0,
        "10-step": lambda n: p_max if n >= 10 else 0.0,
        "0-10-linear": lambda n: p_max if n >= 10 else p_max * n / 10,
        "s-curve": lambda n: p_max * n / (s + n),
    }
    assert set(KINDS) == set(formulas)
    for kind, formula in formulas.items():
        found = cp.confidence(np.array(counts), kind, p_max, s)
        np.testing.assert_allclose(found, [formula(n) for n in counts], rtol=1e-14, atol=1e-300)
        assert found.max() <= min(p_max * (1.0 + 1e-15), 1.0)
        if 0 in counts:
            assert found[counts.index(0)] == 0.0
    np.testing.assert_array_equal(
        cp.confidence(np.array(counts)), cp.confidence(np.array(counts), "0-10-linear", 1.0, 1.0)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (np.array([-1.0]),),
        (np.array([NAN]),),
        (np.array([np.inf]),),
        (np.ones((2, 2)),),
        (np.float64(3),),
        (np.array(["many"]),),
        (np.ones(3), "2-step"),
        (np.ones(3), "1-step", 1.5),
        (np.ones(3), "1-step", NAN),
        (np.ones(3), "s-curve", 1.0, 0.0),
        (np.ones(3), "s-curve", 1.0, -1.0),
        (np.ones(3), "s-curve", 1.0, NAN),
    ],
)
def test_confidence_refuses(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.confidence(*arguments)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": cp.Strategy.uniform(cp.load("ocp(4)"))}, "cannot play"),
        ({"model": MODEL.probabilities}, "Strategy"),
        ({"player": 2}, "player"),
        ({"player": -1}, "player"),
        ({"player": "one"}, "player"),
        ({"player": True}, "player"),
        ({"p": -0.1}, "p must"),
        ({"p": 1.1}, "p must"),
        ({"p": NAN}, "p must"),
        ({"p": "half"}, "p must"),
        ({"p": None}, "p must"),
        ({"p": np.full(12, 0.5)}, "one number p"),
        ({"p": np.full(12, 0.5), "algorithm": "mcrnr"}, "one number p"),
        ({"p": np.full(11, 0.5), "algorithm": "dbr"}, "12 information sets"),
        ({"p": np.full((12, 1), 0.5), "algorithm": "mcdbr"}, "12 information sets"),
        ({"p": np.full(12, 1.5), "algorithm": "dbr"}, "from 0 to 1"),
        ({"p": np.full(12, NAN), "algorithm": "mcdbr"}, "from 0 to 1"),
        ({"p": np.full(12, "half"), "algorithm": "dbr"}, "p "),
        ({"algorithm": "mcrn"}, "did you mean 'mcrnr'"),
        ({"engine": "cfrr"}, "did you mean 'cfr'"),
        ({"engine": "mccfr"}, "cfr"),
        ({"engine": "mcts", "algorithm": "dbr"}, "cfr"),
        ({"engine": "cfr+", "algorithm": "mcrnr"}, "mccfr"),
        ({"engine": "lp", "algorithm": "mcdbr"}, "mccfr"),
        ({"epsilon": 0.5}, "epsilon"),
        ({"algorithm": "mcrnr", "epsilon": 0.0}, "epsilon"),
        ({"seed": -1}, "seed"),
        ({"iterations": 0}, "iterations"),
        ({"target": -1.0}, "target"),
        ({"game": "khun"}, "did you mean 'kuhn'"),
    ],
)
def test_arguments_are_checked(changes: dict[str, Any], says: str) -> None:
    arguments = {
        "game": KUHN,
        "model": MODEL,
        "player": 0,
        "p": 0.5,
        "algorithm": "rnr",
        "iterations": 1,
        **changes,
    }
    with pytest.raises(cp.CounterplayError, match=says):
        cp.respond(**arguments)


@pytest.mark.parametrize("algorithm", ["rnr", "mcrnr", "dbr", "mcdbr"])
@pytest.mark.parametrize(
    "game", [cp.load("kuhn(players=3)"), BATTLE], ids=["three players", "not zero-sum"]
)
def test_only_two_player_zero_sum_games(game: cp.Game, algorithm: str) -> None:
    if game.n_players == 2 or algorithm != "mcrnr":
        with pytest.raises(cp.CounterplayError, match=r"zero-sum|the algorithm is mcrnr"):
            cp.respond(game, cp.Strategy.uniform(game), 0, 0.5, algorithm, iterations=1)
    with pytest.raises(cp.CounterplayError):
        cp.frontier(game, cp.Strategy.uniform(game), algorithm=algorithm, iterations=1)


def pure_model(game: cp.Game) -> cp.Strategy:
    """The last action at every information set, always."""
    weights = np.zeros(game.n_slots)
    weights[game.tree.first[1:] - 1] = 1.0
    return cp.Strategy(game, weights)


@pytest.mark.parametrize("engine", ["mccfr", "mccfr-external", "mccfr-chance", "mcts"])
@pytest.mark.parametrize("algorithm", ["mcrnr", "mcdbr"])
def test_models_with_zeros(algorithm: str, engine: str) -> None:
    """A pure model, fully trusted: all stays finite, and the answer wins what a best response
    wins, to 0.05 of the range."""
    model = pure_model(KUHN)
    for player in (0, 1):
        response = cp.respond(KUHN, model, player, 1.0, algorithm, engine=engine, iterations=20_000)
        assert np.isfinite(response.strategy.probabilities).all()
        assert response.payoff == pytest.approx(
            cp.best_response(KUHN, model, player).value, abs=0.2
        )


@pytest.mark.parametrize("limit", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    "name", ["kuhn", "bluff(1,1,3)", pytest.param("goofspiel(3)", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("engine", ["lp", "cfr+"])
def test_most_within_a_limit(engine: str, name: str, player: int, limit: float) -> None:
    """Within the limit, and as much as the exact optimum and every response of a fine grid, to
    1e-3."""
    game = cp.load(name)
    model = cp.Strategy.random(game, 21)
    value = lp_value(game) * (1 if player == 0 else -1)
    found = cp.respond(game, model, player, engine=engine, max_exploitability=limit)
    assert found.worst_case >= value - limit - 1e-9
    optimum = most_within(game, model, player, value - limit)
    assert found.payoff == pytest.approx(optimum, abs=1e-3)
    for p in np.linspace(0.0, 1.0, 11):
        other = cp.respond(game, model, player, float(p), engine="lp")
        if other.worst_case >= value - limit:
            assert found.payoff >= other.payoff - 1e-3


def test_most_within_a_limit_in_both_seats() -> None:
    """The limit holds for b1 + b2, and no split of it between the seats wins more."""
    game, limit = KUHN, 0.2
    found = cp.respond(game, MODEL, None, engine="lp", max_exploitability=limit)
    assert cp.exploitability(game, found.strategy) <= limit + 1e-9
    value = lp_value(game)
    splits = np.linspace(0.0, limit, 41)
    best = max(
        most_within(game, MODEL, 0, value - s) + most_within(game, MODEL, 1, -value - (limit - s))
        for s in splits
    )
    assert sum(found.payoffs) >= best - 1e-3


def test_a_generous_limit_gives_a_best_response() -> None:
    found = cp.respond(KUHN, MODEL, 0, engine="lp", max_exploitability=10.0)
    assert found.payoff == pytest.approx(cp.best_response(KUHN, MODEL, 0).value, abs=1e-9)


@pytest.mark.parametrize("limit", [-0.1, NAN, "much", True])
def test_bad_limits_are_refused(limit: Any) -> None:
    with pytest.raises(cp.CounterplayError, match="max_exploitability"):
        cp.respond(KUHN, MODEL, 0, max_exploitability=limit)


def test_a_limit_that_cannot_be_met_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.CounterplayError, match="safest"):
        cp.respond(KUHN, MODEL, 0, max_exploitability=1e-9, iterations=3)
    with pytest.raises(cp.CounterplayError, match="folder"):
        cp.respond(KUHN, MODEL, 0, max_exploitability=0.1, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def curve() -> cp.Frontier:
    return cp.frontier(KUHN, MODEL, (1.0, 0.5, 0.0, 0.8), player=1, engine="lp")


def test_frontier_points(curve: cp.Frontier) -> None:
    """p rises; each point is a response less the value of the game, 1/18 to player 2; the
    straight line joins the ends."""
    rows = curve.rows()
    assert [row[0] for row in rows] == [0.0, 0.5, 0.8, 1.0]
    for (p, won, risked, line, seconds), point in zip(rows, curve.points, strict=True):
        alone = cp.respond(KUHN, MODEL, 1, p, engine="lp")
        assert won == pytest.approx(alone.payoff - 1 / 18, abs=1e-9)
        assert risked == pytest.approx(max(1 / 18 - alone.worst_case, 0.0), abs=1e-9)
        assert line <= won + 1e-9
        assert seconds >= 0.0
        assert np.array_equal(point.response.strategy.probabilities, alone.strategy.probabilities)
    assert rows[0][3] == pytest.approx(rows[0][1], abs=1e-9)
    assert rows[-1][3] == pytest.approx(rows[-1][1], abs=1e-9)
    first, last = curve.points[0], curve.points[-1]
    assert curve.line((first.exploitability + last.exploitability) / 2) == pytest.approx(
        (first.exploitation + last.exploitation) / 2, abs=1e-12
    )
    assert curve.line(-1.0) == pytest.approx(first.exploitation)
    assert curve.line(1e9) == pytest.approx(last.exploitation)


def test_frontier_of_both_seats() -> None:
    curve = cp.frontier("kuhn", MODEL, (0.5,), engine="lp")
    seats = [
        cp.frontier("kuhn", MODEL, (0.5,), player=player, engine="lp").points[0]
        for player in (0, 1)
    ]
    assert curve.points[0].exploitation == pytest.approx(
        sum(seat.exploitation for seat in seats), abs=1e-9
    )
    assert curve.points[0].exploitability == pytest.approx(
        sum(seat.exploitability for seat in seats), abs=1e-9
    )
    assert PAPER_PS == (0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1)  # Figure 6


def test_recommend(curve: cp.Frontier) -> None:
    for point in curve.points:
        chosen = curve.recommend(point.exploitability)
        assert chosen.exploitability <= point.exploitability
        assert chosen.exploitation >= point.exploitation
    assert curve.recommend(1e9) is curve.points[-1]
    with pytest.raises(cp.CounterplayError, match="safest"):
        curve.recommend(-0.1)


def test_table_csv_and_picture(curve: cp.Frontier, tmp_path: Path) -> None:
    lines = curve.table().splitlines()
    assert lines[0].split() == [
        "p",
        "exploitation",
        "exploitability",
        "straight",
        "line",
        "seconds",
    ]
    assert [float(line.split()[0]) for line in lines[1:]] == [0.0, 0.5, 0.8, 1.0]
    curve.save_csv(tmp_path / "curve.csv")
    with open(tmp_path / "curve.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["p", "exploitation", "exploitability", "straight_line", "seconds"]
    assert [tuple(map(float, row)) for row in rows[1:]] == curve.rows()
    curve.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("ps", [(), (2.0,), (NAN,), ("half",), (0.5, "half"), (None,), 0.5])
def test_frontier_refuses(ps: Any) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.frontier(KUHN, MODEL, ps, iterations=1)


def test_points_never_risk_less_than_nothing() -> None:
    point = frontier_point(cp.respond(KUHN, MODEL, 0, 0.0, engine="lp"))
    assert point.exploitability == pytest.approx(0.0, abs=1e-9)
    assert point.exploitability >= 0.0
