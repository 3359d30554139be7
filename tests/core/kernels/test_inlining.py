"""Functions are inserted into their callers without copies, and the code is that of Numba's own
inliner."""

from __future__ import annotations

import copy
import re
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import inline_closurecall

from counterplay.core.kernels.jit import COPY, jit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]


def _kernel() -> Any:
    """A kernel that inserts one function twice, and another one through it."""
    pasted = numba.njit(inline="always")

    @pasted
    def above(numbers: np.ndarray, least: float) -> float:
        total = 0.0
        for k in range(len(numbers)):
            if numbers[k] > least:
                total += numbers[k]
        return total

    @pasted
    def between(numbers: np.ndarray, least: float, most: float) -> float:
        return above(numbers, least) - above(numbers, most)

    @numba.njit  # not kept on disk
    def kernel(numbers: np.ndarray) -> float:
        total = between(numbers, 0.0, 2.0)
        for k in range(3):
            total += above(numbers, float(k))
        return total

    return kernel


def _code() -> list[str]:
    """The optimised instructions without the names of what they use, which Numba numbers."""
    kernel = _kernel()
    assert kernel(np.arange(5.0)) == 3.0 + 10.0 + 9.0 + 7.0
    (text,) = kernel.inspect_llvm().values()
    lines = [line for line in text.splitlines() if line.startswith("  ")]
    return [re.sub(r"[%@][^\s,()\]]+|_ZN\w+|\d{6,}|\s*;.*", "", line) for line in lines]


def test_the_code_is_that_of_numbas_inliner(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, copied = _code(), list[Any]()

    def watched(value: Any, memo: Any = None) -> Any:
        copied.append(value)
        return copy.deepcopy(value, memo)

    monkeypatch.setattr(COPY, "deepcopy", watched)
    assert len(ours) > 50
    assert _code() == ours
    assert len(copied) > 10  # what is not copied otherwise


def test_nothing_else_is_changed() -> None:
    shim = inline_closurecall.copy  # type: ignore[attr-defined]
    assert shim is COPY
    assert not shim.fresh
    value = [[1]]
    assert shim.deepcopy(value) == value
    assert shim.deepcopy(value)[0] is not value[0]
    assert shim.copy is copy.copy


def test_a_function_that_cannot_be_inserted_leaves_no_trace() -> None:
    @jit(inline=True)
    def wrong(x: float) -> float:
        return (lambda y: y + unknown)(x)  # type: ignore[name-defined,no-any-return]  # noqa: F821

    @numba.njit  # not kept on disk
    def caller(x: float) -> float:
        return wrong(x)

    with pytest.raises(numba.core.errors.NumbaError):
        caller(1.0)
    assert not COPY.fresh
    assert _kernel()(np.arange(3.0)) == 3.0 + 3.0 + 2.0
