"""Intervals are claims: how many of them hold the true mean, for unlike players, both orders,
duplicate or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from support.arena import Seeded, by_kernel, holdem, strategy
from support.holdem import TREE

import counterplay as cp
from counterplay.core.match.kernels import Tally, tally
from counterplay.core.match.play import MatchSchedule, StrategyMatch
from counterplay.core.match.result import ENOUGH_SESSIONS, Estimate, estimate, half_width
from counterplay.poker.match.deals import SessionDeals, deal_block, session_deals
from counterplay.poker.match.match import _play_tables
from counterplay.poker.match.referee import play_hands
from counterplay.poker.players import bot

PAIRS = [
    ("probe", "always-fold"),
    ("probe", "always-call"),
    ("probe", "always-raise"),
    ("probe", "uniform"),
    ("always-fold", "always-call"),
    ("always-fold", "uniform"),
    ("always-call", "uniform"),
    ("always-raise", "uniform"),
    ("always-raise", "careful"),
    ("careful", "uniform"),
    ("careful", "probe"),
    ("careful", "always-fold"),
]
TOLERANCE = 0.015
MANY = 5_000  # matches, of which the binomial standard error is a fifth of that


@cache
def _player(name: str) -> Any:
    return bot(strategy(1)) if name == "careful" else bot(name)


def _holds(found: Estimate, truth: float) -> bool:
    return abs(found.mean - truth) <= half_width(found.standard_error, found.degrees) + 1e-12


class Matches:
    """Many short matches of one pair, in one mode."""

    def __init__(
        self, make: Callable[[MatchSchedule], Any], matches: int, hands: int, duplicate: bool
    ) -> None:
        deals = hands // 2 if duplicate else hands
        plans = (MatchSchedule(seed, deals, duplicate, False) for seed in range(matches))
        result = [estimate([make(plan)([(0, deals)])[0].tally]) for plan in plans]
        self.found = [one for one in result if one is not None]
        self.means = np.array([one.mean for one in self.found])
        truth = float(
            self.means.mean()
        )  # its error is that of one match over the root of their number
        self.coverage = float(np.mean([_holds(one, truth) for one in self.found]))
        reported = math.sqrt(np.mean([one.standard_error**2 for one in self.found]))
        self.ratio = float(self.means.std(ddof=1)) / reported


def _all(matches: int, hands: int, orders: int) -> Iterator[tuple[str, Matches]]:
    def tables(a: str, b: str) -> Callable[[MatchSchedule], Any]:
        bots = _player(a), _player(b)
        return lambda plan: partial(_play_tables, TREE.nodes, bots, plan)

    for k, pair in enumerate(PAIRS):
        # who folds loses seldom more than a blind: rare events
        length = hands if "always-fold" in pair else hands // 2
        for a, b in (pair, pair[::-1])[:orders]:
            yield f"{a} {b} duplicate", Matches(tables(a, b), matches, length, True)
        for a, b in (pair, pair[::-1])[:orders] if k % 2 else (pair[::-1], pair)[:orders]:
            yield f"{a} {b}", Matches(tables(a, b), matches, length, False)
    for name in ("kuhn", "leduc"):
        game = cp.load(name)
        one, two = cp.Strategy.random(game, 1), cp.Strategy.random(game, 2)
        for duplicate in (True, False):
            made = Matches(
                lambda plan, game=game, one=one, two=two: StrategyMatch.runner(
                    game, one, two, plan
                ),
                matches,
                hands,
                duplicate,
            )
            yield f"{name} {duplicate}", made


def _check(matches: int, hands: int, orders: int) -> None:
    """Each pair: within 1.5%, of fewer than `MANY` matches with three binomial standard errors
    more. All together: within 1.5%, and the reported errors are the true ones to 1% (the standard
    error of that is 1 / √(2 · matches · pairs), 0.35% for 1,000)."""
    result = dict(_all(matches, hands, orders))
    noise = 0.0 if matches >= MANY else 3 * math.sqrt(0.95 * 0.05 / matches)
    wrong = {
        name: one.coverage
        for name, one in result.items()
        if abs(one.coverage - 0.95) > TOLERANCE + noise
    }
    assert not wrong
    assert abs(np.mean([one.coverage for one in result.values()]) - 0.95) <= TOLERANCE
    assert abs(np.mean([one.ratio for one in result.values()]) - 1.0) <= 0.01
    spread = 4 / math.sqrt(2 * matches)
    wrong = {name: one.ratio for name, one in result.items() if abs(one.ratio - 1.0) > spread}
    assert not wrong


@pytest.mark.slow
def test_intervals_of_short_matches_hold_the_mean_as_often_as_they_say() -> None:
    """A dozen pairs of unlike players: 1,000 matches of 250 or 500 hands each. Of a duplicate
    the other order is the same (below); where deals are played once, every second pair is seated
    the other way round."""
    _check(1_000, 500, 1)


@pytest.mark.slow
def test_intervals_of_many_matches_in_both_orders() -> None:
    """What the documentation says of each pair."""
    _check(MANY, 1_000, 2)


def test_the_order_of_a_duplicate_only_changes_the_sign() -> None:
    for a, b in PAIRS:
        one, two = (
            cp.play_match(holdem(), *pair, 300, seed=4)
            for pair in ((_player(a), _player(b)), (_player(b), _player(a)))
        )
        assert (one.mean, one.standard_error, one.interval[0]) == (
            -two.mean,
            two.standard_error,
            -two.interval[1],
        )


# --- deals are independent: what happens in one depends on its number only


@pytest.mark.parametrize("duplicate", [True, False])
def test_a_deal_played_alone_is_played_as_among_others(duplicate: bool) -> None:
    """In the kernel for tables: no deal uses random numbers of another, however long its plays
    are."""
    cards = deal_block(9, 0, 300)
    together = by_kernel(strategy(1), strategy(2), cards, 9, 0, duplicate)
    for k in (0, 1, 2, 133, 298, 299):
        alone = by_kernel(strategy(1), strategy(2), cards[k : k + 1], 9, k, duplicate)
        assert np.array_equal(together[k : k + 1], alone, equal_nan=True)


@pytest.mark.parametrize("swap", [False, True])
def test_a_deal_of_bots_played_alone_is_played_as_among_others(swap: bool) -> None:
    bots = Seeded(strategy(1)), Seeded(strategy(2))
    whole = session_deals(9, 0, 100)
    together = play_hands(bots, whole, swap)
    for k in (0, 1, 37, 99):
        part = SessionDeals(k, whole.cards[k : k + 1], whole.seeds[k : k + 1])
        assert play_hands(bots, part, swap)[0] == together[k]


def test_deals_of_other_games_are_independent_too() -> None:
    game = cp.load("leduc")
    one, two = cp.Strategy.random(game, 1), cp.Strategy.random(game, 2)
    long, short = (cp.play_match(game, one, two, hands, seed=3) for hands in (12_000, 10_000))
    play = StrategyMatch.runner(game, one, two, MatchSchedule(3, 6_000, True, False))
    rest = play([(1, 1_000)])[0].tally
    assert long.mean * 6 == pytest.approx(short.mean * 5 + rest.mean[0], abs=1e-9)


# --- what the error is made of


def _normal(rng: np.random.Generator, n: int, duplicate: bool) -> np.ndarray:
    """n deals with a true mean of zero; without duplicates one seat wins what the other loses,
    three times the spread."""
    if duplicate:
        return rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))
    won = np.full((n, 2), np.nan)
    k = np.arange(n)
    won[k, k & 1] = rng.normal(size=n) + np.where(k & 1, 3.0, -3.0)
    return won


@pytest.mark.parametrize(
    ("n", "duplicate"), [(2, True), (3, True), (10, True), (20, False), (41, False)]
)
def test_few_deals_need_students_t(n: int, duplicate: bool) -> None:
    """3,000 matches: within four binomial standard errors, 1.6%. With the normal quantile two
    deals would hold 70%; without looking at the seats apart, all."""
    rng = np.random.default_rng(n)
    result = [estimate([tally(_normal(rng, n, duplicate))]) for _ in range(3_000)]
    held = np.mean([_holds(one, 0.0) for one in result if one is not None])
    assert abs(held - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / len(result))


def _session(rng: np.random.Generator, luck: float) -> Tally:
    """What players who remember may do: 100 deals with a mean of their own."""
    return tally(luck * rng.normal() + rng.normal(size=(100, 2)))


def test_players_who_remember_are_judged_by_their_sessions() -> None:
    """What was learnt early in a session lasts, so that its deals are not independent: 1,000
    matches, four standard errors."""
    rng = np.random.default_rng(1)
    matches = [[_session(rng, 0.5) for _ in range(ENOUGH_SESSIONS)] for _ in range(1_000)]
    held, naive = (
        np.mean(
            [
                _holds(one, 0.0)
                for parts in matches
                if (one := estimate(parts, sessions=kind)) is not None
            ]
        )
        for kind in (True, False)
    )
    assert abs(held - 0.95) <= 4 * math.sqrt(0.95 * 0.05 / len(matches))
    assert naive < 0.6


def test_parts_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(5)
    won = rng.normal(3.0, 2.0, (500, 2))
    won[300:400, 0] = won[400:, 1] = np.nan
    whole = tally(won)
    parts = [
        tally(won[low:high]) for low, high in ((0, 0), (0, 1), (1, 350), (350, 390), (390, 500))
    ]
    summed = sum(parts[1:], parts[0])
    for name in ("count", "mean", "squares"):
        assert getattr(summed, name) == pytest.approx(getattr(whole, name), rel=1e-12)


def test_what_one_deal_leaves_open() -> None:
    """A single deal has a mean and no error; a single hand has not even a mean over both seats."""
    one = cp.play_match(holdem(), "probe", "uniform", 2)
    assert one.hands == 2
    assert math.isnan(one.standard_error)
    assert one.interval == (-math.inf, math.inf)
    assert estimate([tally(np.array([[1.0, np.nan]]))]) is None
    assert estimate([]) is None
    three = cp.play_match(holdem(), "always-fold", "always-raise", 3, duplicate=False)
    assert (three.mean, three.by_seat) == (-0.75, (-0.5, -1.0))
