"""The traversal of `kernels.py` by arrays of a device: every operation is for all boards of a
street at once, [boards, holdings], with one array for each node of the betting.

Folds are products with the matrix of holdings that can meet. Showdowns are differences of prefix
sums over the other player's holdings by strength, and over those with each card. The order of sums
differs from that of the kernels, so results agree up to rounding. Operations are launched one by
one: what that costs is worth it where there are many boards and holdings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.device import cupy
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.cfr_kernels import CFRVariant
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots import columns as column
from counterplay.poker.spots.betting import DECISION, FOLD, ONWARD
from counterplay.poker.spots.decisions import SpotForm
from counterplay.poker.spots.engine import SpotRegrets, SpotTraversal
from counterplay.poker.spots.kernels import BEST, LEARN, Tables
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.showdowns import HOLDING, RANK

ROOM = 1.2  # factor on the memory of a device


class _Dealt(NamedTuple):
    """From the b boards of a street to the n boards of the next one; h holdings of a player."""

    parent: Any  # int[n]: the board before
    live: list[Any]  # of each player: [n, h], 0 for holdings with the last card, else 1
    source: list[Any]  # of each player: int[b, 52, h]: where its values on the next boards are, n h
    chance: float


class _Showdown(NamedTuple):
    """A player's showdowns on r rivers; h own holdings, m of the other player, k with one card."""

    order: Any  # int[r, m]: the other's holdings, weakest first
    by_card: Any  # int[r, 52, k]: those with each card, weakest first; m where there are fewer
    weaker: Any  # int[r, h]: how many are weaker
    not_stronger: Any  # int[r, h]
    with_card: Any  # int[2, 2, r, h]: the same two numbers, by card, in [52 (k + 1)]
    every: Any  # int[2, h]: all with that card
    live: Any  # [r, h]: 0 for holdings with a card of the board


