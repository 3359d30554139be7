"""Tables of the river by rows: holdings of a player that share a row on a board act alike there.

What a spot takes is nearly all for the river, with a number for every holding on every board. Two
of equal strength there are nearly the same: they win against the same holdings and differ only in
the cards that they take from the other player. So rows by strength (`strength_rows`) are a tenth of
the holdings, and cost little. They abstract from what a holding was on earlier streets, so regrets
are those of an information set without perfect recall: the sum over its holdings.

Payoffs, reach and best responses have a number for every holding as before: values of a strategy
with rows are those in the spot itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterplay.poker.spots.cards import SpotSide
from counterplay.poker.spots.layout import Rows, SpotLayout
from counterplay.poker.spots.showdowns import HOLDING, RANK


def strength_rows(side: SpotSide) -> Rows:
    """A row for each strength on a board; the last is of holdings that share a card with it."""
    order, rank = (side.kernel.ranked[:, which, :-1] for which in (HOLDING, RANK))
    number = np.zeros(rank.shape, dtype=np.int16)
    np.cumsum(np.diff(rank, axis=1) > 0, axis=1, out=number[:, 1:])
    row = np.empty_like(number)
    np.put_along_axis(row, order.astype(np.int64), number, axis=1)
    many = number[:, -1].astype(np.int64) + 1
    return Rows(row, np.column_stack([np.cumsum(many) - many, many]))


def shared_rows(
    layout: SpotLayout, player: int, codes: Callable[[np.ndarray], np.ndarray], many: int
) -> Rows:
    """One table for all boards: the rows, below `many`, that `codes` returns for all holdings of
    hold'em on a board. Those that share a card with it are in the first."""
    rivers = layout.boards.dealt[int(layout.boards.first[-2]) :]
    side = layout.sides[player]
    row = np.zeros((len(rivers), len(side.holding)), dtype=np.int16)
    for r, river in enumerate(rivers):
        live = ~np.isin(side.kernel.cards[:, :2], river).any(axis=1)
        row[r, live] = codes(river)[side.holding[live]]
    return Rows(row, np.tile(np.array([[0, many]]), (len(rivers), 1)))
