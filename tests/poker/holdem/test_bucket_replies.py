"""What somebody who knows a strategy wins from it, by pairs of buckets."""

from __future__ import annotations

import numpy as np
import pytest
from support.arena import holdem

import counterplay as cp
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.holdem.bucket_pairs import pair_chance, value_against
from counterplay.poker.holdem.bucket_replies import fill_reach, reply_value

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
