"""What somebody who knows a strategy wins from it, by pairs of buckets."""

from __future__ import annotations

import numpy as np
import pytest
from reference.bucket_replies import reply as naive_reply
from support.arena import holdem

import counterplay as cp
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.holdem.bucket_pairs import pair_chance, value_against
from counterplay.poker.holdem.bucket_replies import (
    FLOOR,
    fill_reach,
    reply_value,
    soft_reply,
)

pytestmark = pytest.mark.slow  # compiles two kernels


def test_a_player_who_folds_loses_the_blinds() -> None:
    game = holdem(3)
    assert reply_value(game, simple_strategy("always-fold", game).probabilities) == 0.75


def test_the_reply_wins_more_than_any_table_that_was_tried() -> None:
    """In the same chain of buckets, where a table knows no more than the reply."""
    game = holdem(3)
    for name in ("always-call", "always-raise", "uniform"):
        known = simple_strategy(name, game)
        tried = [cp.Strategy.random(game, seed) for seed in range(3)]
        tried += [simple_strategy(one, game) for one in ("always-call", "always-raise", "uniform")]
        response = cp.respond(game, known, p=0.99, engine="mccfr-external", iterations=50_000)
        tried.append(response.strategy)
        won = [value_against(game, one.probabilities, known.probabilities) for one in tried]
        assert reply_value(game, known.probabilities) >= max(won) - 1e-9


def test_reach_is_a_probability_of_the_pairs() -> None:
    """Of the strategy's actions and chance: at the root 1, and after the strategy's actions, which
    the replier has let happen, together no more."""
    game = holdem(3)
    form, chance = game.form, pair_chance(game)
    reach = np.zeros((form.n_nodes, chance.buckets**2))
    own = simple_strategy("uniform", game).probabilities
    fill_reach(form.nodes, form.first_row, form.first, own, 0, chance, reach)
    assert reach[0].sum() == pytest.approx(1.0)
    assert reach.sum(axis=1).max() <= 1.0 + 1e-9


def test_a_soft_reply_is_what_the_formula_says() -> None:
    """To a mixture, at every node and bucket, in both seats."""
    game = holdem(3)
    models = [cp.Strategy.random(game, seed).probabilities for seed in (1, 2)]
    base, weights = cp.Strategy.random(game, 3).probabilities, [0.3, 0.7]
    found = soft_reply(game, models, np.array(weights), base, 0.5)
    uniform = cp.Strategy.uniform(game).probabilities
    floored = (1.0 - FLOOR) * base + FLOOR * uniform
    for seat in (0, 1):
        right, won = naive_reply(game, models, weights, floored, 0.5, seat)
        slots = game.slots(seat)
        assert found[slots] == pytest.approx(right[slots], abs=1e-9)
        assert won > 0.0


def test_the_temperature_leads_from_the_best_reply_to_the_base() -> None:
    game = holdem(3)
    base, model = (cp.Strategy.random(game, seed).probabilities for seed in (1, 2))
    won = []
    for temperature in (0.0, 0.1, 1.0, 1e6):
        found = soft_reply(game, [model], np.ones(1), base, temperature)
        won.append(value_against(game, found, model))
    assert won == sorted(won, reverse=True)
    assert won[0] == pytest.approx(reply_value(game, model), abs=1e-9)
    assert np.abs(found - base).max() <= 2 * FLOOR
