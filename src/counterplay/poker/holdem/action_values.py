"""The value of each action at a decision of hold'em, for every holding at once, when both players
go on as their tables say. Exact, on the turn and the river.

Values are those of the player who acts, in small bets, from the decision on: folding there is worth
0. Public nodes below the decision are traversed once for a board: the opponent's reach goes down,
terminal values of all nodes are one matrix product, and the player's values come back up.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, FOLD, NO_FOLD, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strengths_of_hands
from counterplay.poker.holdem.holdings import (
    BOARD_SIZE,
    action_probabilities,
    bucket_codes,
    canonical_board,
    reach_of,
)
from counterplay.poker.holdem.table import Table

_CARDS = HOLDING_CARDS.astype(np.int64)


class ActionValues(NamedTuple):
    """Values of k actions. `weight`: how often the opponent meets each holding here, up to a
    factor, which is 0 where the board blocks it."""

    actions: list[str]
    value: np.ndarray  # float64[k, 1326]; NaN where the weight is 0
    weight: np.ndarray  # float64[1326]


def action_values(
    tree: BettingTree, own: Table, other: Table, path: list[int], board: tuple[int, ...]
) -> ActionValues:
    """The values at the last node of `path`, the public nodes of the hand so far. `own`, `other`:
    what the player who acts and the opponent play, before and after."""
    node = path[-1]
    if len(board) < BOARD_SIZE[2]:
        raise BadParameter("values of actions are computed on the turn and the river")
    seat = int(tree.nodes.player[node])
    reach = reach_of(tree, other, path, 1 - seat, board)
    met = _compatible() @ reach * canonical_board(board).free
    first, names = int(tree.nodes.first_child[node]), list(tree.actions[node])
    starts = {first + k: reach for k in range(len(names)) if names[k] != FOLD}
    totals = _Subgame(tree, seat, own, other).values(starts, board)
    totals[first] = totals.get(first, -tree.states[node].paid[seat] * met)  # a fold
    paid = tree.states[node].paid[seat]
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = [totals[first + k] / met + paid for k in range(len(names))]
    return ActionValues(names, np.where(met > 0, np.array(rows), np.nan), met)


@cache
def _compatible() -> np.ndarray:
    """float32[1326, 1326]: 1 where two holdings share no card."""
    shared = np.zeros((N_HOLDINGS, N_HOLDINGS), dtype=bool)
    for one in _CARDS.T:
        for two in _CARDS.T:
            shared |= one[:, None] == two[None, :]
    return np.logical_not(shared).astype(np.float32)


class _Subgame:
    """Values of one player's holdings below a decision."""

    def __init__(self, tree: BettingTree, seat: int, own: Table, other: Table) -> None:
        self._tree, self._seat, self._own, self._other = tree, seat, own, other
        self._known: dict[tuple[int, int], np.ndarray] = {}  # codes by table and street

    def values(
        self, starts: dict[int, np.ndarray], board: tuple[int, ...]
    ) -> dict[int, np.ndarray]:
        """float64[1326] by node: the sum over the opponent's holdings, weighted by their reach
        there, which `starts` has."""
        tree, order, reaches = self._tree, list(starts), dict(starts)
        ends: list[int] = []
        deals: list[int] = []
        for node in order:  # down: children are appended
            state = tree.states[node]
            if state.over:
                ends.append(node)
            elif state.on_board > len(board):
                deals.append(node)
            else:
                first = int(tree.nodes.first_child[node])
                theirs = tree.nodes.player[node] != self._seat
                shares = self._shares(self._other, node, board) if theirs else None
                for k, name in enumerate(tree.actions[node]):
                    part = reaches[node]
                    if shares is not None:
                        part = part * shares[:, ACTIONS.index(name)]
                    reaches[first + k] = part
                    order.append(first + k)
        found = self._end_values(ends, reaches, board)
        found |= self._after_chance({node: reaches[node] for node in deals}, board)
        for node in reversed(order):  # up
            if node in found:
                continue
            first, names = int(tree.nodes.first_child[node]), tree.actions[node]
            parts = [found[first + k] for k in range(len(names))]
            if tree.nodes.player[node] == self._seat:
                own = self._shares(self._own, node, board)
                parts = [
                    part * own[:, ACTIONS.index(name)]
                    for part, name in zip(parts, names, strict=True)
                ]
            found[node] = np.sum(parts, axis=0)
        return found

    def _shares(self, table: Table, node: int, board: tuple[int, ...]) -> np.ndarray:
        key = id(table), int(self._tree.nodes.street[node])
        if key not in self._known:
            self._known[key] = bucket_codes(table, board[: BOARD_SIZE[key[1]]], key[1])
        return action_probabilities(table, node, self._known[key])

    def _end_values(
        self, ends: list[int], reaches: dict[int, np.ndarray], board: tuple[int, ...]
    ) -> dict[int, np.ndarray]:
        """Payoffs at terminal nodes, folds and showdowns in one product each."""
        states = self._tree.states
        found: dict[int, np.ndarray] = {}
        for shown in (False, True):
            nodes = [node for node in ends if (states[node].folded == NO_FOLD) == shown]
            if not nodes:
                continue
            matrix = _outcomes(board) if shown else _compatible()
            sums = matrix @ np.stack([reaches[node] for node in nodes], axis=1).astype(np.float32)
            for k, node in enumerate(nodes):
                state = states[node]
                stake = float(min(state.paid))
                lost = not shown and state.folded == self._seat
                found[node] = (-stake if lost else stake) * sums[:, k].astype(np.float64)
        return found

    def _after_chance(
        self, starts: dict[int, np.ndarray], board: tuple[int, ...]
    ) -> dict[int, np.ndarray]:
        """The mean over the rivers, of all nodes at once."""
        found = {node: np.zeros(N_HOLDINGS) for node in starts}
        for card in range(N_CARDS) if starts else ():
            if card in board:
                continue
            without = np.not_equal(_CARDS, card).all(axis=1)
            below = _Subgame(self._tree, self._seat, self._own, self._other)
            reaches = {node: reach * without for node, reach in starts.items()}
            values = below.values(reaches, (*board, card))
            for node in starts:
                found[node] += without * values[node] / (N_CARDS - 4 - len(board))
        return found


def _outcomes(board: tuple[int, ...]) -> np.ndarray:
    """float32[1326, 1326]: 1 where the row wins the showdown, -1 where it loses; 0 where holdings
    share a card."""
    hands = np.empty((N_HOLDINGS, 7), dtype=np.int64)
    hands[:, 2:], hands[:, :2] = board, _CARDS
    out = np.empty(N_HOLDINGS, dtype=np.int64)
    strengths_of_hands(hands, np.zeros(4, dtype=np.int64), out)
    rank = np.unique(out, return_inverse=True)[1].astype(np.float32)
    sign: np.ndarray = np.sign(rank[:, None] - rank[None, :])
    sign *= _compatible()
    return sign
