"""Predictions of k models for the opponent's actions in a hand, each made before the action.

The opponent's cards are hidden, so each model has a range: a weight for each of the 1,326 holdings,
which actions change by Bayes' rule. At a showdown the shown cards are predicted too. Products of
such predictions compare models at any time: the ratio of two is a test martingale under the second.
The range kernels also serve `poker/adaptive/bandit.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD, row_of
from counterplay.poker.bots.bot import Ending
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, holding
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_of, find_board, new_deal
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.models.observe import SeatDecisions, seat_decisions

NO_CARD = -1
MIN_PROBABILITY = 0.02  # of any action under a model, so that one surprise does not refute it
_THREE = index(3)


class StrategyStack(NamedTuple):
    """k strategies of one hold'em game as one array of r rows."""

    cards: Any
    buckets: np.ndarray  # int64[4]: of each street
    first_row: np.ndarray  # int32[n]
    policy: np.ndarray  # float64[r, 3, k]


class RangeWorkspace(NamedTuple):
    """The range of one seat under each of k strategies. Actions depend on a holding by its bucket
    alone: within a street they change `factor` and `mass`, m buckets at most, and `weight` only
    when the next street is dealt."""

    weight: np.ndarray  # float64[1326, k]: reach probability of each holding, at the street's start
    factor: np.ndarray  # float64[m, k]: probability of the street's own actions so far
    mass: np.ndarray  # float64[m, k]: the sum of weight · factor over the holdings of a bucket
    bucket: np.ndarray  # int64[1326]
    live: np.ndarray  # bool[1326]: whether no card of a holding is known to be elsewhere
    holdings: np.ndarray  # int64[1326, 2]
    chance: Deal


def strategy_stack(game: Game, strategies: list[Strategy]) -> StrategyStack:
    """Stacks strategies of one game, each for both seats."""
    for strategy in strategies:
        check_same_game(game, strategy)
        if strategy.player is not None:
            raise BadStrategy("a strategy for one seat cannot be weighed; respond in both seats")
    tables = [strategy_table(strategy) for strategy in strategies]
    policy = np.ascontiguousarray(np.stack([table.policy for table in tables], axis=2))
    counts = np.array(game.rules.abstraction.counts, dtype=np.int64)
    return StrategyStack(tables[0].cards, counts, tables[0].first_row, policy)


def new_range_workspace(stack: StrategyStack) -> RangeWorkspace:
    k, m = stack.policy.shape[2], int(stack.buckets.max())
    return RangeWorkspace(
        np.zeros((N_HOLDINGS, k)),
        np.zeros((m, k)),
        np.zeros((m, k)),
        np.zeros(N_HOLDINGS, dtype=np.int64),
        np.zeros(N_HOLDINGS, dtype=np.bool_),
        HOLDING_CARDS.astype(np.int64),
        new_deal(),
    )


def padded_board(board: tuple[int, ...]) -> np.ndarray:
    """int64[5]: the board, NO_CARD for cards to come."""
    padded = np.full(5, NO_CARD, dtype=np.int64)
    padded[: len(board)] = board
    return padded


@jit(inner=True)
def remove_card(ranges: RangeWorkspace, card: int) -> None:
    """Card removal, before the next street is dealt."""
    for h in range(index(N_HOLDINGS)):
        if ranges.holdings[h, ZERO] == card or ranges.holdings[h, ONE] == card:
            ranges.live[h] = False


@jit(inner=True)
def reset_ranges(ranges: RangeWorkspace, board: np.ndarray) -> None:
    """Makes the ranges uniform, before card removal."""
    for j in range(index(5)):
        ranges.chance.deck[index(FIRST_OF_BOARD) + j] = board[j]
    ranges.live[:] = True
    ranges.weight[:] = 1.0
    ranges.factor[:] = 1.0
    ranges.bucket[:] = 0


@jit(inner=True)
def _deal_street(stack: StrategyStack, ranges: RangeWorkspace, street: int) -> None:
    """Deals the board of a street: card removal for its cards, and buckets of all holdings."""
    deck, n = ranges.chance.deck, index(ranges.weight.shape[1])
    if street == 1:
        for j in range(index(3)):
            remove_card(ranges, deck[index(FIRST_OF_BOARD) + j])
    elif street > 1:
        remove_card(ranges, deck[index(FIRST_OF_BOARD + 1 + street)])
    board = find_board(stack.cards, ranges.chance, street)
    ranges.mass[:] = 0.0
    for h in range(index(N_HOLDINGS)):
        if not ranges.live[h]:
            continue
        deck[ZERO], deck[ONE] = ranges.holdings[h, ZERO], ranges.holdings[h, ONE]
        before = index(ranges.bucket[h])
        bucket = index(bucket_of(stack.cards, ranges.chance, board, 0, street, before))
        for k in range(n):
            weight = ranges.weight[h, k] * ranges.factor[before, k]
            ranges.weight[h, k] = weight
            ranges.mass[bucket, k] += weight
        ranges.bucket[h] = bucket
    ranges.factor[:] = 1.0


