"""Matches: exact sanity checks, a plain-Python referee on the same deals and numbers,
reproducibility, other games."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from reference.referee import play_hand
from support.arena import (
    Caller,
    Counter,
    Seeded,
    Slow,
    by_kernel,
    by_referee,
    exact,
)
from support.holdem import policy_of, random_deals, seldom_folding

import counterplay as cp
from counterplay.core.kernels.rng import new_state, uniform
from counterplay.core.match import play as match_module
from counterplay.core.match.play import BLOCK, blocks
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.match.deals import deal_block, session_deals
from counterplay.poker.match.referee import play_session

# --- exact sanity checks


@pytest.mark.parametrize("hands", [2_000, 2_001])
def test_a_strategy_against_itself_in_duplicate_is_exactly_zero(
    hands: int, game: cp.Game, random10: cp.Strategy
) -> None:
    """In the kernel, in the Python referee, and with one of each; an odd number of hands is a
    whole number of deals."""
    pairs = [(random10, random10), (Slow(random10), Slow(random10)), (random10, Seeded(random10))]
    for a, b in pairs:
        result = cp.play_match(game, a, b, hands, seed=3)
        assert (result.mean, result.standard_error) == (0.0, 0.0)
        assert result.hands == hands + hands % 2
        assert result.by_seat[0] == -result.by_seat[1] != 0.0


def test_one_bot_object_in_both_seats_is_zero_too(game: cp.Game, random10: cp.Strategy) -> None:
    """The same player twice: whether it is one object or two must not matter."""
    for player in (strategy_bot(random10), Slow(random10)):
        result = cp.play_match(game, player, player, 1_000, seed=3)
        assert (result.mean, result.standard_error) == (0.0, 0.0)


@pytest.mark.first
def test_always_fold_loses_its_blinds(game: cp.Game) -> None:
    """Half a small bet as the dealer, one as the big blind against a raise: 0.75 over the seats."""
    for hands in (1_000, 120_000):  # the second needs two blocks
        result = cp.play_match(game, "always-fold", "always-raise", hands, seed=hands)
        assert (result.mean, result.standard_error, result.by_seat) == (-0.75, 0.0, (-0.5, -1.0))
        assert result.hands == hands
    assert cp.play_match(game, "always-raise", "always-fold", 1_000).mean == 0.75


def test_always_call_against_always_raise_is_even(game: cp.Game) -> None:
    """Seven small bets go in whoever deals: zero deal by deal in duplicate, zero in expectation
    otherwise."""
    twice = cp.play_match(game, "always-call", "always-raise", 10_000, seed=5)
    assert (twice.mean, twice.standard_error) == (0.0, 0.0)
    once = cp.play_match(game, "always-call", "always-raise", 60_000, seed=5, duplicate=False)
    assert once.hands == 60_000
    assert once.standard_error == pytest.approx(
        7 / math.sqrt(60_000), rel=0.05
    )  # ties take a few percent off
    assert abs(once.mean) < 5 * once.standard_error


def test_python_and_kernel_agree_where_nothing_is_drawn(game: cp.Game) -> None:
    """Deterministic players on the deals of one block: no random numbers, so both routes give
    the same result."""
    for b in ("always-raise", "always-fold"):
        for duplicate in (True, False):
            fast = cp.play_match(game, "always-call", b, 1_000, seed=8, duplicate=duplicate)
            slow = cp.play_match(game, Caller(), b, 1_000, seed=8, duplicate=duplicate)
            assert (fast.mean, fast.standard_error, fast.by_seat) == (
                slow.mean,
                slow.standard_error,
                slow.by_seat,
            )


def test_the_same_seed_deals_the_same_cards_whoever_plays(game: cp.Game) -> None:
    """As above beyond the first block of either route: `deals.py` promises the cards by number,
    whoever plays."""
    fast = cp.play_match(game, "always-call", "always-raise", 12_000, seed=8)
    slow = cp.play_match(game, Caller(), "always-raise", 12_000, seed=8)
    assert fast.by_seat == slow.by_seat


# --- the plain-Python referee


@pytest.mark.parametrize("duplicate", [True, False])
def test_two_tables_give_what_the_plain_referee_gives(
    duplicate: bool, random10: cp.Strategy, random100: cp.Strategy
) -> None:
    """Strategies of 10 and of 100 buckets on a fixed list of deals with the same random numbers,
    deal by deal."""
    deals = random_deals(17, 1_000)
    for first in (0, 5_001):
        ours = by_kernel(random10, random100, deals, 6, first, duplicate)
        plain = by_referee(
            policy_of(random10, 10), policy_of(random100, 100), deals, 6, first, duplicate
        )
        assert np.array_equal(ours, plain, equal_nan=True)
    assert len(np.unique(np.abs(ours[~np.isnan(ours)]))) > 20  # folds and showdowns of many sizes


def test_a_match_is_what_the_plain_referee_makes_of_its_deals(
    game: cp.Game, random10: cp.Strategy, random100: cp.Strategy
) -> None:
    """Mean, standard error and seats, from the deals and random numbers of the seed."""
    result = cp.play_match(game, random10, random100, 1_000, seed=21)
    won = by_referee(
        policy_of(random10, 10), policy_of(random100, 100), deal_block(21, 0, 500), 21, 0, True
    )
    per_deal = won.mean(axis=1)
    assert result.mean == pytest.approx(per_deal.mean(), abs=1e-12)
    assert result.standard_error == pytest.approx(per_deal.std(ddof=1) / math.sqrt(500), rel=1e-12)
    assert result.by_seat == pytest.approx(won.mean(axis=0), abs=1e-12)
    low, high = result.interval
    assert (low + high) / 2 == pytest.approx(result.mean)
    assert result.degrees == pytest.approx(499)
    assert (high - low) / 2 == pytest.approx(
        1.964729 * result.standard_error, rel=1e-6
    )  # Student's t
    assert f"{result.mean:+.4f}" in str(result)


@pytest.mark.parametrize("swap", [False, True])
def test_sessions_of_bots_give_what_the_plain_referee_gives(
    swap: bool, random10: cp.Strategy, random100: cp.Strategy
) -> None:
    """The Python route: the button alternates, and each seat has its own random numbers in every
    deal."""
    deals = session_deals(18, 3, 500)
    bots = strategy_bot(random10), strategy_bot(random100)
    ours = play_session(bots, deals, swap)
    policies = policy_of(random10, 10), policy_of(random100, 100)
    for k, (cards, seeds) in enumerate(zip(deals.cards.tolist(), deals.deal_seeds, strict=True)):
        dealer = (k + swap) % 2
        states = [new_state(seed) for seed in seeds]

        def numbers(seat: int, states: list[np.ndarray] = states) -> float:
            return float(uniform(states[seat]))

        won, _ = play_hand((policies[dealer], policies[1 - dealer]), cards, numbers)
        assert ours[k] == (won if dealer == 0 else -won)


def test_the_error_is_that_of_the_deals_over_several_blocks(
    game: cp.Game, random10: cp.Strategy
) -> None:
    other = seldom_folding(game, 9)
    for duplicate, hands in ((True, 120_000), (False, 60_001)):
        result = cp.play_match(game, random10, other, hands, seed=4, duplicate=duplicate)
        deals = hands // 2 if duplicate else hands
        parts = [
            by_kernel(random10, other, deal_block(4, number, n), 4, number * BLOCK, duplicate)
            for number, n in blocks(deals)
        ]
        assert len(parts) > 1
        won = np.concatenate(parts)
        seats = np.nanmean(won, axis=0)
        if duplicate:
            error = won.mean(axis=1).std(ddof=1) / math.sqrt(deals)
        else:  # each seat has its own spread
            error = (
                math.hypot(
                    *(
                        np.nanstd(won[:, k], ddof=1) / math.sqrt(np.sum(~np.isnan(won[:, k])))
                        for k in (0, 1)
                    )
                )
                / 2
            )
        assert result.hands == hands
        assert result.mean == pytest.approx(seats.mean(), abs=1e-12)
        assert result.standard_error == pytest.approx(error, rel=1e-12)
        assert result.by_seat == pytest.approx(seats, abs=1e-12)


def test_duplicate_takes_luck_out(game: cp.Game, random10: cp.Strategy) -> None:
    """Against a caller most of the luck is in the cards: the error is smaller at the same number
    of hands."""
    errors = [
        cp.play_match(
            game, "always-raise", "uniform", 40_000, seed=2, duplicate=duplicate
        ).standard_error
        for duplicate in (True, False)
    ]
    assert errors[0] < errors[1]


# --- deals and reproducibility


def test_deals_are_by_seed_and_block() -> None:
    deals = deal_block(3, 1, 400)
    assert deals.shape == (400, 9)
    assert all(len(set(row)) == 9 for row in deals.tolist())
    assert np.array_equal(deals[:100], deal_block(3, 1, 100))
    for other in (deal_block(4, 1, 400), deal_block(3, 0, 400), deal_block(3, 2, 400)):
        assert not np.array_equal(deals, other)
    assert [sum(n for _, n in blocks(deals, 10)) for deals in (1, 9, 10, 11, 100)] == [
        1,
        9,
        10,
        11,
        100,
    ]
    assert blocks(25, 10) == [(0, 10), (1, 10), (2, 5)]


def test_same_seed_same_result(
    game: cp.Game, random10: cp.Strategy, random100: cp.Strategy
) -> None:
    for a, b in ((random10, random100), (Slow(random10), random100), (random10, Counter())):
        first, again, other = (cp.play_match(game, a, b, 1_200, seed=seed) for seed in (1, 1, 2))
        assert exact(first) == exact(again)
        assert first.mean != other.mean


def test_the_number_of_processes_does_not_matter(
    game: cp.Game, random10: cp.Strategy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Small blocks, so that there are many: a bot that draws, one that remembers, and the log."""
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    results, logs = [], []
    for processes in (1, 2, 3):
        log = tmp_path / f"{processes}.parquet"
        results.append(
            exact(
                cp.play_match(
                    game, Slow(random10), Counter(), 602, seed=1, processes=processes, log=log
                )
            )
        )
        logs.append(read_parquet(log).hands)
    assert results[0] == results[1] == results[2]
    assert logs[0] == logs[1] == logs[2]
    assert len(logs[0]) == 602


