"""A hand seen by all 1,326 holdings at once, with k strategies side by side: what kernels share
that ask how likely each strategy made what was done (`predict.py`, `poker/adaptive/bandit.py`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import ACTIONS, BettingRules, betting_tree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_of, find_board, new_deal
from counterplay.poker.holdem.table import strategy_table

NOT_SHOWN = -1


class Panel(NamedTuple):
    """k strategies of one hold'em game, side by side: r rows."""

    cards: Any
    first_row: np.ndarray  # int32[n]
    policy: np.ndarray  # float64[r, 3, k]


class Line(NamedTuple):
    """d decisions of one seat in a hand."""

    node: np.ndarray  # int64[d]
    action: np.ndarray  # int64[d]: 0 fold, 1 call, 2 raise
    street: np.ndarray  # int64[d]
    cost: np.ndarray  # float64[d]: what folding there loses; NaN where it is not legal


class Weighing(NamedTuple):
    """Scratch."""

    weight: np.ndarray  # float64[1326, k]
    bucket: np.ndarray  # int64[1326]
    holdings: np.ndarray  # int64[1326, 2]
    chance: Deal


def panel(game: Game, strategies: list[Strategy]) -> Panel:
    """Strategies of one game as one array."""
    for strategy in strategies:
        check_same_game(game, strategy)
        if strategy.player is not None:
            raise BadStrategy("a strategy for one seat cannot be weighed; respond in both seats")
    tables = [strategy_table(strategy) for strategy in strategies]
    policy = np.ascontiguousarray(np.stack([table.policy for table in tables], axis=2))
    return Panel(tables[0].cards, tables[0].first_row, policy)


def new_weighing(k: int) -> Weighing:
    return Weighing(
        np.zeros((N_HOLDINGS, k)),
        np.zeros(N_HOLDINGS, dtype=np.int64),
        HOLDING_CARDS.astype(np.int64),
        new_deal(),
    )


def board_of(board: tuple[int, ...]) -> np.ndarray:
    """int64[5]: NOT_SHOWN beyond what lies there."""
    found = np.full(5, NOT_SHOWN, dtype=np.int64)
    found[: len(board)] = board
    return found


@lru_cache(maxsize=1 << 15)
def line_of(rules: BettingRules, history: str, seat: int) -> Line:
    """The decisions of a seat on the way to `history`."""
    tree = betting_tree(rules)
    rows: list[tuple[int, int, int, float]] = []
    node = 0
    for letter in history.replace("/", ""):
        state = tree.states[node]
        action = next(name for name in tree.actions[node] if name[0] == letter)
        if state.player() == seat:
            facing = state.paid[seat] < state.paid[1 - seat]
            cost = state.paid[seat] if facing else np.nan
            rows.append((node, ACTIONS.index(action), state.round, cost))
        node = tree.moves[node][action]
    table = np.array(rows).reshape(-1, 4)
    node_of, action_of, street = (
        np.ascontiguousarray(table[:, k], dtype=np.int64) for k in range(3)
    )
    return Line(node_of, action_of, street, np.ascontiguousarray(table[:, 3]))


@jit(inner=True)
def take_out(weighing: Weighing, card: int) -> None:
    """No holding has this card."""
    for h in range(index(N_HOLDINGS)):
        if weighing.holdings[h, ZERO] == card or weighing.holdings[h, ONE] == card:
            for k in range(index(weighing.weight.shape[1])):
                weighing.weight[h, k] = 0.0


@jit(inner=True)
def begin(weighing: Weighing, board: np.ndarray) -> None:
    """Every holding as likely as any other."""
    for j in range(index(5)):
        weighing.chance.deck[index(FIRST_OF_BOARD) + j] = board[j]
    for h in range(index(N_HOLDINGS)):
        for k in range(index(weighing.weight.shape[1])):
            weighing.weight[h, k] = 1.0


@jit
def reach_street(panel: Panel, weighing: Weighing, street: int) -> None:
    """The board of a street is dealt: holdings that have its cards go, the others have buckets."""
    deck = weighing.chance.deck
    if street == 1:
        for j in range(index(3)):
            take_out(weighing, deck[index(FIRST_OF_BOARD) + j])
    elif street > 1:
        take_out(weighing, deck[index(FIRST_OF_BOARD + 1 + street)])
    board = find_board(panel.cards, weighing.chance, street)
    for h in range(index(N_HOLDINGS)):
        deck[ZERO], deck[ONE] = weighing.holdings[h, ZERO], weighing.holdings[h, ONE]
        weighing.bucket[h] = bucket_of(panel.cards, weighing.chance, board, 0, street)
