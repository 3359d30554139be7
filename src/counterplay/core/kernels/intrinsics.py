"""Instructions that Numba has no words for: calls by address, and prefetching.

Compiled rules are called by address: they are an argument and not part of what is compiled, so one
kernel plays every game. A kernel calls `call_rules(address, constants, states, above, below,
action, mode, rng, facts, payoff)`. The function at `address` gets pointers to `constants`, to rows
`above` and `below` of `states`, the numbers `action` and `mode`, and pointers to `rng` and to row
`below` of `facts` and of `payoff`. With the jit off an address is an index into a list of Python
functions.

`prefetch` and `prefetch_at` load an entry of an array that will be read soon. They change the time
that a kernel takes and nothing else.
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
