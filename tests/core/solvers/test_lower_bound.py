"""Lower bounds by play: below the exact number but for luck, near it, and called what they are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.solvers.lower_bound import most_frequent

OTHERS = ("mcts", "mccfr-external")
ASK: dict[str, Any] = {"iterations": 20_000, "games": 40_000, "seeds": 2}


@pytest.mark.parametrize(
    "algorithm", ["mccfr", *(pytest.param(x, marks=pytest.mark.slow) for x in OTHERS)]
)
def test_near_the_exact_number_and_not_above_it(algorithm: str) -> None:
    game = cp.load("goofspiel(3)")
    strategy = cp.Strategy.random(game, 2)
    ask = {**ASK, "iterations": 2_000} if algorithm == "mccfr-external" else ASK
    exact = cp.exploitability(game, strategy)
    bound: Any = cp.exploitability(game, strategy, "play", algorithm=algorithm, **ask)
    assert 0.9 * exact - 2 * bound.error < bound < exact + 2 * bound.error
    assert bound.error < 0.02
    for player, (value, half) in enumerate(bound.best):
        assert value < cp.best_response(game, strategy, player).value + 2 * half


def test_the_same_without_a_tree() -> None:
    tree, discovered = cp.load("goofspiel(3)"), cp.load("goofspiel(3,tree=False)")
    strategy = cp.Strategy.random(tree, 2)
    one: Any = cp.exploitability(tree, strategy, "play", **ASK)
    two: Any = cp.exploitability(discovered, strategy.on(discovered), "play", **ASK)
    assert (float(one), one.error, one.best) == (float(two), two.error, two.best)
    assert cp.exploitability(tree, strategy.on(discovered)) == cp.exploitability(tree, strategy)
    with pytest.raises(cp.CounterplayError, match="method='play'"):
        cp.exploitability(discovered, strategy.on(discovered))


def test_it_says_what_it_is() -> None:
    bound: Any = cp.exploitability(
        "kuhn", cp.Strategy.uniform("kuhn"), "play", iterations=2_000, games=2_000
    )
    for text in (str(bound), repr(bound), str(pickle.loads(pickle.dumps(bound)))):
        assert text.startswith("at least ")
        assert "lower bound" in text
        assert "mccfr" in text
    assert bound == pytest.approx(11 / 12, abs=4 * bound.error)


def test_the_most_frequent_action() -> None:
    game = cp.load("kuhn")
    shares = np.full(game.n_slots, 0.5)
    shares[:2] = 0.3, 0.7
    pure = most_frequent(cp.Strategy(game, shares))
    assert pure.probabilities[:4].tolist() == [0.0, 1.0, 0.5, 0.5]  # nothing was learnt


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "guess"}, "method is"),
        ({"method": "play", "seconds": 0}, "seconds"),
        ({"method": "play", "seeds": 0}, "seeds"),
        ({"method": "play", "games": 10}, "games"),
        ({"method": "play", "iterations": 1.5}, "iterations"),
        ({"method": "play", "algorithm": "nothing"}, "unknown"),
    ],
)
def test_bad_options(options: dict[str, Any], what: str) -> None:
    with pytest.raises(cp.CounterplayError, match=what):
        cp.exploitability("kuhn", cp.Strategy.uniform("kuhn"), **options)


def test_two_players_and_zero_sum_only() -> None:
    with pytest.raises(cp.CounterplayError, match="two-player zero-sum"):
        cp.exploitability("kuhn(players=3)", cp.Strategy.uniform("kuhn(players=3)"), "play")
