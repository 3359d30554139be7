"""The value of each action at a decision of hold'em, for every holding at once, when both players
go on as their tables say: exact on the river, on the turn from sampled rivers.

Values are those of the player who acts, in small bets, from the decision on: folding there is worth
0. Public nodes below the decision are traversed once for a board: the opponent's reach goes down,
terminal values of all nodes are one matrix product, and the player's values come back up.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, NO_FOLD, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strengths
from counterplay.poker.holdem.holdings import (
    BOARD_SIZE,
    action_probabilities,
    bucket_codes,
    canonical_board,
)
from counterplay.poker.holdem.table import Table

_CARDS = HOLDING_CARDS.astype(np.int64)
SAMPLED_RIVERS, SEED = 12, 1


class ActionValues(NamedTuple):
    """Values of k actions. `weight`: how often the opponent meets each holding here, up to a
    factor, which is 0 where the board blocks it."""

    actions: list[str]
    value: np.ndarray  # float64[k, 1326]; NaN where the weight is 0
    weight: np.ndarray  # float64[1326]
    boards: int  # sampled; 0: exact


def action_values(
    tree: BettingTree, own: Table, other: Table, path: list[int], board: tuple[int, ...]
) -> ActionValues:
    """The values at the last node of `path`, the public nodes of the hand so far. `own`, `other`:
    what the player who acts and the opponent play, before and after."""
    node = path[-1]
    if len(board) < BOARD_SIZE[2]:
        raise BadParameter("values of actions are computed on the turn and the river")
    seat = int(tree.nodes.player[node])
    reach = canonical_board(board).free.astype(np.float64)
    for at, child in pairwise(path):
        if tree.nodes.player[at] != seat:
            reach = reach * _probabilities(tree, other, at, board)[:, _taken(tree, at, child)]
    search = _Search(tree, seat, own, other, np.random.default_rng(SEED))
    met = _compatible() @ reach * canonical_board(board).free
    first = int(tree.nodes.first_child[node])
    names = list(tree.actions[node])
    totals = [search.value(first + k, reach, board) for k in range(len(names))]
    paid = tree.states[node].paid[seat]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.array([np.where(met > 0, total / met + paid, np.nan) for total in totals])
    return ActionValues(names, value, met, search.boards)


def _taken(tree: BettingTree, at: int, child: int) -> int:
    return ACTIONS.index(tree.actions[at][child - int(tree.nodes.first_child[at])])


def _probabilities(tree: BettingTree, table: Table, at: int, board: tuple[int, ...]) -> np.ndarray:
    street = int(tree.nodes.street[at])
    codes = bucket_codes(table, board[: BOARD_SIZE[street]], street)
    return action_probabilities(table, at, codes)


@cache
def _compatible() -> np.ndarray:
    """float32[1326, 1326]: 1 where two holdings share no card."""
    shared = np.zeros((N_HOLDINGS, N_HOLDINGS), dtype=bool)
    for one in _CARDS.T:
        for two in _CARDS.T:
            shared |= one[:, None] == two[None, :]
    return np.logical_not(shared).astype(np.float32)


class _Search:
    """Values of one player's holdings below a decision."""

    def __init__(
        self, tree: BettingTree, seat: int, own: Table, other: Table, rng: np.random.Generator
    ) -> None:
        self._tree, self._seat, self._own, self._other, self._rng = tree, seat, own, other, rng
        self._next: dict[tuple[int, ...], list[int]] = {}  # cards that are dealt on a board
        self._won: dict[tuple[int, ...], np.ndarray] = {}  # by board
        self._policy: dict[tuple[int, int, tuple[int, ...]], np.ndarray] = {}

    @property
    def boards(self) -> int:
        """Sampled boards at showdowns."""
        return len(self._won) if self._next else 0

    def value(self, root: int, reach: np.ndarray, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: the sum over the opponent's holdings, weighted by `reach`."""
        tree, order, reaches = self._tree, [root], {root: reach}
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
        values = self._end_values(ends, reaches, board)
        for node in deals:
            values[node] = self._after_chance(node, reaches[node], board)
        for node in reversed(order):  # up
            if node in values:
                continue
            first, names = int(tree.nodes.first_child[node]), tree.actions[node]
            parts = [values[first + k] for k in range(len(names))]
            if tree.nodes.player[node] == self._seat:
                own = self._shares(self._own, node, board)
                parts = [
                    part * own[:, ACTIONS.index(name)]
                    for part, name in zip(parts, names, strict=True)
                ]
            values[node] = np.sum(parts, axis=0)
        return values[root]

    def _shares(self, table: Table, node: int, board: tuple[int, ...]) -> np.ndarray:
        key = id(table), node, board[: BOARD_SIZE[int(self._tree.nodes.street[node])]]
        if key not in self._policy:
            self._policy[key] = _probabilities(self._tree, table, node, board)
        return self._policy[key]

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
            matrix = self._outcomes(board) if shown else _compatible()
            sums = matrix @ np.stack([reaches[node] for node in nodes], axis=1).astype(np.float32)
            for k, node in enumerate(nodes):
                state = states[node]
                stake = float(min(state.paid))
                lost = not shown and state.folded == self._seat
                found[node] = (-stake if lost else stake) * sums[:, k].astype(np.float64)
        return found

    def _after_chance(self, node: int, reach: np.ndarray, board: tuple[int, ...]) -> np.ndarray:
        """The mean over the next cards: the same sample wherever this board is dealt on."""
        left = [card for card in range(N_CARDS) if card not in board]
        if board not in self._next:
            size = min(SAMPLED_RIVERS, len(left))
            self._next[board] = self._rng.choice(left, size=size, replace=False).tolist()
        total, cards = np.zeros(N_HOLDINGS), self._next[board]
        for card in cards:
            without = np.not_equal(_CARDS, card).all(axis=1)
            total += without * self.value(node, reach * without, (*board, card))
        # of the cards that neither player holds
        return total * len(left) / len(cards) / (N_CARDS - 4 - len(board))

    def _outcomes(self, board: tuple[int, ...]) -> np.ndarray:
        """float32[1326, 1326]: 1 where the row wins the showdown, -1 where it loses; 0 where
        holdings share a card."""
        if board not in self._won:
            hands = np.empty((N_HOLDINGS, 7), dtype=np.int64)
            hands[:, 2:], hands[:, :2] = board, _CARDS
            out = np.empty(N_HOLDINGS, dtype=np.int64)
            strengths(hands, np.zeros(4, dtype=np.int64), out)
            sign = np.sign(out[:, None] - out[None, :]).astype(np.float32)
            self._won[board] = sign * _compatible()
        return self._won[board]