class SpotDeviceTraversal(SpotTraversal):
    """`library`: CuPy, or NumPy in tests."""

    def __init__(
        self, layout: SpotLayout, precision: str, form: SpotForm | None, library: Any
    ) -> None:
        super().__init__(layout, precision, 1, form)
        self.xp, put = library, library.asarray
        sides = [side.kernel.cards for side in layout.sides]
        shares = (sides[0][:, None, :2, None] == sides[1][None, :, None, :2]).any(axis=(2, 3))
        meet = (~shares).astype(self.dtype)
        self._meet = [put(meet.T.copy()), put(meet)]  # from the other's holdings to the player's
        self._dealt = [self._deal(level) for level in range(len(layout.boards.first) - 2)]
        self._showdown = [self._ranks(player) for player in (0, 1)]
        self._floors = [put(form.floor) for form in self.forms]
        self.set_weights(1.0, 1.0, 1.0)

    def set_weights(self, *weights: float) -> None:
        self.weights = [self.dtype(weight) for weight in weights]

    def new_tables(self, player: int) -> Tables:
        """Tables of zeros on the device."""
        n = self.layout.n_slots[player]
        return Tables(self.xp.zeros(n, self.dtype), self.xp.zeros(n, self.dtype))

    def _deal(self, level: int) -> _Dealt:
        boards, put = self.layout.boards, self.xp.asarray
        low, high = int(boards.first[level]), int(boards.first[level + 1])
        columns, n = boards.columns[low:high], int(boards.first[level + 2]) - high
        parent = np.repeat(np.arange(high - low), columns[:, column.END] - columns[:, column.FIRST])
        cards = boards.columns[high : high + n, column.CARD]
        live, source = [], []
        child, suits = (columns[:, at : at + N_CARDS] for at in (column.NEXT_CARD, column.SUITS))
        for side in self.layout.sides:
            held, many = side.kernel.cards[:, :2], len(side.holding)
            live.append(put((held[None] != cards[:, None, None]).all(axis=2).astype(self.dtype)))
            where = (child - high)[:, :, None] * many + side.kernel.image[np.maximum(suits, 0)]
            has = (held[None] == np.arange(N_CARDS)[:, None, None]).any(axis=2)
            where[(child < 0)[:, :, None] | has[None]] = n * many
            source.append(put(where))
        return _Dealt(put(parent), live, source, 1.0 / float(columns[0, column.LEFT]))

    def _ranks(self, player: int) -> _Showdown:
        own, other = (self.layout.sides[k].kernel for k in (player, 1 - player))
        ours, theirs = own.ranked[:, :, :-1], other.ranked[:, :, :-1].astype(np.int64)
        rivers, m = theirs.shape[0], theirs.shape[2]
        rank = np.empty((rivers, len(own.cards)), dtype=np.int64)
        np.put_along_axis(rank, ours[:, HOLDING].astype(np.int64), ours[:, RANK], axis=1)
        counts = [
            np.stack([np.searchsorted(theirs[r, RANK], rank[r], side) for r in range(rivers)])
            for side in ("left", "right")
        ]
        place = np.argsort(theirs[:, HOLDING], axis=1)
        holders = [np.flatnonzero((other.cards[:, :2] == c).any(axis=1)) for c in range(N_CARDS)]
        k = max(map(len, holders))
        by_card = np.full((rivers, N_CARDS, k), m, dtype=np.int64)
        with_card = np.empty((2, 2, rivers, len(own.cards)), dtype=np.int64)
        for c, held in enumerate(holders):
            by_card[:, c, : len(held)] = held[np.argsort(place[:, held], axis=1)]
            before = np.zeros((rivers, m + 1), dtype=np.int64)
            mine = (other.cards[:, :2] == c).any(axis=1)[theirs[:, HOLDING]]
            np.cumsum(mine, axis=1, out=before[:, 1:])
            for j in (0, 1):
                hands = np.flatnonzero(own.cards[:, j] == c)
                for which, count in enumerate(counts):
                    found = np.take_along_axis(before, count[:, hands], axis=1)
                    with_card[which, j][:, hands] = c * (k + 1) + found
        alive = np.arange(len(own.cards)) < own.ranked[:, HOLDING, -1:]
        live = np.empty(rank.shape, dtype=self.dtype)
        np.put_along_axis(live, ours[:, HOLDING].astype(np.int64), alive.astype(self.dtype), axis=1)
        every = own.cards[:, :2].T * (k + 1) + k
        arrays = (theirs[:, HOLDING], by_card, *counts, with_card, every, live)
        return _Showdown(*(self.xp.asarray(array) for array in arrays))

    def run(
        self, player: int, tables: tuple[Tables, Tables], mode: int, locked: bool = False,
        reach: Any = None,
    ) -> Any:  # fmt: skip
        other = self.layout.sides[1 - player]
        weights = self.xp.asarray((other.weight if reach is None else reach).astype(self.dtype))
        step = _Step(self, player, tables, mode, locked)
        values = step.visit(0, self._end, 0, weights[None])[0]
        return values if self.xp is np else self.xp.asnumpy(values)


