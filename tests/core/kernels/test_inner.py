"""Kernels without a wrapper for Python and without machine code of their own."""

from __future__ import annotations

from typing import Any

import numba
import pytest

from counterplay.core.kernels.inner import KIND, InnerLibrary, inner_options
from counterplay.core.kernels.jit import jit

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]


def _plain_twice(x: float) -> float:
    return 2.0 * x


_twice: Any = jit(inner=True)(_plain_twice)


@jit
def _four_times(x: float) -> float:
    return float(_twice(_twice(x)))


def test_kernels_call_it_and_python_is_refused() -> None:
    for _ in range(2):  # compiled already the second time
        assert _four_times(1.5) == 6.0
        with pytest.raises(TypeError, match="is called by kernels alone"):
            _twice(1.5)


@compiled
def test_it_has_no_machine_code_in_memory_or_in_the_cache() -> None:
    again: Any = jit(inner=True)(_plain_twice)

    @jit
    def eight_times(x: float) -> float:
        return float(again(again(again(x))))

    again.compile((numba.float64,))
    first = again.overloads[numba.float64,]
    assert isinstance(first.library, InnerLibrary)
    engine = first.library._codegen._engine
    assert not engine.is_symbol_defined(first.fndesc.mangled_name)
    assert again._cache._impl.reduce(first)[0][1] == KIND
    loaded = again._cache.load_overload((numba.float64,), again.targetctx)
    assert isinstance(loaded.library, InnerLibrary)
    again.overloads[numba.float64,] = loaded  # a kernel links what was read
    again.targetctx.insert_user_function(loaded.entry_point, loaded.fndesc, [loaded.library])
    assert eight_times(1.5) == 12.0
    kernel: Any = eight_times
    own = next(iter(kernel.overloads.values()))
    assert engine.is_symbol_defined(own.fndesc.llvm_cpython_wrapper_name)  # the test can fail


def test_other_versions_of_numba_compile_in_their_own_way() -> None:
    assert "pipeline_class" in inner_options((0, 68))
    plain: Any = inner_options((0, 99))
    assert "pipeline_class" not in plain
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        twice: Any = numba.njit(**plain)(_plain_twice)
        assert numba.njit(lambda x: twice(x))(1.5) == 3.0


@compiled
def test_two_that_call_each_other_are_refused() -> None:
    def down(n: int) -> int:
        return 0 if n <= 0 else int(up(n - 1))

    up: Any = jit(inner=True)(lambda n: down_(n - 1))
    down_: Any = jit(inner=True)(down)

    @jit
    def start(n: int) -> int:
        return int(down_(n))

    with pytest.raises(Exception, match="cannot be inner"):
        start(3)
