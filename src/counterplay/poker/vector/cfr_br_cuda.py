"""CFR-BR on a CUDA device (`cfr_br.py` describes the algorithm).

All streets are traversed on the device: an iteration is a board at the cut and every board that
follows. Sums are taken in a fixed order, so a seed gives the same bits on one kind of device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, TooLarge
from counterplay.core.kernels.device import Device
from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.cfr_br_boards import (
    BoardBatch,
    IterationBoards,
    IterationBoardSource,
)
from counterplay.poker.vector.cfr_br_source import choice_masks
from counterplay.poker.vector.cfr_br_street import CHUNKS, THREADS, CfrBrStreet, reused_buffer
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.cuda_columns import columns_of
from counterplay.poker.vector.learner_tables import BucketRows
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import Step
from counterplay.poker.vector.trunk import PRIOR_VISITS, has_prior

IN_USE = 16  # iterations whose boards stay on the device


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
