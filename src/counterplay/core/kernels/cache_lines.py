"""Arrays that share no cache line with another array.

A core that writes to a cache line takes it from all other cores. Small arrays lie side by side in
memory, so two threads that each write only their own would still wait for each other at every write
(false sharing).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

#: Bytes. Processors fetch lines of 64 bytes in pairs.
LINE = 128

T = TypeVar("T")


def cache_aligned(array: np.ndarray) -> np.ndarray:
    """A copy of an array on cache lines of its own."""
    room = np.empty(array.nbytes + 2 * LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def cache_aligned_fields(structure: T) -> T:
    """A named tuple whose arrays are copied to cache lines of their own."""
    fields = [cache_aligned(x) if isinstance(x, np.ndarray) else x for x in structure]  # type: ignore[attr-defined]
    return type(structure)(*fields)
