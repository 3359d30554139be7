"""Strategies of hold'em wrapped as functions of boards and betting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.betting.betting import ACTIONS, Betting
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.holdem.table import code_counts, form_table
from counterplay.poker.vector.board import HIGH, LOW
from counterplay.poker.vector.chance import DealtBoard
from counterplay.poker.vector.learner_tables import BucketRows

Function = Callable[[Any, Sequence[Betting]], Any]


def function_of(game: Game, strategy: cp.Strategy) -> Function:
    """Returns a strategy as the function of a `VectorPolicy`."""
    tree, table = game.rules.tree, form_table(strategy)
    node_of = {history: node for node, history in enumerate(tree.histories)}
    rows = BucketRows(table.cards, code_counts(table, tree))
    bucket = np.zeros(N_HOLDINGS, dtype=np.int64)

    def policy(boards: np.ndarray, betting: Sequence[Betting]) -> np.ndarray:
        answer = np.zeros((len(betting), N_HOLDINGS, 3))
        for k, state in enumerate(betting):
            dealt = DealtBoard(tuple(boards[k].tolist()), 0, np.zeros(1, dtype=np.int64))
            rows.fill(state.round, dealt, bucket)
            row = table.first_row[node_of[state.history]] + bucket
            answer[k] = table.policy[np.clip(row, 0, len(table.policy) - 1)]
        return answer

    return policy


def network(library: Any, seed: int = 0, by_suit: bool = False) -> Function:
    """Returns a tiny network with random weights: ranks of the cards and the betting in, softmax
    over legal actions out. `library`: numpy or torch."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(6, 8)), rng.normal(size=(8, 3))
    order = np.sort(np.stack([LOW, HIGH]) // (1 if by_suit else 4), axis=0) / 12.0

    def policy(boards: Any, betting: Sequence[Betting]) -> Any:
        on_board = np.asarray(boards)
        ranks = (on_board // 4).sum(axis=1) / 30.0
        public = [[len(s.history) / 8, s.bets / 4, s.player()] for s in betting]
        legal = np.array([[a in s.actions() for a in ACTIONS] for s in betting])
        x = np.zeros((len(betting), N_HOLDINGS, 6))
        x[:, :, :2], x[:, :, 2] = order.T, ranks[:, None]
        x[:, :, 3:] = np.array(public)[:, None]
        if library is np:
            scores = np.tanh(x @ first) @ second
            weights = np.where(legal[:, None], np.exp(scores), 0.0)
            return weights / weights.sum(axis=2, keepdims=True)
        hidden = library.tanh(library.as_tensor(x) @ library.as_tensor(first))
        scores = hidden @ library.as_tensor(second).requires_grad_()
        mask = library.as_tensor(legal)[:, None].expand(scores.shape)
        return library.softmax(scores.masked_fill(~mask, -library.inf), dim=2)

    return policy
