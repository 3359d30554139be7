"""Public chance sampling on a CUDA device: batches of boards, one update for each.

The walk is that of `public_walk.py`, street by street for all boards of a batch at once. Holdings
with the same buckets are one class (`device_boards.py`), and showdowns and folds are products of
matrices (`poker/vector/cuda_products.py`). Regrets and sums are kept in double precision,
everything else is single. No sum depends on who comes first, so a seed gives the same bits, on one
kind of device."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.core.base.errors import whole_number
from counterplay.core.kernels.device import Device
from counterplay.core.parallel.pool import Algorithm, PoolProgress, Worker, WorkerPool
from counterplay.poker.vector.columns import columns_of
from counterplay.poker.vector.cuda_boards import BoardSource, DealtBoards, chosen
from counterplay.poker.vector.cuda_products import SOURCE, Products, padded, products, room_of
from counterplay.poker.vector.cuda_source import children, gains_of, street_source
from counterplay.poker.vector.hand_classes import ROOM
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_workspace import MODEL, Rows, Ties

THREADS = 128  # of a block
BUSY = 200_000  # threads that keep a device busy
BOARDS_AT_ONCE = 64  # boards that are walked at once: enough to keep a device busy
MOST_BOARDS = 4_096


def check_batch(batch: Any) -> int:
    return whole_number(batch, 1, MOST_BOARDS, "batch")


class _Plane:
    """One street on the device: its kernels, its part of the tables, what leads to it."""

    def __init__(
        self, device: Device, street: Street, buckets: int, rows: Rows, before: int
    ) -> None:
        node = street.node.transpose(0, 2, 1).reshape(-1, len(street.player))  # [g * LANES, n]
        self.real = np.flatnonzero(node[:, 0] >= 0)
        node_count, node = len(node), node[self.real]
        self.street, self.buckets, self.starts = street, buckets, len(self.real)
        self.kernel = device.compile(SOURCE + street_source(street, self.starts, buckets))
        self.size = (len(street.player) - 1) * buckets * self.starts
        self.part = slice(before, before + self.size)  # of the tables
        self.slots = np.empty((len(street.player) - 1, buckets, self.starts), dtype=np.int64)
        self.rows = np.empty_like(self.slots)
        number = np.arange(buckets)[:, None]
        for k in np.flatnonzero(street.player >= 0).tolist():
            below = children(street, k)
            row = rows.first_row[node[:, k]].astype(np.int64)
            for a, c in enumerate(below):
                self.slots[c - 1] = rows.first[row].astype(np.int64) + number * len(below) + a
                self.rows[c - 1] = row + number
        every = [columns_of(street, player) for player in (0, 1)]
        self.counts = [columns.counts for columns in every]
        self.pay = []
        for player, columns in enumerate(every):
            pay = np.abs(street.pay[player][:, columns.ends]).transpose(1, 0, 2)
            pay = pay.reshape(len(columns.ends), node_count)[:, self.real]
            self.pay.append(device.put(pay.astype(np.float32)))
        self.across = -(-self.starts // THREADS)

        def planes(n: int) -> Any:
            return device.empty((n, buckets, self.starts))

        self.policy, self.own = planes(len(street.player) - 1), planes(len(street.player) - 1)
        self.path = [planes(int(street.n_lines[j])) for j in (0, 1)]
        self.model_path = planes(int(street.n_lines.max()))

    def lead_to(self, device: Device, after: _Plane, first: bool) -> None:
        """Where the starts of the next street come from. `first`: after the first street every
        end has a lane."""
        ends = len(self.street.onward)
        where = np.full(after.street.node.shape[0] * after.street.node.shape[2], -1)
        where[after.real] = np.arange(after.starts)
        lanes = self.street.node.shape[2]
        above, end = np.empty(after.starts, np.int32), np.empty(after.starts, np.int32)
        below = np.empty((ends, self.starts), np.int32)
        for e in range(ends):
            if first:
                found = where[e : e + 1]
            else:
                group, lane = np.divmod(self.real, lanes)
                found = where[(group * ends + e) * lanes + lane]
            below[e], above[found], end[found] = found, np.arange(self.starts), e
        place = self.street.onward[end]
        self.below, self.above = device.put(below), device.put(above)
        self.line = [device.put(self.street.line[j, place].astype(np.int32)) for j in (0, 1)]


class DevicePool(WorkerPool):
    """A pool whose tables are on a device and are fetched on demand."""

    def __init__(
        self,
        worker: Worker,
        rows: Rows,
        streets: tuple[Street, ...],
        counts: tuple[int, ...],
        source: BoardSource,
        device: Device | None = None,
    ) -> None:
        super().__init__([worker])
        self.device = device or Device()
        self.source = source
        self.planes: list[_Plane] = []
        before = 0
        with self.device.stream:
            for street, buckets in zip(streets, counts, strict=True):
                self.planes.append(_Plane(self.device, street, buckets, rows, before))
                before += self.planes[-1].size
            for k, (plane, after) in enumerate(pairwise(self.planes)):
                plane.lead_to(self.device, after, k == 0)
            self.slots = np.concatenate([plane.slots.ravel() for plane in self.planes])
            self._row = np.concatenate([plane.rows.ravel() for plane in self.planes])
            self._ties: Ties | None = None
            self._nothing = self.device.zeros((1,))
            self._nowhere = self.device.zeros((1,), np.int32)
            self.changed()

    def changed(self) -> None:
        """The worker's tables are newer."""
        tables = self.workers[0].tables
        with self.device.stream:
            self.regret = self.device.put(tables.regret[self.slots])
            self.sums = self.device.put(tables.strategy_sum[self.slots])
        self._fetched = True

    def fetch(self) -> None:
        if not self._fetched:
            tables = self.workers[0].tables
            with self.device.stream:
                tables.regret[self.slots] = self.device.get(self.regret)
                tables.strategy_sum[self.slots] = self.device.get(self.sums)
            self._fetched = True

    def run(self, algorithm: Algorithm, done: int, n: int) -> PoolProgress:
        return PoolProgress(n, algorithm.play(self.workers[0], done, n, 1, 1.0))

    def tie(self, ties: Ties) -> None:
        """What the next updates are tied to."""
        if ties is self._ties:
            return
        self._ties = ties
        fixed = ties.fixed[self.slots] if len(ties.fixed) else np.zeros(1)
        trust = ties.confidence[self._row] if len(ties.confidence) else np.zeros(1)
        with self.device.stream:
            self._fixed = self.device.put(fixed.astype(np.float32))
            self._trust = self.device.put(trust.astype(np.float32))

    def update(self, boards: DealtBoards, regrets: float, averages: float) -> None:
        """Walk a batch with the tables as they are, and add what it says. Boards with as many
        classes go together."""
        self._fetched = False
        order = np.argsort(boards.classes, kind="stable")
        with self.device.stream:
            self._settle()
            for low in range(0, len(order), BOARDS_AT_ONCE):
                part = chosen(boards, order[low : low + BOARDS_AT_ONCE])
                _Walk(self, part).run(regrets, averages)

    def _settle(self) -> None:
        ties = self._ties
        assert ties is not None
        for plane in self.planes:
            fixed, trust = self.tied(plane)
            plane.kernel("settle")(
                (plane.across, plane.buckets), (THREADS,),
                (self.regret[plane.part], fixed, trust, np.int32(ties.restricted),
                 np.int32(ties.once), plane.policy, plane.own, *plane.path, plane.model_path),
            )  # fmt: skip

    def tied(self, plane: _Plane) -> tuple[Any, Any]:
        """The model's policy on a street, and how far it is trusted."""
        every = (self._fixed, self._trust)
        fixed, trust = (part[plane.part] if len(part) > 1 else part for part in every)
        return fixed, trust

    @property
    def ties(self) -> Ties:
        assert self._ties is not None
        return self._ties


