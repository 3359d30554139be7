"""Imaginary observations in hold'em, against their definition one holding at a time, and their
mean."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.match.luck_adjustment import PlayedDeals
from counterplay.poker.betting.betting import ACTIONS, LETTER, LIMIT, betting_tree
from counterplay.poker.bots.bot import Bot, View
from counterplay.poker.bots.table import TableBot
from counterplay.poker.histories.records import settle_deal
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.imaginary import ImaginaryLuckAdjustment, projected
from counterplay.poker.match.luck_adjustment import PARTS, adjust_deals
from counterplay.poker.match.referee import PlayedHand, play_hands, start_bots

pytestmark = pytest.mark.slow  # kernels and tables
TREE = betting_tree(LIMIT)


class Mixing(Bot):
    """Calls or raises evenly: `probe` as a program."""

    name = "mixing"

    def seed(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, view: View) -> str:
        actions = [action for action in view.betting.actions() if action != "fold"]
        return str(self._rng.choice(actions))


def played(program: Any, opponent: TableBot, n: int, seed: int = 5) -> PlayedDeals:
    deals = session_deals(seed, 0, n)
    won, ends = np.full((n, 2), np.nan), np.zeros((n, 2), dtype=np.int32)
    for swap in (0, 1):
        start_bots((program, opponent), (1, 2))
        hands: list[PlayedHand] = []
        result = play_hands((program, opponent), deals, bool(swap), hands.append)
        column = (np.arange(n) & 1) ^ swap
        won[np.arange(n), column] = result
        ends[np.arange(n), column] = [hand.end for hand in hands]
    return PlayedDeals(deals.cards, won, ends)


def reach_of(
    opponent: TableBot, seat: int, holding: tuple[int, int], board: Any, end: int
) -> float:
    """The probability of the opponent's actions with a holding."""
    letters = TREE.states[end].history
    node, reach = 0, 1.0
    for letter in letters.replace("/", ""):
        state = TREE.states[node]
        if state.player() == seat:
            view = View(seat, holding, tuple(board[: state.on_board]), state, node)
            reach *= opponent.shares(view)[LETTER[letter]]
        node = TREE.moves[node][LETTER[letter]]
    return reach


def test_it_is_the_mean_over_holdings_one_at_a_time() -> None:
    view, program = cp.load("holdem(buckets=10)"), Mixing()
    opponent = cp.bot(cp.Strategy.random(view, 8))
    adjuster = ImaginaryLuckAdjustment(view, program, opponent.table)
    raw = played(program, opponent, 3)
    adjuster.learn(played(program, opponent, 40, seed=9))
    found = adjuster.adjusted(raw)
    assert raw.cards is not None
    for k, side in ((0, 0), (1, 1), (2, 0)):
        cards, end = raw.cards[k].tolist(), int(raw.ends[k, side])
        state, seat = TREE.states[end], 1 - side  # of the opponent
        seen = {*cards[2 * side : 2 * side + 2], *cards[4 : 4 + state.on_board]}
        total = weight = 0.0
        for holding in combinations([card for card in range(52) if card not in seen], 2):
            reach = reach_of(opponent, seat, holding, cards[4:], end)
            if reach == 0.0:
                continue
            dealt = list(cards)
            dealt[2 * seat : 2 * seat + 2] = holding
            payoff = settle_deal(state, dealt) * (1 if side == 0 else -1)
            won = np.full((1, 2), np.nan)
            won[0, side] = payoff
            one = np.array([dealt], dtype=np.uint8)
            adjust_deals(
                adjuster._pairs, opponent.table, opponent.table, adjuster._values, one,
                raw.ends[k : k + 1], won, adjuster._workspace, np.zeros(PARTS),
            )  # fmt: skip
            total, weight = total + reach * float(won[0, side]), weight + reach
        assert found[k, side] == pytest.approx(total / weight, abs=1e-9)


def test_the_mean_stays_and_the_variance_shrinks() -> None:
    """`probe` as a program against `probe` as a table: the true value is 0."""
    view, opponent, program = cp.load("holdem(buckets=10)"), cp.bot("probe"), Mixing()
    adjuster = ImaginaryLuckAdjustment(view, program, opponent.table)
    samples, plain = [], []
    for seed in range(6):
        raw = played(program, opponent, 100, seed)
        samples.append(adjuster.adjusted(raw).mean(axis=1))
        plain.append(raw.won.mean(axis=1))
        adjuster.learn(raw)
    deals = np.concatenate(samples)
    assert abs(deals.mean()) <= 4.0 * deals.std() / np.sqrt(len(deals))
    assert deals.std() < np.concatenate(plain).std()


def test_a_projection_is_the_mean_play_of_a_table() -> None:
    view = cp.load("holdem(buckets=10)")
    same = projected(view, cp.bot("always-raise").table)
    rows = np.flatnonzero(same.sum(axis=1) > 0)
    assert len(rows) == len(same)
    legal = view.rules.slots() >= 0
    assert np.allclose(same[legal[:, 2], ACTIONS.index("raise")], 1.0)
    strategy = cp.Strategy.random(view, 3)
    bot = cp.bot(strategy)
    later = np.concatenate(  # before the flop the lowest buckets of equal width are empty
        [
            np.arange(view.form.first_row[node], view.form.first_row[node] + 10)
            for node in TREE.nodes.node.tolist()
            if TREE.nodes.street[node] > 1
        ]
    )
    assert np.allclose(projected(view, bot.table)[later], bot.table.policy[later], atol=1e-6)


def test_a_table_as_the_player_is_known() -> None:
    """Against itself every luck-adjusted deal is nearly even."""
    view = cp.load("holdem(buckets=10)")
    bot, other = (cp.bot(cp.Strategy.random(view, 4)) for _ in range(2))
    adjuster = ImaginaryLuckAdjustment(view, bot, other.table)
    raw = played(bot, other, 60)
    deals = adjuster.adjusted(raw).mean(axis=1)
    assert np.isfinite(deals).all()
    assert deals.std() < 0.7 * raw.won.std()
    adjuster.learn(raw)  # nothing to learn
    assert np.array_equal(adjuster.adjusted(raw).mean(axis=1), deals)
