"""Policies of games with a tree: functions, and those of OpenSpiel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterplay as cp


def table_as_function(strategy: cp.Strategy) -> Any:
    return lambda label, actions: [strategy.at(label)[action] for action in actions]


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
def test_a_strategy_as_a_function_is_the_strategy(name: str) -> None:
    game = cp.load(name)
    strategy = cp.Strategy.random(game, 5)
    policy = table_as_function(strategy)
    exact = cp.exploitability(game, strategy)
    assert cp.exploitability(game, policy) == pytest.approx(exact, abs=1e-12)
    assert cp.expected_value(game, policy) == pytest.approx(cp.expected_value(game, strategy))
    response = cp.best_response(game, policy, 1)
    assert response.value == pytest.approx(cp.best_response(game, strategy, 1).value)


def test_probabilities_by_name_leave_out_zeros() -> None:
    assert cp.exploitability("kuhn", lambda label, actions: {"pass": 1.0}) == pytest.approx(
        cp.exploitability("kuhn", lambda label, actions: [1.0, 0.0])
    )


def test_single_precision_is_rounded_to_one() -> None:
    third = np.array([1 / 3, 2 / 3], dtype=np.float32)
    assert cp.exploitability("kuhn", lambda label, actions: third) > 0.0


def test_half_precision_is_rounded_to_one() -> None:
    third = np.array([0.334, 0.667], dtype=np.float16)
    assert cp.exploitability("kuhn", lambda label, actions: third) > 0.0


class Tensor:
    """As PyTorch has it while it learns: no array until it is detached."""

    def detach(self) -> np.ndarray:
        return np.array([0.25, 0.75], dtype=np.float32)

    def __array__(self, *arguments: Any, **options: Any) -> np.ndarray:
        raise RuntimeError("use detach()")


def test_tensors_with_gradients_are_taken() -> None:
    same = cp.exploitability("kuhn", lambda label, actions: [0.25, 0.75])
    assert cp.exploitability("kuhn", lambda label, actions: Tensor()) == pytest.approx(same)
    with pytest.raises(cp.CounterplayError, match="expected the probabilities"):
        cp.exploitability("kuhn", lambda label, actions: [Tensor(), Tensor()])


def test_a_policy_that_draws_has_no_exact_value() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(cp.CounterplayError, match="answers the same question differently at 'J'"):
        cp.exploitability("kuhn", lambda label, actions: rng.dirichlet(np.ones(2)))


@pytest.mark.parametrize(
    "answer", [None, "bet", {"call": 1.0}, [1.0], [0.7, 0.7], [1.5, -0.5], [np.nan, 1.0], {}]
)
def test_a_wrong_answer_is_refused_with_what_was_expected(answer: Any) -> None:
    with pytest.raises(cp.CounterplayError, match="expected the probabilities of pass, bet"):
        cp.exploitability("kuhn", lambda label, actions: answer)


def test_an_error_of_the_function_is_one_sentence() -> None:
    with pytest.raises(cp.CounterplayError, match="KeyError"):
        cp.exploitability("kuhn", lambda label, actions: {}[label])


def test_a_class_is_no_policy() -> None:
    with pytest.raises(cp.CounterplayError, match="expected a Strategy"):
        cp.exploitability("kuhn", dict)


def test_policies_are_models_and_players() -> None:
    response = cp.respond("kuhn", lambda label, actions: {"bet": 1.0}, p=1.0, algorithm="rnr")
    assert response.exploitation > 0.0
    result = cp.play_match("kuhn", lambda label, actions: {"bet": 1.0}, "uniform", 100, seed=1)
    assert result.hands == 100


def test_policies_of_openspiel_are_measured() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    policy = pyspiel.UniformRandomPolicy(pyspiel.load_game("kuhn_poker"))
    uniform = cp.exploitability("kuhn", "uniform")
    assert cp.exploitability("kuhn", policy) == pytest.approx(uniform)


def test_a_function_of_two_arguments_in_a_file_is_a_policy(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def policy(label, actions):\n    return {'bet': 1.0}\n\n"
        "def make(game):\n    return policy\n\n"
        "def strange(a, b, c):\n    return a\n"
    )
    bets = cp.exploitability("kuhn", lambda label, actions: {"bet": 1.0})
    for name in ("policy", "make"):
        assert cp.exploitability("kuhn", f"{file}:{name}") == pytest.approx(bets)
    with pytest.raises(cp.CounterplayError, match="strange"):
        cp.exploitability("kuhn", f"{file}:strange")


def test_a_game_without_a_tree_has_no_list_to_ask() -> None:
    with pytest.raises(cp.CounterplayError, match="without a tree"):
        cp.expected_value("goofspiel(13)", lambda label, actions: [])
