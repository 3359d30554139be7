"""One of two strategies, drawn before the game: measured as it is where players forget."""

from __future__ import annotations

import numpy as np
import pytest
from support.small_holdem import RIVER_BETS, on_tree, random_strategy, tree_game, walked_game

import counterplay as cp
from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.vector.evaluation import check_traversal, vector_values
from counterplay.poker.vector.flop_values import Alternative, PreparedQuery, ValueQuery

WEIGHT = 0.3


def two(seed: int = 7) -> tuple[cp.Strategy, cp.Strategy]:
    """Two strategies of a game whose players know less of their cards after the flop."""
    game = walked_game(RIVER_BETS, "forgetful")
    return random_strategy(game, seed), random_strategy(game, seed + 1)


def test_a_mixture_by_the_board_is_that_of_plans_on_the_tree() -> None:
    one, other = two()
    game, tree = one.game, tree_game(RIVER_BETS)
    mixture = cp.Mixture(one, other, WEIGHT)
    twins = [on_tree(strategy, RIVER_BETS, "forgetful") for strategy in (one, other)]
    twin = twins[0].mix(twins[1], WEIGHT)
    np.testing.assert_allclose(
        cp.expected_value(game, mixture), cp.expected_value(tree, twin), atol=1e-9
    )
    risk = cp.exploitability(game, mixture)
    assert risk == pytest.approx(cp.exploitability(tree, twin), abs=1e-9)
    ends = [cp.exploitability(game, strategy) for strategy in (one, other)]
    assert risk < WEIGHT * ends[0] + (1.0 - WEIGHT) * ends[1] - 0.01  # convex, and not by a hair
    best = cp.best_response(game, mixture, 1)
    assert best.value == pytest.approx(cp.best_response(tree, twin, 1).value, abs=1e-9)


def test_against_somebody_who_mixes() -> None:
    """A table in the other seat wins the mean of what it wins from each; of equal ones that is what
    it wins from one of them."""
    one, other = two(17)
    game = one.game
    mine, his, second = (strategy_table(s) for s in (random_strategy(game, 3), one, other))
    asked = [
        ValueQuery(0, his, mine, Alternative(second, WEIGHT)),
        ValueQuery(0, his, mine),
        ValueQuery(0, second, mine),
        ValueQuery(1, his, None, Alternative(his, WEIGHT)),
        ValueQuery(1, his),
    ]
    mixed, first, last, same, alone = vector_values(game, asked)
    assert mixed == pytest.approx((1.0 - WEIGHT) * first + WEIGHT * last, abs=1e-12)
    assert same == pytest.approx(alone, abs=1e-12)


def test_where_nobody_forgets_a_mixture_is_a_strategy() -> None:
    game = cp.load("kuhn")
    one, other = (cp.Strategy.random(game, seed) for seed in (1, 2))
    mixture = cp.Mixture(one, other, WEIGHT)
    plain = mixture.strategy()
    assert cp.exploitability(game, mixture) == cp.exploitability(game, plain)
    assert cp.best_response(game, mixture, 0).value == cp.best_response(game, plain, 0).value
    np.testing.assert_array_equal(cp.expected_value(game, mixture), cp.expected_value(game, plain))


def test_what_cannot_be_mixed() -> None:
    one, other = two()
    with pytest.raises(BadParameter, match=r"perfect recall.*cp\.Mixture"):
        one.mix(other, WEIGHT)
    with pytest.raises(BadStrategy, match="weight must be from 0 to 1"):
        cp.Mixture(one, other, 1.5)
    with pytest.raises(BadStrategy, match="cannot play"):
        cp.Mixture(one, cp.Strategy.uniform(cp.load("kuhn")), WEIGHT)
    apart = strategy_table(random_strategy(walked_game(RIVER_BETS), 1))
    query = ValueQuery(0, strategy_table(one), None, Alternative(apart, WEIGHT))
    with pytest.raises(BadParameter, match="the same card abstraction"):
        PreparedQuery(query, one.game.rules.tree, one.game.rules.abstraction.deck)
    full = cp.load("holdem(buckets=10)")
    with pytest.raises(BadParameter, match="on processors"):
        check_traversal(full, "cuda", queries=2, mixed=True)
