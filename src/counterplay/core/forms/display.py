"""Displays of a strategy: a table with a row per action, a picture of bars, or the grid of starting
hands of a game that has one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.game import Game

MOST_BARS = 60  # information sets in a picture


class Row(NamedTuple):
    """One information set of a strategy, with labels."""

    player: int  # 0, 1, ..., as everywhere in code; as text player 1, player 2, ...
    infoset: str
    probabilities: dict[str, float]

    def __str__(self) -> str:
        shares = "  ".join(f"{action} {share:.3f}" for action, share in self.probabilities.items())
        player = numbered(self.player)
        label = "/".join(self.infoset.removeprefix(f"{player}: ").splitlines())
        return f"{player}  {label:<12}  {shares}"


class StrategyDisplay(Tabular):
    """The displays of a strategy."""

    game: Game
    probabilities: np.ndarray
    player: int | None

    @abstractmethod
    def row(self, i: int) -> Row:
        """The row of an information set, by its number."""

    @property
    def n_rows(self) -> int:
        """Information sets in its table."""
        return self.game.n_infosets

    def columns(self) -> Columns:
        """A row for each action of each information set."""
        columns = Columns(player=[], infoset=[], action=[], probability=[])
        for row in map(self.row, range(self.n_rows)):
            for action, share in row.probabilities.items():
                for column, cell in zip(columns.values(), (*row[:2], action, share), strict=True):
                    column.append(cell)
        return columns

    def _figure(self) -> Any:
        grid = getattr(self.game.rules, "draw_grid", None)
        return grid(self) if grid is not None else _draw_bars(self)

    def _repr_html_(self) -> str:
        seat = "" if self.player is None else f", for player {self.player + 1}"
        note = f"{self.n_rows:,} information sets{seat}"
        grid = getattr(self.game.rules, "grid_html", None)
        body = grid(self) if grid is not None else _html_rows(self)
        return display.heading(self.game.name, note) + body


def _html_rows(strategy: Any) -> str:
    n = strategy.n_rows
    rows = [strategy.row(i) for i in range(min(n, display.SHOWN_ROWS))]
    cells = [
        [
            f"player {row.player + 1}",
            row.infoset,
            display.Html(
                " ".join(
                    f"{display.text(action)} {display.bar(share)}"
                    for action, share in row.probabilities.items()
                )
            ),
        ]
        for row in rows
    ]
    return display.table(["", "information set", "probabilities"], cells, n)


def _draw_bars(strategy: Any) -> Any:
    from counterplay.core.base.plotting import COLOURS, new_figure

    n = strategy.n_rows
    if n > MOST_BARS:
        raise BadParameter(
            f"{strategy.game.name} has {n:,} information sets, too many for one picture "
            f"({MOST_BARS} at most); take to_frame()"
        )
    rows = [strategy.row(i) for i in range(n)]
    figure, axes = new_figure(1, 1, 7.0, 1.0 + 0.28 * n)
    axis = axes[0, 0]
    named: dict[str, str] = {}
    for y, row in enumerate(rows):
        left = 0.0
        for action, share in row.probabilities.items():
            colour = named.setdefault(action, COLOURS[len(named) % len(COLOURS)])
            axis.barh(y, share, left=left, color=colour, edgecolor="white", label=action)
            left += share
    labels = [f"player {row.player + 1}: {row.infoset}" for row in rows]
    axis.set(yticks=range(n), yticklabels=labels, xlim=(0, 1), xlabel="probability")
    axis.invert_yaxis()
    axis.grid(False)
    handles, names = axis.get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    axis.legend(
        once.values(), once, frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1)
    )
    return figure
