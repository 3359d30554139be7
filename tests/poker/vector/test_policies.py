"""Policies given by functions, against the tables they come from and the tree of a small game."""

from __future__ import annotations

import ast
import uuid
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.policies import function_of, network
from support.small_holdem import CARDS, FLOP_BETS, random_strategy, tree_game, walked_game

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.lossless import LosslessAbstraction
from counterplay.poker.cards.cards import N_HOLDINGS, holding
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules
from counterplay.poker.vector.policy import VectorPolicy


def flop_game() -> Game:
    """Short-deck hold'em that ends on the flop."""
    return Game("flop", FlopHoldemRules(LosslessAbstraction(Deck(CARDS)), 1))


@pytest.mark.parametrize("four_streets", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_table_as_a_function_has_its_exact_values(four_streets: bool) -> None:
    game = walked_game(FLOP_BETS) if four_streets else flop_game()
    strategy = random_strategy(game, 3)
    policy = cp.VectorPolicy(function_of(game, strategy), batch=7)
    exact = cp.exploitability(game, strategy)
    assert cp.exploitability(game, policy) == pytest.approx(exact, abs=1e-9)
    assert policy.calls > 0
    value = cp.expected_value(game, strategy)
    assert cp.expected_value(game, policy) == pytest.approx(value, abs=1e-9)


@pytest.mark.slow
def test_a_network_has_the_value_of_its_table_in_the_tree() -> None:
    """The tree asks the same network about one information set at a time."""
    game, tree = walked_game(FLOP_BETS), tree_game(FLOP_BETS)
    answer = network(np)
    states = {state.history: state for state in game.rules.tree.states}

    @cache
    def on_board(cards: tuple[int, ...], history: str) -> np.ndarray:
        return answer(np.array([cards], dtype=np.int64), [states[history]])[0]

    def one_by_one(label: str, actions: list[str]) -> list[float]:
        cards, flop, later, history = ast.literal_eval(label)
        row = on_board((*flop, *later), history)[holding(cards)].tolist()
        shares = dict(zip(("fold", "call", "raise"), row, strict=True))
        return [shares[action] for action in states[history].actions()]

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


class Unreadable(Foreign):
    """An array without its data, as PyTorch has on the device "meta"."""

    def __init__(self) -> None:
        super().__init__(None)

    def cpu(self) -> Foreign:
        raise NotImplementedError("no data")


def test_a_function_may_change_what_it_is_given() -> None:
    answer, board = network(np), np.array([[0, 5, 10]])
    states = [cp.view("cc/", "AhKd", "2c3d4h").betting]

    def careless(boards: Any, betting: Any) -> np.ndarray:
        found: np.ndarray = answer(boards, betting)
        boards[:] = 51
        betting.clear()
        return found

    found = VectorPolicy(careless).ask(board, states)
    assert np.array_equal(board, [[0, 5, 10]])
    assert np.array_equal(found, VectorPolicy(answer).ask(board, states))


def test_arrays_of_other_libraries_are_taken() -> None:
    answer, states = network(np), [cp.view("", "AhKd").betting]
    policy = VectorPolicy(lambda boards, betting: Foreign(answer(boards, betting)))
    board = np.zeros((1, 0), dtype=np.int64)
    assert np.allclose(policy.ask(board, states), answer(board, states), atol=1e-12)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda boards, betting: np.ones((len(betting), 3)), "of shape"),
        (lambda boards, betting: "raise", "no array of numbers"),
        (lambda boards, betting: np.ones((len(betting), N_HOLDINGS, 3), complex), "complex128,"),
        (lambda boards, betting: np.full((len(betting), N_HOLDINGS, 3), "1"), "type <U1"),
        (lambda boards, betting: np.broadcast_to(0.0, (10**7, N_HOLDINGS, 3)), "of shape"),
        (lambda boards, betting: Unreadable(), "no array of numbers"),
        (lambda boards, betting: np.full((len(betting), N_HOLDINGS, 3), np.nan), "must sum to 1"),
        (lambda boards, betting: np.full((len(betting), N_HOLDINGS, 3), 0.4), "must sum to 1"),
        (lambda boards, betting: 1 / 0, "division by zero"),
    ],
)
def test_a_wrong_answer_is_refused_in_one_sentence(answer: Any, reason: str) -> None:
    with pytest.raises(cp.CounterplayError, match=reason):
        cp.expected_value(walked_game(FLOP_BETS), answer)


