"""The traversal of `kernels.py` on a device: every kernel is for many nodes of a street and all of
its boards at once (`cuda_source.py`), and the kernels of a traversal are recorded and launched
together. The order of sums differs from that of the processors, so results agree up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.device import Device
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.cfr_kernels import CFRVariant
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots import columns as column
from counterplay.poker.spots.betting import DECISION, FOLD, ONWARD
from counterplay.poker.spots.cuda_source import GROUP, spot_source
from counterplay.poker.spots.decisions import SpotForm
from counterplay.poker.spots.engine import SpotRegrets, SpotTraversal
from counterplay.poker.spots.kernels import LEARN, Tables
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.showdowns import HOLDING, RANK

KERNELS = ("descend", "deal", "ends", "gather", "back_up")
THREADS = 128  # in a block
MOST_NODES = 65_535  # of one kernel
ROOM = 1.1  # factor on the memory of a device


class _Street(NamedTuple):
    """One street on the device; its nodes, by what is computed together. Lists are int32."""

    boards: int
    decisions: list[tuple[Any, Any]]  # of each player, by distance from the street's start
    heights: list[Any]  # all decisions, by distance from what follows
    folds: Any  # in groups
    showdowns: Any
    onward: Any
    #: Of each board: the one before, and the card that was dealt.
    parent: Any
    card: Any
    #: [boards, 52]: the next board after each card, or -1, and the suit permutation that maps it.
    next_board: Any
    suits: Any
    left: int  # next cards, given both holdings


class SpotDeviceTraversal(SpotTraversal):
    """The buffers of one spot on a device, in one precision."""

    def __init__(
        self, layout: SpotLayout, precision: str, form: SpotForm | None, device: Device
    ) -> None:
        super().__init__(layout, precision, 1, form)
        self.device, put = device, device.put
        rows, place = _rows(layout)
        with device.stream:
            kernel = device.compile(spot_source("double" if precision == "double" else "float"))
            self._kernel = {name: kernel(name) for name in KERNELS}
            self._row = [put(rows[:, player].astype(np.int32)) for player in (0, 1)]
            self._place = put(place.astype(np.int32))
            self._nodes = [put(form.nodes) for form in self.forms]
            self._floor = [put(_or_one(form.floor)) for form in self.forms]
            self._payoff = [put(self.forms[0].payoff[:, player]) for player in (0, 1)]
            self._number = device.zeros((3,), self.dtype)
            self._cards = [put(side.kernel.cards[:, :2].astype(np.int32)) for side in layout.sides]
            self._image = [put(side.kernel.image.astype(np.int32)) for side in layout.sides]
            self._rank = [put(_ranks(side.kernel.ranked)) for side in layout.sides]
            self._streets = [self._street(level) for level in range(len(layout.boards.first) - 1)]
            self._reach, self._value = (
                [device.zeros((size,), self.dtype) for size in sizes] for sizes in _sizes(layout)
            )
            self._weights = [put(side.weight.astype(self.dtype)) for side in layout.sides]
        self._recorded: dict[tuple[int, bool], Callable[[], None]] = {}

    def set_weights(self, *weights: float) -> None:
        with self.device.stream:
            self._number[...] = self.device.put(np.array(weights, self.dtype))

    def new_tables(self, player: int) -> Tables:
        """Tables of zeros on the device."""
        n = self.layout.n_slots[player]
        with self.device.stream:
            return Tables(*(self.device.zeros((n,), self.dtype) for _ in range(2)))

    def _street(self, level: int) -> _Street:
        tree, boards, put = self.layout.tree, self.layout.boards, self.device.put
        here = np.flatnonzero(tree.street == level)
        decisions, depths, heights = _depths(self.layout, here)
        low, high = int(boards.first[level]), int(boards.first[level + 1])
        columns = boards.columns[low:high]
        dealt = columns[:, column.NEXT_CARD : column.NEXT_CARD + N_CARDS]
        parent = np.zeros(high - low, dtype=np.int32)
        if level > 0:
            above = boards.columns[int(boards.first[level - 1]) : low]
            parent = np.repeat(np.arange(len(above)), above[:, column.END] - above[:, column.FIRST])

        def numbers(nodes: Any) -> Any:
            return put(np.asarray(nodes, dtype=np.int32))

        def groups(nodes: np.ndarray) -> Any:
            return numbers(np.pad(nodes, (0, -len(nodes) % GROUP), "edge") if len(nodes) else nodes)

        kind, player = tree.kind[here], tree.player[decisions]
        ends = here[(kind != DECISION) & (kind != ONWARD)]
        return _Street(
            high - low,
            [
                tuple(numbers(decisions[(depths == d) & (player == p)]) for p in (0, 1))
                for d in range(int(depths.max(initial=-1)) + 1)
            ],
            [numbers(decisions[heights == d]) for d in range(1, int(heights.max(initial=0)) + 1)],
            groups(ends[tree.kind[ends] == FOLD]),
            groups(ends[tree.kind[ends] != FOLD]),
            numbers(here[kind == ONWARD]),
            numbers(parent),
            numbers(columns[:, column.CARD]),
            numbers(np.where(dealt >= 0, dealt - high, -1)),
            numbers(columns[:, column.SUITS : column.SUITS + N_CARDS]),
            max(1, int(columns[0, column.LEFT])),
        )  # fmt: skip

    def run(
        self, player: int, tables: tuple[Tables, Tables], mode: int, locked: bool = False,
        reach: Any = None,
    ) -> Any:  # fmt: skip
        """As on processors. What is learnt stays on the device: no values are returned."""
        other = self.layout.sides[1 - player]
        many = len(other.holding)
        with self.device.stream:
            weights = (
                self._weights[1 - player]
                if reach is None
                else self.device.put(np.asarray(reach, self.dtype))
            )
            self._reach[0][:many] = weights
            if mode == LEARN:
                self._recorded_traversal(player, tables, locked)()
                return None
            self._traverse(player, tables, mode, locked)
            own = len(self.layout.sides[player].holding)
            return np.array(self.device.get(self._value[0][:own]))

    def _recorded_traversal(
        self, player: int, tables: tuple[Tables, Tables], locked: bool
    ) -> Callable[[], None]:
        """What updates these tables, which stay where they are."""
        if (player, locked) not in self._recorded:
            self._recorded[player, locked] = self.device.record(
                lambda: self._traverse(player, tables, LEARN, locked)
            )
        return self._recorded[player, locked]

    def _traverse(
        self, player: int, tables: tuple[Tables, Tables], mode: int, locked: bool
    ) -> None:
        last = len(self._streets) - 1
        for level in range(last + 1):
            self._down(level, player, tables[1 - player], mode, locked)
        for level in range(last, -1, -1):
            self._up(level, player, tables[player], mode, locked)

    def _launch(self, name: str, nodes: Any, threads: int, *arguments: Any, each: int = 1) -> None:
        """A kernel for nodes of a list, its first argument, `each` of them in a row of threads."""
        given = [np.int32(one) if isinstance(one, int) else one for one in arguments]
        for low in range(0, len(nodes), MOST_NODES * each):
            part = nodes[low : low + MOST_NODES * each]
            grid = (-(-threads // THREADS), len(part) // each, 1)
            self._kernel[name](grid, (THREADS,), (part, *given))

    def _down(self, level: int, player: int, others: Tables, mode: int, locked: bool) -> None:
        """The other player's reach on a street, and at the start of the next one."""
        them, street = 1 - player, self._streets[level]
        nodes, row, n = self._nodes[locked], self._row[them], len(self.layout.sides[them].holding)
        for both in street.decisions:
            self._launch(
                "descend", both[them], street.boards * n, nodes, row, others.source,
                self._floor[locked], self._number, int(mode == LEARN), street.boards, n,
                others.strategy_sum, self._reach[level],
            )  # fmt: skip
        if level + 1 < len(self._streets):
            after = self._streets[level + 1]
            self._launch(
                "deal", street.onward, after.boards * n, nodes, row, after.parent,
                after.card, self._cards[them], self._reach[level], street.boards, after.boards, n,
                self._reach[level + 1],
            )  # fmt: skip

    def _up(self, level: int, player: int, own: Tables, mode: int, locked: bool) -> None:
        """The player's values on a street, from those of the next one."""
        them, street, nodes = 1 - player, self._streets[level], self._nodes[locked]
        n, m = (len(self.layout.sides[k].holding) for k in (player, them))
        threads, value = street.boards * n, self._value[level]
        for shown, list_ in ((0, street.folds), (1, street.showdowns)):
            self._launch(
                "ends", list_, threads, self._place, self._row[them], self._payoff[player],
                self._rank[player], self._rank[them], self._cards[player], self._cards[them],
                self._reach[level], shown, street.boards, n, m, value, each=GROUP,
            )  # fmt: skip
        if level + 1 < len(self._streets):
            after = self._streets[level + 1]
            self._launch(
                "gather", street.onward, threads, nodes, self._place, street.next_board,
                street.suits, self._image[player], self._cards[player], self._value[level + 1],
                after.boards, street.left, street.boards, n, value,
            )  # fmt: skip
        recorded = len(own.source) > 0
        for list_ in street.heights:
            self._launch(
                "back_up", list_, threads, nodes, self._place, self._floor[locked],
                self._number, player, mode, int(recorded), street.boards, n,
                own.source if recorded else self._number, value,
            )  # fmt: skip


