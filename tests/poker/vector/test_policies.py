"""Policies given by functions, against the tables they come from and the tree of a small game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.policies import function_of, network
from support.small_holdem import CARDS, FLOP_BETS, random_strategy, tree_game, walked_game

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import make_abstraction
from counterplay.poker.cards.cards import N_HOLDINGS, holding
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules
from counterplay.poker.vector.policy import VectorPolicy


def test_a_table_as_a_function_has_its_exact_values() -> None:
    game = walked_game(FLOP_BETS)
    strategy = random_strategy(game, 3)
    policy = cp.VectorPolicy(function_of(game, strategy), batch=7)
    exact = cp.exploitability(game, strategy)
    assert cp.exploitability(game, policy) == pytest.approx(exact, abs=1e-9)
    assert policy.calls > 0
    whole = cp.VectorPolicy(function_of(game, strategy))
    for player in (0, 1):
        value = cp.best_response(game, strategy, player).value
        assert cp.best_response(game, whole, player).value == pytest.approx(value, abs=1e-9)
    value = cp.expected_value(game, strategy)
    assert cp.expected_value(game, whole) == pytest.approx(value, abs=1e-9)


def test_a_network_has_the_value_of_its_table_in_the_tree() -> None:
    """The tree asks the same network about one information set at a time."""
    game, tree = walked_game(FLOP_BETS), tree_game(FLOP_BETS)
    answer = network(np)
    states = {state.history: state for state in game.rules.tree.states}

    def one_by_one(label: str, actions: list[str]) -> list[float]:
        cards, flop, later, history = eval(label)
        state = states[history]
        row = answer(np.array([[*flop, *later]], dtype=np.int64), [state])[0, holding(cards)]
        names = ["fold", "call", "raise"]
        return [float(row[names.index(action)]) for action in state.actions()]

    expected = cp.exploitability(tree, one_by_one)
    assert cp.exploitability(game, answer) == pytest.approx(expected, abs=1e-9)


def test_torch_gives_the_same_as_numpy() -> None:
    torch = pytest.importorskip("torch")
    game = walked_game(FLOP_BETS)
    policy = cp.VectorPolicy(network(torch), arrays="torch")
    assert cp.exploitability(game, policy) == pytest.approx(
        cp.exploitability(game, network(np)), abs=1e-9
    )


class Foreign:
    """An array of another library."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers

    def detach(self) -> Foreign:
        return self

    def cpu(self) -> Foreign:
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.asarray(self._numbers)


def test_arrays_of_other_libraries_are_taken() -> None:
    game, answer = walked_game(FLOP_BETS), network(np)
    value = cp.expected_value(game, lambda boards, betting: Foreign(answer(boards, betting)))
    assert value == pytest.approx(cp.expected_value(game, answer), abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda boards, betting: np.ones((len(betting), 3)), "of shape"),
        (lambda boards, betting: "raise", "no array of numbers"),
        (lambda boards, betting: np.full((len(betting), N_HOLDINGS, 3), np.nan), "must sum to 1"),
        (lambda boards, betting: np.full((len(betting), N_HOLDINGS, 3), 0.4), "must sum to 1"),
        (lambda boards, betting: 1 / 0, "division by zero"),
    ],
)
def test_a_wrong_answer_is_refused_in_one_sentence(answer: Any, reason: str) -> None:
    with pytest.raises(cp.CounterplayError, match=reason):
        cp.expected_value(walked_game(FLOP_BETS), answer)


def test_illegal_actions_are_refused() -> None:
    def always_fold(boards: Any, betting: Any) -> np.ndarray:
        answer = np.zeros((len(betting), N_HOLDINGS, 3))
        answer[:, :, 0] = 1.0
        return answer

    with pytest.raises(cp.CounterplayError, match="must sum to 1, others are 0"):
        cp.exploitability(walked_game(FLOP_BETS), always_fold)


def test_options_of_a_policy_are_checked() -> None:
    for options in ({"arrays": "lists"}, {"batch": 0}):
        with pytest.raises(cp.CounterplayError):
            VectorPolicy(network(np), **options)  # type: ignore[arg-type]
    with pytest.raises(cp.CounterplayError, match="function of boards and betting"):
        VectorPolicy(3)  # type: ignore[arg-type]


def test_a_policy_has_no_table_of_buckets() -> None:
    game = walked_game(FLOP_BETS)
    with pytest.raises(cp.CounterplayError, match="no table of buckets"):
        cp.respond(game, network(np), p=0.5, iterations=1)


def test_the_number_of_calls_is_known_before() -> None:
    """On the full deck, a board of each suit-isomorphic class; a policy that checks suits."""
    game = Game("tiny", FlopHoldemRules(make_abstraction("squared", {"buckets": 2}, 3), 1))
    policy = VectorPolicy(network(np), batch=64)
    shares: list[float] = []
    value = cp.exploitability(game, policy, progress=shares.append)
    assert policy.calls == policy.expected_calls(game)
    assert shares[-1] == 1.0
    assert value > 0.0
    table = cp.Strategy.random(game, 2)
    wrapped = VectorPolicy(function_of(game, table))
    exact = cp.exploitability(game, table)
    assert cp.exploitability(game, wrapped) == pytest.approx(exact, abs=1e-9)


def test_a_policy_that_tells_suits_apart_is_said_to() -> None:
    game = Game("tiny", FlopHoldemRules(make_abstraction("squared", {"buckets": 2}, 3), 1))
    with pytest.warns(UserWarning, match="tells suits apart"):
        cp.best_response(game, network(np, by_suit=True), 0)


def test_a_policy_plays_matches() -> None:
    policy = VectorPolicy(network(np), "net")
    result = cp.play_match("holdem(buckets=2)", policy, "always-call", 40, seed=1)
    assert result.a == "net"
    assert len(CARDS) == 9
