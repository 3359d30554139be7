"""Rollouts: the values of the turn and the river that are computed exactly, and equity before the
flop."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.poker.betting.betting import LETTER
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.cards.cards import cards, holding
from counterplay.poker.holdem.action_values import action_values
from counterplay.poker.holdem.holdings import canonical_board, reach_of, strengths_on
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.match.rollouts import rollout_values

GAME = cp.load("holdem(buckets=2)")
TREE = GAME.rules.tree
RANDOM, CALLS = (
    strategy_table(cp.Strategy.random(GAME, 3)),
    strategy_table(simple_strategy("always-call", GAME)),
)


def path_of(history: str) -> list[int]:
    path = [0]
    for letter in history.replace("/", ""):
        path.append(TREE.moves[path[-1]][LETTER[letter]])
    return path


@pytest.mark.parametrize(
    ("history", "board", "held"),
    [
        ("rc/cc/c", "AsKd2c7h", None),
        ("rc/cc/c", "AsKd2c7h", "QsQh"),
        ("cc/crc/crc/c", "AsKd2c7h9s", None),
    ],
)
def test_values_are_those_that_are_computed(history: str, board: str, held: str | None) -> None:
    path, dealt = path_of(history), tuple(cards(board))
    dealt = dealt[: TREE.states[path[-1]].on_board]
    mine = None if held is None else holding(tuple(cards(held)))
    found = rollout_values(TREE, RANDOM, CALLS, path, dealt, mine, deals=40_000)
    exact = action_values(TREE, RANDOM, CALLS, path, dealt)
    assert found is not None
    if mine is None:
        seat = int(TREE.nodes.player[path[-1]])
        weight = exact.weight * reach_of(TREE, RANDOM, path, seat, dealt)
        right = np.nan_to_num(exact.value) @ weight / weight.sum()
    else:
        right = exact.value[:, mine]
    assert found.actions == exact.actions
    for k, value in enumerate(right):
        assert value == pytest.approx(found.value[k], abs=2 * found.within(k) + 1e-9)
        assert found.within(k) < 0.2
    assert found.within(0, 0) == 0.0


def test_before_the_flop_calls_give_equity_and_a_fold_nothing() -> None:
    aces = holding(tuple(cards("AsAh")))
    found = rollout_values(TREE, CALLS, CALLS, [0], (), aces, deals=40_000)
    assert found is not None
    assert found.actions == ["fold", "call", "raise"]
    share = 2 * strengths_on(canonical_board(()))[aces] - 1
    assert found.value[0] == found.within(0) == 0.0
    assert found.value[1:] == pytest.approx([0.5 + share, 0.5 + 2 * share], abs=0.05)
    assert found.within(1, 2) < found.within(1) + found.within(2)  # the same cards


def test_a_decision_that_nobody_reaches_has_no_values() -> None:
    assert rollout_values(TREE, CALLS, CALLS, path_of("r"), ()) is None
    held = holding(tuple(cards("AsAh")))
    assert rollout_values(TREE, CALLS, CALLS, path_of("r"), (), held) is None
