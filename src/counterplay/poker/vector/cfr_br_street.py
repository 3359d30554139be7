"""The kernels of one street of CFR-BR on a CUDA device, launched (`cfr_br_cuda.py`).

The values of terminals are *columns*. On the last street they come from products of matrices with
ranges, on tensor cores: holdings that the learner has played and plays alike form a class, one
matrix counts the holdings of each class that are weaker than a holding less the stronger ones,
another those that share no card with it (`cuda_showdowns.py`).
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cfr_br_boards import BoardBatch, ClassBatch
from counterplay.poker.vector.cuda_boards import by_start, payoff_by_start, used_starts
from counterplay.poker.vector.cuda_columns import (
    SUMS,
    action_numbers,
    columns_of,
    range_columns,
    round_up,
)
from counterplay.poker.vector.cuda_source import CHUNK, cfr_br_source
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import Step

THREADS = 128
PARTS = 1  # numbers in half precision for each probability of a range: 2 for single precision
CHUNKS = 8  # parts in which the holdings of a row are summed


class ArrayShape(NamedTuple):
    """An array that is to be allocated."""

    shape: tuple[int, ...]
    dtype: Any = np.float32

    @property
    def n_bytes(self) -> int:
        return int(prod(self.shape) * np.dtype(self.dtype).itemsize)


Shapes = dict[str, ArrayShape]


class StreetSize(NamedTuple):
    """The arrays of a seat with `rows` rows on a street; tables of single holdings are in single
    precision. `buckets`: to which regrets are shrunk, 0 if they are not; `model_rows`: of the model
    that is followed in part, 0 without one: by the seat's opponent, whose choices are between the
    model's bounds if `biased`, or by the seat itself if it is `bounded`. `fixed`: the seat learns
    nothing. Starts are numbered without the unused lanes."""

    street: Street
    rows: int
    holdings: int
    buckets: int = 0
    model_rows: int = 0
    fixed: bool = False
    biased: bool = False
    bounded: bool = False

    @property
    def used(self) -> np.ndarray:
        """The group and lane of each start, as group · LANES + lane."""
        return used_starts(self.street)

    @property
    def starts(self) -> int:
        return len(self.used)

    @property
    def single(self) -> bool:
        return self.rows == self.holdings

    @property
    def final(self) -> bool:
        return len(self.street.onward) == 0

    @property
    def chunks(self) -> int:
        """Parts in which the holdings of a row are summed."""
        return 1 if self.single else CHUNKS

    def table(self, blocks: int) -> ArrayShape:
        """Regrets or strategy sums: [blocks, nodes - 1, rows, starts]."""
        shape = (blocks, len(self.street.player) - 1, self.rows, self.starts)
        return ArrayShape(shape, np.float32 if self.single else np.float64)

    def arrays(self) -> Shapes:
        """All arrays but tables and buffers, by name and player."""
        street, plane = self.street, (self.rows, self.starts)
        policy = ArrayShape((len(street.player) - 1, *plane))
        shapes = {"policy": policy} | ({"played": policy} if self.bounded else {})
        for i in (0, 1):
            shapes[f"payoff {i}"] = ArrayShape((len(street.player), self.starts))
            shapes[f"path {i}"] = ArrayShape((int(street.n_sequences[i]), *plane))
            if not self.fixed:
                actions = len(action_numbers(street, i))
                shapes[f"action values {i}"] = ArrayShape((self.chunks, actions, *plane))
                shapes[f"own reach {i}"] = ArrayShape((self.chunks, *plane))
        return shapes

    def buffers(self, player: int, boards: int, n: int, classes: int) -> Shapes:
        """Buffers for the values of `player` on so many boards with n holdings in at most so many
        classes."""
        street, starts, column = self.street, self.starts, round_up(self.starts)
        if not self.final:
            folds = len(columns_of(street, player).folds)
            return {
                "by card": ArrayShape((folds, N_CARDS, starts)),
                "columns": ArrayShape((n, folds, starts)),
            }
        columns, width, classes = range_columns(street, player), round_up(n), round_up(classes)
        shown, folds = len(columns.showdowns) * column, len(columns.folds) * column
        shapes = {
            "strength": ArrayShape((boards, width + SUMS, classes), np.uint16),
            "disjoint": ArrayShape((boards, width, classes), np.uint16),
            "largest": ArrayShape((-(-self.holdings // CHUNK), starts)),
            "units": ArrayShape((starts,)),
            "products": ArrayShape((boards, width + SUMS, shown)),
            "sums": ArrayShape((boards, SUMS, folds)),
            "class products": ArrayShape((boards, classes, shown)),
            "met": ArrayShape((boards, classes, shown + folds - columns.shared * column)),
        }
        for part in range(PARTS):
            ranges = shown + folds
            shapes[f"ranges of classes {part}"] = ArrayShape((boards, classes, ranges), np.uint16)
            shapes[f"ranges {part}"] = ArrayShape((boards, width, ranges), np.uint16)
        return shapes

    def n_bytes(self, boards: int, n: int, classes: int) -> int:
        """Returns the size of all arrays but tables, with buffers as large as for either player."""
        kept = sum(one.n_bytes for one in self.arrays().values())
        if self.fixed and self.final:
            return kept
        one, other = (self.buffers(i, boards, n, classes) for i in (0, 1))
        return kept + sum(max(one[name].n_bytes, other[name].n_bytes) for name in one)


class ModelSeat(NamedTuple):
    """The part of the opponent that follows a model, on a street of a device."""

    street: CfrBrStreet
    words: Any  # as in `BoardBatch`, with the model's rows
    reach: Any

    def arguments(self, player: int) -> tuple[Any, ...]:
        """Returns what kernels take of it, as `player`."""
        return self.words, self.street.path[player], self.reach


class ModelBounds(NamedTuple):
    """A model that bounds the opponent's probabilities at each node, on a street of a device."""

    words: Any  # as in `BoardBatch`, with the model's rows
    row: Any  # the same
    bounds: Any  # [nodes - 1, rows, starts]

    def arguments(self, player: int) -> tuple[Any, ...]:
        """Returns what kernels take of it."""
        return self.words, self.bounds


