"""Hold'em as a form: deals, information sets and payoffs against a plain referee; the kernels of
Kuhn run on it."""

from __future__ import annotations

import numpy as np
import pytest
from support.holdem import TREE, ehs

from counterplay.core.forms.access import child, infoset_at, new_chance, player_at, start, utility
from counterplay.core.forms.tree import TERMINAL
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import new_state
from counterplay.core.solvers.history import OutcomeTables, new_workspace
from counterplay.core.solvers.mccfr import outcome_sampling
from counterplay.poker.abstraction.abstraction import cards_of
from counterplay.poker.abstraction.ehs import EhsAbstraction
from counterplay.poker.betting.betting import CALL, FOLD, Betting
from counterplay.poker.cards.deal import draw, new_deal
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.cards.strength import (
    FLOP_TOTAL,
    PREFLOP_TOTAL,
    RIVER_TOTAL,
    TURN_TOTAL,
    strengths,
)
from counterplay.poker.holdem.game import BettingGame, betting_game

TOTALS = {3: FLOP_TOTAL, 4: TURN_TOTAL, 5: RIVER_TOTAL}


@pytest.fixture(scope="module")
def form() -> BettingGame:
    return betting_game(
        TREE, cards_of(EhsAbstraction((10,) * 4, "equal-width").buckets()), (10,) * 4
    )


def test_sizes(form: BettingGame) -> None:
    """facts/02: 63,780 information sets and 165,830 actions with 10 buckets."""
    assert (len(form.owner), form.first[-1], form.n_nodes) == (63_780, 165_830, 16_584)


def test_deals_are_nine_different_cards_and_uniform() -> None:
    chance, rng = new_deal(), new_state(4)
    deck = chance.deck
    observed = np.zeros((9, 52))
    for _ in range(20_000):
        draw(chance, rng)
        assert len(set(deck[:9].tolist())) == 9
        observed[np.arange(9), deck[:9]] += 1
    expected = 20_000 / 52
    assert (
        np.abs(observed - expected).max() < 6 * expected**0.5
    )  # six standard deviations, 468 places


def _bucket(own: list[int], board: list[int]) -> int:
    if not board:
        low, high = sorted(own)
        return int(strengths().preflop[high * (high - 1) // 2 + low]) * 10 // PREFLOP_TOTAL
    return min(int(10 * ehs(strengths(), own, board) + 1e-9), 9)


def test_random_games_against_a_plain_referee(form: BettingGame) -> None:
    rng, choice = new_state(8), np.random.default_rng(8)
    hand = new_chance(form)
    tree = TREE.nodes
    for _ in range(150):
        node, state = start(form, hand, rng), Betting()
        cards = hand.deck[:9].tolist()
        while player_at(form, hand, node) != TERMINAL:
            player = state.player()
            assert player_at(form, hand, node) == player
            board = cards[4 : (4, 7, 8, 9)[state.round]]
            expected = int(tree.decision[int(node)]) * 10 + _bucket(
                cards[2 * player : 2 * player + 2], board
            )
            assert infoset_at(form, hand, node) == expected
            assert TREE.histories[int(node)] == state.history
            actions = state.actions()
            weights = [
                0.1 if action == FOLD else 0.6 if action == CALL else 0.3 for action in actions
            ]
            k = int(choice.choice(len(actions), p=np.array(weights) / sum(weights)))
            node, state = child(form, hand, node, index(k), rng), state.child(actions[k])
        values = [strength(cards[2 * p : 2 * p + 2] + cards[4:]) for p in (0, 1)]
        won = (values[0] > values[1]) - (values[0] < values[1])
        if state.folded >= 0:
            won = -1 if state.folded == 0 else 1
        assert utility(form, hand, node, 0) == won * min(state.paid)
        assert utility(form, hand, node, 1) == -won * min(state.paid)


def test_outcome_sampling_learns_to_keep_good_cards(form: BettingGame) -> None:
    """The kernel of Kuhn poker, unchanged: soon the dealer keeps his best bucket before the
    flop, and folds his worst more."""
    tables = OutcomeTables(
        np.zeros(form.first[-1]),
        np.zeros(form.first[-1]),
        np.zeros(len(form.owner), dtype=np.int64),
    )
    path = new_workspace(32, 3, 2)
    outcome_sampling(
        form, new_chance(form), tables, path, new_state(1), 0, 1_000_000, 0.6, True, 1, 1.0
    )
    folded = []
    for count in (strengths().preflop.max(), strengths().preflop.min()):
        first = form.first[
            int(count) * 10 // PREFLOP_TOTAL
        ]  # the dealer's first decision with this bucket
        weights = tables.strategy_sum[first : first + 3]
        folded.append(weights[0] / weights.sum())
    assert folded[0] < 0.1 < folded[1]  # uniform play folds a third
