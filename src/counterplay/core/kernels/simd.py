"""Arithmetic on rows of `LANES` numbers at a time, as vector instructions.

Left to itself the compiler tests at every short loop whether two arrays overlap, which takes longer
than the loop. Here it is told what to load, compute and store. Arguments are arrays, each with the
position of its first number counted through the whole array, and the number of rows. Arrays do not
overlap and are of one type. The comment of each function says what it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types
from numba.np import arrayobj

cgutils: Any = _cgutils  # the modules of Numba have no types
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic
overload: Any = numba.extending.overload
LANES = 8  # single-precision numbers in an AVX2 register


class _Rows:
    """Generates the code of one function: pointers to its arrays, and operations on row z."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder = context, builder
        self._pointers = []
        self.count = arguments[-1]
        for k in range(0, len(arguments) - 1, 2):
            kind = signature.args[k]
            view = make_array(kind)(context, builder, arguments[k])
            self._pointers.append(builder.gep(view.data, [arguments[k + 1]]))
        self.vector = ir.VectorType(context.get_data_type(signature.args[0].dtype), LANES)
        self._size = 4 if signature.args[0].dtype == types.float32 else 8

    def _place(self, k: int, z: Any) -> Any:
        pointer = self._pointers[k]
        if z is not None:
            pointer = self.builder.gep(pointer, [self.builder.mul(z, z.type(LANES))])
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def load(self, k: int, z: Any = None) -> Any:
        """Row z of the k-th array, or its first."""
        return self.builder.load(self._place(k, z), align=self._size)

    def store(self, value: Any, k: int, z: Any = None) -> None:
        self.builder.store(value, self._place(k, z), align=self._size)

    def each(self, step: Callable[[Any], None]) -> None:
        with cgutils.for_range(self.builder, self.count) as loop:
            step(loop.index)


def _function(arrays: int, write: Callable[[_Rows], None]) -> Any:
    """The function of a number of arrays whose code `write` generates."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write(_Rows(context, builder, signature, arguments))
        return context.get_dummy_value()

    names = ", ".join(f"a{k}, i{k}" for k in range(arrays)) + ", n"
    scope: dict[str, Any] = {"types": types, "generate": generate}
    exec(f"def typed(typing, {names}): return types.none({names}), generate", scope)
    return intrinsic(scope["typed"])


def _add_to_cards(rows: _Rows) -> None:
    builder, y = rows.builder, rows.load(0)

    def step(z: Any) -> None:
        more = builder.fmul(y, rows.load(1, z))
        for k in (2, 3, 4):
            rows.store(builder.fadd(rows.load(k, z), more), k, z)

    rows.each(step)


def _add_row_to_cards(rows: _Rows) -> None:
    builder = rows.builder

    def step(z: Any) -> None:
        more = rows.load(0, z)
        for k in (1, 2, 3):
            rows.store(builder.fadd(rows.load(k, z), more), k, z)

    rows.each(step)


def _without(rows: _Rows, first: int, z: Any) -> Any:
    """The row of all less those of two cards, which stand behind it in the arguments."""
    builder = rows.builder
    less = builder.fsub(rows.load(first, z), rows.load(first + 1, z))
    return builder.fsub(less, rows.load(first + 2, z))


def _take(rows: _Rows) -> None:
    builder = rows.builder
    value = cgutils.alloca_once_value(builder, rows.load(5))

    def step(z: Any) -> None:
        others = _without(rows, 0, z)
        rows.store(builder.fadd(rows.load(3, z), others), 3, z)
        weighed = builder.fmul(rows.load(4, z), others)
        builder.store(builder.fadd(builder.load(value), weighed), value)

    rows.each(step)
    rows.store(builder.load(value), 5)


def _set_others(rows: _Rows) -> None:
    rows.each(lambda z: rows.store(_without(rows, 0, z), 3, z))


def _set_product(rows: _Rows) -> None:
    y = rows.load(0)
    rows.each(lambda z: rows.store(rows.builder.fmul(y, rows.load(1, z)), 2, z))


def _add_product(rows: _Rows) -> None:
    builder, y = rows.builder, rows.load(0)

    def step(z: Any) -> None:
        rows.store(builder.fadd(rows.load(2, z), builder.fmul(y, rows.load(1, z))), 2, z)

    rows.each(step)


def _add_dot(rows: _Rows) -> None:
    builder = rows.builder
    value = cgutils.alloca_once_value(builder, rows.load(2))

    def step(z: Any) -> None:
        product = builder.fmul(rows.load(0, z), rows.load(1, z))
        builder.store(builder.fadd(builder.load(value), product), value)

    rows.each(step)
    rows.store(builder.load(value), 2)


def _set_dot(rows: _Rows) -> None:
    builder = rows.builder
    value = cgutils.alloca_once_value(builder, ir.Constant(rows.vector, None))

    def step(z: Any) -> None:
        product = builder.fmul(rows.load(0, z), rows.load(1, z))
        builder.store(builder.fadd(builder.load(value), product), value)

    rows.each(step)
    rows.store(builder.load(value), 2)


def _set_sum(rows: _Rows) -> None:
    builder = rows.builder
    value = cgutils.alloca_once_value(builder, ir.Constant(rows.vector, None))
    rows.each(lambda z: builder.store(builder.fadd(builder.load(value), rows.load(0, z)), value))
    rows.store(builder.load(value), 1)


def _set_most(rows: _Rows) -> None:
    builder = rows.builder
    value = cgutils.alloca_once_value(builder, rows.load(0))

    def step(z: Any) -> None:
        so_far, here = builder.load(value), rows.load(0, z)
        more = builder.fcmp_ordered(">", here, so_far)
        builder.store(builder.select(more, here, so_far), value)

    rows.each(step)
    rows.store(builder.load(value), 1)


def _add_others(rows: _Rows) -> None:
    builder = rows.builder
    rows.each(lambda z: rows.store(builder.fadd(rows.load(3, z), _without(rows, 0, z)), 3, z))


def _add_rows(rows: _Rows) -> None:
    builder = rows.builder
    rows.each(lambda z: rows.store(builder.fadd(rows.load(1, z), rows.load(0, z)), 1, z))


add_to_cards = _function(5, _add_to_cards)  # y, path, sums three times: each += y · path
add_row_to_cards = _function(4, _add_row_to_cards)  # row, sums three times: each += row
# sums three times, total, weight, value: others = all - low - high, total += others,
# value += weight · others
take = _function(6, _take)
set_others = _function(4, _set_others)  # sums three times, row: row = all - low - high
set_product = _function(3, _set_product)  # y, path, row: row = y · path
add_product = _function(3, _add_product)  # y, path, row: row += y · path
add_dot = _function(3, _add_dot)  # weight, row, value: value += the sum of weight · row
set_dot = _function(3, _set_dot)  # weight, row, value: value = the sum of weight · row
set_sum = _function(2, _set_sum)  # rows, value: value = their sum
set_most = _function(2, _set_most)  # rows, value: value = the largest, lane by lane
add_others = _function(4, _add_others)  # sums three times, row: row += all - low - high
add_rows = _function(2, _add_rows)  # row, total: total += row
