"""Arithmetic on rows of `LANES` numbers at a time, as vector instructions.

For a short loop the compiler would test whether two arrays overlap, which takes longer than the
loop. Here the loads, operations and stores are generated explicitly. The arguments of a function
are arrays, each followed by the flat index of its first number, and last the number of rows. Arrays
do not overlap and have one type. The comment of each function says what it computes.
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
    """Code generation for one function: pointers to its arrays, and operations on row z."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder = context, builder
        self._pointers = []
        self.count = arguments[-1]
        for k in range(0, len(arguments) - 1, 2):
            kind = signature.args[k]
            view = make_array(kind)(context, builder, arguments[k])
            self._pointers.append(builder.gep(view.data, [arguments[k + 1]]))
        self.vector = ir.VectorType(context.get_data_type(signature.args[0].dtype), LANES)
        self._item = 4 if signature.args[0].dtype == types.float32 else 8

    def _address(self, k: int, z: Any) -> Any:
        pointer = self._pointers[k]
        if z is not None:
            pointer = self.builder.gep(pointer, [self.builder.mul(z, z.type(LANES))])
        return self.builder.bitcast(pointer, self.vector.as_pointer())

    def load(self, k: int, z: Any = None) -> Any:
        """Loads row z of the k-th array, or its first row."""
        return self.builder.load(self._address(k, z), align=self._item)

    def store(self, value: Any, k: int, z: Any = None) -> None:
        self.builder.store(value, self._address(k, z), align=self._item)

    def each(self, step: Callable[[Any], None]) -> None:
        """Generates `step(z)` for every row z."""
        with cgutils.for_range(self.builder, self.count) as loop:
            step(loop.index)

    def reduce(self, initial: Any, step: Callable[[Any, Any], Any], out: int) -> None:
        """Generates value = step(value, z) over all rows z; stores it in the first row of `out`."""
        value = cgutils.alloca_once_value(self.builder, initial)
        self.each(lambda z: self.builder.store(step(self.builder.load(value), z), value))
        self.store(self.builder.load(value), out)

    def zero(self) -> Any:
        return ir.Constant(self.vector, None)


def _function(arrays: int, write: Callable[[_Rows], None]) -> Any:
    """Returns the function of a number of arrays whose code `write` generates."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write(_Rows(context, builder, signature, arguments))
        return context.get_dummy_value()

    names = ", ".join(f"a{k}, i{k}" for k in range(arrays)) + ", n"
    scope: dict[str, Any] = {"types": types, "generate": generate}
    exec(f"def typed(typing, {names}): return types.none({names}), generate", scope)
    return intrinsic(scope["typed"])


def _add_to_cards(rows: _Rows) -> None:
    builder, factor = rows.builder, rows.load(0)

    def step(z: Any) -> None:
        more = builder.fmul(factor, rows.load(1, z))
        for k in (2, 3, 4):
            rows.store(builder.fadd(rows.load(k, z), more), k, z)

    rows.each(step)


def _add_row_to_cards(rows: _Rows) -> None:
    def step(z: Any) -> None:
        more = rows.load(0, z)
        for k in (1, 2, 3):
            rows.store(rows.builder.fadd(rows.load(k, z), more), k, z)

    rows.each(step)


def _without(rows: _Rows, z: Any) -> Any:
    """The sum over all hands less the sums of two cards: arrays 0, 1 and 2."""
    builder = rows.builder
    return builder.fsub(builder.fsub(rows.load(0, z), rows.load(1, z)), rows.load(2, z))


def _take(rows: _Rows) -> None:
    builder = rows.builder

    def step(value: Any, z: Any) -> Any:
        others = _without(rows, z)
        rows.store(builder.fadd(rows.load(3, z), others), 3, z)
        return builder.fadd(value, builder.fmul(rows.load(4, z), others))

    rows.reduce(rows.load(5), step, 5)


def _put(rows: _Rows, value: Callable[[Any], Any], out: int, add: bool) -> None:
    """Generates row z of array `out` = value(z), or += value(z)."""
    plus = rows.builder.fadd
    if add:
        rows.each(lambda z: rows.store(plus(rows.load(out, z), value(z)), out, z))
    else:
        rows.each(lambda z: rows.store(value(z), out, z))


def _twice(rows: _Rows) -> None:
    def value(z: Any) -> Any:
        others = _without(rows, z)
        return rows.builder.fadd(others, others)

    _put(rows, value, 3, add=False)


def _difference(rows: _Rows) -> None:
    _put(rows, lambda z: rows.builder.fsub(rows.load(0, z), rows.load(1, z)), 1, add=False)


def _others(add: bool) -> Callable[[_Rows], None]:
    return lambda rows: _put(rows, lambda z: _without(rows, z), 3, add)


def _product(add: bool) -> Callable[[_Rows], None]:
    def write(rows: _Rows) -> None:
        factor = rows.load(0)
        _put(rows, lambda z: rows.builder.fmul(factor, rows.load(1, z)), 2, add)

    return write


def _dot(rows: _Rows, initial: Any) -> None:
    builder = rows.builder

    def step(value: Any, z: Any) -> Any:
        return builder.fadd(value, builder.fmul(rows.load(0, z), rows.load(1, z)))

    rows.reduce(initial, step, 2)


def _set_sum(rows: _Rows) -> None:
    rows.reduce(rows.zero(), lambda value, z: rows.builder.fadd(value, rows.load(0, z)), 1)


def _set_most(rows: _Rows) -> None:
    builder = rows.builder

    def step(value: Any, z: Any) -> Any:
        row = rows.load(0, z)
        return builder.select(builder.fcmp_ordered(">", row, value), row, value)

    rows.reduce(rows.load(0), step, 1)


# `sums`: of all hands, of those with the first and of those with the second card of a hand (card
# removal by inclusion and exclusion).
add_to_cards = _function(5, _add_to_cards)  # factor, row, sums: each += factor · row
add_row_to_cards = _function(4, _add_row_to_cards)  # row, sums: each += row
# sums, total, weight, value: others = all - first - second, total += others,
# value += weight · others
take = _function(6, _take)
set_others = _function(4, _others(add=False))  # sums, row: row = all - first - second
set_twice = _function(4, _twice)  # sums, row: row = 2 (all - first - second)
add_others = _function(4, _others(add=True))  # sums, row: row += all - first - second
set_difference = _function(2, _difference)  # rows, out: out = rows - out
set_product = _function(3, _product(add=False))  # factor, rows, out: out = factor · rows
add_product = _function(3, _product(add=True))  # factor, rows, out: out += factor · rows
add_dot = _function(3, lambda rows: _dot(rows, rows.load(2)))  # weights, rows, value: value += Σ
set_dot = _function(3, lambda rows: _dot(rows, rows.zero()))  # weights, rows, value: value = Σ
set_sum = _function(2, _set_sum)  # rows, value: value = their sum
set_most = _function(2, _set_most)  # rows, value: value = the maximum in each lane
# rows, total: total += rows
add_rows = _function(2, lambda rows: _put(rows, lambda z: rows.load(0, z), 1, add=True))
