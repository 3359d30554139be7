"""Ask the processor to fetch an array entry that will be read soon. Nothing but time changes."""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.np import arrayobj

cgutils: Any = _cgutils  # what follows has no types
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic
overload: Any = numba.extending.overload
_INT32 = ir.IntType(32)


def prefetch(array: Any, row: Any, column: Any) -> None:
    """Start loading `array[row, column]`."""


def _ask(typing: Any, array: Any, row: Any, column: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, kind, view, [arguments[1], arguments[2]])
        pointer = builder.bitcast(place, cgutils.voidptr_t)
        form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT32, _INT32, _INT32])
        ask = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        builder.call(ask, [pointer, _INT32(0), _INT32(3), _INT32(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.none(array, row, column), generate


_fetch = intrinsic(_ask)


def _overload(array: Any, row: Any, column: Any) -> Any:
    def fetch(array: Any, row: Any, column: Any) -> Any:
        return _fetch(array, row, column)

    return fetch


overload(prefetch)(_overload)


def prefetch_at(array: Any, place: Any) -> None:
    """Start loading `array[place]`."""


def _ask_at(typing: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = make_array(kind)(context, builder, arguments[0])
        where = cgutils.get_item_pointer(context, builder, kind, view, [arguments[1]])
        pointer = builder.bitcast(where, cgutils.voidptr_t)
        form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT32, _INT32, _INT32])
        ask = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        builder.call(ask, [pointer, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.none(array, place), generate


_fetch_at = intrinsic(_ask_at)


def _overload_at(array: Any, place: Any) -> Any:
    def fetch(array: Any, place: Any) -> Any:
        return _fetch_at(array, place)

    return fetch


overload(prefetch_at)(_overload_at)
