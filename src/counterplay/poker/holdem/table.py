"""A player of hold'em as a table: a row of probabilities for each public node and code, where the
code is what the player remembers of its buckets.

Strategies, the simple bots and Sparbot are of this kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadStrategy
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.abstraction.abstraction import Buckets, Cards, cards_of
from counterplay.poker.betting.betting import BettingTree
from counterplay.poker.holdem.game import HoldemRules


class Table(NamedTuple):
    """n public nodes, r rows. At the start of a street code = code · carry[street] + bucket, and
    the row at a node is `row_of` with the code in place of the bucket."""

    cards: Cards
    first_row: np.ndarray  # int32[n]: see `row_of`
    carry: np.ndarray  # int64[4]: 0 drops the buckets of earlier streets
    policy: np.ndarray  # float64[r, 3]: fold, call, raise


def new_table(
    buckets: Buckets, first_row: np.ndarray, carry: np.ndarray, policy: np.ndarray
) -> Table:
    """Returns a table over any buckets."""
    kinds = (np.int32, np.int64, np.float64)
    arrays = [
        np.ascontiguousarray(array, dtype=kind)
        for array, kind in zip((first_row, carry, policy), kinds, strict=True)
    ]
    return Table(cards_of(buckets), *arrays)


def strategy_table(strategy: Strategy) -> Table:
    """Returns a strategy of a hold'em game as a table."""
    rules_of(strategy)
    return form_table(strategy)


def form_table(strategy: Strategy) -> Table:
    """Returns a strategy of any game of betting × cards as a table."""
    form, slots = strategy.game.form, strategy.game.rules.slots()
    policy = np.where(slots >= 0, strategy.probabilities[slots], 0.0)
    return Table(form.cards, form.first_row, np.zeros(4, dtype=np.int64), policy)


def same_codes(one: Table, other: Table) -> bool:
    """Returns whether two tables have the same card abstraction and the same memory."""
    return one.cards is other.cards and np.array_equal(one.carry, other.carry)


def code_counts(table: Table, tree: BettingTree) -> tuple[int, ...]:
    """Returns the number of codes on each street: rows of its decisions, which may share them."""
    nodes = tree.nodes
    starts, number = np.unique(table.first_row[nodes.node], return_inverse=True)
    rows = np.diff(np.append(starts, len(table.policy)))[number]
    streets = nodes.street[nodes.node]
    return tuple(int(rows[streets == s].min()) for s in range(tree.rules.n_streets))


def rules_of(strategy: Strategy) -> HoldemRules:
    rules: HoldemRules = strategy.game.rules
    if not strategy.game.can("bots"):
        raise BadStrategy(f"a strategy for {strategy.game.name} cannot play hold'em")
    return rules
