"""CFR-BR on a CUDA device (`cfr_br.py` describes the algorithm).

All streets are traversed on the device: an iteration is a board at the cut and every board that
follows. Sums are taken in a fixed order, so a seed gives the same bits on one kind of device. A
model that the adversary follows with probability p has its own rows and its own reach; on the last
street its ranges are added to those of the adversary before they are multiplied. A data-biased
adversary has one reach: its policies, and its choices where it best-responds, are mixed with the
model's bounds where they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.device import Device, check_memory
from counterplay.poker.vector.adversary import PRIOR_VISITS, has_prior
from counterplay.poker.vector.cfr_br_boards import (
    BoardBatch,
    IterationBoards,
    IterationBoardSource,
    ModelRows,
)
from counterplay.poker.vector.cfr_br_street import (
    THREADS,
    ArrayShape,
    CfrBrStreet,
    Model,
    ModelBounds,
    ModelSeat,
    Shapes,
    StreetSize,
)
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.cuda_boards import link_starts
from counterplay.poker.vector.learner_tables import BucketRows
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import FixedSeat, Step

IN_USE = 16  # iterations whose boards stay on the device
UNUSED = "unused_sum"  # strategy sums of the adversary, which nobody reads


class _Link:
    """The starts of a street as ends of the street before it."""

    def __init__(self, device: Any, first: CfrBrStreet, second: CfrBrStreet, opening: bool) -> None:
        street, self.starts = first.street, second.starts
        link = link_starts(street, first.used, second.street, second.used, opening)
        assert link.below.min() >= 0
        self.below, self.above = device.put(link.below), device.put(link.above)
        sequences = street.sequence[:, link.node].astype(np.int32)  # by player
        self.sequence = [device.put(one) for one in sequences]


class _StreetSeat(NamedTuple):
    """A player with its policy on a street."""

    player: int
    street: CfrBrStreet
    boards: BoardBatch
    reach: Any


class DeviceCfrBr:
    """One learner in both seats; `cut` is the last street or the one before it. With a `model`,
    which its opponent plays with probability p, the learner has one seat. Data-biased, if p is
    None: the model's probabilities are lower bounds of its opponent's."""

    def __init__(
        self, chance: HoldemChance, streets: tuple[Street, ...], row_map: BucketRows, *, cut: int,
        seed: int, device: Any = None, model: FixedSeat | None = None, p: float | None = 0.0,
    ) -> None:  # fmt: skip
        if not len(streets) - 2 <= cut < len(streets):
            raise BadParameter(
                f"the adversary best-responds from the last street or the one before it; got cut = "
                f"{cut} of {len(streets)} streets"
            )
        self._chance, self._cut, self._last = chance, cut, len(streets) - 1
        self.device = device = device or Device()
        self._seats = (0, 1) if model is None else (1 - model.player,)
        self._biased = model is not None and p is None
        self._p = p if model is not None and p is not None else 0.0
        rows: Any = None if model is None else model.row_map
        shared = rows is None or rows.same_rows(row_map)
        self._source = IterationBoardSource(
            chance, len(streets), row_map, cut, seed, None if shared else rows
        )
        self._plan(streets, row_map, rows)
        check_memory(device, self.n_bytes(), "cfr-br")
        with device.stream:
            self._allocate(model)

    def _plan(self, streets: tuple[Street, ...], row_map: BucketRows, model: Any) -> None:
        """Says which arrays there will be, without allocating them; `model`: rows of the model."""
        chance, cut, n = self._chance, self._cut, self._chance.n_holdings
        codes = [0 if model is None else model.count(k) for k in range(len(streets))]
        biased = self._biased
        self._learner_sizes = [
            StreetSize(street, row_map.count(k), n, model_rows=codes[k], biased=biased and k >= cut)
            for k, street in enumerate(streets)
        ]
        shrunk = {k: row_map.count(k) for k in range(cut) if has_prior(row_map, k)}
        self._adversary_sizes = [
            StreetSize(street, n, n, shrunk.get(k, 0), codes[k] if biased else 0, bounded=biased)
            for k, street in enumerate(streets[:cut])
        ]
        played = [] if model is None else list(zip(streets, codes, strict=True))
        self._model_sizes = [StreetSize(street, count, n, fixed=True) for street, count in played]
        if biased:
            self._model_sizes.clear()
        self._tables = {}
        for k, learner in enumerate(self._learner_sizes):
            self._tables[f"regret{k}"] = self._tables[f"strategy_sum{k}"] = learner.table(1)
        for k, adversary in enumerate(self._adversary_sizes):
            self._tables[f"trunk{k}"] = adversary.table(chance.n_boards[k])
            self._tables[f"{UNUSED}{k}"] = adversary.table(1)
        for k, buckets in shrunk.items():  # [nodes - 1, buckets, starts]
            starts = self._adversary_sizes[k].starts
            self._tables[f"prior{k}"] = ArrayShape((len(streets[k].player) - 1, buckets, starts))
        self._shapes: Shapes = {}
        if biased:
            for k, (street, count) in enumerate(played):
                shape = (len(street.player) - 1, count, self._learner_sizes[k].starts)
                self._shapes[f"bounds {k}"] = ArrayShape(shape)
        for k, size in enumerate(self._learner_sizes):
            values = (self._source.n_boards(k), self._source.n_holdings[k], size.starts)
            self._shapes[f"value {k}"] = ArrayShape(values)
            self._shapes[f"value by holding {k}"] = ArrayShape((n, size.starts))
            if k >= cut:
                self._shapes[f"choice {k}"] = ArrayShape(values, np.uint16)
            if k < self._last:
                below = ArrayShape((n, self._learner_sizes[k + 1].starts))
                names = ("learner", "adversary", *(["model"] if self._model_sizes else []))
                self._shapes |= {f"{name} reach {k}": below for name in names}

    def n_bytes(self, classes: int | None = None, in_use: int = IN_USE) -> int:
        """Returns the size of all arrays on the device, with so many classes on the last street (at
        most one for each holding) and the boards of so many iterations."""
        source, n = self._source, self._source.n_holdings
        total = in_use * source.n_bytes()
        total += sum(one.n_bytes for one in (*self._tables.values(), *self._shapes.values()))
        for sizes in (self._learner_sizes, self._adversary_sizes, self._model_sizes):
            for k, size in enumerate(sizes):
                most = n[k] if classes is None else classes
                total += size.n_bytes(source.n_boards(k), n[k], most)
        return total

    def _allocate(self, model: FixedSeat | None) -> None:
        device, chance = self.device, self._chance
        self._learner = [CfrBrStreet(device, size) for size in self._learner_sizes]
        self._adversary = [CfrBrStreet(device, size) for size in self._adversary_sizes]
        self._model = [CfrBrStreet(device, size) for size in self._model_sizes]
        for k, street in enumerate(self._model):
            table, policy = street.new_table(1), model.policy[k]  # type: ignore[union-attr]
            table[0][...] = device.put(street.from_block(policy).astype(table.dtype))
            street.match_regrets(table[0])  # of probabilities are the probabilities
        self._named = {name: device.zeros(*shape) for name, shape in self._tables.items()}
        self.regret, self.strategy_sum, self.trunk_regret, self._unused_sum = (
            [array for name, array in self._named.items() if name.rstrip("0123456789") == table]
            for table in ("regret", "strategy_sum", "trunk", UNUSED)
        )
        self.prior = {
            k: self._named[f"prior{k}"] for k in range(self._cut) if f"prior{k}" in self._named
        }
        self._buffers = {name: device.empty(*shape) for name, shape in self._shapes.items()}
        if self._biased:
            for k, street in enumerate(self._learner):
                bounds = street.from_block(model.policy[k])  # type: ignore[union-attr]
                self._buffers[f"bounds {k}"][...] = device.put(bounds.astype(np.float32))
        pairs = zip(self._learner, self._learner[1:], strict=False)
        self._links = [_Link(device, one, two, k == 0) for k, (one, two) in enumerate(pairs)]
        self._in_use: list[Any] = []
        self._none, self._no_start = device.zeros((1,)), device.zeros((1,), np.int32)
        self._no_choice = device.zeros((1,), np.uint16)
        possible = chance.possible[:, None].astype(np.float32)
        self._root = device.put(possible)
        self._free_root = device.put(np.float32(1.0 - self._p) * possible)
        self._model_root = device.put(np.float32(self._p) * possible)

    def iterate(self, t: int, step: Step) -> None:
        """Updates both seats on the board of iteration t."""
        boards = self._source.take(t)
        with self.device.stream:
            self._update(boards, step)

    def _update(self, boards: IterationBoards, step: Step) -> None:
        batches = [*boards.learner, *boards.adversary, *boards.model, boards.classes]
        put = iter(self.device.put_ahead([array for batch in batches for array in batch]))
        on_device: list[Any] = [type(batch)(*(next(put) for _ in batch)) for batch in batches]
        left, classes = iter(on_device), on_device[-1]
        lists = (boards.learner, boards.adversary, boards.model)
        learner, adversary, model = ([next(left) for _ in one] for one in lists)
        if len(self._in_use) >= IN_USE:  # until now the device may have read them
            self.device.wait()
            self._in_use.clear()
        self._in_use.append(on_device)
        blocks = [board.number for board in boards.path[: self._cut]]
        self._learner[-1].set_boards(learner[-1], classes, boards.most_classes)
        for i in self._seats:
            for k, street in enumerate(self._learner):
                street.match_regrets(self.regret[k][0])
            models = self._model_seats(1 - i, model or learner)
            self._traverse(i, learner, adversary, models, blocks, step)
            for k, street in enumerate(self._learner):
                tables = self.regret[k][0], self.strategy_sum[k][0]
                street.update(i, step, *tables)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns copies of all tables."""
        with self.device.stream:
            saved = {name: a for name, a in self._named.items() if not name.startswith(UNUSED)}
            return {name: self.device.get(array) for name, array in saved.items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restores what `arrays` returned."""
        with self.device.stream:
            for name in saved.keys() & self._named.keys():
                self._named[name][...] = self.device.put(saved[name])

    def blocks(self, table: str) -> list[np.ndarray]:
        """Returns the learner's table of this name by street: [groups, rows, nodes * LANES].
        Strategy sums after the cut are sums over boards, where `VectorCfrBr` has means; the average
        strategy is the same."""
        pairs = zip(self._learner, getattr(self, table), strict=True)
        with self.device.stream:
            return [street.as_block(self.device.get(array[0])) for street, array in pairs]

    def _model_seats(self, j: int, boards: Sequence[BoardBatch | ModelRows]) -> Sequence[Model]:
        """Returns the part of player j that follows the model, by street, or its bounds."""
        if self._biased:
            return [
                ModelBounds(rows.words, rows.row, self._buffers[f"bounds {k}"])
                for k, rows in enumerate(boards)
            ]
        if not self._model:
            return [None] * len(self._learner)
        seats, reach = [], self._model_root
        for k, (street, rows) in enumerate(zip(self._model, boards, strict=True)):
            seats.append(ModelSeat(street, rows.words, reach))
            if k < self._last:
                reach = self._pass_down("model", k, j, street, rows, reach)
        return seats

    def _traverse(
        self, i: int, boards: list[BoardBatch], trunk: list[BoardBatch],
        models: Sequence[Model], blocks: list[int], step: Step,
    ) -> None:  # fmt: skip
        """Collects the values of the learner in seat i; its adversary is updated in the trunk
        before."""
        j, cut, last = 1 - i, self._cut, self._last
        own, other = [self._root], [self._free_root]  # reach of learner and adversary, by street
        bounds = [one if isinstance(one, ModelBounds) else None for one in models]
        for k in range(last):
            own.append(self._pass_down("learner", k, i, self._learner[k], boards[k], own[k]))
        choice: dict[int, Any] = {}
        value = self._none
        for k in range(last, cut - 1, -1):
            choice[k], value = self._respond(k, j, boards[k], own[k], value, bounds[k])
        for k in range(cut - 1, -1, -1):
            adversary = self._adversary[k]
            self._match_trunk(k, boards[k], blocks[k], bounds[k])
            columns = self._learner[k].columns(j, boards[k], own[k], self._no_choice, False)
            value = self._value(k, _StreetSeat(j, adversary, trunk[k], own[k]), columns, value)
            if k in self.prior and step.prior > 0.0:
                adversary.learn_prior(j, step.prior, boards[k], trunk[k].row, self.prior[k])
            adversary.update(j, step, self.trunk_regret[k][blocks[k]], self._unused_sum[k][0])
        for k in range(cut):
            adversary = self._adversary[k]
            self._match_trunk(k, boards[k], blocks[k], bounds[k])
            other.append(self._pass_down("adversary", k, j, adversary, trunk[k], other[k]))
        if last > cut:
            chosen = choice[cut], bounds[cut]
            other.append(self._pass_down_choices(cut, j, boards[cut], other[cut], *chosen))
        value = self._none
        for k in range(last, -1, -1):
            pure = k >= cut
            faced = self._learner[k] if pure else self._adversary[k]
            on = boards[k] if pure else trunk[k]
            chosen = choice[k] if pure else self._no_choice
            follows = models[k] if pure or bounds[k] is None else None
            columns = faced.columns(i, on, other[k], chosen, pure, follows)
            value = self._value(
                k, _StreetSeat(i, self._learner[k], boards[k], own[k]), columns, value
            )

    def _match_trunk(
        self, k: int, boards: BoardBatch, block: int, bounds: ModelBounds | None
    ) -> None:
        """Fills the adversary's policy on a street of the trunk."""
        prior = (self.prior[k], boards.row, np.float32(PRIOR_VISITS)) if k in self.prior else ()
        self._adversary[k].match_regrets(self.trunk_regret[k][block], prior, bounds)

    def _onward(self, k: int, values: Any) -> tuple[Any, ...]:
        """Returns the values after the onward ends of a street, as kernels take them."""
        if k == self._last:
            return self._none, self._no_start, np.int32(1), np.float32(0.0)
        boards = self._chance.total(k + 1) if k < self._cut else 1.0  # those that one stands for
        scale, link = boards / self._chance.n_deals[k + 1], self._links[k]
        return values, link.below, np.int32(link.starts), np.float32(scale)

    def _respond(
        self, k: int, j: int, boards: BoardBatch, reach: Any, values: Any,
        bounds: ModelBounds | None,
    ) -> Any:  # fmt: skip
        """Returns the choices of the adversary's best response, and its values by holding."""
        street, (choice, value, out) = (
            self._learner[k],
            (self._buffers[f"{name} {k}"] for name in ("choice", "value", "value by holding")),
        )
        columns = street.columns(j, boards, reach, self._no_choice, False)
        street.best(j, boards, columns, self._onward(k, values), choice, value, bounds)
        street.by_holding(boards, value, out)
        return choice, out

    def _value(self, k: int, seat: _StreetSeat, columns: tuple[Any, ...], values: Any) -> Any:
        """Returns the values of a seat's policy by holding."""
        street, boards = seat.street, seat.boards
        value, out = self._buffers[f"value {k}"], self._buffers[f"value by holding {k}"]
        onward = self._onward(k, values)
        street.value(seat.player, boards, columns, seat.reach, onward, value)
        street.by_holding(boards, value, out)
        return out

    def _pass_down(
        self, name: str, k: int, player: int, street: CfrBrStreet, boards: BoardBatch | ModelRows,
        reach: Any,
    ) -> Any:  # fmt: skip
        """Returns a player's reach on the next street."""
        link, out = self._links[k], self._buffers[f"{name} reach {k}"]
        street.kernel("down_policy")(
            (-(-link.starts // THREADS), street.holdings), (THREADS,),
            (reach, street.path[player], boards.row, link.above, link.sequence[player],
             np.int32(link.starts), out),
        )  # fmt: skip
        return out

    def _pass_down_choices(
        self, k: int, j: int, boards: BoardBatch, reach: Any, choice: Any,
        bounds: ModelBounds | None,
    ) -> Any:  # fmt: skip
        """Returns the adversary's reach on the next street after its choices."""
        link, street = self._links[k], self._learner[k]
        out = self._buffers[f"adversary reach {k}"]
        more = () if bounds is None else bounds.arguments(j)
        street.kernel(f"down_choice{j}")(
            (-(-link.starts // THREADS), street.holdings), (THREADS,),
            (reach, choice, boards.position, link.above, link.sequence[j], np.int32(link.starts),
             out, *more),
        )  # fmt: skip
        return out
