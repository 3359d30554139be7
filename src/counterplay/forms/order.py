"""Another numbering of a form, and arrays on the way from one to the other.

The entries of a row keep the order that they have in the game, and so do the slots of an
information set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.forms.sequence import Side


class Order(NamedTuple):
    """Another numbering of a treeplex: the game's numbers, in the new order."""

    infosets: np.ndarray  # int64[m]
    slots: np.ndarray  # int64[s]

    def sequences(self) -> np.ndarray:
        """int64[s + 1]"""
        return np.append(0, self.slots + 1)

    def take(self, array: np.ndarray) -> np.ndarray:
        """A copy, in this order, of an array that is in the game's."""
        found: np.ndarray = array[self._of(array)]
        return found

    def give(self, mine: np.ndarray, out: np.ndarray) -> None:
        """Fill `out`, which is in the game's order, from an array that is in this one."""
        out[self._of(out)] = mine

    def _of(self, array: np.ndarray) -> np.ndarray:
        """The length tells: of as many slots as information sets each set has one, and their
        orders are the same."""
        known = (self.slots, self.sequences(), self.infosets, np.empty(0, dtype=np.int64))
        return next(order for order in known if len(order) == len(array))


def order_of(side: Side, infosets: np.ndarray) -> Order:
    """The order in which the information sets are these."""
    counts = np.diff(side.first)[infosets]
    first = np.append(0, np.cumsum(counts))
    return Order(infosets, _ranges(side.first[infosets], counts, first))


def _ranges(begin: np.ndarray, counts: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Ranges of so many numbers, one behind the other, the k-th at `place[k]`."""
    return np.repeat(begin - place[:-1], counts) + np.arange(place[-1])


def renumbered(side: Side, order: Order, other: Order) -> Side:
    """A side in another order of its own and of the other's sequences."""
    sequences = order.sequences()
    sizes = np.diff(side.row)[sequences]
    row = np.append(0, np.cumsum(sizes))
    entries = _ranges(side.row[sequences], sizes, row)
    return Side(
        parent=_inverse(sequences)[side.parent[order.infosets]],
        first=np.append(0, np.cumsum(np.diff(side.first)[order.infosets])).astype(np.int32),
        row=row,
        column=_inverse(other.sequences())[side.column[entries]],
        value=side.value[entries],
        floor=order.take(side.floor),
    )


def _inverse(order: np.ndarray) -> np.ndarray:
    found = np.empty(len(order), dtype=np.int32)
    found[order] = np.arange(len(order))
    return found
