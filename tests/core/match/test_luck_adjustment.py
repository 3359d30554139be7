"""AIVAT on trees: the mean of any value function by enumeration, no variance with exact ones."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.forms.tree import CHANCE, TERMINAL
from counterplay.core.match.luck_adjustment import adjusted_payoffs, tree_values

GAMES = ("kuhn", "leduc")


def reach(game: cp.Game, policies: np.ndarray) -> np.ndarray:
    """float64[nodes]: how likely each history is, from the definition."""
    tree, result = game.tree, np.ones(game.tree.n_nodes)
    for node in range(tree.n_nodes):
        low = tree.first_child[node]
        for c in range(low, tree.first_child[node + 1]):
            player = tree.player[node]
            if player == CHANCE:
                share = tree.chance_probability[tree.chance_first[tree.row[node]] + c - low]
            else:
                share = policies[player, tree.first[tree.row[node]] + c - low]
            result[c] = result[node] * share
    return result


def two(game: cp.Game) -> np.ndarray:
    return np.stack([cp.Strategy.random(game, seed).probabilities for seed in (3, 4)])


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("known", [(0,), (1,), (0, 1), ()])
def test_the_mean_is_right_with_any_values(name: str, seat: int, known: tuple[int, ...]) -> None:
    game = cp.load(name)
    policies, rng = two(game), np.random.default_rng(1)
    profile = cp.Strategy(game, policies[0]).replace(cp.Strategy(game, policies[1]), 1)
    right = cp.expected_value(game, profile)[seat]
    ends = game.tree.player == TERMINAL
    weight = reach(game, policies)[ends]
    for values in (None, np.zeros(game.tree.n_nodes), 9.0 * rng.standard_normal(game.tree.n_nodes)):
        result = adjusted_payoffs(game, policies, seat, known, values)
        assert np.isnan(result[~ends]).all()
        assert weight @ result[ends] == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_exact_values_and_both_known_leave_no_variance(name: str) -> None:
    game = cp.load(name)
    policies = two(game)
    result = adjusted_payoffs(game, policies, 0)
    value = tree_values(game, policies, 0)[0]
    assert np.nanmax(np.abs(result - value)) < 1e-12


@pytest.mark.parametrize("name", GAMES)
def test_one_known_player_leaves_less_variance_than_the_payoffs_have(name: str) -> None:
    game = cp.load(name)
    policies = two(game)
    ends = game.tree.player == TERMINAL
    weight = reach(game, policies)[ends]
    payoff = game.tree.payoff[game.tree.row[ends], 0]
    mean = weight @ payoff
    for known in ((0,), (1,)):
        result = adjusted_payoffs(game, policies, 0, known)[ends]
        assert weight @ (result - mean) ** 2 < 0.6 * (weight @ (payoff - mean) ** 2)
        guess = adjusted_payoffs(game, policies, 0, known, np.zeros(game.tree.n_nodes))[ends]
        assert (
            weight @ (guess - mean) ** 2 < weight @ (payoff - mean) ** 2
        )  # imaginary observations