def test_short_numbers_are_taken() -> None:
    """Probabilities in half precision sum to 1 within their rounding."""
    answer, states = network(np), [cp.view("", "AhKd").betting]
    board = np.zeros((1, 0), dtype=np.int64)
    half = VectorPolicy(lambda boards, betting: answer(boards, betting).astype(np.float16))
    found = half.ask(board, states)
    assert np.allclose(found.sum(axis=2), 1.0, atol=1e-12)
    assert np.allclose(found, answer(board, states), atol=1e-3)
    with pytest.raises(cp.CounterplayError, match="must sum to 1"):
        VectorPolicy(lambda boards, betting: answer(boards, betting) * 1.01).ask(board, states)


def test_a_policy_that_answers_differently_has_no_exact_value() -> None:
    rng = np.random.default_rng(0)

    def draws(boards: Any, betting: Any) -> np.ndarray:
        answer = np.zeros((len(betting), N_HOLDINGS, 3))
        answer[:, :, 1] = 1.0
        answer[rng.random((len(betting), N_HOLDINGS)) < 0.5] = [0.0, 1.0, 0.0]
        raises = np.array(["raise" in state.actions() for state in betting])
        answer[raises] = np.eye(3)[rng.integers(1, 3, N_HOLDINGS)]
        return answer

    with pytest.raises(cp.CounterplayError, match="answers the same question differently"):
        cp.exploitability(flop_game(), draws)


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


@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_number_of_calls_is_known_before(full: bool) -> None:
    """On the full deck with a board of each suit-isomorphic class."""
    game = cp.load("flop_holdem(buckets=2,bets=1)") if full else flop_game()
    call = np.zeros((64, N_HOLDINGS, 3))
    call[:, :, 1] = 1.0
    policy = VectorPolicy(lambda boards, betting: call[: len(betting)], batch=64)
    shares: list[float] = []
    response = cp.best_response(game, policy, 0, progress=shares.append)
    assert policy.calls == policy.expected_calls(game, players=[1])
    assert shares[-1] == 1.0
    assert response.value > 0.0


def test_an_estimate_of_a_named_policy_goes_on_where_it_was() -> None:
    game, version = walked_game(FLOP_BETS), uuid.uuid4().hex
    named, again, other = (
        VectorPolicy(network(np), "net", version=words) for words in (version, version, "")
    )
    first = cp.exploitability(game, named, flops=12)
    assert named.calls > 0
    assert cp.exploitability(game, again, flops=12) == first
    assert again.calls <= 2  # before the flop, of both seats
    assert cp.exploitability(game, other, flops=12) == pytest.approx(first, abs=1e-12)
    assert other.calls == named.calls


def test_an_estimate_that_was_interrupted_goes_on_where_it_was() -> None:
    game, answer = walked_game(FLOP_BETS), network(np)
    whole, version = VectorPolicy(answer, "net"), uuid.uuid4().hex
    expected = cp.exploitability(game, whole, flops=12)

    def stopped(boards: Any, betting: Any) -> np.ndarray:
        if policy.calls > 0.7 * whole.calls:
            raise KeyboardInterrupt
        found: np.ndarray = answer(boards, betting)
        return found

    policy = VectorPolicy(stopped, "net", version=version)
    with pytest.raises(KeyboardInterrupt):
        cp.exploitability(game, policy, flops=12)
    again = VectorPolicy(answer, "net", version=version)
    assert cp.exploitability(game, again, flops=12) == pytest.approx(expected, abs=1e-12)
    assert again.calls < 0.8 * whole.calls


@pytest.mark.slow
def test_a_table_of_the_full_deck_has_its_exact_value() -> None:
    game = cp.load("flop_holdem(buckets=5)")
    table = cp.Strategy.random(game, 2)
    policy = VectorPolicy(function_of(game, table))
    exact = cp.exploitability(game, table)
    assert cp.exploitability(game, policy) == pytest.approx(exact, abs=1e-9)
    assert policy.calls == policy.expected_calls(game)


def test_a_policy_that_tells_suits_apart_is_said_to() -> None:
    game = cp.load("flop_holdem(buckets=2,bets=1)")
    with pytest.warns(UserWarning, match="tells suits apart"):
        cp.best_response(game, network(np, by_suit=True), 0)


def test_a_policy_plays_matches() -> None:
    policy = VectorPolicy(network(np), "net")
    result = cp.play_match("holdem(buckets=2)", policy, "always-call", 40, seed=1)
    assert result.a == "net"
