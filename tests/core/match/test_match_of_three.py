"""Matches of three players and more."""

from __future__ import annotations

import numpy as np
import pytest
from support.terminal import Terminal

import counterplay as cp
from counterplay.core.match.several import SampleSums

pytestmark = pytest.mark.filterwarnings("ignore:.*convergence to an equilibrium")


def test_means_are_the_exact_ones() -> None:
    """Over all rotations, a player of three strategies wins the mean over the seats."""
    game = cp.load("kuhn(players=3)")
    players = [cp.Strategy.random(game, seed) for seed in (1, 2, 3)]
    exact = np.zeros((3, 3))  # player, seat
    for turn in range(3):
        profile = players[0]
        for seat in range(3):
            profile = profile.replace(players[(seat - turn) % 3], seat)
        for seat, value in enumerate(cp.expected_value(game, profile)):
            exact[(seat - turn) % 3, seat] = value
    for duplicate in (True, False):
        result = cp.play_match(
            game, *players[:2], 90_000, 5, others=players[2:], duplicate=duplicate
        )
        assert result.hands == 90_000
        for one, row in zip(result.each, exact, strict=True):
            assert abs(one.mean - row.mean()) < 4 * one.standard_error
            np.testing.assert_allclose(one.by_seat, row, atol=0.06)
        assert sum(one.mean for one in result.each) == pytest.approx(0.0, abs=1e-9)
        assert result.mean == result.each[0].mean


def test_one_strategy_wins_nothing_in_duplicates() -> None:
    game = cp.load("kuhn(players=3)")
    one = cp.Strategy.random(game, 1)
    result = cp.play_match(game, one, one, others=[one], hands=300)
    assert [player.mean for player in result.each] == pytest.approx([0.0] * 3, abs=1e-15)
    again = cp.play_match(game, one, "uniform", others=["uniform"], hands=8_000, processes=2)
    same = cp.play_match(game, one, "uniform", others=["uniform"], hands=8_000, processes=1)
    assert again.each == same.each
    assert "(95%)" in repr(again)
    assert "as_player_3" in again.columns()


@pytest.mark.slow
def test_without_a_tree() -> None:
    tree, without = (
        cp.load("leduc(players=3,ranks=2)"),
        cp.load("leduc(players=3,ranks=2,tree=False)"),
    )
    results = [
        cp.play_match(game, "uniform", "uniform", others=["uniform"], hands=300, duplicate=False)
        for game in (tree, without)
    ]
    assert results[0].each == results[1].each


def test_the_number_of_players_is_checked() -> None:
    for game, others in (("kuhn(players=3)", ()), ("kuhn", ("uniform",))):
        with pytest.raises(cp.CounterplayError, match="players are given"):
            cp.play_match(game, "uniform", "uniform", others=others, hands=10)
    for wrong in ("uniform", None, cp.Strategy.uniform("kuhn(players=3)")):
        with pytest.raises(cp.CounterplayError, match="others is a list of players"):
            cp.play_match("kuhn(players=3)", "uniform", "uniform", others=wrong, hands=10)  # type: ignore[arg-type]
    with pytest.raises(cp.CounterplayError, match="luck"):
        cp.play_match(
            "kuhn(players=3)", "uniform", "uniform", others=["uniform"], luck_adjusted=True
        )


def test_sums_of_samples() -> None:
    rng = np.random.default_rng(1)
    won, sums = rng.normal(3.0, 2.0, (500, 3, 3)), SampleSums(3)
    for part in np.split(won, [10, 11, 400]):
        sums.add(part)
    result = sums.result("game", 0, True, seconds=0.0)
    means = won.mean(axis=2)
    np.testing.assert_allclose([one.mean for one in result.each], means.mean(axis=0))
    errors = means.std(axis=0, ddof=1) / np.sqrt(500)
    np.testing.assert_allclose([one.standard_error for one in result.each], errors)


def test_few_equal_deals_have_no_interval() -> None:
    """Before they had one without width."""
    for count, width in ((2, np.inf), (19, np.inf), (20, 0.0)):
        sums = SampleSums(3)
        sums.add(np.ones((count, 3, 3)))
        result = sums.result("game", 0, True, seconds=0.0)
        for low, high in (result.interval, result.of_player(result.each[2]).interval):
            assert high - low == width


def test_a_long_one_shows_its_hands(terminal: Terminal) -> None:
    cp.play_match("kuhn(players=3)", "uniform", "uniform", others=["uniform"], hands=60_000)
    assert "60,000 hands" in terminal.getvalue()
