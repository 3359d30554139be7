"""The 13 × 13 grid of starting hands, pairs on the diagonal and suited hands above it: the pre-flop
policy of a hold'em strategy, and pictures of any probabilities by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    note = "<td>first action:</td>"
    return cells_html(_cells(preflop_grid(strategy)), ACTIONS, SHADES, note)


def draw_grid(strategy: Strategy | Table, betting: str = "", title: str = "") -> Any:
    """Returns the grid as a figure."""
    seat = "dealer" if len(betting) % 2 == 0 else "big blind"
    after = f"after {betting}" if betting else "first action"
    name = title or ("" if isinstance(strategy, Table) else strategy.game.name)
    cells = _cells(preflop_grid(strategy, betting))
    return draw_cells(cells, ACTIONS, SHADES, f"{name}: {seat}, {after}")


def _grid_cells() -> Iterator[tuple[int, int, str]]:
    """Yields row, column and label of each cell."""
    for row in range(13):
        for column in range(13):
            yield row, column, grid_label(row, column)


def _cells(grid: np.ndarray) -> dict[str, list[float]]:
    return {label: grid[row, column].tolist() for row, column, label in _grid_cells()}


def draw_cells(
    cells: Mapping[str, Sequence[float]], names: Sequence[str], shades: Sequence[str], title: str
) -> Any:
    """Returns a figure of classes of holdings; each cell is filled from the left by its shares of
    the actions `names`. A class that is not in `cells` stays empty."""
    from matplotlib.patches import Rectangle

    figure, axes = new_figure(1, 1, 7.2, 7.8)
    axis = axes[0, 0]
    axis.grid(False)
    axis.spines[:].set_visible(False)
    for row, column, label in _grid_cells():
        left, dark = column - 0.5, 0.0
        for share, shade in zip(cells.get(label, ()), shades, strict=False):
            axis.add_patch(Rectangle((left, row - 0.5), share, 1.0, color=shade, linewidth=0))
            left += share
            dark += share * (shade == SHADES[-1])
        colour = "white" if dark > 0.5 else "black" if label in cells else "#aaaaaa"
        axis.text(column, row, label, ha="center", va="center", fontsize=8, color=colour)
    axis.set(xlim=(-0.5, 12.5), ylim=(12.5, -0.5), xticks=[], yticks=[], aspect="equal")
    for k in range(14):
        axis.axhline(k - 0.5, color="white", linewidth=1)
        axis.axvline(k - 0.5, color="white", linewidth=1)
    keys = [Rectangle((0, 0), 1, 1, color=shade) for shade in shades]
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01)}
    axis.legend(keys, names, ncols=len(names), frameon=False, fontsize=8, **place)
    axis.set_title(title, fontsize=11)
    return figure


def cells_html(
    cells: Mapping[str, list[float]], names: Sequence[str], shades: Sequence[str], note: str = ""
) -> str:
    """Returns the same as an HTML table; `note` stands before the names."""
    rows = [""] * 13
    for row, _, label in _grid_cells():
        shown = (cells[label], shades) if label in cells else ([1.0], ["white"])
        rows[row] += mixed_cell(label, *shown)
    keys = zip(names, shades, strict=True)
    key = "".join(mixed_cell(name, [1.0], [shade]) for name, shade in keys)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{body}</table><table><tr>{note}{key}</tr></table>"
