"""Public chance sampling on a CUDA device: batches of boards, one update for each batch.

The traversal is that of `public_traversal.py`, street by street for all boards of a batch at once.
Holdings with the same buckets form a class (`dealt_boards.py`), and showdowns and folds are
matrix products (`cuda_columns.py`). Regrets and strategy sums are in double precision, everything
else in single; what large classes win in a game with a `tilt` is rounded to half precision.
No sum depends on the order of threads, so a seed gives the same bits on one kind of device.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.core.base.errors import whole_number
from counterplay.core.forms.restricted import OtherModel
from counterplay.core.kernels.device import Device, check_memory
from counterplay.core.parallel.pool import Algorithm, PoolProgress, Worker, WorkerPool
from counterplay.poker.vector.cuda_boards import link_starts, payoff_by_start, used_starts
from counterplay.poker.vector.cuda_columns import (
    Products,
    action_numbers,
    children,
    columns_of,
    empty_products,
    multiply,
    round_up,
)
from counterplay.poker.vector.cuda_source import public_source
from counterplay.poker.vector.dealt_boards import BoardSource, DealtBoards, select_boards
from counterplay.poker.vector.holding_classes import MAX_CLASSES
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_values import MODEL, InfosetRows, Restriction, form_counts

THREADS = 128  # in a block
BUSY = 200_000  # threads that keep a device busy
BOARDS_AT_ONCE = 64  # boards that are traversed at once: enough to keep a device busy
MOST_BOARDS = 4_096


def check_batch(batch: Any) -> int:
    return whole_number(batch, 1, MOST_BOARDS, "batch")


def _plane_bytes(street: Street, buckets: int) -> int:
    """Returns the size of a street's tables, policies and paths."""
    starts, actions = len(used_starts(street)), len(street.player) - 1
    paths = int(street.n_sequences.sum() + street.n_sequences.max())
    return starts * buckets * (actions * (2 * 8 + 2 * 4) + paths * 4)


