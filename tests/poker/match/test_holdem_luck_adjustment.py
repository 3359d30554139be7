"""Matches with the luck taken out: the same mean, less noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.arena import Slow, holdem, strategy

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import no_progress
from counterplay.core.kernels.jit import index
from counterplay.core.match.kernels import NumberedDeals
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.deal import new_deal
from counterplay.poker.holdem.bucket_pairs import (
    N_FLOPS,
    _count_some,
    _empty,
    _fill,
    matchups,
    pair_chance,
    value_against,
)
from counterplay.poker.match.deals import HandWorkspace, deal_block, play_tables
from counterplay.poker.match.luck_adjustment import HoldemLuckAdjustment, exact_first

N_MATCHUPS = 93_769  # pairs of holdings up to suit permutations


def raw(a: Any, b: Any, deals: int, seed: int) -> PlayedDeals:
    game = holdem()
    cards = deal_block(seed, 0, deals)
    won, ends = np.empty((deals, 2)), np.zeros((deals, 2), dtype=np.int32)
    scratch = HandWorkspace(new_deal(), np.zeros(2, dtype=np.int64), np.empty(4, dtype=np.uint64))
    which = NumberedDeals(index(seed), index(0), True)
    play_tables(game.rules.tree.nodes, a.table, b.table, which, cards, scratch, won, ends)
    return PlayedDeals(cards, won, ends)


def apart(a: Any, b: Any, deals: int, seed: int, as_bots: tuple[Any, Any] | None = None) -> float:
    """How many standard errors the luck that was taken out is from 0."""
    found = raw(a, b, deals, seed)
    clean = HoldemLuckAdjustment(holdem(), *(as_bots or (a, b)), deals).adjusted(found)
    assert clean.var() < 0.8 * found.won.var()
    luck = (found.won - clean).mean(axis=1)
    return float(luck.mean() / (luck.std() / np.sqrt(deals)))


def test_the_luck_that_is_taken_out_has_mean_zero() -> None:
    """With both players known, with one, and with none; the limit is that of a normal error
    (once in 16,000 seeds)."""
    a, b = strategy_bot(strategy(1)), strategy_bot(strategy(2))
    for hidden in (None, (a, Slow(strategy(2))), (Slow(strategy(1)), Slow(strategy(2)))):
        assert abs(apart(a, b, 2_000, 5, hidden)) < 4.0


@pytest.mark.slow
def test_the_luck_has_mean_zero_over_millions_of_hands() -> None:
    a, b = strategy_bot(strategy(1)), strategy_bot(strategy(2))
    scores = [apart(a, b, 250_000, seed) for seed in range(4)]
    assert abs(np.sum(scores) / 2.0) < 4.0


def test_matches_say_it() -> None:
    game = cp.load("kuhn")
    a, b = cp.Strategy.random(game, 1), cp.Strategy.random(game, 2)
    result = cp.play_match(game, a, b, 2_000, 1)
    assert result.adjusted is not None
    right = (
        cp.expected_value(game, a.replace(b, 1))[0] + cp.expected_value(game, b.replace(a, 1))[1]
    )
    assert result.adjusted.mean == pytest.approx(right / 2, abs=1e-12)
    assert result.adjusted.standard_error < 1e-12
    assert cp.play_match(game, a, b, 500, 1).adjusted is None
    off = cp.play_match(game, a, b, 2_000, 1, luck_adjusted=False)
    assert (off.adjusted, off.mean) == (None, result.mean)


def test_bots_and_tables_are_adjusted_alike() -> None:
    """The referee and the kernel play the same hands, so the luck in them is the same."""
    game, a, b = holdem(), strategy(1), strategy(2)
    for duplicate in (True, False):
        table = cp.play_match(game, a, b, 300, 3, duplicate=duplicate, luck_adjusted=True)
        assert table.adjusted is not None
        assert table.adjusted.standard_error < table.standard_error


def test_refusals() -> None:
    game = cp.load("kuhn")
    a = cp.Strategy.random(game, 1)
    with pytest.raises(BadParameter, match="luck_adjusted"):
        cp.play_match(game, a, a, 100, luck_adjusted="yes")  # type: ignore[arg-type]
    seat = cp.respond(game, a, player=0, p=0.5).strategy
    with pytest.raises(BadParameter, match="both seats"):
        cp.play_match(game, seat, a, 100, luck_adjusted=True)


def test_matchups_and_their_flops() -> None:
    """As many as are known, and each has all flops that four cards leave."""
    game = holdem()
    found = matchups(game.rules.abstraction, game.form.cards, False)
    assert len(found.filled) == N_MATCHUPS
    assert found.number.max() == N_MATCHUPS - 1
    filled = found.flops[found.filled]
    assert (filled.sum(axis=1) == N_FLOPS).all()


def test_a_matchup_and_who_has_which_are_counted_once() -> None:
    """The rest of the table is what counting one by one gives, whether one order is left or
    both."""
    game = holdem()
    view, cards = game.rules.abstraction, game.form.cards
    alone, together = _empty(view), _empty(view)
    pairs = np.flatnonzero(alone.number >= 0)[[20, 9_000, 800_000]]
    turned = pairs % 1326 * 1326 + pairs // 1326
    both = np.concatenate([pairs, turned])
    _count_some(cards, alone, both, HOLDING_CARDS.astype(np.int64), new_deal())
    together.filled[:] = True
    together.filled[alone.number[both[:-1]]] = False
    last = alone.number[both[-1]]  # was met before
    together.flops[last] = alone.flops[last]
    _fill(cards, together, no_progress)
    assert together.filled.all()
    assert len(set(alone.number[both])) == 6
    assert np.array_equal(together.flops, alone.flops)


def test_pairs_of_buckets() -> None:
    """The exact start agrees with the counted one, and values with matches."""
    game = holdem()
    chance = pair_chance(game)
    assert chance.first == pytest.approx(exact_first(game), abs=4e-3)
    assert chance.step.sum(axis=2) == pytest.approx(1.0)
    one, other = strategy(1), strategy(2)
    found = value_against(game, one.probabilities, other.probabilities)
    assert found == -value_against(game, other.probabilities, one.probabilities)
    match = cp.play_match(game, one, other, 200_000, 1, luck_adjusted=False)
    assert found == pytest.approx(match.mean, abs=0.05 + 4 * match.standard_error)


def test_intervals_of_adjusted_matches_hold_the_mean() -> None:
    """Matches of 50 deals cut from one: 95% of their intervals hold its mean, to four standard
    errors of that share."""
    a, b = strategy_bot(strategy(1)), strategy_bot(strategy(2))
    clean = HoldemLuckAdjustment(holdem(), a, b).adjusted(raw(a, b, 3_000, 8)).mean(axis=1)
    parts = clean.reshape(60, 50)
    half = 2.01 * parts.std(axis=1, ddof=1) / np.sqrt(50)
    held = (np.abs(parts.mean(axis=1) - clean.mean()) < half).mean()
    assert held > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60)
