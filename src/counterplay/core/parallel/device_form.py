"""The sequence form on a CUDA device: the matrix product, and passes over treeplexes by stages.

A thread has one row, information set or slot. Rows are stored in slices of `SLICE` rows of similar
length, entry by entry, so that adjacent threads read adjacent numbers; a row with more than
`LONGEST` entries is split into pieces, whose sums are added afterwards. Every sum is added in the
order of the CPU and without fused multiply-add, so that in double precision a run has the bits of
the CPU if no row is split. This matters because regret matching turns a difference in the last bit
into another strategy within a few hundred iterations.

The row of the empty sequence, the one long row of a restricted game, is only needed for the value
of the game. It comes last and is left out of iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.core.forms.sequence import SequenceForm, Side
from counterplay.core.kernels.device import Device
from counterplay.core.parallel.partition import single_partition, stages_of

PRECISIONS = {"double": np.float64, "single": np.float32}
THREADS = 128  # of a block
SLICE = 32  # rows stored together: the threads of a warp
LONGEST = 4_096  # entries of a piece of a row; no row of a built-in game has more
NEW_DEVICE: Callable[[], Any] = Device

SOURCE = r"""
typedef @REAL@ real;

extern "C" __global__ void product(const int rows, const long long* __restrict__ start,
    const int* __restrict__ size, const int* __restrict__ column, const real* __restrict__ entry,
    const int* __restrict__ where, const real* __restrict__ plan, real* __restrict__ out)
{   // the product of a row, or of a piece of one, with a plan
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const long long at = start[r / @SLICE@] + r % @SLICE@;
    real total = 0;
    #pragma unroll 8
    for (int k = 0; k < size[r]; ++k)
        total += entry[at + (long long)k * @SLICE@] * plan[column[at + (long long)k * @SLICE@]];
    out[where[r]] = total;
}

extern "C" __global__ void join(const int rows, const int* __restrict__ row,
    const int* __restrict__ begin, const real* __restrict__ pieces, real* __restrict__ out)
{   // the sums of rows that were split: their pieces in order
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    real total = 0;
    for (int k = begin[r]; k < begin[r + 1]; ++k) total += pieces[k];
    out[row[r]] = total;
}

extern "C" __global__ void descend(const int low, const int high, const int* __restrict__ above,
    const real* __restrict__ policy, real* __restrict__ plan)
{   // one stage of a plan, parents first, one slot per thread
    const int slot = low + blockIdx.x * blockDim.x + threadIdx.x;
    if (slot >= high) return;
    const int q = above[slot];
    plan[slot + 1] = (q == 0 ? (real)1 : plan[q]) * policy[slot];
}

__device__ inline real collect(const int* below, const int* after, const real* value, const int q,
    real total)
{   // total plus the values of the information sets after a sequence, last first
    for (int j = below[q]; j < below[q + 1]; ++j) total += value[after[j]];
    return total;
}

extern "C" __global__ void choose(const int low, const int high, const int* __restrict__ first,
    const int* __restrict__ below, const int* __restrict__ after, const int bound,
    const real* __restrict__ floor_, real* __restrict__ payoff, real* __restrict__ value,
    real* __restrict__ policy)
{   // one stage of a best reply, children first, one information set per thread
    const int i = low + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= high) return;
    int best = first[i];
    real free_ = 1, sum = 0;
    for (int slot = first[i]; slot < first[i + 1]; ++slot) {
        payoff[slot + 1] = collect(below, after, value, slot + 1, payoff[slot + 1]);
        policy[slot] = bound ? floor_[slot] : 0;
        if (bound) {
            free_ -= floor_[slot];
            sum += floor_[slot] * payoff[slot + 1];
        }
        if (payoff[slot + 1] > payoff[best + 1]) best = slot;
    }
    free_ = free_ > 0 ? free_ : 0;
    policy[best] += free_;
    value[i] = sum + free_ * payoff[best + 1];
}

