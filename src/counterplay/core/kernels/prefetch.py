"""Prefetching of array entries that will be read soon. It changes the time that a kernel takes and
nothing else."""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import config as _config
from numba.core import types

from counterplay.core.kernels.call import item_pointer

cgutils: Any = _cgutils  # the modules of Numba have no types
config: Any = _config
intrinsic: Any = numba.extending.intrinsic
_INT32 = ir.IntType(32)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array, *indices = arguments
    entry = item_pointer(context, builder, signature.args[0], array, *indices)
    form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT32, _INT32, _INT32])
    fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
    pointer = builder.bitcast(entry, cgutils.voidptr_t)
    builder.call(fetch, [pointer, _INT32(0), _INT32(3), _INT32(1)])  # read, keep, data
    return context.get_dummy_value()


def _of_matrix(typing: Any, array: Any, row: Any, column: Any) -> Any:
    return types.none(array, row, column), _generate


def _of_vector(typing: Any, array: Any, entry: Any) -> Any:
    return types.none(array, entry), _generate


def _nothing(*_: Any) -> None:
    """With the jit off."""


prefetch: Any = _nothing if config.DISABLE_JIT else intrinsic(_of_matrix)  # array[row, column]
prefetch_at: Any = _nothing if config.DISABLE_JIT else intrinsic(_of_vector)  # array[entry]