@jit(inner=True)
def deal_streets(stack: StrategyStack, ranges: RangeWorkspace, street: int, last: int) -> int:
    """Deals the board of the streets after `street` up to `last`; returns the later of the two."""
    while street < last:
        street += 1
        _deal_street(stack, ranges, street)
    return street


@jit(inner=True)
def take_action(
    stack: StrategyStack, ranges: RangeWorkspace, street: int, node: int, action: int, least: float
) -> None:
    """Bayes' rule for an action at a node; every strategy takes it with probability `least` at
    least."""
    for b in range(index(stack.buckets[index(street)])):
        row = index(row_of(stack.first_row, node, np.int64(b)))
        for k in range(index(ranges.weight.shape[1])):
            share = max(stack.policy[row, action, k], least)
            ranges.factor[b, k] *= share
            ranges.mass[b, k] *= share


@jit
def predict_hand(
    stack: StrategyStack,
    decisions: SeatDecisions,
    board: np.ndarray,
    own: np.ndarray,
    shown: int,
    ranges: RangeWorkspace,
    predicted: np.ndarray,
    likelihood: np.ndarray,
) -> None:
    """Fills `predicted` (float64[d, 3, k]) with each model's action probabilities at the opponent's
    d decisions and `likelihood` (float64[k]) with the log likelihood of the hand. `own`: our two
    cards; `shown`: the opponent's holding at a showdown, or -1."""
    n = index(len(likelihood))
    reset_ranges(ranges, board)
    remove_card(ranges, own[ZERO])
    remove_card(ranges, own[ONE])
    likelihood[:] = 0.0
    predicted[:] = 0.0
    street = -1
    for d in range(index(len(decisions.node))):
        street = deal_streets(stack, ranges, street, decisions.street[d])
        node, action = index(decisions.node[d]), index(decisions.action[d])
        for b in range(index(stack.buckets[index(street)])):
            row = index(row_of(stack.first_row, node, np.int64(b)))
            for a in range(_THREE):
                for k in range(n):
                    predicted[d, a, k] += ranges.mass[b, k] * stack.policy[row, a, k]
        take_action(stack, ranges, street, node, action, MIN_PROBABILITY)
        for k in range(n):
            total = predicted[d, ZERO, k] + predicted[d, ONE, k] + predicted[d, index(2), k]
            for a in range(_THREE):
                predicted[d, a, k] /= total
            likelihood[k] += np.log(max(predicted[d, action, k], MIN_PROBABILITY))
    if shown >= 0:
        at = index(shown)
        bucket = index(ranges.bucket[at])
        for k in range(n):
            total = 0.0
            for b in range(index(len(ranges.mass))):
                total += ranges.mass[b, k]
            share = ranges.weight[at, k] * ranges.factor[bucket, k] / total
            likelihood[k] += np.log(max(share, MIN_PROBABILITY / N_HOLDINGS))


class Predictor:
    """k models of one game that predict an opponent, hand by hand."""

    def __init__(self, game: Game, models: list[Strategy]) -> None:
        self._game, self._k = game, len(models)
        self._stack = strategy_stack(game, models)
        self._ranges = new_range_workspace(self._stack)

    def predict(self, ending: Ending) -> tuple[SeatDecisions, np.ndarray, np.ndarray]:
        """The opponent's decisions in a hand, the predicted probabilities there (float64[d, 3, k]),
        and the log likelihood of the hand (float64[k])."""
        history, seat = ending.betting.history, 1 - ending.seat
        decisions = seat_decisions(self._game.rules.betting, history, seat)
        predicted, likelihood = np.empty((len(decisions.node), 3, self._k)), np.empty(self._k)
        shown = -1
        if ending.betting.folded == NO_FOLD and ending.shown is not None:
            shown = holding(ending.shown)
        own, board = np.array(ending.cards, dtype=np.int64), padded_board(ending.board)
        out = (self._ranges, predicted, likelihood)
        predict_hand(self._stack, decisions, board, own, shown, *out)
        return decisions, predicted, likelihood
