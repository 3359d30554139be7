"""Values, best responses and solutions of spots are those of the same game with a tree, and of
games with known solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.poker.spots.game import spot
from tests.support.spots import naive_game, to_naive

RANGES = ("AhKh,QdQc:0.5,JcTc,7h7s,AsKs:0.3", "AdAc:0.7,QhQc,KdJd,9s8s,AhKh,AsKs")
RIVER, TURN = "QsJh2c5d8s", "QsJh2c5d"
RIVERS: dict[str, dict[str, Any]] = {
    "no limit": {"stacks": 90, "bets": "50,100,allin", "raises": "60"},
    "rake": {"stacks": 35, "bets": "50 | 33,75", "rake": 0.05, "rake_cap": 3},
    "limit": {"bets": "5", "limit": True},
    "minimum raise": {"stacks": 200, "bets": "75", "raises": "1", "cap": 5},
    "minimum bet": {"stacks": 40, "bets": "1,40", "min_bet": 3, "cap": 2},
    "any number of raises": {"stacks": 300, "bets": "100", "cap": None},
    "checks only": {"stacks": 10, "bets": "none"},
}


@pytest.mark.parametrize("name", RIVERS)
def test_a_river_is_measured_as_by_the_sequence_form(name: str) -> None:
    game = spot(RIVER, 20, ranges=RANGES, symmetric=False, **RIVERS[name])
    naive = naive_game(game)
    for seed in (0, 1):
        check_measures(game, naive, cp.Strategy.random(game, seed))


def check_measures(game: cp.Game, naive: cp.Game, strategy: cp.Strategy) -> None:
    same = to_naive(strategy, naive)
    assert naive.zero_sum == game.zero_sum
    values = cp.expected_value(naive, same)
    np.testing.assert_allclose(cp.expected_value(game, strategy), values, atol=1e-9)
    for player in (0, 1):
        ours = cp.best_response(game, strategy, player)
        theirs = cp.best_response(naive, same, player)
        assert ours.value == pytest.approx(theirs.value, abs=1e-9)
        assert ours.strategy is not None
        reached = cp.expected_value(game, ours.strategy)[player]
        assert reached == pytest.approx(ours.value, abs=1e-9)
    expected = cp.exploitability(naive, same)
    assert cp.exploitability(game, strategy) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_a_turn_is_measured_as_by_the_sequence_form() -> None:
    ranges = ("AhKh,QdQc:0.5,JcTc", "AdAc:0.7,Td9d,AhKh")
    game = spot(TURN, 20, stacks=60, ranges=ranges, bets="75", cap=2, symmetric=False)
    check_measures(game, naive_game(game), cp.Strategy.random(game, 3))


@pytest.mark.slow
def test_a_flop_is_measured_as_by_the_sequence_form() -> None:
    """With few cards to come: boards are dealt in both orders, and all-in hands are run out."""
    game = spot("QsJh2c", 20, stacks=20, ranges=("AhKh", "Td9d"), bets="allin", symmetric=False)
    check_measures(game, naive_game(game), cp.Strategy.random(game, 3))


@pytest.mark.parametrize(
    "algorithm",
    ["dcfr", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cfr+", "cfr"))],
)
def test_a_river_is_solved(algorithm: str) -> None:
    game = spot(RIVER, 20, stacks=45, ranges=RANGES, bets="50,100", symmetric=False)
    run = cp.solve(game, algorithm, iterations=400)
    value = cp.game_value(naive_game(game))
    assert run.exploitability < (2.0 if algorithm == "cfr" else 0.05)
    assert abs(cp.expected_value(game, run.strategy)[0] - value) <= run.exploitability + 1e-9
    assert cp.game_value(game) == pytest.approx(value, abs=0.01)


def test_three_holdings_are_kuhn_poker() -> None:
    """Aces, kings and queens of one combination each, antes of 1 and a bet of 1: the AKQ game."""
    board = "2c3d4s7c9h"
    game = spot(board, 2, stacks=1, ranges=("AhAd,KhKd,QhQd",) * 2, bets="50", cap=1)
    bet, bluff = "allin 1", 0.2  # from 0 to 1/3
    shares = {
        "start": ("check", bet, {"AhAd": 3 * bluff, "KhKd": 0.0, "QhQd": bluff}),
        f"check-{bet}": ("fold", "call", {"AhAd": 1.0, "KhKd": bluff + 1 / 3, "QhQd": 0.0}),
        "check": ("check", bet, {"AhAd": 1.0, "KhKd": 0.0, "QhQd": 1 / 3}),
        bet: ("fold", "call", {"AhAd": 1.0, "KhKd": 1 / 3, "QhQd": 0.0}),
    }
    table = {
        f"{history} {board} {hand}": {passive: 1.0 - share, active: share}
        for history, (passive, active, by_hand) in shares.items()
        for hand, share in by_hand.items()
    }
    exact = cp.Strategy.from_table(game, table)
    assert cp.exploitability(game, exact) == pytest.approx(0.0, abs=1e-12)
    assert cp.expected_value(game, exact)[0] == pytest.approx(-1 / 18, abs=1e-12)
    run = cp.solve(game, "dcfr", target=2e-4, iterations=20_000)
    assert run.exploitability <= 2e-4
    assert cp.expected_value(game, run.strategy)[0] == pytest.approx(-1 / 18, abs=2e-4)


@pytest.mark.parametrize(
    "size", [1.0, *(pytest.param(size, marks=pytest.mark.slow) for size in (0.5, 2.0))]
)
def test_clairvoyance_has_its_closed_form(size: float) -> None:
    """One player knows whether the other, who has a hand between, is beaten. With a bet of s pots
    s / (1 + 2s) of the betting range are bluffs, and 1 / (1 + s) is called."""
    game = spot(
        "2c3d4s7c9h", 10, stacks=100, ranges=("AhAd,JhTd", "KhKd"), bets=f"{100 * size:g} | none",
        raises="none",
    )  # fmt: skip
    run = cp.solve(game, "dcfr", target=1e-4, iterations=20_000)
    action = f"bet {10 * size:g}"
    view = cp.spot_view(run)
    assert view.at("AhAd")[action] == pytest.approx(1.0, abs=1e-4)
    bluffs = view.at("JhTd")[action]
    assert bluffs / (1 + bluffs) == pytest.approx(size / (1 + 2 * size), abs=1e-3)
    called = cp.spot_view(run, action).at("KhKd")["call"]
    assert called == pytest.approx(1 / (1 + size), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("board", ["QsJh2c5d", "QsJs2s", "7h7d2c"])
def test_suits_that_are_alike_are_one(board: str) -> None:
    """Solving with and without suit isomorphism gives the same numbers."""
    ranges = ("AKs,76s,QQ", "AJs,99,KTs")
    kinds = [
        spot(board, 20, stacks=20, ranges=ranges, bets="100", cap=1, symmetric=symmetric)
        for symmetric in (True, False)
    ]
    fewer, every = (int(game.rules.layout.boards.first[-1]) for game in kinds)
    assert fewer < every or board == "QsJh2c5d"
    runs = [cp.solve(game, "dcfr", iterations=6) for game in kinds]
    assert runs[0].exploitability == pytest.approx(runs[1].exploitability, abs=1e-8)
    values = [cp.expected_value(run.game, run.strategy) for run in runs]
    np.testing.assert_allclose(*values, atol=1e-8)
    later = {"QsJh2c5d": "check-check/", "QsJs2s": "check-check/", "7h7d2c": "check-check/"}[board]
    next_card = {"QsJh2c5d": "4h", "QsJs2s": "4d", "7h7d2c": "4s"}[board]
    one, two = (cp.spot_view(run, later, board + next_card) for run in runs)
    assert one.holdings == two.holdings
    np.testing.assert_allclose(one.policy, two.policy, atol=1e-7)
    np.testing.assert_allclose(one.reach, two.reach, atol=1e-7)
