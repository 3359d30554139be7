"""`Strategy`: what it accepts, and how it mixes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterplay.core.base.errors import BadStrategy, CounterplayError
from counterplay.core.evaluation.exact import expected_value
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy

KUHN = load("kuhn")
PROFILE = Strategy.random(KUHN, 1)


def test_bad_numbers_are_refused() -> None:
    good = PROFILE.probabilities

    def changed(slot: int, value: float) -> np.ndarray:
        result = good.copy()
        result[slot] = value
        return result

    with pytest.raises(
        BadStrategy, match=r"negative probability -0.5 at information set 'J' of player 1"
    ):
        Strategy(KUHN, changed(0, -0.5))
    with pytest.raises(
        BadStrategy, match="nan is no probability, at information set 'J b' of player 2"
    ):
        Strategy(KUHN, changed(23, np.nan))
    with pytest.raises(BadStrategy, match="inf"):
        Strategy(KUHN, changed(3, np.inf))
    with pytest.raises(BadStrategy, match=r"sum to 1\.01"):
        Strategy(KUHN, changed(0, good[0] + 0.01))
    with pytest.raises(BadStrategy, match="24 action slots"):
        Strategy(KUHN, good[:-1])
    with pytest.raises(BadStrategy, match="24 action slots"):
        Strategy(KUHN, good.reshape(12, 2))
    with pytest.raises(BadStrategy, match="numbers"):
        Strategy(KUHN, np.array(["x"] * 24))


@pytest.mark.parametrize(
    "weights",
    [np.ones(3), np.ones(25), -np.ones(24), np.full(24, np.nan), np.full(24, np.inf), ["x"] * 24],
)
def test_bad_weights_are_refused(weights: Any) -> None:
    with pytest.raises(BadStrategy):
        Strategy.from_weights(KUHN, weights)


def test_weights_are_normalised_and_zeros_become_uniform() -> None:
    weights = np.zeros(24)
    weights[:2] = 3.0, 1.0
    made = Strategy.from_weights(KUHN, weights)
    np.testing.assert_allclose(made.probabilities, [0.75, 0.25, *[0.5] * 22])


def test_immutable_and_apart_from_its_source() -> None:
    source = np.full(24, 0.5)
    made = Strategy(KUHN, source)
    source[0] = 9.0
    assert made.probabilities[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        made.probabilities[0] = 0.0


def test_random_is_a_function_of_the_seed() -> None:
    np.testing.assert_array_equal(
        Strategy.random(KUHN, 5).probabilities, Strategy.random(KUHN, 5).probabilities
    )
    assert np.any(Strategy.random(KUHN, 5).probabilities != Strategy.random(KUHN, 6).probabilities)


def test_from_table() -> None:
    made = Strategy.from_table(KUHN, {"J": {"bet": 0.25, "pass": 0.75}, "K b": {"bet": 1.0}})
    assert made.at("J") == {"pass": 0.75, "bet": 0.25}
    assert made.at("K b") == {"pass": 0.0, "bet": 1.0}
    assert made.at("Q") == {"pass": 0.5, "bet": 0.5}
    for table in (
        {"A": {"bet": 1.0}},
        {"J": {"raise": 1.0}},
        {"J": {"bet": 0.5}},
        {"J": {"bet": -1.0, "pass": 2.0}},
    ):
        with pytest.raises(BadStrategy):
            Strategy.from_table(KUHN, table)
    with pytest.raises(BadStrategy, match=r"no information set 'X' in kuhn; there are 'J'"):
        made.at("X")


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel(3)", "pam(2,2,4)", "bluff(1,1,2)"])
def test_a_table_makes_the_strategy_again(name: str) -> None:
    """The labels that `table` prints are those that `at` and `from_table` take, also where two
    players share a name."""
    game = load(name)
    strategy = Strategy.random(game, 2)
    rows = strategy.table()
    again = Strategy.from_table(game, {row.infoset: row.probabilities for row in rows})
    np.testing.assert_array_equal(again.probabilities, strategy.probabilities)
    assert all(strategy.at(row.infoset) == row.probabilities for row in rows)


@pytest.mark.parametrize("name", ["leduc", "goofspiel(3)"])
def test_every_label_finds_its_information_set(name: str) -> None:
    game = load(name)
    strategy = Strategy.random(game, 2)
    again = Strategy.from_table(game, {label: strategy.at(label) for label in game.infoset_by_name})
    np.testing.assert_array_equal(again.probabilities, strategy.probabilities)


def test_replace() -> None:
    other = Strategy.random(KUHN, 9)
    mixed = PROFILE.replace(other, 1)
    np.testing.assert_array_equal(mixed.probabilities[:12], PROFILE.probabilities[:12])
    np.testing.assert_array_equal(mixed.probabilities[12:], other.probabilities[12:])
    with pytest.raises(BadStrategy):
        PROFILE.replace(Strategy.uniform(load("ocp(4)")), 0)
    with pytest.raises(CounterplayError):
        PROFILE.replace(other, 2)


@given(
    st.floats(0.0, 1.0),
    st.integers(0, 10**6),
    st.sampled_from(["kuhn", "goofspiel(3)", "kuhn(players=3)"]),
)
@settings(deadline=None)
def test_mix_is_realisation_equivalent(weight: float, seed: int, name: str) -> None:
    """Plans mix linearly, so values do too, against anybody; pure strategies leave parts of the
    game unreached."""
    game = load(name)
    rng = np.random.default_rng(seed)
    a, b = (
        Strategy.from_weights(game, (rng.random(game.n_slots) < 0.4) * rng.random(game.n_slots))
        for _ in range(2)
    )
    other = Strategy.random(game, seed)
    mixed = a.mix(b, weight)
    for player in range(game.n_players):
        np.testing.assert_allclose(
            mixed.plan(player), weight * a.plan(player) + (1 - weight) * b.plan(player), atol=1e-12
        )
        values = [expected_value(game, other.replace(s, player)) for s in (a, b, mixed)]
        np.testing.assert_allclose(
            values[2], weight * values[0] + (1 - weight) * values[1], atol=1e-12
        )


def test_mix_at_the_ends_and_outside() -> None:
    other = Strategy.random(KUHN, 9)
    np.testing.assert_allclose(
        PROFILE.mix(other, 1.0).probabilities, PROFILE.probabilities, atol=1e-15
    )
    np.testing.assert_allclose(
        PROFILE.mix(other, 0.0).probabilities, other.probabilities, atol=1e-15
    )
    for weight in (-0.1, 1.1, np.nan):
        with pytest.raises(BadStrategy, match="weight"):
            PROFILE.mix(other, weight)
    with pytest.raises(BadStrategy):
        PROFILE.mix(Strategy.uniform(load("ocp(4)")), 0.5)
