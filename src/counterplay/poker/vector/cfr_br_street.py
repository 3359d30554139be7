"""The kernels of one street of CFR-BR on a CUDA device, launched (`cfr_br_cuda.py`).

The values of terminals are *columns*. On the last street they come from products of matrices with
ranges, on tensor cores: holdings that the learner has played and plays alike form a class, one
matrix counts the holdings of each class that are weaker than a holding less the stronger ones,
another those that share no card with it (`cfr_br_kernels.py`).
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cfr_br_boards import BoardBatch, ClassBatch
from counterplay.poker.vector.cfr_br_source import CHUNK, street_source
from counterplay.poker.vector.cuda_columns import (
    SUMS,
    action_numbers,
    columns_of,
    range_columns,
    round_up,
)
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import Step

THREADS = 128
PARTS = 1  # numbers in half precision for each probability of a range: 2 for single precision
CHUNKS = 8  # parts in which the holdings of a row are summed


def reused_buffer(
    device: Any, buffers: dict[str, Any], name: str, shape: tuple[int, ...], dtype: Any
) -> Any:
    """Returns an array of this shape in memory that is reused under its name."""
    buffer, size = buffers.get(name), prod(shape)
    if buffer is None or buffer.size < size:
        buffer = buffers[name] = device.empty((size,), dtype)
    return buffer[:size].reshape(shape)


class ModelSeat(NamedTuple):
    """The part of the opponent that follows a model, on a street of a device."""

    street: CfrBrStreet
    words: Any  # as in `BoardBatch`, with the model's rows
    reach: Any


class CfrBrStreet:
    """The kernels of a street for a seat with `rows` rows; tables of single holdings are in single
    precision. `model_rows`: of the model that the seat's opponent follows in part; `fixed`: the
    seat learns nothing. Its starts are numbered without the unused lanes: `used[s]` is the group
    and lane of start s, as group · LANES + lane."""

    def __init__(
        self, device: Any, street: Street, rows: int, holdings: int, buckets: int = 0,
        model_rows: int = 0, fixed: bool = False,
    ) -> None:  # fmt: skip
        self.street, self.rows, self.holdings, self._device = street, rows, holdings, device
        groups, nodes = street.public_node.shape[:2]
        self.used = np.flatnonzero(street.public_node[:, 0].reshape(-1) >= 0)
        self.starts = len(self.used)
        single = rows == holdings
        source = street_source(
            street, self.starts, rows, holdings, single, PARTS, buckets, model_rows, fixed
        )
        self.kernel = device.compile(source)
        self._buffers: dict[str, Any] = {}
        self.final = len(street.onward) == 0
        by_start = street.payoff.transpose(0, 2, 1, 3).reshape(2, nodes, groups * LANES)
        self._payoff = [device.put(by_start[i][:, self.used].astype(np.float32)) for i in (0, 1)]
        self._chunks = CHUNKS if rows < holdings else 1
        plane = (rows, self.starts)
        self._policy = device.zeros((nodes - 1, *plane))
        self.path = [device.zeros((int(n), *plane)) for n in street.n_sequences]
        if fixed:
            return
        actions = [len(action_numbers(street, player)) for player in (0, 1)]
        self._collected = [  # values of actions, and own reach
            (device.zeros((self._chunks, n, *plane)), device.zeros((self._chunks, *plane)))
            for n in actions
        ]

    def new_table(self, blocks: int) -> Any:
        """Returns [blocks, nodes - 1, rows, starts] of zeros."""
        shape = (blocks, len(self.street.player) - 1, self.rows, self.starts)
        return self._device.zeros(shape, np.float32 if self.rows == self.holdings else np.float64)

    def _grid(self, y: int, z: int = 1) -> tuple[tuple[int, ...], tuple[int]]:
        return (-(-self.starts // THREADS), y, z), (THREADS,)

    def match_regrets(self, regret: Any, prior: tuple[Any, ...] = ()) -> None:
        """Fills the policy and the probabilities of action sequences; `prior`: to which regrets are
        shrunk, the bucket of each row, and the weight."""
        arguments = (regret, self._policy, *self.path, *prior)
        self.kernel("match_regrets")(*self._grid(self.rows), arguments)

    def learn_prior(
        self, player: int, rate: float, learner: BoardBatch, rows: Any, prior: Any
    ) -> None:
        """Moves the mean regrets of the learner's buckets towards what was collected."""
        self.kernel(f"learn_prior{player}")(
            *self._grid(prior.shape[1]),
            (self._collected[player][0], self._policy, learner.words, learner.member,
             learner.first, rows, np.float32(rate), prior),
        )  # fmt: skip

    def set_boards(self, boards: BoardBatch, classes: ClassBatch, most: int) -> None:
        """Fills the matrices of the last street's boards, which have at most so many classes."""
        n_boards, n = boards.words.shape
        width, self._n_classes = round_up(n), round_up(most)
        self._classes = classes
        self._strength = self._buffer(
            "strength", (n_boards, width + SUMS, self._n_classes), np.uint16
        )
        self._disjoint = self._buffer("disjoint", (n_boards, width, self._n_classes), np.uint16)
        self.kernel("meetings")(
            (-(-self._n_classes // THREADS), width + SUMS, n_boards), (THREADS,),
            (boards.words, boards.group_end, classes.member, classes.first, np.int32(n),
             np.int32(width), np.int32(self._n_classes), self._strength, self._disjoint),
        )  # fmt: skip

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        """Returns a buffer that is reused under its name."""
        return reused_buffer(self._device, self._buffers, name, shape, dtype)

    def columns(
        self, player: int, boards: BoardBatch, reach: Any, choice: Any, pure: bool,
        model: ModelSeat | None = None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Returns the columns of `player` against the seat whose rows these are, as `best` and
        `value` take them; if `pure`, that seat plays `choice`, or it follows a model."""
        name = f"{'pure' if pure else 'policy'}_columns{player}"
        if self.final and pure:
            return self._class_products(name, player, boards, reach, choice, model)
        if self.final:
            return self._holding_products(name, player, boards, reach)
        n_boards, n = boards.words.shape
        assert n_boards == 1, "a street without showdowns has one board"
        columns = len(columns_of(self.street, player).folds)
        by_card = self._buffer(f"by card {player}", (columns, N_CARDS, self.starts))
        out = self._buffer(f"columns {player}", (n, columns, self.starts))
        seat = (self.path[1 - player], choice, reach, self._payoff[player], np.int32(n))
        self.kernel(f"{name}_by_card")(
            *self._grid(N_CARDS, columns), (boards.words, boards.position, *seat, by_card)
        )
        self.kernel(name)(*self._grid(n, columns), (boards.words, *seat, by_card, out))
        if model is not None:
            with_rows = boards._replace(words=model.words)
            out += model.street.columns(player, with_rows, model.reach, choice, False)[0]
        return (out,)

    def _units(self, reach: Any) -> Any:
        """Returns the unit of reach at every start."""
        chunks = -(-self.holdings // CHUNK)
        largest = self._buffer("largest", (chunks, self.starts))
        units = self._buffer("units", (self.starts,))
        self.kernel("largest")(*self._grid(chunks), (reach, largest))
        self.kernel("find_units")(*self._grid(1), (largest, np.int32(chunks), units))
        return units

    def _ranges(self, name: str, boards: int, rows: int, columns: int) -> list[Any]:
        shape = (boards, rows, columns * round_up(self.starts))
        return [self._buffer(f"{name} {part}", shape, np.uint16) for part in range(PARTS)]

    def _product(self, name: str, left: Any, ranges: list[Any], part: slice, **how: Any) -> Any:
        """Returns the product of matrices with some columns of the ranges."""
        column = round_up(self.starts)
        picked = [array[:, :, part.start * column : part.stop * column] for array in ranges]
        rows = left.shape[2] if how.get("transposed") else left.shape[1]
        out = self._buffer(name, (len(left), rows, picked[0].shape[2]))
        factor = how.pop("factor", 1.0)
        for number, array in enumerate(picked):
            scaled = factor / 2048.0**number
            self._device.multiply(left, array, out, factor=scaled, add=number, **how)
        return out

    def _holding_products(
        self, name: str, player: int, boards: BoardBatch, reach: Any
    ) -> tuple[Any, ...]:
        """Returns what holdings win from classes at showdowns, and sums by card for folds."""
        (n_boards, n), columns = boards.words.shape, range_columns(self.street, player)
        width, classes, units = round_up(n), self._n_classes, self._units(reach)
        shown, all_ = len(columns.showdowns), len(columns.showdowns) + len(columns.folds)
        ranges = self._ranges("ranges of classes", n_boards, classes, all_)
        self.kernel(name)(
            *self._grid(classes, n_boards),
            (boards.words, self._classes.member, self._classes.first, self.path[1 - player], reach,
             units, np.int32(n), np.int32(classes), ranges[0], ranges[-1]),
        )  # fmt: skip
        products = self._product("products", self._strength, ranges, slice(0, shown))
        sums = self._product("sums", self._strength[:, width:], ranges, slice(shown, all_))
        seat = (ranges[0], ranges[-1], self._classes.class_of, units, self._payoff[player])
        return products, sums, *seat, np.int32(width), np.int32(classes)

    def _class_products(
        self, name: str, player: int, boards: BoardBatch, reach: Any, choice: Any,
        model: ModelSeat | None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Returns what classes win from holdings at showdowns, and meet at folds."""
        (n_boards, n), columns = boards.words.shape, range_columns(self.street, player)
        width = round_up(n)
        units = self._units(reach if model is None else reach + model.reach)
        followed: tuple[Any, ...] = ()
        if model is not None:
            followed = (model.words, model.street.path[1 - player], model.reach)
        shown, all_ = len(columns.showdowns), len(columns.showdowns) + len(columns.folds)
        ranges = self._ranges("ranges", n_boards, width, all_)
        self.kernel(name)(
            *self._grid(width, n_boards),
            (boards.words, choice, reach, units, np.int32(n), np.int32(width), ranges[0],
             ranges[-1], *followed),
        )  # fmt: skip
        products = self._product(
            "class products", self._strength[:, :width], ranges, slice(0, shown), factor=-1.0,
            transposed=True,
        )  # fmt: skip
        met = self._product(
            "met", self._disjoint, ranges, slice(columns.shared, all_), transposed=True
        )
        seat = (self._classes.first, units, self._payoff[player], np.int32(self._n_classes))
        return products, met, *seat

    def best(
        self, player: int, boards: BoardBatch, columns: tuple[Any, ...], onward: Any, choice: Any,
        value: Any,
    ) -> None:  # fmt: skip
        """Fills the choices and values of a best response."""
        n_boards, n = boards.words.shape
        self.kernel(f"best{player}")(
            *self._grid(n, n_boards), (*columns, boards.words, *onward, np.int32(n), choice, value)
        )

    def value(
        self, player: int, boards: BoardBatch, columns: tuple[Any, ...], reach: Any, onward: Any,
        value: Any,
    ) -> None:  # fmt: skip
        """Fills the values by the policy, and collects what `update` needs."""
        n_boards, n = boards.words.shape
        member, first = boards.member, boards.first
        if self.final:
            member, first = self._classes.member, self._classes.first_of_row
        self.kernel(f"value{player}")(
            *self._grid(self.rows, self._chunks),
            (*columns, boards.words, member, first, self._policy, reach, *onward,
             np.int32(n_boards), np.int32(n), np.int32(self._chunks), *self._collected[player],
             value),
        )  # fmt: skip

    def update(self, player: int, step: Step, regret: Any, sums: Any) -> None:
        """Adds what was collected to a block of regrets and strategy sums."""
        self.kernel(f"update{player}")(
            *self._grid(self.rows),
            (*self._collected[player], self._policy, self.path[player], np.int32(self._chunks),
             np.float64(step.regrets), np.float64(step.average), np.int32(step.plus), regret, sums),
        )  # fmt: skip

    def by_holding(self, boards: BoardBatch, value: Any, out: Any) -> None:
        """Fills the values of holdings, summed over boards."""
        n_boards, n = boards.words.shape
        self.kernel("by_holding")(
            *self._grid(self.holdings),
            (value, boards.position, np.int32(n_boards), np.int32(n), out),
        )

    def from_block(self, block: np.ndarray) -> np.ndarray:
        """The inverse of `as_block`."""
        groups, nodes = self.street.public_node.shape[:2]
        by_lane = block.reshape(groups, self.rows, nodes, LANES).transpose(0, 3, 1, 2)
        used = by_lane.reshape(groups * LANES, self.rows, nodes)[self.used, :, 1:]
        return used.transpose(2, 1, 0)

    def as_block(self, table: np.ndarray) -> np.ndarray:
        """Returns [groups, rows, nodes * LANES], as in `LearnerTables`, of [nodes - 1, rows,
        starts]."""
        groups, nodes = self.street.public_node.shape[:2]
        full = np.zeros((groups * LANES, self.rows, nodes))
        full[self.used, :, 1:] = table.transpose(2, 1, 0)
        by_lane = full.reshape(groups, LANES, self.rows, nodes)
        return by_lane.transpose(0, 2, 3, 1).reshape(groups, self.rows, nodes * LANES)
