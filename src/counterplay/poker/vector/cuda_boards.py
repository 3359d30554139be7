"""Holdings, boards and starts on a CUDA device: words of holdings, the order of starts, and the
kernels between two streets.

A holding on a board is a word: both cards, and above them a number: its group of equal strength or
its row of the tables. The last index of every array is a start of the street, so that neighbouring
threads read neighbouring numbers; starts are numbered without the unused lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.kernels.simd import LANES
from counterplay.poker.vector.public_tree import Street


def used_starts(street: Street) -> np.ndarray:
    """Returns the group and lane of each start, as group · LANES + lane."""
    return np.flatnonzero(street.public_node[:, 0].reshape(-1) >= 0)


def payoff_by_start(street: Street, player: int, used: np.ndarray) -> np.ndarray:
    """Returns float64[nodes, starts]."""
    payoff = street.payoff[player].transpose(1, 0, 2)
    by_start: np.ndarray = payoff.reshape(len(street.player), -1)[:, used]
    return by_start


def by_start(block: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Returns [rows, starts, columns] from [groups, rows, columns * LANES]."""
    groups, rows, width = block.shape
    by_lane = block.reshape(groups, rows, width // LANES, LANES).transpose(1, 0, 3, 2)
    starts: np.ndarray = by_lane.reshape(rows, groups * LANES, width // LANES)[:, used]
    return starts


class StartLink(NamedTuple):
    """The starts of a street as ends of the street before it."""

    below: np.ndarray  # int32[ends, starts above]: the start after each end, or -1
    above: np.ndarray  # int32[starts below]: the start that each follows
    node: np.ndarray  # int64[starts below]: the onward end between them


def link_starts(
    street: Street, used: np.ndarray, after: Street, used_after: np.ndarray, opening: bool
) -> StartLink:
    """Links the used starts of a street and those of the next. `opening`: after the first street
    every onward end has a lane."""
    ends = len(street.onward)
    number = np.full(len(after.public_node) * LANES, -1, dtype=np.int32)
    number[used_after] = np.arange(len(used_after))
    if opening:
        below = number[:ends, None]
    else:
        group, lane = np.divmod(used, LANES)
        below = number[(group * ends + np.arange(ends)[:, None]) * LANES + lane]
    end, start = np.nonzero(below >= 0)
    above, node = np.zeros(len(used_after), np.int32), np.zeros(len(used_after), np.int64)
    above[below[end, start]], node[below[end, start]] = start, street.onward[end]
    return StartLink(below, above, node)


#: Macros of words. `GROUP` and `ROW` are two numbers that may stand above the cards.
WORDS = r"""
#define NO_HOLDING 65535
#define LOW(word) ((word) & 63)
#define HIGH(word) ((word) >> 6 & 63)
#define GROUP(word) ((int)((word) >> 12))
#define ROW(word) ((size_t)((word) >> 12))
#define HOLDING(word) (HIGH(word) * (HIGH(word) - 1) / 2 + LOW(word))
#define DISJOINT(a, b) (LOW(a) != LOW(b) && LOW(a) != HIGH(b) && HIGH(a) != LOW(b) && \
    HIGH(a) != HIGH(b))
typedef unsigned short u16;
typedef unsigned short half_;
"""

#: CFR-BR: values of holdings from positions on boards.
BY_HOLDING = r"""
extern "C" __global__ void by_holding(const float* __restrict__ value,
    const u16* __restrict__ position, const int boards, const int n, float* __restrict__ out)
{   // values of a holding, summed over boards: [holding][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (start >= STARTS) return;
    float total = 0.f;
    for (int b = 0; b < boards; ++b) {
        const int k = position[(size_t)b * HOLDINGS + h];
        if (k != NO_HOLDING) total += value[((size_t)b * n + k) * STARTS + start];
    }
    out[(size_t)h * STARTS + start] = total;
}
"""

#: CFR-BR: reach at the starts of the next street.
DOWN = r"""
extern "C" __global__ void down_policy(const float* __restrict__ reach,
    const float* __restrict__ path, const u16* __restrict__ rows, const int* __restrict__ above,
    const int* __restrict__ sequence, const int starts_below, float* __restrict__ out)
{   // reach after the onward ends, by the policy of row `rows[holding]`
    const int s = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (s >= starts_below) return;
    const int start = above[s], row = rows[h];
    out[(size_t)h * starts_below + s] = row == NO_HOLDING ? 0.f : reach[(size_t)h * STARTS + start]
        * path[((size_t)sequence[s] * ROWS + row) * STARTS + start];
}
"""
DOWN_CHOICE = r"""
extern "C" __global__ void down_choice@PLAYER@(const float* __restrict__ reach,
    const u16* __restrict__ choice, const u16* __restrict__ position,
    const int* __restrict__ above, const int* __restrict__ sequence, const int starts_below,
    float* __restrict__ out@MORE@)
{   // the same by the choices of holdings
    const int s = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (s >= starts_below) return;
    const int start = above[s], k = position[h];
    float one = 0.f;
    if (k != NO_HOLDING) {
        const u16* chosen = choice + (size_t)k * STARTS + start;
@TAKEN@
        one = taken[sequence[s]] * reach[(size_t)h * STARTS + start];
    }
    out[(size_t)h * starts_below + s] = one;
}
"""

#: Public chance sampling: the same for classes.
PASS_REACH = r"""
extern "C" __global__ void pass_reach(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ code, const int* __restrict__ count,
    const int* __restrict__ above, const int* __restrict__ sequence, const int max_classes,
    const int classes, const int starts_below, float* __restrict__ out)
{   // reach at the starts of the next street
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= starts_below || c >= count[board]) return;
    const size_t row = (size_t)board * classes + c, b = code[(size_t)board * max_classes + c];
    out[row * starts_below + start] = y[row * STARTS + above[start]]
        * path[sequence[start] * PLANE + b * STARTS + above[start]];
}
"""

#: Exact values: positions of holdings, the turn's onward ends, and suit-isomorphic turns.
EXACT_BOARDS = r"""
extern "C" __global__ void find(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int max_classes,
    unsigned short* __restrict__ position, unsigned short* __restrict__ class_of)
{   // position of each holding on each board, and the class of each position
    const int c = blockIdx.x * blockDim.x + threadIdx.x, board = blockIdx.y;
    if (c >= max_classes - 1) return;
    const unsigned short* begin = first + (size_t)board * max_classes;
    for (int k = begin[c]; k < begin[c + 1]; ++k) {
        const unsigned word = words[(size_t)board * n + k];
        const int high = HIGH(word);
        position[(size_t)board * HOLDINGS + high * (high - 1) / 2 + LOW(word)] = k;
        class_of[(size_t)board * n + k] = c;
    }
}

extern "C" __global__ void pass_down(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ codes, const int* __restrict__ above, const int starts,
    const int starts_above, float* __restrict__ out)
{   // reach after the turn's onward ends: [turn][holding][start of the river]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start < starts)
        out[((size_t)turn * HOLDINGS + p) * starts + start] =
            y[(size_t)p * starts_above + above[start]]
            * path[(size_t)codes[turn * HOLDINGS + p] * starts + start];
}

extern "C" __global__ void average_over_suits(const float* __restrict__ values,
    const int* __restrict__ stabilizer,
    const int* __restrict__ n_stabilizer, const short* __restrict__ permuted, const int starts,
    float* __restrict__ out)
{   // the mean over the suit permutations that map the board to itself
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start >= starts) return;
    float total = 0.f;
    for (int k = 0; k < n_stabilizer[turn]; ++k) {
        const int q = permuted[stabilizer[turn * 24 + k] * HOLDINGS + p];
        total += values[((size_t)turn * HOLDINGS + q) * starts + start];
    }
    out[((size_t)turn * HOLDINGS + p) * starts + start] = total / n_stabilizer[turn];
}
"""
