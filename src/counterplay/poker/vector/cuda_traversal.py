"""Exact values on a CUDA device: the walk of `exact.py`, all boards of a street at once.

Holdings that the opponent plays alike are one class. On a board, what a holding meets of each class
is a matrix, and what it beats less what beats it another; times the classes' reach on each of the
opponent's lines they give every showdown and fold at once, by tensor cores. What the lines say to a
holding is put together by the betting of the street, written out as straight code. Single
precision; the flop itself is left to `exact.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.device import Device
from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.board_list import ON_RIVER, Listing
from counterplay.poker.vector.columns import columns_of, tree_code
from counterplay.poker.vector.cuda_products import SOURCE, padded, products, room_of
from counterplay.poker.vector.exact_traversal import Seat
from counterplay.poker.vector.hand_classes import (
    NONE,
    BoardClasses,
    Finder,
    list_classes,
    new_finder,
    river_classes,
    turn_classes,
)
from counterplay.poker.vector.public_tree import Street

THREADS = 128  # of a block
TOGETHER = 16  # rivers that are multiplied at once

_STREET = r"""
#define SHOWN @SHOWN@
#define GONE @GONE@
#define BOTH @BOTH@
#define ENDS (SHOWN + GONE + 2 * BOTH)

extern "C" __global__ void spread(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ holding, const unsigned short* __restrict__ code,
    const int room, const int classes, const int starts, const int wide_shown, const int wide_gone,
    const int wide_both, half_* __restrict__ shown, half_* __restrict__ gone,
    half_* __restrict__ both)
{   // reach of a class in every column, times the payoff: [board][2 or 4 classes][column][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= starts) return;
    const int one = holding[(size_t)board * room + c];
    const float here = one == NONE ? 0.f : y[(size_t)one * starts + start];
    const size_t from = one == NONE ? 0 : code[(size_t)board * room + c];
    const float* ends = path + from * ENDS * starts + start;
    const size_t row = (size_t)board * 2 * classes + c;
    const size_t double_row = (size_t)board * 4 * classes + c, second = (size_t)2 * classes;
    for (int k = 0; k < SHOWN; ++k)
        split(shown, row * wide_shown + k * starts + start, (size_t)classes * wide_shown,
              here * ends[(size_t)k * starts]);
    for (int k = 0; k < GONE; ++k)
        split(gone, row * wide_gone + k * starts + start, (size_t)classes * wide_gone,
              here * ends[(size_t)(SHOWN + k) * starts]);
    for (int k = 0; k < BOTH; ++k) {
        split(both, double_row * wide_both + k * starts + start, (size_t)classes * wide_both,
              here * ends[(size_t)(SHOWN + GONE + k) * starts]);
        split(both, (double_row + second) * wide_both + k * starts + start,
              (size_t)classes * wide_both, here * ends[(size_t)(SHOWN + GONE + BOTH + k) * starts]);
    }
}

extern "C" __global__ void find(const unsigned* __restrict__ words, const int n,
    unsigned short* __restrict__ place)
{   // where each holding stands on each board
    const int k = blockIdx.x * blockDim.x + threadIdx.x, board = blockIdx.y;
    if (k >= n) return;
    const unsigned word = words[(size_t)board * n + k];
    const int high = HIGH(word);
    place[(size_t)board * HOLDINGS + high * (high - 1) / 2 + LOW(word)] = k;
}

#define shown(k) show[(size_t)(k) * starts]
#define gone(k) fold[(size_t)(k) * starts]
#define both(k) beside[(size_t)(k) * starts]

extern "C" __global__ void up(const float* __restrict__ all_shown,
    const float* __restrict__ all_gone, const float* __restrict__ all_both,
    const unsigned short* __restrict__ place, const unsigned short* __restrict__ own_code,
    const int* __restrict__ times, const float* __restrict__ policy,
    const float* __restrict__ below, const int* __restrict__ below_start, const int boards,
    const int n, const int starts, const int starts_below, const int wide_shown,
    const int wide_gone, const int wide_both, const float scale, float* __restrict__ out)
{   // add the values of a holding at a start, summed over boards
    const int start = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y;
    if (start >= starts) return;
    float total = 0.f;
    for (int board = 0; board < boards; ++board) {
        const int k = place[(size_t)board * HOLDINGS + q];
        if (k == NONE) continue;
        const size_t row = (size_t)board * n + k;
        const float* show = all_shown + row * wide_shown + start;
        const float* fold = all_gone + row * wide_gone + start;
        const float* beside = all_both + row * wide_both + start;
        const float* own = policy + (size_t)own_code[row] * @PLACES@ * starts + start;
@TREE@
        total += times[board] * v0;
    }
    out[(size_t)q * starts + start] += total;
}