class _Step:
    """One traversal."""

    def __init__(
        self, on: SpotDeviceTraversal, player: int, tables: tuple[Tables, Tables], mode: int,
        locked: bool,
    ) -> None:  # fmt: skip
        self.on, self.xp, self.player, self.tables, self.mode = on, on.xp, player, tables, mode
        self.form, self.floors = on.forms[locked], on._floors[locked]
        self.nodes = self.form.nodes.tolist()

    def _view(
        self, table: Any, node: list[int], player: int, boards: int, begins: int = column.BASE
    ) -> Any:
        """[boards, actions, holdings]: a node's part of a table."""
        low = node[begins]
        shape = boards, node[column.ACTIONS], len(self.on.layout.sides[player].holding)
        return table[low : low + boards * node[column.SIZE]].reshape(shape)

    def _policy(self, source: Any, floor: Any) -> Any:
        share = self.xp.maximum(source, 0)
        total = share.sum(axis=1, keepdims=True)
        some = total > 0
        share = self.xp.where(some, share / self.xp.where(some, total, 1), 1 / source.shape[1])
        return self._bound(share.astype(source.dtype), floor)

    def _bound(self, share: Any, floor: Any) -> Any:
        """Probabilities as the floor of a locked node demands."""
        if floor is None:
            return share
        free = self.xp.maximum(1 - floor.sum(axis=1, keepdims=True), 0)
        return (floor + free * share).astype(share.dtype)

    def _floor(self, node: list[int], player: int, boards: int) -> Any:
        if node[column.FLOOR] < 0:
            return None
        return self._view(self.floors, node, player, boards, column.FLOOR)

    def visit(self, first: int, end: int, level: int, reach: Any) -> Any:
        """[boards, holdings]: the player's values of a segment, from the other's reach."""
        me, them, nodes, boards = self.player, 1 - self.player, self.nodes, len(reach)
        others, rows = self.tables[them], {0: reach}
        for k in range(first, end):
            node = nodes[k]
            if node[column.KIND] != DECISION or node[column.PLAYER] != them:
                continue
            policy = self._policy(
                self._view(others.source, node, them, boards), self._floor(node, them, boards)
            )
            after = rows[node[column.SEQUENCE + them]][:, None] * policy
            for a in range(node[column.ACTIONS]):
                rows[nodes[node[column.CHILD] + a][column.SEQUENCE + them]] = after[:, a]
            if self.mode == LEARN:
                self._view(others.strategy_sum, node, them, boards)[:] += self.on.weights[0] * after
        values = self._ends(first, end, level, rows)
        for k in reversed(range(first, end)):
            node = nodes[k]
            if node[column.KIND] == ONWARD:
                values[k] = self._onward(node, level, rows[node[column.SEQUENCE + them]])
            elif node[column.KIND] == DECISION:
                below = [values.pop(node[column.CHILD] + a) for a in range(node[column.ACTIONS])]
                below = self.xp.stack(below, axis=1)
                values[k] = below.sum(axis=1)
                if node[column.PLAYER] == me:
                    values[k] = self._own(node, below)
        return values[first]

    def _own(self, node: list[int], below: Any) -> Any:
        """The value of one of the player's nodes, which is updated."""
        xp, me, boards = self.xp, self.player, len(below)
        floor, table = self._floor(node, me, boards), self.tables[me].source
        source: Any = self._view(table, node, me, boards) if len(table) else None
        if self.mode == BEST:
            best = below.argmax(axis=1)[:, None] == xp.arange(below.shape[1])[None, :, None]
            if source is not None:
                source[:] = best
            policy = self._bound(best.astype(below.dtype), floor)
        else:
            policy = self._policy(source, floor)
        value = (policy * below).sum(axis=1)
        if self.mode == LEARN:
            mean = value
            if floor is not None:
                free = 1 - floor.sum(axis=1)
                least = (value - (floor * below).sum(axis=1)) / xp.where(free > 0, free, 1)
                mean = xp.where(free > 0, least, value)
            regret = source + (below - mean[:, None])
            source[:] = regret * xp.where(regret > 0, *self.on.weights[1:])
        return value

    def _onward(self, node: list[int], level: int, reach: Any) -> Any:
        dealt = self.on._dealt[level]
        reach = reach[dealt.parent] * dealt.live[1 - self.player]
        below = self.visit(node[column.NEXT], node[column.NEXT_END], level + 1, reach).ravel()
        below = self.xp.concatenate([below, self.xp.zeros(1, below.dtype)])
        return dealt.chance * below[dealt.source[self.player]].sum(axis=1)

    def _ends(self, first: int, end: int, level: int, rows: dict[int, Any]) -> dict[int, Any]:
        """The values of folds and showdowns of a segment, all at once."""
        xp, me, values = self.xp, self.player, dict[int, Any]()
        sequence, payoff = column.SEQUENCE + 1 - me, self.form.payoff
        ends = [
            k for k in range(first, end) if self.nodes[k][column.KIND] not in (DECISION, ONWARD)
        ]
        if not ends:
            return values
        reach = xp.stack([rows[self.nodes[k][sequence]] for k in ends])
        met = reach @ self.on._meet[me]
        shown = [n for n, k in enumerate(ends) if self.nodes[k][column.KIND] != FOLD]
        for n, k in enumerate(ends):
            values[k] = float(payoff[k, me, 1]) * met[n]  # the same three numbers at a fold
        if shown:
            weaker, stronger = self._shown(xp.stack([reach[n] for n in shown]))
            for at, n in enumerate(shown):
                lose, split, win = (float(x) for x in payoff[ends[n], me])
                won, lost = (win - split) * weaker[at], (lose - split) * stronger[at]
                values[ends[n]] = values[ends[n]] + won + lost
        return values

    def _shown(self, reach: Any) -> tuple[Any, Any]:
        """[nodes, rivers, holdings] twice: the other's reach of weaker and of stronger holdings."""
        xp, ranks = self.xp, self.on._showdown[self.player]
        reach = reach.astype(np.float64)
        n, rivers = reach.shape[:2]
        at = xp.arange(rivers)[:, None]
        before = xp.zeros((n, rivers, reach.shape[2] + 1))
        before[:, :, 1:] = reach[:, at, ranks.order].cumsum(axis=2)
        padded = xp.concatenate([reach, xp.zeros((n, rivers, 1))], axis=2)
        by_card = xp.zeros((n, rivers, N_CARDS, ranks.by_card.shape[2] + 1))
        by_card[..., 1:] = padded[:, at[:, :, None], ranks.by_card].cumsum(axis=3)
        by_card = by_card.reshape(n, rivers, -1)
        low, high = ranks.with_card
        weaker = before[:, at, ranks.weaker] - by_card[:, at, low[0]] - by_card[:, at, low[1]]
        stronger = before[:, :, -1:] - before[:, at, ranks.not_stronger]
        for j in (0, 1):
            stronger = stronger - by_card[:, :, ranks.every[j]] + by_card[:, at, high[j]]
        return tuple((x * ranks.live).astype(self.on.dtype) for x in (weaker, stronger))


