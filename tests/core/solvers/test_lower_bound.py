"""Lower bounds by play: below the exact number but for luck, near it, and called what they are."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.solvers import lower_bound as lower_bound_module
from counterplay.core.solvers.lower_bound import BoundAt, _Learner, _Search, most_frequent

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
        assert "mc" in text
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
        ({"method": "play", "iterations": 5, "seconds": 1.0}, "give one"),
        ({"method": "play", "seconds": float("inf")}, "seconds must be a number"),
        ({"method": "play", "seconds": True}, "seconds must be a number"),
        ({"method": "play", "games": 10**19}, "games must be"),
        ({"method": "play", "seeds": 10**9}, "seeds must be"),
        ({"method": "play", "algorithm": "nothing"}, "unknown"),
        ({"method": "play", "algorithm": "cfr+"}, "cfr.* learns no response by sampling"),
        ({"method": "play", "algorithm": "mccfr-public"}, "learns no response by sampling"),
    ],
)
def test_bad_options(options: dict[str, Any], what: str) -> None:
    with pytest.raises(cp.CounterplayError, match=what):
        cp.exploitability("kuhn", cp.Strategy.uniform("kuhn"), **options)


def test_two_players_and_zero_sum_only() -> None:
    with pytest.raises(cp.CounterplayError, match="two-player zero-sum"):
        cp.game_value("kuhn(players=3)")  # no iterations would reach its tolerance
    with pytest.raises(cp.CounterplayError, match="two-player zero-sum"):
        cp.exploitability("kuhn(players=3)", cp.Strategy.uniform("kuhn(players=3)"), "play")


def test_the_learners_are_compared_and_the_best_is_taken() -> None:
    """Nearly all of the exploitability of a weak strategy is found, in a game of middle size."""
    game = cp.load("bluff(1,1,5)")
    weak = cp.solve(game, "mccfr", iterations=20_000, seed=1).strategy
    exact = cp.exploitability(game, weak)
    bound: Any = cp.exploitability(game, weak, "play", seconds=1.5, games=50_000)
    assert 0.93 * exact < bound < exact + 2 * bound.error
    assert len(bound.history) == 3
    assert [at.seconds for at in bound.history] == sorted(at.seconds for at in bound.history)
    assert bound.history[-1].bound == pytest.approx(float(bound), abs=5 * bound.history[-1].error)


def test_every_player_is_answered_by_every_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def recorded(question: Any, player: int, algorithm: str, seed: int) -> Any:
        asked.append((player, algorithm))
        return _Learner(question, player, algorithm, seed)

    monkeypatch.setattr(lower_bound_module, "_Learner", recorded)
    cp.exploitability("kuhn", cp.Strategy.uniform("kuhn"), "play", iterations=10, games=1_000)
    learners = ("mccfr", "mccfr-external", "mcts")
    assert asked == [(player, name) for player in (0, 1) for name in learners]


def test_nothing_found_is_said_and_never_negative() -> None:
    solved = cp.solve("kuhn", "lp").strategy
    bounds: list[Any] = [
        cp.exploitability("kuhn", solved, "play", iterations=2_000, games=2_000, seed=seed)
        for seed in range(3)
    ]
    assert all(bound >= 0.0 for bound in bounds)
    assert all(str(bound).startswith("nothing found") for bound in bounds if not bound.found)
    assert not all(bound.found for bound in bounds)


def test_it_learns_on_while_the_bound_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SECONDS", 0.02), ("MOST_SECONDS", 60.0)):
        monkeypatch.setattr(lower_bound_module, name, value)
    monkeypatch.setattr(_Search, "grows", property(lambda search: len(search.history) < 5))
    weak = cp.Strategy.random("leduc", 1)
    longer: Any = cp.exploitability("leduc", weak, "play", games=2_000)
    fixed: Any = cp.exploitability("leduc", weak, "play", games=2_000, seconds=0.02)
    assert (len(longer.history), len(fixed.history)) == (5, 3)


def test_growth_is_more_than_the_error() -> None:
    def grows(*bounds: float) -> bool:
        history = [BoundAt(1.0, bound, 0.01) for bound in bounds]
        search: Any = _Search(None, 0, [], history=history)  # type: ignore[arg-type]
        return bool(search.grows)

    assert grows(0.1, 0.2)
    assert not grows(0.1, 0.11)
    assert not grows(0.2, 0.1)
    assert not grows(10.0, 10.1)


def test_long_traversals_are_left_out_without_a_tree() -> None:
    """External sampling would take minutes for one iteration of Goofspiel with ten cards."""
    game = cp.load("goofspiel(10,tree=False)")
    weak = cp.solve(game, "mccfr", iterations=100).strategy
    bound: Any = cp.exploitability(game, weak, "play", seconds=0.5, games=5_000)
    assert bound > 0.5
    assert "external" not in bound.algorithm


def test_an_option_selects_the_learners_that_have_it() -> None:
    bound: Any = cp.exploitability(
        "kuhn", cp.Strategy.uniform("kuhn"), "play", iterations=500, games=2_000, epsilon=0.3
    )
    assert bound.algorithm == "mccfr"