extern "C" __global__ void pass_down(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ codes, const int* __restrict__ above, const int starts,
    const int starts_above, float* __restrict__ out)
{   // reach behind the turn's ends: [turn][holding][start of the river]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start < starts)
        out[((size_t)turn * HOLDINGS + p) * starts + start] =
            y[(size_t)p * starts_above + above[start]]
            * path[(size_t)codes[turn * HOLDINGS + p] * starts + start];
}

extern "C" __global__ void even_out(const float* __restrict__ values, const int* __restrict__ kept,
    const int* __restrict__ n_kept, const short* __restrict__ renamed, const int starts,
    float* __restrict__ out)
{   // the mean over renamings that leave the board as it is
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start >= starts) return;
    float total = 0.f;
    for (int k = 0; k < n_kept[turn]; ++k) {
        const int q = renamed[kept[turn * 24 + k] * HOLDINGS + p];
        total += values[((size_t)turn * HOLDINGS + q) * starts + start];
    }
    out[((size_t)turn * HOLDINGS + p) * starts + start] = total / n_kept[turn];
}
"""


class SeatAsked(NamedTuple):
    """What a walk is for: `player` in the seat `own`, or at best, against the other's `seat`."""

    player: int
    best: bool
    seat: Seat
    own: Seat


class Listed(NamedTuple):
    """All boards of a flop, and their classes: arrays for `_Boards`, and how many classes each
    board has. Rivers of a turn stand together, those with few classes first."""

    boards: Listing
    turns: list[np.ndarray]
    turn_classes: np.ndarray
    rivers: list[np.ndarray]
    river_classes: np.ndarray


def _code(street: Street, player: int, best: bool) -> str:
    def onward(end: int) -> str:
        where = f"below_start[{end} * starts + start]"
        return f"scale * below[((size_t)board * HOLDINGS + q) * starts_below + {where}]"

    def own(place: int) -> str:
        return f"own[(size_t){place} * starts]"

    lines = tree_code(street, player, None if best else own, onward)
    return "\n".join(" " * 8 + line for line in lines)


