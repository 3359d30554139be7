"""The cost of moves in hold'em, compared on the turn and the river with a naive twin that asks the
bot holding by holding."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import pytest

import counterplay as cp
from counterplay.app.web.play.holdem import (
    BotLuckAdjustment,
    HoldemHand,
    HoldemSource,
    action_values,
)
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import N_CARDS, cards
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.holdem.holdings import BestActionSearch

TREE = betting_tree(LIMIT)
DEAL = tuple(cards("AhQd 9c8c 7h 2s Kd 9s 3h"))


class NoAdjustment(BotLuckAdjustment):
    """Never ready."""

    def __init__(self) -> None:
        pass

    def adjusted(self, hand: Any) -> float | None:
        return None


@pytest.fixture(scope="module")
def bot() -> Any:
    return strategy_bot(cp.Strategy.random("holdem(buckets=10)", 7))


def _hand(bot: Any, seat: int, moves: str) -> HoldemHand:
    hand = HoldemHand(HoldemSource(bot, NoAdjustment()), seat, DEAL)
    hand.replay(list(moves))
    return hand


def _naive(bot: Any, hand: HoldemHand, node: int) -> list[float]:
    """Best response by recursion, the other's holdings one by one; the board is complete."""
    seat, own, board = hand.seat, hand.holding(hand.seat), hand.cards[4:9]
    left = [card for card in range(N_CARDS) if card not in (*own, *board)]
    weight = dict.fromkeys(combinations(left, 2), 1.0)

    def share(at: int, pair: tuple[int, int], action: str) -> float:
        state = TREE.states[at]
        view = View(state.player(), pair, board[: state.on_board], state, at)
        return float(bot.shares(view)[action])

    for at, after in zip(hand.nodes(), hand.nodes()[1:], strict=False):
        if at == node:
            break
        if TREE.nodes.player[at] != seat:
            name = TREE.actions[at][after - int(TREE.nodes.first_child[at])]
            weight = {pair: w * share(at, pair, name) for pair, w in weight.items()}

    def value(at: int, reach: dict[tuple[int, int], float]) -> float:
        state = TREE.states[at]
        if state.over:
            stake = min(state.paid)
            if state.folded != NO_FOLD:
                return sum(reach.values()) * (-stake if state.folded == seat else stake)
            mine, total = strength([*own, *board]), 0.0
            for pair, w in reach.items():
                theirs = strength([*pair, *board])
                total += w * stake * ((mine > theirs) - (mine < theirs))
            return total
        below = [int(TREE.nodes.first_child[at]) + k for k in range(len(TREE.actions[at]))]
        if state.player() == seat:
            return max(value(child, reach) for child in below)
        total = 0.0
        for child, name in zip(below, TREE.actions[at], strict=True):
            total += value(child, {pair: w * share(at, pair, name) for pair, w in reach.items()})
        return total

    first, paid = int(TREE.nodes.first_child[node]), TREE.states[node].paid[seat]
    total = sum(weight.values())
    return [value(first + k, weight) / total + paid for k in range(len(TREE.actions[node]))]


@pytest.mark.parametrize(("seat", "moves"), [(1, "ccrcccc"), (0, "ccccccc")])
def test_costs_on_the_river_are_those_of_a_naive_twin(bot: Any, seat: int, moves: str) -> None:
    hand = _hand(bot, seat, moves)
    rivers = [node for node in hand.nodes() if TREE.nodes.street[node] == 3]
    node = next(node for node in rivers if TREE.nodes.player[node] == seat)
    assert action_values(hand, bot, node) == pytest.approx(_naive(bot, hand, node), abs=1e-9)


def test_the_turn_is_the_mean_of_its_rivers(bot: Any) -> None:
    """Folding is worth nothing more; a check through the turn is worth the mean over rivers."""
    hand = _hand(bot, 0, "ccccr")
    node = hand.nodes()[-1]
    assert TREE.states[node].player() == 0
    fold, call, _ = action_values(hand, bot, node)
    assert fold == 0.0
    board, own = hand.cards[4:8], hand.holding(0)
    search = BestActionSearch(bot.table, 0, own, hand.nodes(), {})
    weight = search.reach(node, board)
    after, total = TREE.moves[node]["call"], 0.0
    for card in range(N_CARDS):
        if card not in (*board, *own):
            total += search.value(after, (*board, card), search.reach(node, (*board, card)))
    assert call == pytest.approx(total / 44 / weight.sum() + TREE.states[node].paid[0], abs=1e-9)


def test_a_review_says_all_and_comes_soon(bot: Any) -> None:
    hand = _hand(bot, 1, "crcrccrccc")
    before = time.monotonic()
    result = hand.review()
    assert time.monotonic() - before < 30
    mine = [step for step in result["steps"] if step["who"] == "you"]
    theirs = [step for step in result["steps"] if step["who"] == "other"]
    assert len(mine) + len(theirs) == 10
    assert all(sum(step["shares"]) == pytest.approx(1.0) for step in theirs)
    assert all(step["cost"] is None or step["cost"] >= 0 for step in mine)
    assert [step["cost"] is None for step in mine].count(True) == 1  # before the flop
    assert result["cards"] == ["Ah", "Qd"]