def _rows(layout: SpotLayout) -> tuple[np.ndarray, np.ndarray]:
    """Int[n, 2]: each node's row of each player's reach among those of its street, one for each of
    the player's action sequences in a segment; int[n]: its place among the nodes of its street."""
    tree = layout.tree
    street = tree.street[tree.first_node[:-1]]  # of each segment
    segment = np.repeat(np.arange(len(street)), np.diff(tree.first_node))
    before, place = np.zeros_like(tree.n_sequences), np.zeros(len(segment), dtype=np.int64)
    for level in range(int(street.max()) + 1):
        here = street == level
        counts = tree.n_sequences[here]
        before[here] = np.cumsum(counts, axis=0) - counts
        nodes = np.flatnonzero(tree.street == level)
        place[nodes] = np.arange(len(nodes))
    return before[segment] + tree.sequence, place


def _sizes(layout: SpotLayout) -> tuple[list[int], list[int]]:
    """Numbers of reach and of values on each street."""
    tree, boards = layout.tree, np.diff(layout.boards.first)
    street = tree.street[tree.first_node[:-1]]
    holdings = [len(side.holding) for side in layout.sides]
    reach, value = [], []
    for level, many in enumerate(boards.tolist()):
        rows = tree.n_sequences[street == level].sum(axis=0).tolist()
        reach.append(many * max(row * n for row, n in zip(rows, holdings, strict=True)))
        value.append(many * int((tree.street == level).sum()) * max(holdings))
    return reach, value


