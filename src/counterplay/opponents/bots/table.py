"""Bots that are tables: a row of probabilities for each public node and what the player remembers of his buckets.

A saved strategy, the simple bots and Sparbot are of this kind. Two of them play each other inside one kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.base.errors import BadStrategy
from counterplay.forms.strategy import Strategy
from counterplay.holdem.betting import ACTIONS, betting_actions, betting_tree
from counterplay.holdem.buckets import Buckets, look_up
from counterplay.holdem.form import HAND_SIZE, bucket_of, find_board
from counterplay.holdem.tables import board_links
from counterplay.kernels.jit import ZERO, index, jit
from counterplay.kernels.rng import check_seed, new_state, seed_state, uniform
from counterplay.opponents.bots.bot import Bot, View


class Table(NamedTuple):
    """n public nodes, r rows. At the start of a round code = code · carry[round] + bucket; the row is first_row[node] + code."""

    preflop: np.ndarray  # these four as in `LookUp`
    early: np.ndarray
    river: np.ndarray
    river_count: np.ndarray
    first_row: np.ndarray  # int64[n]
    carry: np.ndarray  # int64[4]: 0 forgets earlier rounds
    policy: np.ndarray  # float64[r, 3]: fold, call, raise


def new_table(
    buckets: Buckets, first_row: np.ndarray, carry: np.ndarray, policy: np.ndarray
) -> Table:
    """A table over any buckets."""
    kinds = (np.int64, np.int64, np.float64)
    arrays = [
        np.ascontiguousarray(array, dtype=kind)
        for array, kind in zip((first_row, carry, policy), kinds, strict=True)
    ]
    return Table(*look_up(buckets), *arrays)


@jit
def _row_of(
    table: Table,
    flops: np.ndarray,
    next_boards: np.ndarray,
    hand: np.ndarray,
    rounds: int,
    node: int,
) -> int:
    """The row of the player whose cards lie first in `hand`."""
    code = 0
    for k in range(rounds + 1):
        board = find_board(flops, next_boards, hand, k) if k > 0 else 0
        code = code * table.carry[k] + bucket_of(table, hand, board, 0, k)
    return int(table.first_row[index(node)] + code)


@jit
def _draw(policy: np.ndarray, row: int, rng: np.ndarray) -> int:
    """An action of a row: 0 fold, 1 call, 2 raise."""
    u = uniform(rng)
    if u < policy[row, 0]:
        return 0
    u -= policy[row, 0]
    return 1 if u < policy[row, 1] or policy[row, 2] == 0.0 else 2


class TableBot(Bot):
    """A bot that plays a table. `player`: the only seat it is meant for, as in `Strategy`; None for both."""

    player: int | None = None

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self.table = table
        self._hand = np.zeros(HAND_SIZE, dtype=np.int64)
        self._rng = new_state(0)

    def start(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        seed_state(check_seed(seed), ZERO, self._rng)

    def act(self, view: View) -> str:
        self._hand[:2] = view.cards
        self._hand[4 : 4 + len(view.board)] = view.board
        row = _row_of(self.table, *board_links(), self._hand, view.betting.round, view.node)
        return ACTIONS[_draw(self.table.policy, row, self._rng)]


def strategy_table(strategy: Strategy) -> Table:
    """A strategy on a hold'em game as a table."""
    rules = strategy.game.rules
    if not strategy.game.abilities.bots:
        raise BadStrategy(f"a strategy for {strategy.game.name} cannot play hold'em")
    tree, form = betting_tree(), strategy.game.form
    first_row = np.where(tree.decision >= 0, tree.decision.astype(np.int64) * rules.n_buckets, 0)
    policy = np.zeros((form.n_infosets, len(ACTIONS)))
    names = betting_actions()
    for node in tree.node.tolist():
        low = tree.decision[node] * rules.n_buckets
        columns = [ACTIONS.index(action) for action in names[node]]
        slots = slice(form.first[low], form.first[low + rules.n_buckets])
        policy[low : low + rules.n_buckets, columns] = strategy.probabilities[slots].reshape(
            rules.n_buckets, len(columns)
        )
    return Table(
        form.preflop,
        form.early,
        form.river,
        form.river_count,
        first_row,
        np.zeros(4, dtype=np.int64),
        policy,
    )


def strategy_bot(strategy: Strategy, name: str = "") -> TableBot:
    """A strategy as a bot."""
    bot = TableBot(name or strategy.game.name, strategy_table(strategy))
    bot.player = strategy.player
    return bot
