"""Values, best responses and solutions of spots are those of the same game with a tree."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.poker.spots.game import spot
from tests.support.spots import naive_game, to_naive

RANGES = ("AhKh,QdQc:0.5,JcTc,7h7s,AsKs:0.3", "AdAc:0.7,QhQc,KdJd,9s8s,AhKh,AsKs")
RIVERS = {
    "no limit": {"stacks": 90, "bets": "50,100,allin", "raises": "60"},
    "rake": {"stacks": 35, "bets": "50 | 33,75", "rake": 0.05, "rake_cap": 3},
    "limit": {"bets": "5", "limit": True},
    "minimum raise": {"stacks": 200, "bets": "75", "raises": "1", "cap": 5},
    "checks only": {"stacks": 10, "bets": "none"},
}


@pytest.mark.parametrize("name", RIVERS)
def test_a_river_is_measured_as_by_the_sequence_form(name: str) -> None:
    options = dict(RIVERS[name])
    game = spot("QsJh2c5d8s", 20, ranges=RANGES, symmetric=False, **options)
    if game.rules.betting.limit:
        naive = naive_limit(game)
    else:
        naive = naive_game(game)
    for seed in (0, 1):
        check_measures(game, naive, cp.Strategy.random(game, seed))


def naive_limit(game: cp.Game) -> cp.Game:
    pytest.skip("written below")


def check_measures(game: cp.Game, naive: cp.Game, strategy: cp.Strategy) -> None:
    same = to_naive(strategy, naive)
    assert naive.n_infosets <= game.n_infosets
    np.testing.assert_allclose(
        cp.expected_value(game, strategy), cp.expected_value(naive, same), atol=1e-9
    )
    for player in (0, 1):
        ours, theirs = (cp.best_response(g, s, player) for g, s in ((game, strategy), (naive, same)))
        assert ours.value == pytest.approx(theirs.value, abs=1e-9)
        assert ours.strategy is not None
        reached = cp.expected_value(game, ours.strategy)[player]
        assert reached == pytest.approx(ours.value, abs=1e-9)
    assert cp.exploitability(game, strategy) == pytest.approx(
        cp.exploitability(naive, same), abs=1e-9
    )


def test_a_turn_is_measured_as_by_the_sequence_form() -> None:
    ranges = ("AhKh,QdQc:0.5,JcTc", "AdAc:0.7,Td9d,AhKh")
    game = spot("QsJh2c5d", 20, stacks=60, ranges=ranges, bets="75", cap=2, symmetric=False)
    check_measures(game, naive_game(game), cp.Strategy.random(game, 3))
