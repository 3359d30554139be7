"""Arrays that share no cache line with another array.

A core that writes to a cache line invalidates it for all other cores. Small arrays are adjacent in
memory, so two threads that each write only to their own array would still wait for each other at
every write (false sharing).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

#: Bytes. Processors fetch lines of 64 bytes in pairs.
LINE = 128

T = TypeVar("T")


def cache_aligned(array: np.ndarray) -> np.ndarray:
    """Returns a copy of an array on cache lines of its own."""
    buffer = np.empty(array.nbytes + 2 * LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % LINE
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def cache_aligned_fields(structure: T) -> T:
    """Returns a named tuple with its arrays copied to cache lines of their own."""
    fields = [cache_aligned(x) if isinstance(x, np.ndarray) else x for x in structure]  # type: ignore[attr-defined]
    return type(structure)(*fields)
