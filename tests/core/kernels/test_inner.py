"""Kernels without a wrapper for Python."""

from __future__ import annotations

import pytest

from counterplay.core.kernels.jit import jit


@jit(inner=True)
def _twice(x: float) -> float:
    return 2.0 * x


@jit
def _four_times(x: float) -> float:
    return _twice(_twice(x))


def test_kernels_call_it_and_python_is_refused() -> None:
    for _ in range(2):  # compiled already the second time
        assert _four_times(1.5) == 6.0
        with pytest.raises(TypeError, match="_twice is called by kernels alone"):
            _twice(1.5)