class _Walk:
    """One batch."""

    def __init__(self, pool: DevicePool, boards: DealtBoards) -> None:
        self.pool, self.device = pool, pool.device
        put = self.device.put
        self.boards, self.n = len(boards.classes), boards.word.shape[1]
        self.classes = padded(int(boards.classes.max()), 4)
        self.most = boards.part.shape[2] - 1
        self.word, self.first, self.count = map(put, (boards.word, boards.first, boards.classes))
        self.code, self.member, self.part = map(put, (boards.code, boards.member, boards.part))
        shape = (self.boards, self.classes, 4 * self.classes)
        self.pairs = self.device.empty(shape, np.uint16)

    def run(self, regrets: float, averages: float) -> None:
        planes, classes = self.pool.planes, self.classes
        planes[0].kernel("pairs")(
            (-(-classes // 32), classes, self.boards), (32,),
            (self.word, self.first, np.int32(self.n), np.int32(ROOM), np.int32(classes),
             np.int32(classes), np.int32(0), np.int32(1), self.pairs),
        )  # fmt: skip
        who = (0, 1, MODEL) if self.pool.ties.once else (0, 1)
        reach = [[self.device.zeros((self.boards, classes, 1)) + np.float32(1) for _ in who]]
        for s, (plane, after) in enumerate(pairwise(planes)):
            reach.append([self._down(s, plane, after, w, reach[-1][w]) for w in who])
        below: list[Any] = [None, None]
        for s in reversed(range(4)):
            for player in (0, 1):
                below[player] = self._up(s, player, reach[s], below[player], regrets, averages)

    def _down(self, s: int, plane: _Plane, after: _Plane, who: int, y: Any) -> Any:
        out = self.device.empty((self.boards, self.classes, after.starts))
        player = self.pool.ties.restricted if who == MODEL else who
        path = plane.model_path if who == MODEL else plane.path[who]
        plane.kernel("down")(
            (after.across, self.classes, self.boards), (THREADS,),
            (y, path, self.code[s], self.count, plane.above, plane.line[player], np.int32(ROOM),
             np.int32(self.classes), np.int32(after.starts), out),
        )  # fmt: skip
        return out

    def _lines(self, s: int, player: int, y: list[Any]) -> Products:
        """What each class of a player gets in each column."""
        plane, device, ties, other = self.pool.planes[s], self.device, self.pool.ties, 1 - player
        twice = (2 * self.classes, 2 * self.classes, 4 * self.classes)
        counts = plane.counts[player]
        reach = room_of(device, self.boards, twice, counts, plane.starts, np.uint16)
        mixed = ties.once and other == ties.restricted
        plane.kernel("spread")(
            (plane.across, self.classes, self.boards), (THREADS,),
            (y[other], plane.path[other], y[-1], plane.model_path, np.int32(mixed),
             np.float32(ties.share[0]), np.float32(ties.share[1]), plane.pay[player], self.code[s],
             self.count, np.int32(ROOM), np.int32(self.classes), np.int32(player),
             *(np.int32(array.shape[2]) for array in reach), *reach),
        )  # fmt: skip
        rows = (self.classes,) * 3
        found = room_of(device, self.boards, rows, counts, plane.starts, np.float32)
        products(device, self.pairs, self.classes, reach, found)
        return found

    def _up(
        self, s: int, player: int, y: list[Any], below: Any, regrets: float, averages: float
    ) -> Any:
        """Values at the starts of a street; what it learns."""
        pool, device, plane = self.pool, self.device, self.pool.planes[s]
        ties, found = pool.ties, self._lines(s, player, y)
        gains = len(gains_of(plane.street, player))
        chunks = max(1, min(self.boards, BUSY // (plane.starts * plane.buckets)))
        each = -(-self.boards // chunks)
        chunks = -(-self.boards // each)
        root = device.empty((self.boards, self.classes, plane.starts))
        gained = device.empty((chunks, gains, plane.buckets, plane.starts))
        held = device.empty((chunks, plane.buckets, plane.starts))
        after = pool.planes[s + 1].starts if s < 3 else 0
        plane.kernel(f"up{player}")(
            (plane.across, plane.buckets, chunks), (THREADS,),
            (*found, self.member[s], self.part[s], self.first, plane.own, y[player],
             below if s < 3 else pool._nothing, plane.below if s < 3 else pool._nowhere,
             np.int32(self.boards), np.int32(each), np.int32(ROOM), np.int32(self.most),
             np.int32(self.classes), np.int32(after),
             *(np.int32(array.shape[2]) for array in found), root, gained, held),
        )  # fmt: skip
        biased = player == ties.restricted and not ties.once
        plane.kernel(f"learn{player}")(
            (plane.across, plane.buckets), (THREADS,),
            (gained, held, plane.policy, plane.path[player], pool.tied(plane)[1],
             np.int32(biased), np.int32(chunks), np.float64(regrets), np.float64(averages),
             pool.regret[plane.part], pool.sums[plane.part]),
        )  # fmt: skip
        return root
