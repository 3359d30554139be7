"""CFR-BR on a CUDA device (`cfr_br.py` describes the algorithm).

All streets are traversed on the device: an iteration is a board at the cut and every board that
follows. Sums are taken in a fixed order, so a seed gives the same bits on one kind of device.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, TooLarge
from counterplay.core.kernels.device import Device
from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.vector.cfr_br_boards import (
    BoardBatch,
    ClassBatch,
    IterationBoards,
    IterationBoardSource,
)
from counterplay.poker.vector.cfr_br_source import (
    CHUNK,
    SUMS,
    action_numbers,
    choice_masks,
    range_columns,
    street_source,
)
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.cuda_columns import columns_of, round_up
from counterplay.poker.vector.learner_tables import BucketRows
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import Step
from counterplay.poker.vector.trunk import PRIOR_VISITS, has_prior

THREADS = 128
PARTS = 1  # numbers in half precision for each probability of a range: 2 for single precision
IN_USE = 16  # iterations whose boards stay on the device
CHUNKS = 8  # parts in which the holdings of a row are summed


def reused_buffer(
    device: Any, buffers: dict[str, Any], name: str, shape: tuple[int, ...], dtype: Any
) -> Any:
    """Returns an array of this shape in memory that is reused under its name."""
    buffer, size = buffers.get(name), prod(shape)
    if buffer is None or buffer.size < size:
        buffer = buffers[name] = device.empty((size,), dtype)
    return buffer[:size].reshape(shape)


class CfrBrStreet:
    """The kernels of a street for a seat with `rows` rows; tables of single holdings are in single
    precision. Its starts are numbered without the
    unused lanes: `used[s]` is the group and lane of start s, as group · LANES + lane."""

    def __init__(
        self, device: Any, street: Street, rows: int, holdings: int, buckets: int = 0
    ) -> None:
        self.street, self.rows, self.holdings, self._device = street, rows, holdings, device
        groups, nodes = street.public_node.shape[:2]
        self.used = np.flatnonzero(street.public_node[:, 0].reshape(-1) >= 0)
        self.starts = len(self.used)
        single = rows == holdings
        source = street_source(street, self.starts, rows, holdings, single, PARTS, buckets)
        self.kernel = device.compile(source)
        self._buffers: dict[str, Any] = {}
        self.final = len(street.onward) == 0
        by_start = street.payoff.transpose(0, 2, 1, 3).reshape(2, nodes, groups * LANES)
        self._payoff = [device.put(by_start[i][:, self.used].astype(np.float32)) for i in (0, 1)]
        self._chunks = CHUNKS if rows < holdings else 1
        plane = (rows, self.starts)
        self._policy = device.zeros((nodes - 1, *plane))
        self.path = [device.zeros((int(n), *plane)) for n in street.n_sequences]
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
        self, player: int, boards: BoardBatch, reach: Any, choice: Any, pure: bool
    ) -> tuple[Any, ...]:
        """Returns the columns of `player` against the seat whose rows these are, as `best` and
        `value` take them; if `pure`, that seat plays `choice`."""
        name = f"{'pure' if pure else 'policy'}_columns{player}"
        if self.final:
            products = self._class_products if pure else self._holding_products
            return products(name, player, boards, reach, choice)
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
        self, name: str, player: int, boards: BoardBatch, reach: Any, _: Any
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
        self, name: str, player: int, boards: BoardBatch, reach: Any, choice: Any
    ) -> tuple[Any, ...]:
        """Returns what classes win from holdings at showdowns, and meet at folds."""
        (n_boards, n), columns = boards.words.shape, range_columns(self.street, player)
        width, units = round_up(n), self._units(reach)
        shown, all_ = len(columns.showdowns), len(columns.showdowns) + len(columns.folds)
        ranges = self._ranges("ranges", n_boards, width, all_)
        self.kernel(name)(
            *self._grid(width, n_boards),
            (boards.words, choice, reach, units, np.int32(n), np.int32(width), ranges[0],
             ranges[-1]),
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

    def as_block(self, table: np.ndarray) -> np.ndarray:
        """Returns [groups, rows, nodes * LANES], as in `LearnerTables`, of [nodes - 1, rows,
        starts]."""
        groups, nodes = self.street.public_node.shape[:2]
        full = np.zeros((groups * LANES, self.rows, nodes))
        full[self.used, :, 1:] = table.transpose(2, 1, 0)
        by_lane = full.reshape(groups, LANES, self.rows, nodes)
        return by_lane.transpose(0, 2, 3, 1).reshape(groups, self.rows, nodes * LANES)


class _Link:
    """The starts of a street as ends of the street before it."""

    def __init__(self, device: Any, first: CfrBrStreet, second: CfrBrStreet, opening: bool) -> None:
        street, ends = first.street, len(first.street.onward)
        number = np.full(len(second.street.public_node) * LANES, -1)
        number[second.used] = np.arange(second.starts)
        if opening:
            below = number[np.arange(ends)][:, None]
        else:
            group, lane = np.divmod(first.used, LANES)
            below = np.array([number[(group * ends + e) * LANES + lane] for e in range(ends)])
        assert below.min() >= 0
        above, end = np.zeros(second.starts, np.int32), np.zeros(second.starts, np.int64)
        for e in range(ends):
            above[below[e]], end[below[e]] = np.arange(first.starts), e
        self.starts = second.starts
        self.below = device.put(below.astype(np.int32))  # int32[ends, starts above]
        self.above = device.put(above)
        self.sequence, self.mask, self.required = [], [], []  # by player: int32[starts]
        for player in (0, 1):
            sequence = street.sequence[player, street.onward][end]
            masks, values = choice_masks(street, player)
            self.sequence.append(device.put(sequence.astype(np.int32)))
            self.mask.append(device.put(np.array(masks, np.int32)[sequence]))
            self.required.append(device.put(np.array(values, np.int32)[sequence]))


class _StreetSeat(NamedTuple):
    """A player with its policy on a street."""

    player: int
    street: CfrBrStreet
    boards: BoardBatch
    reach: Any


class DeviceCfrBr:
    """One learner in both seats; `cut` is the last street or the one before it."""

    def __init__(
        self, chance: HoldemChance, streets: tuple[Street, ...], row_map: BucketRows, *, cut: int,
        seed: int, device: Any = None,
    ) -> None:  # fmt: skip
        if not len(streets) - 2 <= cut < len(streets):
            raise BadParameter(
                f"the adversary best-responds from the last street or the one before it; got cut = "
                f"{cut} of {len(streets)} streets"
            )
        self._chance, self._cut, self._last = chance, cut, len(streets) - 1
        self.device = device = device or Device()
        self._source = IterationBoardSource(chance, len(streets), row_map, cut, seed)
        needed, free = self._bytes(streets, row_map), device.free_bytes()
        if needed > free:
            raise TooLarge(
                f"cfr-br takes about {needed / 1e9:.1f} GB on the device, and {free / 1e9:.1f} GB "
                f"are free there; use fewer buckets"
            )
        with device.stream:
            self._allocate(streets, row_map)

    def _bytes(self, streets: tuple[Street, ...], row_map: BucketRows) -> int:
        """Returns the size of the tables and the largest buffers."""
        total, chance, n = 0, self._chance, self._chance.n_holdings
        for k, street in enumerate(streets):
            starts, nodes = int((street.public_node[:, 0] >= 0).sum()), len(street.player)
            planes = 2 * 8 + 4 * (2 + CHUNKS)  # tables; policy, paths and what is collected
            total += planes * nodes * row_map.count(k) * starts
            if k < self._cut:
                total += 4 * (chance.n_boards[k] + 3) * nodes * n * starts
            boards = chance.total(k) if k > self._cut else 1
            columns = sum(sum(columns_of(street, player).counts) for player in (0, 1))
            total += 4 * (columns + 2) * boards * n * starts
        return total

    def _allocate(self, streets: tuple[Street, ...], row_map: BucketRows) -> None:
        device, chance, cut, n = self.device, self._chance, self._cut, self._chance.n_holdings
        self._learner = [
            CfrBrStreet(device, street, row_map.count(k), n) for k, street in enumerate(streets)
        ]
        shrunk = {k: row_map.count(k) for k in range(cut) if has_prior(row_map, k)}
        self._adversary = [
            CfrBrStreet(device, street, n, n, shrunk.get(k, 0))
            for k, street in enumerate(streets[:cut])
        ]
        self.prior = {  # [nodes - 1, buckets, starts]
            k: device.zeros((len(streets[k].player) - 1, n_buckets, self._adversary[k].starts))
            for k, n_buckets in shrunk.items()
        }
        pairs = zip(self._learner, self._learner[1:], strict=False)
        self._links = [_Link(device, one, two, k == 0) for k, (one, two) in enumerate(pairs)]
        self.regret = [street.new_table(1) for street in self._learner]
        self.strategy_sum = [street.new_table(1) for street in self._learner]
        self.trunk_regret = [
            street.new_table(chance.n_boards[k]) for k, street in enumerate(self._adversary)
        ]
        self._unused_sum = [street.new_table(1) for street in self._adversary]
        self._buffers: dict[str, Any] = {}
        self._in_use: list[Any] = []
        self._none, self._no_start = device.zeros((1,)), device.zeros((1,), np.int32)
        self._no_choice = device.zeros((1,), np.uint16)
        self._root = device.put(chance.possible[:, None].astype(np.float32))

    def iterate(self, t: int, step: Step) -> None:
        """Updates both seats on the board of iteration t."""
        boards = self._source.take(t)
        with self.device.stream:
            self._update(boards, step)

    def _update(self, boards: IterationBoards, step: Step) -> None:
        batches = [*boards.learner, *boards.adversary, boards.classes]
        put = iter(self.device.put_ahead([array for batch in batches for array in batch]))
        on_device: list[Any] = [type(batch)(*(next(put) for _ in batch)) for batch in batches]
        *both, classes = on_device
        learner, adversary = both[: len(boards.learner)], both[len(boards.learner) :]
        self._in_use.append(on_device)
        if len(self._in_use) > IN_USE:  # the device may still read them
            self.device.wait()
            self._in_use.clear()
        blocks = [board.number for board in boards.path[: self._cut]]
        self._learner[-1].set_boards(learner[-1], classes, boards.most_classes)
        for i in (0, 1):
            for k, street in enumerate(self._learner):
                street.match_regrets(self.regret[k][0])
            self._traverse(i, learner, adversary, blocks, step)
            for k, street in enumerate(self._learner):
                tables = self.regret[k][0], self.strategy_sum[k][0]
                street.update(i, step, *tables)

    def _named(self) -> dict[str, Any]:
        named = {"regret": self.regret, "strategy_sum": self.strategy_sum}
        named["trunk"] = self.trunk_regret
        arrays = {
            f"{name}{k}": array for name, all_ in named.items() for k, array in enumerate(all_)
        }
        return arrays | {f"prior{k}": prior for k, prior in self.prior.items()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies of all tables."""
        with self.device.stream:
            return {name: self.device.get(array) for name, array in self._named().items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restores what `arrays` returned."""
        with self.device.stream:
            for name, array in self._named().items():
                array[...] = self.device.put(saved[name])

    def blocks(self, table: str) -> list[np.ndarray]:
        """Returns the learner's table of this name by street: [groups, rows, nodes * LANES].
        Strategy sums after the cut are sums over boards, where `VectorCfrBr` has means; the average
        strategy is the same."""
        pairs = zip(self._learner, getattr(self, table), strict=True)
        with self.device.stream:
            return [street.as_block(self.device.get(array[0])) for street, array in pairs]

    def _traverse(
        self, i: int, boards: list[BoardBatch], trunk: list[BoardBatch], blocks: list[int],
        step: Step,
    ) -> None:  # fmt: skip
        """Collects the values of the learner in seat i; its adversary is updated in the trunk
        before."""
        j, cut, last = 1 - i, self._cut, self._last
        own, other = [self._root], [self._root]  # reach of the learner and the adversary, by street
        for k in range(last):
            own.append(self._pass_down("learner", k, i, self._learner[k], boards[k], own[k]))
        choice: dict[int, Any] = {}
        value = self._none
        for k in range(last, cut - 1, -1):
            choice[k], value = self._respond(k, j, boards[k], own[k], value)
        for k in range(cut - 1, -1, -1):
            adversary = self._adversary[k]
            self._match_trunk(k, boards[k], blocks[k])
            columns = self._learner[k].columns(j, boards[k], own[k], self._no_choice, False)
            value = self._value(k, _StreetSeat(j, adversary, trunk[k], own[k]), columns, value)
            if k in self.prior and step.prior > 0.0:
                adversary.learn_prior(j, step.prior, boards[k], trunk[k].row, self.prior[k])
            adversary.update(j, step, self.trunk_regret[k][blocks[k]], self._unused_sum[k][0])
        for k in range(cut):
            adversary = self._adversary[k]
            self._match_trunk(k, boards[k], blocks[k])
            other.append(self._pass_down("adversary", k, j, adversary, trunk[k], other[k]))
        if last > cut:
            other.append(self._pass_down_choices(cut, j, boards[cut], other[cut], choice[cut]))
        value = self._none
        for k in range(last, -1, -1):
            pure = k >= cut
            faced = self._learner[k] if pure else self._adversary[k]
            on = boards[k] if pure else trunk[k]
            columns = faced.columns(i, on, other[k], choice[k] if pure else self._no_choice, pure)
            value = self._value(
                k, _StreetSeat(i, self._learner[k], boards[k], own[k]), columns, value
            )

    def _buffer(self, name: str, shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        return reused_buffer(self.device, self._buffers, name, shape, dtype)

    def _match_trunk(self, k: int, boards: BoardBatch, block: int) -> None:
        """Fills the adversary's policy on a street of the trunk."""
        prior = (self.prior[k], boards.row, np.float32(PRIOR_VISITS)) if k in self.prior else ()
        self._adversary[k].match_regrets(self.trunk_regret[k][block], prior)

    def _onward(self, k: int, values: Any) -> tuple[Any, ...]:
        """Returns the values after the onward ends of a street, as kernels take them."""
        if k == self._last:
            return self._none, self._no_start, np.int32(1), np.float32(0.0)
        boards = self._chance.total(k + 1) if k < self._cut else 1.0  # those that one stands for
        scale, link = boards / self._chance.n_deals[k + 1], self._links[k]
        return values, link.below, np.int32(link.starts), np.float32(scale)

    def _respond(self, k: int, j: int, boards: BoardBatch, reach: Any, values: Any) -> Any:
        """Returns the choices of the adversary's best response, and its values by holding."""
        street, shape = self._learner[k], (*boards.words.shape, self._learner[k].starts)
        columns = street.columns(j, boards, reach, self._no_choice, False)
        choice = self._buffer(f"choice {k}", shape, np.uint16)
        value = self._buffer(f"value {k}", shape)
        street.best(j, boards, columns, self._onward(k, values), choice, value)
        out = self._buffer(f"value by holding {k}", (street.holdings, street.starts))
        street.by_holding(boards, value, out)
        return choice, out

    def _value(self, k: int, seat: _StreetSeat, columns: tuple[Any, ...], values: Any) -> Any:
        """Returns the values of a seat's policy by holding."""
        street, boards = seat.street, seat.boards
        value = self._buffer(f"value {k}", (*boards.words.shape, street.starts))
        onward = self._onward(k, values)
        street.value(seat.player, boards, columns, seat.reach, onward, value)
        out = self._buffer(f"value by holding {k}", (street.holdings, street.starts))
        street.by_holding(boards, value, out)
        return out

    def _pass_down(
        self, name: str, k: int, player: int, street: CfrBrStreet, boards: BoardBatch, reach: Any
    ) -> Any:
        """Returns a player's reach on the next street."""
        link = self._links[k]
        out = self._buffer(f"{name} reach {k}", (street.holdings, link.starts))
        street.kernel("down_policy")(
            (-(-link.starts // THREADS), street.holdings), (THREADS,),
            (reach, street.path[player], boards.row, link.above, link.sequence[player],
             np.int32(link.starts), out),
        )  # fmt: skip
        return out

    def _pass_down_choices(
        self, k: int, j: int, boards: BoardBatch, reach: Any, choice: Any
    ) -> Any:
        """Returns the adversary's reach on the next street after its pure choices."""
        link, street = self._links[k], self._learner[k]
        out = self._buffer(f"adversary reach {k}", (street.holdings, link.starts))
        street.kernel("down_choice")(
            (-(-link.starts // THREADS), street.holdings), (THREADS,),
            (reach, choice, boards.position, link.above, link.mask[j], link.required[j],
             np.int32(link.starts), out),
        )  # fmt: skip
        return out
