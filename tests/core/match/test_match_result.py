"""What a result says of itself: who played, a mean with its unit and interval, how many hands."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.core.match.result import Adjusted, MatchResult, PlayerMean


def result(**more: object) -> MatchResult:
    facts = {"game": "kuhn", "a": "first", "b": "second", "hands": 2_000, "duplicate": True}
    facts |= {"mean": 0.25, "standard_error": 0.1, "by_seat": (0.5, 0.0), "seed": 1, "seconds": 0.0}
    return MatchResult(**(facts | more))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "first against second: +0.2500 ± 0.1960 per game (95%) over 2,000 duplicate hands"),
        (
            {"unit": "sb/h", "duplicate": False},
            "first against second: +0.2500 ± 0.1960 sb/h (95%) over 2,000 hands",
        ),
        (
            {"hands": 2, "degrees": 0.0},
            "first against second: +0.2500 per game (too few deals for an interval) over 2 "
            "duplicate hands",
        ),
        (
            {"seat": 1, "degrees": 4.0},
            "first against second: +0.2500 ± 0.2776 per game (95%) over 2,000 duplicate hands, "
            "first in player 2's seat only",
        ),
    ],
)
def test_it_says_mean_interval_unit_and_hands(more: dict[str, object], said: str) -> None:
    assert repr(result(**more)) == str(result(**more)) == said


def test_the_luck_adjusted_mean_stands_beside_it() -> None:
    adjusted = Adjusted(0.125, 0.05, unit="sb/h")
    assert repr(adjusted) == "luck-adjusted +0.1250 ± 0.0980 sb/h (95%)"
    assert repr(result(adjusted=adjusted)).endswith(f" over 2,000 duplicate hands; {adjusted}")


def test_players_of_three_have_an_interval_each() -> None:
    each = tuple(PlayerMean(name, 0.25, 0.1, (0.25,) * 3) for name in "abc")
    assert repr(result(each=each)).count("+0.2500 ± 0.1960 per game (95%)") == 3


def test_blocks_of_a_learner_say_it_too() -> None:
    (block,) = cp.play_adaptive("uniform", 200, player=cp.Adaptive("kuhn"), seed=1, every=200)
    assert block.adjusted is not None
    assert block.text in repr(block)
    assert block.adjusted.text in repr(block)
    assert repr(block).count(" per game (95%)") == 2


def test_a_match_that_was_played() -> None:
    played = cp.play_match("kuhn", "uniform", cp.Strategy.random("kuhn", 3), hands=1_000, seed=1)
    half = (played.interval[1] - played.interval[0]) / 2
    assert f"{played.mean:+.4f} ± {half:.4f} per game (95%) over 1,000 duplicate" in repr(played)


@pytest.mark.parametrize("hands", [4, 6, 10, 100])
def test_intervals_of_short_matches_hold_the_exact_value(hands: int) -> None:
    """200 matches of two to fifty deals: 5% may miss it, and three standard errors of that share.
    Two equal deals, of which a third of matches consist, once had an interval without width."""
    a, b = (cp.Strategy.random("kuhn", seed) for seed in (1, 2))
    seats = (a.replace(b, 1), b.replace(a, 1))
    exact = sum(cp.expected_value("kuhn", seats[seat])[seat] for seat in (0, 1)) / 2
    missed = 0
    for seed in range(200):
        low, high = cp.play_match("kuhn", a, b, hands=hands, seed=seed).interval
        missed += not low <= exact <= high
    assert missed <= 200 * 0.05 + 3 * (200 * 0.05 * 0.95) ** 0.5