def _depths(layout: SpotLayout, here: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The decisions among the nodes of a street, how many come before each of them in its segment,
    and the most that can follow there, counting itself."""
    tree = layout.tree
    depth, height = np.zeros(len(tree.kind), np.int64), np.zeros(len(tree.kind), np.int64)
    decisions = here[tree.kind[here] == DECISION]
    for k in decisions.tolist():  # parents come first
        depth[k] = depth[tree.parent[k]] + 1 if tree.parent[k] >= 0 else 0
    for k in decisions[::-1].tolist():
        low = int(tree.first_child[k])
        height[k] = 1 + int(height[low : low + int(tree.n_actions[k])].max())
    return decisions, depth[decisions], height[decisions]


def _ranks(ranked: np.ndarray) -> np.ndarray:
    """Int32[rivers, holdings]: the rank of each holding's strength on each river, -1 for those
    that share a card with it."""
    rivers, _, wide = ranked.shape
    alive = np.arange(wide - 1) < ranked[:, HOLDING, -1:]
    rank = np.empty((rivers, wide - 1), dtype=np.int32)
    values = np.where(alive, ranked[:, RANK, :-1], -1).astype(np.int32)
    np.put_along_axis(rank, ranked[:, HOLDING, :-1].astype(np.int64), values, axis=1)
    return rank


def _or_one(array: np.ndarray) -> np.ndarray:
    """An array that is not empty."""
    return array if len(array) else np.zeros(1, array.dtype)


class DeviceSpotRegrets(SpotRegrets):
    """`SpotRegrets` with its tables on a device, fetched on demand."""

    def __init__(
        self, layout: SpotLayout, variant: CFRVariant, compute: ComputeOptions,
        form: SpotForm | None = None, locked: int = -1, device: Device | None = None,
    ) -> None:  # fmt: skip
        if compute.threads != 1:
            raise BadParameter("with backend=cuda the device does the work; leave out threads")
        self._device = device or Device()
        require_room(self._device.free_bytes(), layout, compute.precision)
        super().__init__(layout, variant, ComputeOptions(precision=compute.precision), form, locked)
        traversal = SpotDeviceTraversal(layout, compute.precision, form, self._device)
        self._traversal, self._fetched = traversal, True
        self._working = (traversal.new_tables(0), traversal.new_tables(1))

    def changed(self) -> None:
        with self._device.stream:
            for here, there in self._pairs():
                there[...] = self._device.put(here)

    def run(self, done: int, n: int) -> None:
        super().run(done, n)
        self._device.wait()
        self._fetched = self._fetched and n == 0

    def _host_tables(self) -> tuple[Tables, Tables]:
        if not self._fetched:
            with self._device.stream:
                for here, there in self._pairs():
                    here[:] = self._device.get(there)
            self._fetched = True
        return self._tables

    def _pairs(self) -> list[tuple[np.ndarray, Any]]:
        """Each table, and where it is on the device."""
        both = zip(self._tables, self._working, strict=True)
        return [pair for here, there in both for pair in zip(here, there, strict=True)]


def require_room(free: float, layout: SpotLayout, precision: str) -> None:
    """`BadParameter` where a spot does not fit on a device with so many free bytes."""
    needed = device_bytes(layout, precision)
    if needed > free:
        raise BadParameter(
            f"this spot takes about {needed / 1e9:.1f} GB on the device, where {free / 1e9:.1f} GB "
            f"are free; give fewer sizes, narrower ranges or precision=single"
        )


def device_bytes(layout: SpotLayout, precision: str) -> float:
    """About the memory of a device that solving takes: the tables, reach and values on all boards,
    and where holdings and boards lead."""
    size = 8 if precision == "double" else 4
    numbers = 2 * sum(layout.n_slots) + sum(map(sum, _sizes(layout)))
    places = 2 * N_CARDS * len(layout.boards.columns)
    places += sum(side.kernel.image.size + side.kernel.ranked.size // 2 for side in layout.sides)
    return ROOM * (size * numbers + 4.0 * places)
