"""Arrays that share no cache line with another array.

A core that writes to a cache line invalidates it for all other cores. Small arrays are adjacent in
memory, so two threads that each write only to their own array would still wait for each other at
every write (false sharing). And a vector that begins on a cache line is loaded at once, one across
two lines is not.
"""

from __future__ import annotations

from math import prod
from typing import Any, TypeVar

import numpy as np

#: Bytes. Processors fetch lines of 64 bytes in pairs.
LINE = 128

T = TypeVar("T")


def cache_aligned(array: np.ndarray) -> np.ndarray:
    """Returns a copy of an array on cache lines of its own."""
    copy = aligned_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """As `np.zeros`, on cache lines of its own."""
    n = prod(shape) * np.dtype(dtype).itemsize
    buffer = np.zeros(n + 2 * LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % LINE
    zeros: np.ndarray = buffer[start : start + n].view(dtype).reshape(shape)
    return zeros


def aligned_rows(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """As `np.zeros`, with every row on cache lines of its own: the last dimension may be larger."""
    per_line = LINE // np.dtype(dtype).itemsize
    return aligned_zeros((*shape[:-1], -(-shape[-1] // per_line) * per_line), dtype)


def cache_aligned_fields(structure: T) -> T:
    """Returns a named tuple with its arrays copied to cache lines of their own."""
    fields = [cache_aligned(x) if isinstance(x, np.ndarray) else x for x in structure]  # type: ignore[attr-defined]
    return type(structure)(*fields)