class _Betting:
    """A street on the device: s starts, without those that the opponent never reaches."""

    def __init__(
        self, device: Device, street: Street, asked: SeatAsked, k: int, reached: np.ndarray
    ) -> None:
        player, seat = asked.player, asked.seat
        other, self.device = 1 - player, device
        self.real = np.flatnonzero(reached)
        self.starts = len(self.real) + 1  # one more that is worth nothing
        columns = columns_of(street, player)
        self.counts = columns.counts
        lines = _by_start(seat.path[k], self.real)[:, :, street.line[other, columns.ends]]
        pay = np.abs(street.pay[player][:, columns.ends]).transpose(0, 2, 1)
        pay = pay.reshape(reached.size, len(columns.ends))[self.real]
        paths = (lines * pay).transpose(0, 2, 1)  # codes, ends, starts
        policy = _by_start(asked.own.policy[k], self.real).transpose(0, 2, 1)
        self.path, self.policy = (device.put(self.padded(array)) for array in (paths, policy))
        marks = {
            "SHOWN": self.counts[0],
            "GONE": self.counts[1],
            "BOTH": self.counts[2],
            "PLACES": len(street.player),
            "TREE": _code(street, player, asked.best),
        }
        source = SOURCE + _STREET
        for name, value in marks.items():
            source = source.replace(f"@{name}@", str(value))
        self.kernel = device.compile(source)
        self._spread, self._up = self.kernel("spread"), self.kernel("up")

    def padded(self, array: np.ndarray) -> np.ndarray:
        """With one start added, in single precision."""
        room = [(0, 0)] * (array.ndim - 1) + [(0, self.starts - array.shape[-1])]
        return np.pad(array, room).astype(np.float32)

    def value(
        self,
        boards: _Boards,
        y: Any,
        below: tuple[Any, Any, int, float],
        out: Any,
    ) -> None:
        """Add to `out` the values at the starts, [1326, starts], summed over boards, from the
        reach y [1326, starts] there. `below`: values behind the ends, where each stands, how many
        starts they have, and by what they are multiplied."""
        device, many, classes = self.device, boards.many, boards.classes
        twice = (2 * classes, 2 * classes, 4 * classes)
        reach = room_of(device, many, twice, self.counts, self.starts, np.uint16)
        wide = [np.int32(array.shape[2]) for array in reach]
        starts, across = np.int32(self.starts), -(-self.starts // THREADS)
        self._spread(
            (across, classes, many), (THREADS,),
            (y, self.path, boards.holding, boards.code, boards.room, np.int32(classes), starts,
             *wide, *reach),
        )  # fmt: skip
        found = room_of(device, many, (boards.n,) * 3, self.counts, self.starts, np.float32)
        products(device, boards.pairs, classes, reach, found)
        values, start, starts_below, scale = below
        self._up(
            (across, N_HOLDINGS), (THREADS,),
            (*found, boards.place, boards.own, boards.times, self.policy, values, start,
             np.int32(many), np.int32(boards.n), starts, np.int32(starts_below), *wide,
             np.float32(scale), out),
        )  # fmt: skip


class _Boards:
    """Boards of a street on the device, with what holdings meet there."""

    def __init__(
        self, device: Device, put: list[Any], part: slice, classes: int, kernel: Any, shown: bool
    ) -> None:
        words, first, self.holding, self.code, self.own, self.times = (array[part] for array in put)
        self.many, self.n = words.shape
        self.classes, self.room = padded(classes, 4), np.int32(first.shape[1])
        wide = (4 if shown else 2) * self.classes
        self.pairs = device.empty((self.many, self.n, wide), np.uint16)
        kernel("pairs")(
            (-(-self.classes // 32), self.n, self.many), (32,),
            (words, first, np.int32(self.n), self.room, np.int32(self.classes), np.int32(self.n),
             np.int32(1), np.int32(shown), self.pairs),
        )  # fmt: skip
        self.place = device.empty((self.many, N_HOLDINGS), np.uint16)
        self.place.fill(NONE)
        kernel("find")(
            (-(-self.n // THREADS), self.many), (THREADS,), (words, np.int32(self.n), self.place)
        )


def _reached(streets: tuple[Street, ...], seat: Seat, other: int) -> list[np.ndarray]:
    """bool[groups * LANES] for each street: starts that the opponent reaches with any holding."""
    found = [streets[0].node[:, 0] >= 0]
    for k, street in enumerate(streets[:-1]):
        groups, codes, _ = seat.path[k].shape
        lines = seat.path[k].reshape(groups, codes, -1, LANES).max(axis=1)
        ends = lines[:, street.line[other, street.onward]] > 0.0  # groups, ends, LANES
        if k == 0:
            after = np.zeros(streets[1].node.shape[0] * LANES, dtype=bool)
            after[: ends.shape[1]] = ends[0, :, 0]
            found.append(after.reshape(-1, LANES))
        else:
            found.append((ends & found[k][:, None]).reshape(-1, LANES))
    return [reached.reshape(-1) for reached in found]


def _by_start(path: np.ndarray, real: np.ndarray) -> np.ndarray:
    """[codes, starts, columns] of [groups, codes, columns * LANES]."""
    groups, codes, width = path.shape
    spread = path.reshape(groups, codes, width // LANES, LANES).transpose(1, 0, 3, 2)
    chosen: np.ndarray = spread.reshape(codes, groups * LANES, width // LANES)[:, real]
    return chosen


class SeatWalk:
    """One question's streets on the device."""

    def __init__(self, device: Device, streets: tuple[Street, ...], asked: SeatAsked) -> None:
        other, turn, river = 1 - asked.player, streets[2], streets[3]
        reached = _reached(streets, asked.seat, other)
        self.turn = _Betting(device, turn, asked, 2, reached[2])
        self.river = _Betting(device, river, asked, 3, reached[3])
        ends = len(turn.onward)
        # the river's start behind end e of a turn's start, both without unused lanes
        number = np.full(river.node.shape[0] * LANES, len(self.river.real))  # worth nothing
        number[self.river.real] = np.arange(len(self.river.real))
        group, lane = np.divmod(self.turn.real, LANES)
        below = np.array([number[(group * ends + e) * LANES + lane] for e in range(ends)])
        above = np.zeros(self.river.starts, dtype=np.int32)
        lines = _by_start(asked.seat.path[2], self.turn.real)[:, :, turn.line[other, turn.onward]]
        down = np.zeros((lines.shape[0], self.river.starts), dtype=np.float32)
        for e in range(ends):
            above[below[e]] = np.arange(len(self.turn.real))
            down[:, below[e]] = lines[:, :, e]
        above[-1], down[:, -1] = 0, 0.0
        room = [(0, 0), (0, self.turn.starts - len(self.turn.real))]
        below = np.pad(below, room, constant_values=len(self.river.real))
        self.down, self.above = device.put(down), device.put(above)
        self.below = device.put(below.astype(np.int32))


class DeviceWalk:
    """Turns and rivers of one flop after the other, for questions about seats of one kind."""

    def __init__(
        self,
        device: Device,
        streets: tuple[Street, ...],
        questions: Sequence[SeatAsked],
        renamed: np.ndarray,
        cards: int,
    ) -> None:
        self.device = device
        self.seats = [SeatWalk(device, streets, asked) for asked in questions]
        self.codes = max(path.shape[1] for path in questions[0].seat.path)
        self._renamed = device.put(renamed.astype(np.int16))
        self._scale = 1.0 / (cards - 8)
        self._nothing = device.zeros((1,))
        self._nowhere = device.zeros((1,), np.int32)

    def room(self) -> tuple[Finder, BoardClasses, BoardClasses]:
        """For the classes of a flop."""
        return new_finder(self.codes), turn_classes(), river_classes(ON_RIVER)

    def list_classes(
        self, listing: Listing, room: tuple[Finder, BoardClasses, BoardClasses]
    ) -> Listed:
        finder, turns, rivers = room
        list_classes(listing, self.codes, finder, turns, rivers)
        t, r = (int(k) for k in listing.size)
        order = np.lexsort((rivers.classes[:r], _turn_of(listing, t)))
        n_turn, n_river = (int(k) for k in listing.held[1:])
        return Listed(
            listing,
            _gathered(turns, np.arange(t), n_turn, listing.turn_times),
            turns.classes[:t],
            _gathered(rivers, order, n_river, listing.river_times),
            rivers.classes[order],
        )

    def start(self, listed: Listed, y_turn: Sequence[np.ndarray]) -> tuple[list[Any], Any]:
        """Begin with all turns and rivers of a flop. `y_turn`: for each question the opponent's
        reach at the turn's starts in use, [1326, starts]."""
        boards, (turns, _) = listed.boards, listed.boards.size
        reach = [seat.turn.padded(y) for seat, y in zip(self.seats, y_turn, strict=True)]
        others = (boards.turn_code[0, :turns], boards.kept[:turns], boards.n_kept[:turns])
        arrays = [*listed.rivers, *listed.turns, *others, *reach]
        put = self.device.put_ahead(arrays)
        with self.device.stream:
            return self._start(listed, put), put

    def fetch(self, started: tuple[list[Any], Any]) -> list[np.ndarray]:
        """float32[starts of the turn in use, 1326] for each question: values summed over all
        turns."""
        with self.device.stream:
            return [
                self.device.get(total).T[: len(seat.turn.real)]
                for seat, total in zip(self.seats, started[0], strict=True)
            ]

    def _start(self, listed: Listed, put: list[Any]) -> list[Any]:
        device, boards = self.device, listed.boards
        turns = int(boards.size[0])
        put_rivers, put_turns, (codes, kept, n_kept), reach = (
            put[:6],
            put[6:12],
            put[12:15],
            put[15:],
        )
        values = []
        for seat, y in zip(self.seats, reach, strict=True):
            starts = seat.river.starts
            y_river = device.empty((turns, N_HOLDINGS, starts))
            seat.river.kernel("pass_down")(
                (-(-starts // THREADS), N_HOLDINGS, turns), (THREADS,),
                (y, seat.down, codes, seat.above, np.int32(starts), np.int32(seat.turn.starts),
                 y_river),
            )  # fmt: skip
            values.append((y_river, device.zeros((turns, N_HOLDINGS, starts))))
        nothing = (self._nothing, self._nowhere, 0, 0.0)
        for t in range(turns):
            ends = range(int(boards.first_river[t]), int(boards.first_river[t + 1]))
            for low in ends[::TOGETHER]:
                part = slice(low, min(low + TOGETHER, ends.stop))
                rivers = _Boards(
                    device, put_rivers, part, int(listed.river_classes[part].max()),
                    self.seats[0].river.kernel, True,
                )  # fmt: skip
                for seat, (y_river, out) in zip(self.seats, values, strict=True):
                    seat.river.value(rivers, y_river[t], nothing, out[t])
        every = _Boards(
            device, put_turns, slice(0, turns), int(listed.turn_classes.max()),
            self.seats[0].turn.kernel, False,
        )  # fmt: skip
        totals = []
        for seat, y, (evened, found) in zip(self.seats, reach, values, strict=True):
            starts = seat.river.starts
            seat.river.kernel("even_out")(
                (-(-starts // THREADS), N_HOLDINGS, turns), (THREADS,),
                (found, kept, n_kept, self._renamed, np.int32(starts), evened),
            )  # fmt: skip
            totals.append(device.zeros((N_HOLDINGS, seat.turn.starts)))
            below = (evened, seat.below, starts, self._scale)
            seat.turn.value(every, y, below, totals[-1])
        return totals


def _turn_of(listing: Listing, turns: int) -> np.ndarray:
    """int64[r]: the turn of each river."""
    return np.repeat(np.arange(turns), np.diff(listing.first_river[: turns + 1]))


def _gathered(
    found: BoardClasses, order: np.ndarray, n: int, times: np.ndarray
) -> list[np.ndarray]:
    """Arrays for `_Boards`, no wider than they need be."""
    wide = padded(int(found.classes[order].max()), 4) + 1
    by_class = (array[order, :wide] for array in (found.first, found.holding, found.code))
    return [found.word[order, :n], *by_class, found.own[order, :n], times[order]]
