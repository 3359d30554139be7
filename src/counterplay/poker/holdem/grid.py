"""The pre-flop policy of a hold'em strategy on the 13 × 13 grid of starting hands: pairs on the
diagonal, suited hands above it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.display import mixed_cell
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.plotting import new_figure, save_figure
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, LIMIT, betting_tree, row_of
from counterplay.poker.cards.cards import RANKS, holding
from counterplay.poker.holdem.table import Table, strategy_table

#: Light, middle and dark, distinct in grey as well.
SHADES = ("#e8e8e8", "#56b4e9", "#0b3c5d")


def grid_label(row: int, column: int) -> str:
    """Returns the label of a cell, such as `AA`, `AKs` or `AKo`, aces first."""
    high, low = (RANKS[12 - min(row, column)], RANKS[12 - max(row, column)])
    return high + low + ("" if row == column else "s" if row < column else "o")


def preflop_grid(strategy: Strategy | Table, betting: str = "") -> np.ndarray:
    """Returns float64[13, 13, 3]: probabilities of fold, call and raise after `betting` (letters
    such as r or cr), aces first. A `Table` is one of the betting rules `LIMIT`."""
    if isinstance(strategy, Table):
        table, tree = strategy, betting_tree(LIMIT)
    elif strategy.game.can("grid"):
        table, tree = strategy_table(strategy), strategy.game.rules.tree
    else:
        raise BadParameter(
            "the grid of starting hands is for hold'em, "
            f"and this is a strategy for {strategy.game.name}"
        )
    choices = [tree.histories[k] for k in tree.nodes.node if tree.nodes.street[k] == 0]
    if betting not in choices:
        raise BadParameter(
            f"no decision before the flop after {betting!r}; there are "
            f"{', '.join(repr(c) for c in choices)}"
        )
    node, preflop = tree.histories.index(betting), table.cards.preflop
    grid = np.zeros((13, 13, 3))
    for row in range(13):
        for column in range(13):
            high, low = 12 - min(row, column), 12 - max(row, column)
            cards = (4 * high, 4 * low) if row < column else (4 * high, 4 * low + 1)
            bucket = int(preflop[holding(cards)])
            grid[row, column] = table.policy[row_of(table.first_row, node, bucket)]
    return grid


def plot_grid(
    strategy: Strategy | Table, path: str | Path, betting: str = "", title: str = ""
) -> None:
    """Saves the grid as a picture."""
    save_figure(draw_grid(strategy, betting, title), Path(path))


def grid_html(strategy: Strategy) -> str:
    """Returns the grid of the first action as an HTML table."""
    grid = preflop_grid(strategy)
    rows = "".join(
        "<tr>"
        + "".join(
            mixed_cell(grid_label(row, column), grid[row, column].tolist(), SHADES)
            for column in range(13)
        )
        + "</tr>"
        for row in range(13)
    )
    key = "".join(
        mixed_cell(name, [1.0], [shade]) for name, shade in zip(ACTIONS, SHADES, strict=True)
    )
    return f"<table>{rows}</table><table><tr><td>first action:</td>{key}</tr></table>"


def draw_grid(strategy: Strategy | Table, betting: str = "", title: str = "") -> Any:
    """Returns the grid as a figure; each cell is filled from the left by fold, call and raise."""
    grid = preflop_grid(strategy, betting)
    seat = "dealer" if len(betting) % 2 == 0 else "big blind"
    figure, axes = new_figure(1, 1, 7.2, 7.8)
    axis = axes[0, 0]
    axis.grid(False)
    axis.spines[:].set_visible(False)
    for row in range(13):
        for column in range(13):
            left = column - 0.5
            for share, shade in zip(grid[row, column], SHADES, strict=True):
                axis.add_patch(_box(left, row - 0.5, share, shade))
                left += share
            colour = "white" if grid[row, column, 2] > 0.5 else "black"
            label = grid_label(row, column)
            axis.text(column, row, label, ha="center", va="center", fontsize=8, color=colour)
    axis.set(xlim=(-0.5, 12.5), ylim=(12.5, -0.5), xticks=[], yticks=[], aspect="equal")
    for k in range(14):
        axis.axhline(k - 0.5, color="white", linewidth=1)
        axis.axvline(k - 0.5, color="white", linewidth=1)
    handles = [_box(0, 0, 1, shade) for shade in SHADES]
    axis.legend(
        handles, ACTIONS, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False
    )
    after = f"after {betting}" if betting else "first action"
    name = title or ("" if isinstance(strategy, Table) else strategy.game.name)
    axis.set_title(f"{name}: {seat}, {after}", fontsize=11)
    return figure


def _box(left: float, bottom: float, width: float, shade: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((left, bottom), width, 1.0, facecolor=shade, edgecolor="none")
