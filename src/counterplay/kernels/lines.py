"""Arrays that share no cache line with another.

A processor that writes to a line takes it from all others. Small arrays lie side by side in memory,
so two threads that each write only their own would still wait for one another at every write.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

#: Bytes. Processors fetch lines of 64 in pairs.
LINE = 128

T = TypeVar("T")


def apart(array: np.ndarray) -> np.ndarray:
    """A copy on lines of its own."""
    room = np.empty(array.nbytes + 2 * LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def all_apart(structure: T) -> T:
    """A named tuple with its arrays on lines of their own."""
    fields = [apart(x) if isinstance(x, np.ndarray) else x for x in structure]  # type: ignore[attr-defined]
    return type(structure)(*fields)
