"""Hold'em on a CUDA device: what its kernels have in common, and products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from counterplay.core.kernels.device import Device


class Products(NamedTuple):
    """Columns of a street (`columns.py`), times classes or holdings: showdowns alone, folds alone,
    both together."""

    shown: Any
    gone: Any
    both: Any


def room_of(
    device: Device, boards: int, rows: tuple[int, int, int], counts: Sequence[int], starts: int,
    dtype: Any,
) -> Products:  # fmt: skip
    """Room for so many columns of each kind at each start."""
    shapes = [
        (boards, many, padded(count * starts)) for many, count in zip(rows, counts, strict=True)
    ]
    return Products(*(device.empty(shape, dtype) for shape in shapes))


def products(device: Device, pairs: Any, classes: int, reach: Products, out: Products) -> None:
    """What rows win and meet, from the reach of classes. `pairs`: what the kernel of that name
    writes."""
    shown = 2 * classes if pairs.shape[2] == 4 * classes else 0
    for right, found, begin in zip(reach, out, (0, shown, 0), strict=True):
        if right.shape[2]:
            device.multiply(pairs, right, found, begin)


#: What kernels here have in common. A holding on a board is a word: both cards, and its group of
#: equals, weakest first. Classes are holdings that the opponent plays alike.
SOURCE = r"""
#define HOLDINGS 1326
#define NONE 65535
#define LOW(word) ((word) & 63)
#define HIGH(word) ((word) >> 6 & 63)
#define GROUP(word) ((int)((word) >> 12))
#define APART(a, b) (LOW(a) != LOW(b) && LOW(a) != HIGH(b) && HIGH(a) != LOW(b) && \
    HIGH(a) != HIGH(b))

typedef unsigned short half_;

__device__ inline half_ halve(const float value)
{   // a number from 0 to 2,048 in half precision, what does not fit cut off
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f)
        : (half_)((__float_as_uint(value) >> 13) - 0x1c000u);
}

__device__ inline void split(half_* out, const size_t at, const size_t rest, const float value)
{   // in two halves, the second times 2,048: as many digits as single precision has
    const float rough = value < 6.103515625e-5f ? (int)(value * 16777216.f) / 16777216.f
        : __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    out[at] = halve(rough);
    out[at + rest] = halve((value - rough) * 2048.f);
}

__device__ inline void put_twice(half_* out, const size_t at, const size_t rest, const int number)
{   // a whole number from -2,048 to 2,048, once for each half of what it is multiplied with
    const half_ sign = number < 0 ? 0x8000 : 0;
    const float size = number < 0 ? -number : number;
    out[at] = sign | halve(size);
    out[at + rest] = sign | halve(size / 2048.f);
}

extern "C" __global__ void pairs(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int room, const int classes,
    const int rows, const int single, const int shown, half_* __restrict__ out)
{   // holdings of a class that a row beats less those that beat it (on the last street), and
    // those it meets. A row is a class too, or a single holding.
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, board = blockIdx.z;
    if (c >= classes) return;
    const unsigned* word = words + (size_t)board * n;
    const unsigned short* begin = first + (size_t)board * room;
    const int from = single ? row : begin[row], to = single ? row + 1 : begin[row + 1];
    const int low = begin[c], high = begin[c + 1];
    int more = 0, all = 0;
    for (int h = from; h < to; ++h) {
        const unsigned mine = word[h];
        for (int j = low; j < high; ++j) {
            const unsigned his = word[j];
            const int apart = APART(mine, his);
            all += apart;
            more += apart * ((GROUP(mine) > GROUP(his)) - (GROUP(mine) < GROUP(his)));
        }
    }
    const size_t at = ((size_t)board * rows + row) * (shown ? 4 : 2) * classes + c;
    if (shown) put_twice(out, at, classes, more);
    put_twice(out, at + (shown ? 2 * classes : 0), classes, all);
}
"""


def padded(number: int, by: int = 8) -> int:
    """The next multiple."""
    return -(-number // by) * by