Model = ModelSeat | ModelBounds | None


class CfrBrStreet:
    """The kernels of a street for a seat, and its arrays but for tables."""

    def __init__(self, device: Any, size: StreetSize) -> None:
        self.size, self._device, self._chunks = size, device, size.chunks
        self.street, self.rows, self.holdings = street, _, _ = size[:3]
        self.used, self.starts, self.final = size.used, size.starts, size.final
        self.kernel = device.compile(
            cfr_br_source(
                street, self.starts, size.rows, size.holdings, size.single, PARTS, *size[3:]
            )
        )
        self._buffers: dict[str, Any] = {}
        payoff = [payoff_by_start(street, i, self.used).astype(np.float32) for i in (0, 1)]
        self._payoff = [device.put(array) for array in payoff]
        shapes = size.arrays()

        def zeros(name: str) -> Any:
            return device.zeros(*shapes[name])

        self._policy, self.path = zeros("policy"), [zeros(f"path {i}") for i in (0, 1)]
        self._played = zeros("played") if size.bounded else self._policy
        if not size.fixed:
            names = [(f"action values {i}", f"own reach {i}") for i in (0, 1)]
            self._collected = [(zeros(values), zeros(reach)) for values, reach in names]

    def new_table(self, blocks: int) -> Any:
        """Returns [blocks, nodes - 1, rows, starts] of zeros."""
        return self._device.zeros(*self.size.table(blocks))

    def _grid(self, y: int, z: int = 1) -> tuple[tuple[int, ...], tuple[int]]:
        return (-(-self.starts // THREADS), y, z), (THREADS,)

    def match_regrets(
        self, regret: Any, prior: tuple[Any, ...] = (), model: ModelBounds | None = None
    ) -> None:
        """Fills the policy and the probabilities of action sequences; `prior`: to which regrets are
        shrunk, the bucket of each row, and the weight; `model`: that bounds what is played."""
        bounds = () if model is None else (self._played, model.row, model.bounds)
        arguments = (regret, self._policy, *self.path, *prior, *bounds)
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
        self._shapes = [self.size.buffers(i, n_boards, n, most) for i in (0, 1)]
        self._strength, self._disjoint = self._buffer("strength"), self._buffer("disjoint")
        self.kernel("meetings")(
            (-(-self._n_classes // THREADS), width + SUMS, n_boards), (THREADS,),
            (boards.words, boards.group_end, classes.member, classes.first, np.int32(n),
             np.int32(width), np.int32(self._n_classes), self._strength, self._disjoint),
        )  # fmt: skip

    def _buffer(self, name: str, player: int = 0) -> Any:
        """Returns an array for the values of a player, in memory that is reused under its name."""
        shape, dtype = self._shapes[player][name]
        buffer, size = self._buffers.get(name), prod(shape)
        if buffer is None or buffer.size < size:
            buffer = self._buffers[name] = self._device.empty((size,), dtype)
        return buffer[:size].reshape(shape)

    def columns(
        self, player: int, boards: BoardBatch, reach: Any, choice: Any, pure: bool,
        model: Model = None,
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
        self._shapes = [self.size.buffers(i, n_boards, n, 0) for i in (0, 1)]
        by_card, out = self._buffer("by card", player), self._buffer("columns", player)
        seat = (self.path[1 - player], choice, reach, self._payoff[player], np.int32(n))
        more = model.arguments(1 - player) if isinstance(model, ModelBounds) else ()
        self.kernel(f"{name}_by_card")(
            *self._grid(N_CARDS, columns), (boards.words, boards.position, *seat, by_card, *more)
        )
        self.kernel(name)(*self._grid(n, columns), (boards.words, *seat, by_card, out, *more))
        if isinstance(model, ModelSeat):
            with_rows = boards._replace(words=model.words)
            out += model.street.columns(player, with_rows, model.reach, choice, False)[0]
        return (out,)

    def _units(self, reach: Any) -> Any:
        """Returns the unit of reach at every start."""
        chunks = -(-self.holdings // CHUNK)
        largest, units = self._buffer("largest"), self._buffer("units")
        self.kernel("largest")(*self._grid(chunks), (reach, largest))
        self.kernel("find_units")(*self._grid(1), (largest, np.int32(chunks), units))
        return units

    def _ranges(self, name: str, player: int) -> list[Any]:
        return [self._buffer(f"{name} {part}", player) for part in range(PARTS)]

    def _product(
        self, name: str, player: int, left: Any, ranges: list[Any], part: slice, **how: Any
    ) -> Any:
        """Returns the product of matrices with some columns of the ranges."""
        column = round_up(self.starts)
        picked = [array[:, :, part.start * column : part.stop * column] for array in ranges]
        out, factor = self._buffer(name, player), how.pop("factor", 1.0)
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
        ranges = self._ranges("ranges of classes", player)
        self.kernel(name)(
            *self._grid(classes, n_boards),
            (boards.words, self._classes.member, self._classes.first, self.path[1 - player], reach,
             units, np.int32(n), np.int32(classes), ranges[0], ranges[-1]),
        )  # fmt: skip
        products = self._product("products", player, self._strength, ranges, slice(0, shown))
        of_cards = self._strength[:, width:]
        sums = self._product("sums", player, of_cards, ranges, slice(shown, all_))
        seat = (ranges[0], ranges[-1], self._classes.class_of, units, self._payoff[player])
        return products, sums, *seat, np.int32(width), np.int32(classes)

    def _class_products(
        self, name: str, player: int, boards: BoardBatch, reach: Any, choice: Any,
        model: Model,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Returns what classes win from holdings at showdowns, and meet at folds."""
        (n_boards, n), columns = boards.words.shape, range_columns(self.street, player)
        width = round_up(n)
        units = self._units(reach + model.reach if isinstance(model, ModelSeat) else reach)
        followed = () if model is None else model.arguments(1 - player)
        shown, all_ = len(columns.showdowns), len(columns.showdowns) + len(columns.folds)
        ranges = self._ranges("ranges", player)
        self.kernel(name)(
            *self._grid(width, n_boards),
            (boards.words, choice, reach, units, np.int32(n), np.int32(width), ranges[0],
             ranges[-1], *followed),
        )  # fmt: skip
        products = self._product(
            "class products", player, self._strength[:, :width], ranges, slice(0, shown),
            factor=-1.0, transposed=True,
        )  # fmt: skip
        met = self._product(
            "met", player, self._disjoint, ranges, slice(columns.shared, all_), transposed=True
        )
        seat = (self._classes.first, units, self._payoff[player], np.int32(self._n_classes))
        return products, met, *seat

    def best(
        self, player: int, boards: BoardBatch, columns: tuple[Any, ...], onward: Any, choice: Any,
        value: Any, model: ModelBounds | None,
    ) -> None:  # fmt: skip
        """Fills the choices and values of a best response."""
        n_boards, n = boards.words.shape
        more = () if model is None else model.arguments(player)
        self.kernel(f"best{player}")(
            *self._grid(n, n_boards),
            (*columns, boards.words, *onward, np.int32(n), choice, value, *more),
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
            (*columns, boards.words, member, first, self._played, reach, *onward,
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
        return by_start(block, self.used)[:, :, 1:].transpose(2, 0, 1)

    def as_block(self, table: np.ndarray) -> np.ndarray:
        """Returns [groups, rows, nodes * LANES], as in `LearnerTables`, of [nodes - 1, rows,
        starts]."""
        groups, nodes = self.street.public_node.shape[:2]
        full = np.zeros((groups * LANES, self.rows, nodes))
        full[self.used, :, 1:] = table.transpose(2, 1, 0)
        by_lane = full.reshape(groups, LANES, self.rows, nodes)
        return by_lane.transpose(0, 2, 3, 1).reshape(groups, self.rows, nodes * LANES)