def test_progress_reaches_one(game: cp.Game) -> None:
    for a in ("always-call", Caller()):
        heard: list[float] = []
        cp.play_match(
            game,
            a,
            "always-raise",
            300,
            progress=lambda share, what, heard=heard: heard.append(share),
        )
        assert heard == sorted(heard)
        assert heard[-1] == 1.0


# --- other games


@pytest.mark.parametrize("duplicate", [True, False])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_matches_of_small_games_agree_with_the_exact_value(name: str, duplicate: bool) -> None:
    small = cp.load(name)
    a, b = cp.Strategy.random(small, 1), cp.Strategy.random(small, 2)
    result = cp.play_match(small, a, b, 200_000, seed=5, duplicate=duplicate)
    values = (
        cp.expected_value(small, b.replace(a, 0))[0],
        cp.expected_value(small, b.replace(a, 1))[1],
    )
    assert abs(result.mean - np.mean(values)) < 5 * result.standard_error
    for seat in (0, 1):  # payoffs are at most 13 (Leduc); half of the hands are played in each seat
        spread = (2 if name == "kuhn" else 13) / math.sqrt(100_000)
        assert abs(result.by_seat[seat] - values[seat]) < 5 * spread
    assert cp.play_match(small, a, a, 2_000, seed=5).mean == 0.0
    assert exact(result) == exact(cp.play_match(name, a, b, 200_000, seed=5, duplicate=duplicate))