extern "C" __global__ void game_value(const int* __restrict__ below, const int* __restrict__ after,
    const real* __restrict__ value, real* __restrict__ payoff)
{   // the value of the game
    payoff[0] = collect(below, after, value, 0, payoff[0]);
}
"""


class DeviceSide:
    """A `Side` on a device: m information sets, s slots, r rows or pieces of rows of at most
    `LONGEST` entries, in slices of similar length."""

    def __init__(self, device: Any, side: Side, real: Any) -> None:
        put, length = device.put, np.diff(side.row)
        count = np.maximum(-(-length // LONGEST), 1)  # an empty row gives 0
        row = np.repeat(np.arange(len(length)), count)  # of each piece
        number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        size = np.minimum(length[row] - number * LONGEST, LONGEST)
        cut = count[row] > 1
        where = np.where(cut, len(length) + np.cumsum(cut) - 1, row)
        cut_row = np.flatnonzero(count > 1).astype(np.int32)
        cut_begin = len(length) + np.concatenate([[0], np.cumsum(count[cut_row])])
        order = np.lexsort((-size, row == 0))  # longest first, those of the empty sequence last
        size, begin = size[order].astype(np.int32), (side.row[row] + number * LONGEST)[order]
        self.rows = len(size)
        self.rows_below = len(size) - int(count[0])  # without those of the empty sequence
        self.size = put(size)  # int32[r]
        self.start, self.column, self.entry = map(put, _in_slices(side, begin, size, real))
        # int32[r]: the sequence; of a piece: its index after all sequences
        self.where = put(where[order].astype(np.int32))
        self.cut = len(cut_row)  # rows that were split
        self.cut_row = put(cut_row)  # int32[cut]
        # int32[cut + 1]: their pieces, as indices of `payoff`
        self.cut_begin = put(cut_begin.astype(np.int32))
        # int32[s]: the sequence that leads to the slot
        self.above = put(np.repeat(side.parent, np.diff(side.first)).astype(np.int32))
        self.first = put(side.first)  # int32[m + 1]
        partition = single_partition(side)
        self.below, self.after = put(partition.below), put(partition.after)
        self.bound = len(side.floor) > 0
        # real[s], or one number
        self.floor = put((side.floor if self.bound else np.zeros(1)).astype(real))
        self.stages = list(pairwise(stages_of(side).tolist()))  # information sets
        self.slots = [(int(side.first[low]), int(side.first[high])) for low, high in self.stages]
        self.n_sequences = side.n_sequences
        # length of an array of payoffs: sequences and pieces
        self.room = side.n_sequences + int(cut.sum())


def _in_slices(
    side: Side, begin: np.ndarray, size: np.ndarray, real: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the first entry of each slice (int64), and columns and values in the layout of the
    kernels, with padding. `begin`: the first entry of each row; `size`: its entries."""
    widest = np.maximum.reduceat(size, np.arange(0, len(size), SLICE)).astype(np.int64) * SLICE
    start = np.concatenate([[0], np.cumsum(widest)])[:-1].astype(np.int64)
    column = np.zeros(max(int(widest.sum()), 1), dtype=np.int32)
    value = np.zeros(len(column), dtype=real)
    rows = np.arange(len(size))
    at, left, k = start[rows // SLICE] + rows % SLICE, np.flatnonzero(size), 0
    while len(left):  # the rows with more than k entries
        column[at[left] + k * SLICE] = side.column[begin[left] + k]
        value[at[left] + k * SLICE] = side.value[begin[left] + k]
        k += 1
        left = left[size[left] > k]
    return start, column, value


class DeviceForm:
    """Both sides on a device, their products, plans and best replies."""

    def __init__(self, form: SequenceForm, precision: str = "double", more: str = "") -> None:
        """`more`: the source of further kernels."""
        self.device = NEW_DEVICE()
        self.real = PRECISIONS[precision]
        source = (SOURCE + more).replace("@SLICE@", str(SLICE))
        name = "double" if precision == "double" else "float"
        self.kernel = self.device.compile(source.replace("@REAL@", name), exact=True)
        with self.device.stream:
            self.sides = tuple(DeviceSide(self.device, side, self.real) for side in form)
        self._infosets = [len(side.parent) for side in form]

    def launch(self, name: str, n: int, *arguments: Any) -> None:
        """Launches a kernel with at least n threads."""
        if n > 0:
            self.kernel(name)((-(-n // THREADS),), (THREADS,), arguments)

    def empty(self, n: int) -> Any:
        return self.device.zeros((max(n, 1),), self.real)

    def payoffs(self, player: int, plan: Any, out: Any, empty: bool = False) -> None:
        """Fills `out` with the payoff of each sequence; that of the empty one with `empty`."""
        side = self.sides[player]
        rows = side.rows if empty else side.rows_below
        self.launch(
            "product", rows, np.int32(rows), side.start, side.size, side.column,
            side.entry, side.where, plan, out,
        )  # fmt: skip
        self.launch("join", side.cut, np.int32(side.cut), side.cut_row, side.cut_begin, out, out)

    def plan(self, player: int, policy: Any, out: Any) -> None:
        """Fills `out` with the plan of a policy."""
        side = self.sides[player]
        for low, high in side.slots:
            self.launch(
                "descend", high - low, np.int32(low), np.int32(high), side.above, policy, out
            )

    def put(self, array: np.ndarray) -> Any:
        return self.device.put(array.astype(self.real))

    def get(self, array: Any) -> np.ndarray:
        fetched: np.ndarray = self.device.get(array).astype(np.float64)
        return fetched

    def best_value(self, player: int, policy: np.ndarray, out: np.ndarray) -> float:
        """Returns the value of `player`'s best reply to the other's `policy`; fills `out`."""
        side, other = self.sides[player], self.sides[1 - player]
        with self.device.stream:
            plan = self.empty(other.n_sequences)
            self.plan(1 - player, self.put(policy), plan)
            payoff, reply = self.empty(side.room), self.empty(len(out))
            plan[0:1] = 1
            self.payoffs(player, plan, payoff, empty=True)
            value = self.empty(self._infosets[player])
            for low, high in reversed(side.stages):
                self.launch(
                    "choose", high - low, np.int32(low), np.int32(high), side.first, side.below,
                    side.after, np.int32(side.bound), side.floor, payoff, value, reply,
                )  # fmt: skip
            self.kernel("game_value")((1,), (1,), (side.below, side.after, value, payoff))
            out[:] = self.get(reply)
            return float(self.get(payoff[0:1])[0])