class _LearnerStreet:
    """One street on the device: its kernels, its part of the tables, and links to the next
    street."""

    def __init__(
        self, device: Device, street: Street, buckets: int, rows: InfosetRows, before: int
    ) -> None:
        node = street.public_node.transpose(0, 2, 1).reshape(-1, len(street.player))
        self.used = used_starts(street)
        node = node[self.used]
        self.street, self.buckets, self.starts = street, buckets, len(self.used)
        self.kernel = device.compile(public_source(street, self.starts, buckets))
        self.size = (len(street.player) - 1) * buckets * self.starts
        self.part = slice(before, before + self.size)  # of the tables
        self._node = node
        self.slots = self.numbers(rows)
        every = [columns_of(street, player) for player in (0, 1)]
        self.counts = [columns.counts for columns in every]
        self.payoff = []
        for player, columns in enumerate(every):
            payoff = np.abs(payoff_by_start(street, player, self.used)[columns.terminals])
            self.payoff.append(device.put(payoff.astype(np.float32)))
        self.across = -(-self.starts // THREADS)

        def plane(n: int) -> Any:
            return device.empty((n, buckets, self.starts))

        self.policy, self.own = plane(len(street.player) - 1), plane(len(street.player) - 1)
        self.path = [plane(int(street.n_sequences[j])) for j in (0, 1)]
        self.model_path = plane(int(street.n_sequences.max()))

    def numbers(self, rows: InfosetRows, infosets: bool = False) -> np.ndarray:
        """Returns int32[nodes - 1, buckets, starts]: the slot of the action that leads to a node,
        or its information set."""
        shape = (len(self.street.player) - 1, self.buckets, self.starts)
        out, bucket = np.empty(shape, dtype=np.int32), np.arange(self.buckets, dtype=np.int32)
        for k in np.flatnonzero(self.street.player >= 0).tolist():
            below, row = children(self.street, k), rows.first_row[self._node[:, k]]
            for a, c in enumerate(below):
                if infosets:
                    np.add(row, bucket[:, None], out=out[c - 1])
                else:
                    first = rows.first[row] + np.int32(a)
                    np.add(first, bucket[:, None] * np.int32(len(below)), out=out[c - 1])
        return out

    def link(self, device: Device, after: _LearnerStreet, first: bool) -> None:
        """Links the starts of the next street to those of this one, which is the `first`."""
        link = link_starts(self.street, self.used, after.street, after.used, first)
        self.below, self.above = device.put(link.below), device.put(link.above)
        sequence = self.street.sequence[:, link.node].astype(np.int32)
        self.sequence = [device.put(sequence[j]) for j in (0, 1)]


@dataclass(frozen=True)
class _ModelPaths:
    """The probabilities of a model's action sequences by its own buckets."""

    of: OtherModel
    streets: list[_LearnerStreet]


class DevicePool(WorkerPool):
    """A pool whose tables are on a device and are fetched on demand."""

    def __init__(
        self,
        worker: Worker,
        rows: InfosetRows,
        streets: tuple[Street, ...],
        counts: tuple[int, ...],
        source: BoardSource,
        device: Device | None = None,
        tilt: float = 0.0,
    ) -> None:
        super().__init__([worker])
        self.device = device or Device()
        self.source, self.win = source, np.float32(1.0 + tilt)
        self.streets: list[_LearnerStreet] = []
        needed = sum(map(_plane_bytes, streets, counts))
        check_memory(self.device, needed, "mccfr-public")
        before = 0
        with self.device.stream:
            for street, buckets in zip(streets, counts, strict=True):
                self.streets.append(_LearnerStreet(self.device, street, buckets, rows, before))
                before += self.streets[-1].size
            for k, (here, after) in enumerate(pairwise(self.streets)):
                here.link(self.device, after, k == 0)
            self.slots = np.concatenate([one.slots.ravel() for one in self.streets])
            for one in self.streets:
                one.slots = self.slots[one.part]  # not twice in memory
            self._rows = rows
            self._restriction: Restriction | None = None
            self.other: _ModelPaths | None = None
            self._no_values = self.device.zeros((1,))
            self._no_starts = self.device.zeros((1,), np.int32)
            self.regret, self.sums = (self.device.zeros((before,), np.float64) for _ in range(2))
            self._fetched = True

    def changed(self) -> None:
        """Copies the worker's tables, which are newer, to the device."""
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

    def restrict(self, restriction: Restriction, other: OtherModel | None = None) -> None:
        """Sets the restriction of the next updates. `other`: a model of another card
        abstraction."""
        if restriction is self._restriction:
            return
        self._restriction = restriction
        if other is None:
            self.other = None
        elif self.other is None or self.other.of.policy is not other.policy:
            self.other = None  # frees its memory
            self.other = self._follow(other)
        own = len(restriction.fixed) and other is None
        fixed = restriction.fixed[self.slots] if own else np.zeros(1)
        trust = np.zeros(1)
        if len(restriction.confidence):
            infosets = [one.numbers(self._rows, True).ravel() for one in self.streets]
            trust = restriction.confidence[np.concatenate(infosets)]
        with self.device.stream:
            self._fixed = self.device.put(fixed.astype(np.float32))
            self._trust = self.device.put(trust.astype(np.float32))

    def _follow(self, other: OtherModel) -> _ModelPaths:
        """Computes the model's paths: regret matching returns what are probabilities already."""
        rows, counts = InfosetRows(other.form.first_row, other.form.first), form_counts(other.form)
        needed = sum(map(_plane_bytes, [one.street for one in self.streets], counts))
        check_memory(self.device, needed, "a model of another card abstraction")
        streets = []
        with self.device.stream:
            for mine, buckets in zip(self.streets, counts, strict=True):
                one = _LearnerStreet(self.device, mine.street, buckets, rows, 0)
                policy = self.device.put(other.policy[one.slots.ravel()])
                nothing = self.device.zeros((1,))
                one.kernel("match_regrets")(
                    (one.across, buckets), (THREADS,),
                    (policy, one.policy, *one.path, one.own, one.model_path, nothing, nothing,
                     np.int32(-1), np.int32(0)),
                )  # fmt: skip
                self.device.wait()
                streets.append(one)
        return _ModelPaths(other, streets)

    def update(self, boards: DealtBoards, regret_weight: float, average_weight: float) -> None:
        """Traverses a batch with the current policies and updates the tables. Boards with about as
        many classes are traversed together."""
        self._fetched = False
        order = np.argsort(boards.classes, kind="stable")
        with self.device.stream:
            self._set_policies()
            for low in range(0, len(order), BOARDS_AT_ONCE):
                part = select_boards(boards, order[low : low + BOARDS_AT_ONCE])
                _BatchTraversal(self, part).run(regret_weight, average_weight)

    def _set_policies(self) -> None:
        restriction = self._restriction
        assert restriction is not None
        own = self.other is None  # the model has the learner's rows, and is followed along
        for street in self.streets:
            fixed, trust = self.model(street)
            street.kernel("match_regrets")(
                (street.across, street.buckets), (THREADS,),
                (self.regret[street.part], street.policy, *street.path, street.own,
                 street.model_path, fixed, trust, np.int32(restriction.restricted if own else -1),
                 np.int32(restriction.per_hand and own)),
            )  # fmt: skip

    def model(self, street: _LearnerStreet) -> tuple[Any, Any]:
        """Returns the model's policy on a street and the confidence in it."""
        arrays = (self._fixed, self._trust)
        fixed, trust = (array[street.part] if len(array) > 1 else array for array in arrays)
        return fixed, trust

    @property
    def restriction(self) -> Restriction:
        assert self._restriction is not None
        return self._restriction


class _BatchTraversal:
    """The traversal of one batch of boards."""

    def __init__(self, pool: DevicePool, boards: DealtBoards) -> None:
        self.pool, self.device = pool, pool.device
        put = self.device.put
        self.boards, self.n = len(boards.classes), boards.word.shape[1]
        self.classes = round_up(int(boards.classes.max()), 4)
        self.most = boards.part.shape[2] - 1
        self.word, self.first, self.count = map(put, (boards.word, boards.first, boards.classes))
        self.code, self.member, self.part = map(put, (boards.code, boards.member, boards.part))
        self.model_code = self.code if pool.other is None else put(boards.model_code)
        shape = (self.boards, self.classes, 4 * self.classes)
        self.meetings = self.device.empty(shape, np.uint16)

    def run(self, regret_weight: float, average_weight: float) -> None:
        streets, classes = self.pool.streets, self.classes
        streets[0].kernel("meetings")(
            (-(-classes // 32), classes, self.boards), (32,),
            (self.word, self.first, np.int32(self.n), np.int32(MAX_CLASSES), np.int32(classes),
             np.int32(classes), np.int32(0), np.int32(1), self.pool.win, self.meetings),
        )  # fmt: skip
        who = (0, 1, MODEL) if self.pool.restriction.per_hand else (0, 1)
        reach = [[self.device.zeros((self.boards, classes, 1)) + np.float32(1) for _ in who]]
        for s, (street, after) in enumerate(pairwise(streets)):
            reach.append([self._pass_reach(s, street, after, w, reach[-1][w]) for w in who])
        below: list[Any] = [None, None]
        for s in reversed(range(4)):
            for player in (0, 1):
                weights = (regret_weight, average_weight)
                below[player] = self._up(s, player, reach[s], below[player], *weights)

    def _pass_reach(
        self, s: int, street: _LearnerStreet, after: _LearnerStreet, who: int, y: Any
    ) -> Any:
        """Returns the reach at the starts of the next street."""
        out = self.device.empty((self.boards, self.classes, after.starts))
        player = self.pool.restriction.restricted if who == MODEL else who
        model, path, code = self._model(s)
        if who != MODEL:
            model, path, code = street, street.path[who], self.code
        model.kernel("pass_reach")(
            (after.across, self.classes, self.boards), (THREADS,),
            (y, path, code[s], self.count, street.above, street.sequence[player],
             np.int32(MAX_CLASSES), np.int32(self.classes), np.int32(after.starts), out),
        )  # fmt: skip
        return out

    def _model(self, s: int) -> tuple[_LearnerStreet, Any, Any]:
        """Returns the street whose rows the model has, its path there, and its codes."""
        pool = self.pool
        if pool.other is None:
            return pool.streets[s], pool.streets[s].model_path, self.code
        street = pool.other.streets[s]
        return street, street.path[max(pool.restriction.restricted, 0)], self.model_code

    def _column_values(self, s: int, player: int, y: list[Any]) -> Products:
        """Returns the values of each class of a player in each column."""
        street, restriction = self.pool.streets[s], self.pool.restriction
        device, other = self.device, 1 - player
        twice = (2 * self.classes, 2 * self.classes, 4 * self.classes)
        counts = street.counts[player]
        reach = empty_products(device, self.boards, twice, counts, street.starts, np.uint16)
        mixed = restriction.per_hand and other == restriction.restricted
        model, model_path, model_code = self._model(s)
        street.kernel("spread")(
            (street.across, self.classes, self.boards), (THREADS,),
            (y[other], street.path[other], y[-1], model_path, np.int32(mixed),
             np.float32(restriction.share[0]), np.float32(restriction.share[1]),
             street.payoff[player], self.code[s], model_code[s], np.int32(model.buckets),
             self.count, np.int32(MAX_CLASSES), np.int32(self.classes), np.int32(player),
             *(np.int32(array.shape[2]) for array in reach), *reach),
        )  # fmt: skip
        rows = (self.classes,) * 3
        values = empty_products(device, self.boards, rows, counts, street.starts, np.float32)
        multiply(device, self.meetings, self.classes, reach, values)
        return values

    def _up(
        self,
        s: int,
        player: int,
        y: list[Any],
        below: Any,
        regret_weight: float,
        average_weight: float,
    ) -> Any:
        """Returns the values at the starts of a street; updates its tables."""
        pool, device, street = self.pool, self.device, self.pool.streets[s]
        restriction, values = pool.restriction, self._column_values(s, player, y)
        gains = len(action_numbers(street.street, player))
        chunks = max(1, min(self.boards, BUSY // (street.starts * street.buckets)))
        each = -(-self.boards // chunks)
        chunks = -(-self.boards // each)
        root = device.empty((self.boards, self.classes, street.starts))
        gained = device.empty((chunks, gains, street.buckets, street.starts))
        own_reach = device.empty((chunks, street.buckets, street.starts))
        after = pool.streets[s + 1].starts if s < 3 else 0
        street.kernel(f"up{player}")(
            (street.across, street.buckets, chunks), (THREADS,),
            (*values, self.member[s], self.part[s], self.first, street.own, y[player],
             below if s < 3 else pool._no_values, street.below if s < 3 else pool._no_starts,
             np.int32(self.boards), np.int32(each), np.int32(MAX_CLASSES), np.int32(self.most),
             np.int32(self.classes), np.int32(after),
             *(np.int32(array.shape[2]) for array in values), root, gained, own_reach),
        )  # fmt: skip
        biased = player == restriction.restricted and not restriction.per_hand
        street.kernel(f"update{player}")(
            (street.across, street.buckets), (THREADS,),
            (gained, own_reach, street.policy, street.path[player], np.int32(chunks),
             np.float64(regret_weight), np.float64(average_weight), pool.model(street)[1],
             np.int32(biased), pool.regret[street.part], pool.sums[street.part]),
        )  # fmt: skip
        return root
