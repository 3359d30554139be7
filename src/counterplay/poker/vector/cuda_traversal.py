"""Exact values on a CUDA device: the traversal of `flop_values.py`, all boards of a street at
once.

Holdings with the same codes form a class. On a board a matrix counts the holdings of each class
that are weaker than a holding less the stronger ones, those with each card, and all. Its products
with the classes' ranges, their reach after each of the opponent's action sequences, give every
showdown and fold, on tensor cores: the latter by inclusion-exclusion over cards. The betting of the
street, as straight-line code, combines them to values.
Single precision; the flop itself is left to `flop_values.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.device import Device
from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.cuda_boards import by_start, link_starts, payoff_by_start
from counterplay.poker.vector.cuda_columns import SUMS, range_columns, round_up
from counterplay.poker.vector.cuda_source import exact_source
from counterplay.poker.vector.flop_boards import FlopBoards
from counterplay.poker.vector.flop_values import PreparedQuery as ExactQuery
from counterplay.poker.vector.holding_classes import (
    NO_HOLDING,
    BoardClasses,
    ClassWorkspace,
    list_classes,
    new_class_workspace,
    river_classes,
    turn_classes,
)
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import PlainSeat as SeatStrategy

THREADS = 128  # in a block
RIVERS_AT_ONCE = 48  # rivers in one matrix product: all of a turn


class FlopClasses(NamedTuple):
    """The boards of a flop with their classes: arrays for `_DeviceBoards`, and the number of
    classes of each board. Rivers stand turn by turn, those with few classes first."""

    boards: FlopBoards
    turns: list[np.ndarray]
    turn_classes: np.ndarray
    rivers: list[np.ndarray]
    river_classes: np.ndarray


class _DeviceStreet:
    """A street on the device, with the starts `used` that the opponent reaches."""

    def __init__(
        self, device: Device, street: Street, query: ExactQuery, k: int, reached: np.ndarray
    ) -> None:
        player, self.device = query.player, device
        self.used = np.flatnonzero(reached)
        self.starts = len(self.used) + 1  # one more with value 0, for starts that are not reached
        columns = range_columns(street, player)
        self._column, self._counts = (
            round_up(self.starts),
            (len(columns.showdowns), len(columns.folds)),
        )
        path = by_start(query.opponent.path[k], self.used)
        path = path[:, :, [*columns.showdowns, *columns.folds]].transpose(0, 2, 1)
        policy = np.zeros((1, 1, 1))  # which a best response does not read
        if not query.best:
            policy = by_start(query.own.policy[k], self.used).transpose(0, 2, 1)
        payoff = payoff_by_start(street, player, self.used)
        arrays = (path, policy, payoff)  # codes, sequences or nodes, starts
        self.path, self.policy, self.payoff = (device.put(self.padded(one)) for one in arrays)
        self.kernel = device.compile(
            exact_source(street, self.starts, path.shape[0], player, query.best)
        )
        self._spread, self._up = self.kernel("spread"), self.kernel("up")

    def padded(self, array: np.ndarray) -> np.ndarray:
        """Returns the array with one start added, in single precision."""
        added = [(0, 0)] * (array.ndim - 1) + [(0, self.starts - array.shape[-1])]
        return np.pad(array, added).astype(np.float32)

    def value(
        self,
        boards: _DeviceBoards,
        y: Any,
        below: tuple[Any, Any, int, float],
        out: Any,
    ) -> None:
        """Adds to `out` ([1326, starts]) the values at the starts, summed over boards, from the
        reach y ([1326, starts]). `below`: values at the starts of the next street, the start after
        each onward end, the number of those starts, and a factor for the values."""
        device, many, classes = self.device, boards.many, boards.classes
        shown, folds = (n * self._column for n in self._counts)
        ranges = device.empty((many, 2 * classes, shown + folds), np.uint16)
        across = -(-self.starts // THREADS)
        self._spread(
            (across, classes, many), (THREADS,),
            (y, self.path, boards.holding, boards.code, boards.max_classes, np.int32(classes),
             ranges),
        )  # fmt: skip
        products = device.empty((many, boards.meetings.shape[1], shown))
        fold_products = device.empty((many, SUMS, folds))
        if shown:
            device.multiply(boards.meetings, ranges[:, :, :shown], products)
        device.multiply(boards.meetings[:, boards.width :], ranges[:, :, shown:], fold_products)
        onward, start, starts_below, scale = below
        self._up(
            (N_HOLDINGS, across), (THREADS,),
            (products, fold_products, ranges, self.payoff, boards.words, boards.position,
             boards.class_of, boards.own, boards.weight, self.policy, onward, start,
             np.int32(many), np.int32(boards.n), np.int32(boards.width), np.int32(classes),
             np.int32(starts_below), np.float32(scale), out),
        )  # fmt: skip


class _DeviceBoards:
    """Boards of a street on the device, with the matrices of their holdings and classes."""

    def __init__(
        self, device: Device, put: list[Any], part: slice, classes: int, kernel: Any, river: bool
    ) -> None:
        self.words, first, self.holding, self.code, self.own, self.weight = (
            array[part] for array in put
        )
        self.many, self.n = self.words.shape
        self.classes, self.max_classes = round_up(classes, 4), np.int32(first.shape[1])
        self.width = round_up(self.n) if river else 0  # rows of holdings; then those of sums
        rows, n = self.width + SUMS, np.int32(self.n)
        self.meetings = device.empty((self.many, rows, 2 * self.classes), np.uint16)
        kernel("meetings_and_sums")(
            (-(-self.classes // 32), rows, self.many), (32,),
            (self.words, first, n, self.max_classes, np.int32(self.classes), np.int32(self.width),
             self.meetings),
        )  # fmt: skip
        self.position = device.empty((self.many, N_HOLDINGS), np.uint16)
        self.position.fill(NO_HOLDING)
        self.class_of = device.empty((self.many, self.n), np.uint16)
        kernel("find")(
            (-(-self.classes // THREADS), self.many), (THREADS,),
            (self.words, first, n, self.max_classes, self.position, self.class_of),
        )  # fmt: skip


def _reached_starts(
    streets: tuple[Street, ...], opponent: SeatStrategy, other: int
) -> list[np.ndarray]:
    """Returns bool[groups * LANES] for each street: starts that the opponent reaches with any
    holding."""
    starts = [streets[0].public_node[:, 0] >= 0]
    for k, street in enumerate(streets[:-1]):
        groups, codes, _ = opponent.path[k].shape
        path = opponent.path[k].reshape(groups, codes, -1, LANES).max(axis=1)
        ends = path[:, street.sequence[other, street.onward]] > 0.0  # groups, ends, LANES
        if k == 0:
            after = np.zeros(streets[1].public_node.shape[0] * LANES, dtype=bool)
            after[: ends.shape[1]] = ends[0, :, 0]
            starts.append(after.reshape(-1, LANES))
        else:
            starts.append((ends & starts[k][:, None]).reshape(-1, LANES))
    return [reached.reshape(-1) for reached in starts]


class _DeviceQuery:
    """The turn and the river of one query on the device."""

    def __init__(self, device: Device, query: ExactQuery) -> None:
        other, turn, river = 1 - query.player, query.streets[2], query.streets[3]
        reached = _reached_starts(query.streets, query.opponent, other)
        self.turn = _DeviceStreet(device, turn, query, 2, reached[2])
        self.river = _DeviceStreet(device, river, query, 3, reached[3])
        link = link_starts(turn, self.turn.used, river, self.river.used, opening=False)
        path = by_start(query.opponent.path[2], self.turn.used)
        down = path[:, link.above, turn.sequence[other, link.node]]
        missing, pad = len(self.river.used), self.turn.starts - len(self.turn.used)  # of value 0
        below = np.where(link.below < 0, missing, link.below)
        below = np.pad(below, [(0, 0), (0, pad)], constant_values=missing).astype(np.int32)
        self.below, self.above = device.put(below), device.put(np.pad(link.above, (0, 1)))
        self.down = device.put(self.river.padded(down))


class DeviceTraversal:
    """Turns and rivers of one flop after the other, for queries with the same boards."""

    def __init__(self, device: Device, queries: Sequence[ExactQuery]) -> None:
        self.device = device
        self.queries = [_DeviceQuery(device, query) for query in queries]
        codes = [path.shape[1] for path in queries[0].opponent.path]
        self.codes, self._first_codes = max(codes), codes[0]
        self._permuted = device.put(queries[0].permuted.astype(np.int16))
        self._scale = 1.0 / (queries[0].deck_size - 8)
        self._no_values = device.zeros((1,))
        self._no_starts = device.zeros((1,), np.int32)

    def class_workspace(self) -> tuple[ClassWorkspace, BoardClasses, BoardClasses]:
        """Returns a workspace for `list_classes`."""
        work = new_class_workspace(self.codes, self._first_codes)
        return work, turn_classes(), river_classes()

    def list_classes(
        self, boards: FlopBoards, workspace: tuple[ClassWorkspace, BoardClasses, BoardClasses]
    ) -> FlopClasses:
        """Returns the classes of the boards of a flop."""
        work, turns, rivers = workspace
        list_classes(boards, self.codes, work, turns, rivers)
        t, r = (int(k) for k in boards.size)
        turn_of_river = np.repeat(np.arange(t), np.diff(boards.first_river[: t + 1]))
        order = np.lexsort((rivers.classes[:r], turn_of_river))
        n_turn, n_river = (int(k) for k in boards.n_holdings[1:])
        return FlopClasses(
            boards,
            _gathered(turns, np.arange(t), n_turn, boards.turn_weight),
            turns.classes[:t],
            _gathered(rivers, order, n_river, boards.river_weight),
            rivers.classes[order],
        )

    def start(self, classes: FlopClasses, y_turn: Sequence[np.ndarray]) -> tuple[list[Any], Any]:
        """Begins the turns and rivers of a flop. `y_turn`: for each query the opponent's reach at
        the turn's used starts, [1326, starts]."""
        boards, (turns, _) = classes.boards, classes.boards.size
        reach = [query.turn.padded(y) for query, y in zip(self.queries, y_turn, strict=True)]
        stabilizer = (boards.stabilizer[:turns], boards.n_stabilizer[:turns])
        arrays = [
            *classes.rivers, *classes.turns, boards.turn_code[0, :turns], *stabilizer, *reach
        ]  # fmt: skip
        put = self.device.put_ahead(arrays)
        with self.device.stream:
            return self._start(classes, put), put

    def fetch(self, started: tuple[list[Any], Any]) -> list[np.ndarray]:
        """Returns float32[used starts of the turn, 1326] for each query: values summed over all
        turns."""
        with self.device.stream:
            return [
                self.device.get(total).T[: len(query.turn.used)]
                for query, total in zip(self.queries, started[0], strict=True)
            ]

    def _start(self, classes: FlopClasses, put: list[Any]) -> list[Any]:
        device, boards = self.device, classes.boards
        turns = int(boards.size[0])
        put_rivers, put_turns, reach = put[:6], put[6:12], put[15:]
        codes, stabilizer, n_stabilizer = put[12:15]
        values = []
        for query, y in zip(self.queries, reach, strict=True):
            starts = query.river.starts
            y_river = device.empty((turns, N_HOLDINGS, starts))
            query.river.kernel("pass_down")(
                (-(-starts // THREADS), N_HOLDINGS, turns), (THREADS,),
                (y, query.down, codes, query.above, np.int32(starts), np.int32(query.turn.starts),
                 y_river),
            )  # fmt: skip
            values.append((y_river, device.zeros((turns, N_HOLDINGS, starts))))
        no_onward = (self._no_values, self._no_starts, 0, 0.0)
        for t in range(turns):
            ends = range(int(boards.first_river[t]), int(boards.first_river[t + 1]))
            for low in ends[::RIVERS_AT_ONCE]:
                part = slice(low, min(low + RIVERS_AT_ONCE, ends.stop))
                rivers = _DeviceBoards(
                    device, put_rivers, part, int(classes.river_classes[part].max()),
                    self.queries[0].river.kernel, True,
                )  # fmt: skip
                for query, (y_river, out) in zip(self.queries, values, strict=True):
                    query.river.value(rivers, y_river[t], no_onward, out[t])
        all_turns = _DeviceBoards(
            device, put_turns, slice(0, turns), int(classes.turn_classes.max()),
            self.queries[0].turn.kernel, False,
        )  # fmt: skip
        totals = []
        for query, y, (averaged, river) in zip(self.queries, reach, values, strict=True):
            starts = query.river.starts
            query.river.kernel("average_over_suits")(
                (-(-starts // THREADS), N_HOLDINGS, turns), (THREADS,),
                (river, stabilizer, n_stabilizer, self._permuted, np.int32(starts), averaged),
            )  # fmt: skip
            totals.append(device.zeros((N_HOLDINGS, query.turn.starts)))
            below = (averaged, query.below, starts, self._scale)
            query.turn.value(all_turns, y, below, totals[-1])
        return totals


def _gathered(
    classes: BoardClasses, order: np.ndarray, n: int, weight: np.ndarray
) -> list[np.ndarray]:
    """Returns arrays for `_DeviceBoards`, no wider than necessary."""
    wide = round_up(int(classes.classes[order].max()), 4) + 1
    by_class = (array[order, :wide] for array in (classes.first, classes.holding, classes.code))
    return [classes.word[order, :n], *by_class, classes.own[order, :n], weight[order]]
