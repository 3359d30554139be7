"""What the players of a position do, as tables of kernels.

A `Part` is one player's: of every node of a lossless spot, or with rows of the river (`rows.py`). A
`PositionStrategy` is two of them, where a `Strategy` with a number for every holding on every board
would not fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.processes import cores
from counterplay.poker.spots.columns import ACTIONS, BASE, BY_ROW, SIZE
from counterplay.poker.spots.engine import SpotTraversal
from counterplay.poker.spots.kernels import BEST, Tables
from counterplay.poker.spots.layout import Rows, SpotLayout


class Part(NamedTuple):
    """One player's: a table that gives its probabilities by regret matching."""

    table: np.ndarray
    rows: Rows | None = None


@dataclass(frozen=True)
class PositionStrategy:
    """Both players' parts, on the board and with the ranges of a spot."""

    game: Game
    parts: tuple[Part, Part] = field(repr=False)
    layout: SpotLayout = field(repr=False)  # with the rows of both

    def probabilities_at(self, node: int, board: int) -> np.ndarray:
        """float64[holdings, actions]: at a node on a board of its street."""
        column, player = self.layout.form.nodes[node], int(self.layout.tree.player[node])
        kernel, count = self.layout.sides[player].kernel, int(column[ACTIONS])
        rows, low = len(kernel.cards), int(column[BASE]) + board * int(column[SIZE])
        if column[BY_ROW]:
            first, rows = kernel.span[board].tolist()
            low = int(column[BASE]) + count * first
        table = self.parts[player].table[low : low + count * rows].astype(np.float64)
        shares = matched_regrets(table.reshape(count, rows)).T
        return shares[kernel.row[board]] if column[BY_ROW] else shares


def position_strategy(game: Game, one: Part, two: Part) -> Strategy | PositionStrategy:
    """A strategy of both parts: a `Strategy` if neither has rows."""
    layout: SpotLayout = game.rules.layout
    if one.rows is None and two.rows is None:
        return Strategy.from_weights(game, layout.slots(one.table, two.table))
    return PositionStrategy(game, (one, two), layout.with_rows(one.rows, two.rows))


def part_of(strategy: Strategy | PositionStrategy, player: int) -> Part:
    """One player's part of a strategy."""
    if isinstance(strategy, PositionStrategy):
        return strategy.parts[player]
    layout: SpotLayout = strategy.game.rules.layout
    return Part(layout.table(player, strategy.probabilities, np.float64))


def best_values(layout: SpotLayout, player: int, part: Part) -> np.ndarray:
    """[holdings]: what a best response to a player's part gets with each holding of the other, in a
    spot whose other player may hold what `layout` says."""
    rows = (part.rows, None) if player == 0 else (None, part.rows)
    traversal = SpotTraversal(layout.with_rows(*rows), "double", cores())
    source, none = part.table.astype(np.float64, copy=False), np.zeros(0)
    known, free = Tables(source, none), Tables(none, none)
    values = traversal.run(1 - player, (known, free) if player == 0 else (free, known), BEST)
    return values.copy()


def spot_exploitability(strategy: Strategy | PositionStrategy) -> float:
    """What both players can gain by deviating from a strategy of a spot without rake: b1 + b2."""
    layout: SpotLayout = strategy.game.rules.layout
    gained = [
        best_values(layout, player, part_of(strategy, player)) @ layout.sides[1 - player].weight
        for player in (0, 1)
    ]
    return float(sum(gained)) / layout.total_weight


def matched_regrets(regret: np.ndarray) -> np.ndarray:
    """[actions, holdings]: regret matching."""
    share = np.maximum(regret, 0.0)
    total = share.sum(axis=0)
    return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / len(share))
