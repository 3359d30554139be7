"""What a user's policy returns: numbers, and arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np

TOLERANCE = 1e-5  # of a sum of probabilities, which are divided by it
#: That of short numbers, by the name of their type, which is about five roundings.
TOLERANCES = {"float16": 0.005, "bfloat16": 0.04}
SAME = 1e-3  # how much two answers to the same question may differ


def as_numpy(answer: Any) -> tuple[np.ndarray, float]:
    """An array of any library as float64, and the tolerance of its sums; an exception, of whatever
    library made it, where there are no numbers."""
    kind = str(getattr(answer, "dtype", "")).rpartition(".")[2]  # PyTorch says torch.float16
    if kind == "bfloat16" and hasattr(answer, "float"):  # NumPy has no such type
        answer = answer.float()
    for step in ("detach", "cpu", "get"):  # PyTorch: without its graph, off the device; CuPy
        if not isinstance(answer, np.ndarray | dict) and hasattr(answer, step):
            answer = getattr(answer, step)()
    numbers = np.asarray(answer)
    if numbers.dtype.kind in "cOSUmM":  # complex, objects, texts, times
        raise TypeError
    return numbers.astype(np.float64), TOLERANCES.get(kind, TOLERANCE)
