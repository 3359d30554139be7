"""The value of each action of one holding against a player given as a `Table`, when the best action
is taken at every later decision.

The opponent's holdings are weighted by the probability with which its strategy reaches the
decision. From a decision on, every holding of the opponent is followed at once; where next cards
are dealt, all of them or a sample are averaged.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.poker.betting.betting import ACTIONS, LIMIT, NO_FOLD, betting_tree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strengths
from counterplay.poker.holdem.holdings import action_probabilities, bucket_codes, canonical_board
from counterplay.poker.holdem.table import Table

_CARDS = HOLDING_CARDS.astype(np.int64)


class BestActionSearch:
    """Best-response values of the holding `own` in `seat` against `table`, in small bets.

    `path`: the public nodes of the hand so far. `samples`: by number of cards on the board, how
    many next cards are sampled; all of them where it has no entry. Values are sums over the
    opponent's holdings, weighted, and count from the start of the hand.
    """

    def __init__(
        self,
        table: Table,
        seat: int,
        own: tuple[int, int],
        path: list[int],
        samples: dict[int, int],
    ) -> None:
        self._table, self._seat, self._own = table, seat, own
        self._path, self._samples = path, samples
        self._tree = betting_tree(LIMIT)
        self._codes: dict[tuple[tuple[int, ...], int], np.ndarray] = {}
        self._outcomes: dict[tuple[int, ...], np.ndarray] = {}
        self._rng = np.random.default_rng(1)

    def action_values(self, node: int, board: tuple[int, ...]) -> list[float]:
        """Returns the value of each legal action at a node of `seat`, from here on."""
        weight = self.reach(node, board)
        total, count = float(weight.sum()), len(self._tree.actions[node])
        if total <= 0:
            return [0.0] * count
        first = int(self._tree.nodes.first_child[node])
        paid = self._tree.states[node].paid[self._seat]
        return [self.value(first + k, board, weight) / total + paid for k in range(count)]

    def reach(self, node: int, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: probability that the opponent reaches `node` with each holding."""
        weight = canonical_board(board).free.astype(np.float64)
        weight[np.isin(_CARDS, self._own).any(axis=1)] = 0.0
        for at, child in pairwise(self._path):
            if at == node:
                break
            if self._tree.nodes.player[at] != self._seat:
                name = self._tree.actions[at][child - int(self._tree.nodes.first_child[at])]
                dealt = board[: self._tree.states[at].on_board]
                weight *= self._probabilities(dealt, at)[:, ACTIONS.index(name)]
        return weight

    def value(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        """Returns the weighted value of a node when `seat` plays best from there on."""
        state = self._tree.states[node]
        if not state.over and state.on_board > len(board):
            return self._after_chance(node, board, weight)
        if state.over:
            return self._terminal(state, board, weight)
        first = int(self._tree.nodes.first_child[node])
        names = self._tree.actions[node]
        if state.player() == self._seat:
            return max(self.value(first + k, board, weight) for k in range(len(names)))
        probabilities = self._probabilities(board, node)
        total = 0.0
        for k, name in enumerate(names):
            part = weight * probabilities[:, ACTIONS.index(name)]
            if part.any():
                total += self.value(first + k, board, part)
        return total

    def _probabilities(self, board: tuple[int, ...], node: int) -> np.ndarray:
        street = int(self._tree.nodes.street[node])
        if (board, street) not in self._codes:
            self._codes[board, street] = bucket_codes(self._table, board, street)
        return action_probabilities(self._table, node, self._codes[board, street])

    def _after_chance(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        """The mean over the next cards, all or sampled."""
        left = [card for card in range(N_CARDS) if card not in board and card not in self._own]
        size, cards = self._samples.get(len(board)), left
        if size is not None:
            cards = self._rng.choice(left, size=size, replace=False).tolist()
        total = 0.0
        for card in cards:
            possible = weight.copy()
            possible[np.equal(_CARDS, card).any(axis=1)] = 0.0
            total += self.value(node, (*board, card), possible)
        return total * len(left) / len(cards) / (N_CARDS - 4 - len(board))

    def _terminal(self, state: Any, board: tuple[int, ...], weight: np.ndarray) -> float:
        stake = float(min(state.paid))
        if state.folded != NO_FOLD:
            return float(weight.sum()) * (-stake if state.folded == self._seat else stake)
        return stake * float(weight @ self._outcome(board))

    def _outcome(self, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: +1 where the own holding wins the showdown, -1 where it loses."""
        if board not in self._outcomes:
            hands = np.empty((N_HOLDINGS + 1, 7), dtype=np.int64)
            hands[:, 2:] = board
            hands[:-1, :2], hands[-1, :2] = _CARDS, self._own
            out = np.empty(len(hands), dtype=np.int64)
            strengths(hands, np.zeros(4, dtype=np.int64), out)
            self._outcomes[board] = np.sign(out[-1] - out[:-1]).astype(np.float64)
        return self._outcomes[board]