class DeviceSpotRegrets(SpotRegrets):
    """`SpotRegrets` with its tables on a device, fetched on demand."""

    def __init__(
        self, layout: SpotLayout, variant: CFRVariant, compute: ComputeOptions,
        form: SpotForm | None = None, locked: int = -1, library: Any = None,
    ) -> None:  # fmt: skip
        if compute.threads != 1:
            raise BadParameter("with backend=cuda the device does the work; leave out threads")
        if library is None:
            library = cupy()
            free, _ = library.cuda.runtime.memGetInfo()
            require_room(free, layout, compute.precision)
        super().__init__(layout, variant, ComputeOptions(precision=compute.precision), form, locked)
        self._traversal = device = SpotDeviceTraversal(layout, compute.precision, form, library)
        self._working = (device.new_tables(0), device.new_tables(1))
        self._fetched = True

    def changed(self) -> None:
        self._copy(to_device=True)

    def run(self, done: int, n: int) -> None:
        super().run(done, n)
        self._fetched = self._fetched and n == 0

    def _host_tables(self) -> tuple[Tables, Tables]:
        if not self._fetched:
            self._copy(to_device=False)
        return self._tables

    def _copy(self, to_device: bool) -> None:
        xp = self._traversal.xp  # type: ignore[attr-defined]
        for host, device in zip(self._tables, self._working, strict=True):
            for here, there in zip(host, device, strict=True):
                if to_device:
                    there[:] = xp.asarray(here)
                else:
                    here[:] = there if xp is np else xp.asnumpy(there)
        self._fetched = True


def require_room(free: float, layout: SpotLayout, precision: str) -> None:
    """`BadParameter` where a spot does not fit on a device with so many free bytes."""
    needed = device_bytes(layout, precision)
    if needed > free:
        raise BadParameter(
            f"this spot takes about {needed / 1e9:.1f} GB on the device, where {free / 1e9:.1f} GB "
            f"are free; give fewer sizes, narrower ranges or precision=single"
        )


def device_bytes(layout: SpotLayout, precision: str) -> float:
    """About the memory of a device that solving takes: the tables, the positions of holdings on all
    boards, and the values of a segment with the sums of its showdowns."""
    size, tree, boards = 8 if precision == "double" else 4, layout.tree, len(layout.boards.columns)
    rivers, nodes = len(layout.sides[0].kernel.ranked), int(np.diff(tree.first_node).max())
    needed = 2.0 * size * sum(layout.n_slots)
    for side in layout.sides:
        cards = side.kernel.cards[:, :2]
        held = 1 + int(np.bincount(cards.ravel(), minlength=N_CARDS).max())
        shown = rivers * (len(cards) + N_CARDS * held)
        needed += 8.0 * (boards * N_CARDS * len(cards) + 6 * shown + 3 * nodes * shown)
    return ROOM * needed
