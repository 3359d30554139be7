"""Instructions that Numba has no words for: calls by address, prefetching, and vector arithmetic.

Compiled rules are called by address: they are an argument and not part of what is compiled, so one
kernel plays every game. A kernel calls `call_rules(address, constants, states, above, below,
action, mode, rng, facts, payoff)`. The function at `address` gets pointers to `constants`, to rows
`above` and `below` of `states`, the numbers `action` and `mode`, and pointers to `rng` and to row
`below` of `facts` and of `payoff`. With the jit off an address is an index into a list of Python
functions.

`prefetch` and `prefetch_at` load an entry of an array that will be read soon. They change the time
that a kernel takes and nothing else.

The other functions compute with rows of `LANES` numbers at a time, as vector instructions. For a
short loop the compiler would test whether two arrays overlap, which takes longer than the loop.
Here the loads, operations and stores are generated explicitly. The arguments of a function are
arrays, each followed by the flat index of its first number, and last the number of rows. Arrays do
not overlap and have one type. The comment of each function says what it computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import config as _config
from numba.core import types
from numba.np import arrayobj

cgutils: Any = _cgutils  # the modules of Numba have no types
config: Any = _config
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic
overload: Any = numba.extending.overload
LANES = 8  # single-precision numbers in an AVX2 register
_WORD = ir.IntType(64)
_INT32 = ir.IntType(32)
_POINTER = _WORD.as_pointer()
_RULES = ir.FunctionType(ir.VoidType(), [*[_POINTER] * 3, _WORD, _WORD, *[_POINTER] * 3])

_PLAIN: list[Callable[..., Any]] = []


def plain_address(function: Callable[..., Any]) -> int:
    """Returns the number by which `call_rules` finds a Python function, with the jit off."""
    _PLAIN.append(function)
    return len(_PLAIN) - 1


def item_pointer(context: Any, builder: Any, kind: Any, array: Any, *indices: Any) -> Any:
    """Returns the address of an entry of an array of type `kind`, in generated code."""
    view = make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, view, list(indices))


def _generate_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address, _, _, above, below, action, mode, _, _, _ = arguments
    zero = _WORD(0)

    def pointer(k: int, *indices: Any) -> Any:
        entry = item_pointer(context, builder, signature.args[k], arguments[k], *indices)
        return builder.bitcast(entry, _POINTER)

    function = builder.inttoptr(address, _RULES.as_pointer())
    states = pointer(2, above, zero), pointer(2, below, zero)
    results = pointer(8, below, zero), pointer(9, below, zero)
    builder.call(function, [pointer(1, zero), *states, action, mode, pointer(7, zero), *results])
    return context.get_dummy_value()


def _compiled(
    typing: Any, address: Any, constants: Any, states: Any, above: Any, below: Any, action: Any,
    mode: Any, rng: Any, facts: Any, payoff: Any,
) -> Any:  # fmt: skip
    """The intrinsic: its types, and what generates its code."""
    given = (address, constants, states, above, below, action, mode, rng, facts, payoff)
    return types.none(*given), _generate_call


def _plain(
    address: Any, constants: Any, states: Any, above: Any, below: Any, action: Any, mode: Any,
    rng: Any, facts: Any, payoff: Any,
) -> None:  # fmt: skip
    """The same with the jit off."""
    rows = states[above], states[below]
    function = _PLAIN[int(address)]
    function(constants, *rows, int(action), int(mode), rng, facts[below], payoff[below])


call_rules: Any = _plain if config.DISABLE_JIT else intrinsic(_compiled)


def _generate_prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array, *indices = arguments
    entry = item_pointer(context, builder, signature.args[0], array, *indices)
    form = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT32, _INT32, _INT32])
    fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
    pointer = builder.bitcast(entry, cgutils.voidptr_t)
    builder.call(fetch, [pointer, _INT32(0), _INT32(3), _INT32(1)])  # read, keep, data
    return context.get_dummy_value()


def _of_matrix(typing: Any, array: Any, row: Any, column: Any) -> Any:
    return types.none(array, row, column), _generate_prefetch


def _of_vector(typing: Any, array: Any, entry: Any) -> Any:
    return types.none(array, entry), _generate_prefetch


def _nothing(*_: Any) -> None:
    """With the jit off."""


prefetch: Any = _nothing if config.DISABLE_JIT else intrinsic(_of_matrix)  # array[row, column]
prefetch_at: Any = _nothing if config.DISABLE_JIT else intrinsic(_of_vector)  # array[entry]


# --- arithmetic on rows of `LANES` numbers


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
add_others = _function(4, _others(add=True))  # sums, row: row += all - first - second
set_product = _function(3, _product(add=False))  # factor, rows, out: out = factor · rows
add_product = _function(3, _product(add=True))  # factor, rows, out: out += factor · rows
add_dot = _function(3, lambda rows: _dot(rows, rows.load(2)))  # weights, rows, value: value += Σ
set_dot = _function(3, lambda rows: _dot(rows, rows.zero()))  # weights, rows, value: value = Σ
set_sum = _function(2, _set_sum)  # rows, value: value = their sum
set_most = _function(2, _set_most)  # rows, value: value = the maximum in each lane
# rows, total: total += rows
add_rows = _function(2, lambda rows: _put(rows, lambda z: rows.load(0, z), 1, add=True))
