"""Expected value, best response and exploitability against brute force over all pure strategies."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import BATTLE, Ending, brute_best, brute_value, endings, pure_choices

from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.core.evaluation.exact import (
    best_response,
    expected_value,
    exploitability,
    policy_exploitability,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy

SMALL = ["kuhn", "ocp(4)", "bluff(1,1,1)", "bluff(1,1,2)", "goofspiel(2)", "pam(1,2,3)", "battle"]
seeds = st.integers(0, 2**32 - 1)


@cache
def game_of(name: str) -> Game:
    return BATTLE if name == "battle" else load(name)


@cache
def brute(name: str) -> tuple[list[Ending], list[dict[int, np.ndarray]]]:
    game = game_of(name)
    return endings(game), [pure_choices(game, player) for player in range(game.n_players)]


def random_strategy(name: str, seed: int) -> Strategy:
    """Mixed, with many zeros and ties."""
    game = game_of(name)
    return Strategy.from_weights(
        game, np.random.default_rng(seed).choice([0.0, 0.0, 1.0, 1.0, 2.0, 0.37], game.n_slots)
    )


@pytest.mark.parametrize("name", SMALL)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_value(name: str, seed: int) -> None:
    strategy = random_strategy(name, seed)
    value = brute_value(brute(name)[0], strategy.probabilities)
    np.testing.assert_allclose(expected_value(game_of(name), strategy), value, atol=1e-12)


@pytest.mark.parametrize("name", SMALL)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_best_response_is_the_best_pure_strategy(name: str, seed: int) -> None:
    strategy = random_strategy(name, seed)
    game, (found, choices) = game_of(name), brute(name)
    for player in range(game.n_players):
        best = best_response(game, strategy, player)
        assert best.value == pytest.approx(
            brute_best(found, choices[player], strategy.probabilities, player), abs=1e-12
        )


@pytest.mark.parametrize("name", SMALL)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_exploitability_is_the_sum_of_gains(name: str, seed: int) -> None:
    """b1 + b2 in a zero-sum game, where the players' values cancel."""
    strategy = random_strategy(name, seed)
    game, (found, choices) = game_of(name), brute(name)
    best = [
        brute_best(found, choices[player], strategy.probabilities, player)
        for player in range(game.n_players)
    ]
    gains = sum(best) - brute_value(found, strategy.probabilities).sum()
    assert exploitability(game, strategy) == pytest.approx(gains, abs=1e-12)
    assert policy_exploitability(game, strategy.probabilities) == exploitability(game, strategy)
    assert exploitability(game, strategy) >= -1e-12


@pytest.mark.parametrize("name", SMALL)
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_returned_strategy_attains_the_value(name: str, seed: int) -> None:
    strategy = random_strategy(name, seed)
    game = game_of(name)
    for player in range(game.n_players):
        best = best_response(game, strategy, player)
        assert (best.game, best.player) == (game, player)
        assert expected_value(game, best.strategy)[player] == pytest.approx(best.value, abs=1e-12)
        own = game.slots(player)
        assert set(best.strategy.probabilities[own]) <= {0.0, 1.0}
        others = np.ones(game.n_slots, dtype=bool)
        others[own] = False
        np.testing.assert_array_equal(
            best.strategy.probabilities[others], strategy.probabilities[others]
        )


@pytest.mark.parametrize("name", ["leduc", "bluff(1,1,4)", "goofspiel(4)", "pam(2,3,6)"])
def test_best_response_of_larger_games_attains_its_value(name: str) -> None:
    game = load(name)
    strategy = Strategy.random(game, 3)
    for player in (0, 1):
        best = best_response(game, strategy, player)
        assert expected_value(game, best.strategy)[player] == pytest.approx(best.value, abs=1e-12)
        assert best.value >= expected_value(game, strategy)[player]
        again = best_response(game, best.strategy, player)
        assert again.value == pytest.approx(best.value, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_three_players(seed: int) -> None:
    """The general path: 65,536 pure strategies for each of three players."""
    name = "kuhn(players=3)"
    game, (found, choices) = game_of(name), brute(name)
    strategy = Strategy.random(game, seed)
    value = brute_value(found, strategy.probabilities)
    np.testing.assert_allclose(expected_value(game, strategy), value, atol=1e-12)
    best = [
        brute_best(found, choices[player], strategy.probabilities, player) for player in range(3)
    ]
    for player in range(3):
        reply = best_response(game, strategy, player)
        assert reply.value == pytest.approx(best[player], abs=1e-12)
        assert expected_value(game, reply.strategy)[player] == pytest.approx(
            best[player], abs=1e-12
        )
    assert exploitability(game, strategy) == pytest.approx(sum(best) - value.sum(), abs=1e-12)


def test_battle_by_hand() -> None:
    table = {
        "player 1": {"opera": 2 / 3, "fight": 1 / 3},
        "player 2": {"Opera": 1 / 3, "Fight": 2 / 3},
    }
    mixed = Strategy.from_table(BATTLE, table)
    np.testing.assert_allclose(expected_value(BATTLE, mixed), [2 / 3, 2 / 3], atol=1e-12)
    assert exploitability(BATTLE, mixed) == pytest.approx(0.0, abs=1e-12)
    assert exploitability(BATTLE, Strategy.uniform(BATTLE)) == pytest.approx(0.25 + 0.25, abs=1e-12)


@given(st.floats(0.0, 1.0), st.integers(0, 1000))
@settings(deadline=None)
def test_value_is_linear_in_a_single_probability_vector(weight: float, seed: int) -> None:
    """Mixing one player's realisation plan mixes the values, whoever the other is."""
    game = game_of("bluff(1,1,2)")
    a, b, opponent = (Strategy.random(game, 3 * seed + k) for k in range(3))
    for player in (0, 1):
        values = [
            expected_value(game, opponent.replace(s, player)) for s in (a, b, a.mix(b, weight))
        ]
        np.testing.assert_allclose(
            values[2], weight * values[0] + (1 - weight) * values[1], atol=1e-12
        )


def test_zero_sum_values_cancel_and_bound_each_other() -> None:
    game = load("leduc")
    for seed in range(5):
        strategy = Strategy.random(game, seed)
        value = expected_value(game, strategy)
        assert value.sum() == pytest.approx(0.0, abs=1e-12)
        assert (
            -best_response(game, strategy, 1).value
            <= value[0]
            <= best_response(game, strategy, 0).value
        )


@pytest.mark.parametrize("player", [-1, 2, True, 0.0, "1", None])
def test_player_must_exist(player: object) -> None:
    game = game_of("kuhn")
    with pytest.raises(BadParameter, match="player"):
        best_response(game, Strategy.uniform(game), player)  # type: ignore[arg-type]


def test_strategy_must_fit_the_game() -> None:
    game, other = game_of("kuhn"), Strategy.uniform(game_of("ocp(4)"))
    calls = [
        lambda s: expected_value(game, s),
        lambda s: exploitability(game, s),
        lambda s: best_response(game, s, 0),
    ]
    for call in calls:
        with pytest.raises(BadStrategy, match=r"ocp\(4\)"):
            call(other)
        with pytest.raises(BadStrategy, match="Strategy"):
            call(np.full(game.n_slots, 0.5))


def test_a_game_loaded_twice_is_one_game() -> None:
    one, two = load("kuhn"), load("kuhn")
    assert exploitability(one, Strategy.uniform(two)) == pytest.approx(11 / 12, abs=1e-12)
