"""Call a compiled function by its address, with rows of arrays as pointers.

So one kernel plays the rules of every game: they are an argument and no part of what is compiled.
With the jit off an address is a number in a list of Python functions.
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

cgutils: Any = _cgutils  # what follows has no types
config: Any = _config
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic
overload: Any = numba.extending.overload
_WORD = ir.IntType(64)
_POINTER = _WORD.as_pointer()

_PLAIN: list[Callable[..., Any]] = []


def plain_address(function: Callable[..., Any]) -> int:
    """A number by which `call_rules` finds a Python function."""
    _PLAIN.append(function)
    return len(_PLAIN) - 1


def call_rules(
    address: Any,
    constants: Any,
    states: Any,
    above: Any,
    below: Any,
    action: Any,
    mode: Any,
    rng: Any,
    facts: Any,
    payoff: Any,
) -> None:
    """Call the function at `address` with pointers to `constants`, to rows `above` and `below` of
    `states`, to row `below` of `facts` and of `payoff` and to `rng`, and the numbers `action` and
    `mode`."""
    function = _PLAIN[int(address)]
    row, numbers = (states[above], states[below]), (int(action), int(mode))
    function(constants, *row, *numbers, rng, facts[below], payoff[below])


def _call(
    typing: Any,
    address: Any,
    constants: Any,
    states: Any,
    above: Any,
    below: Any,
    action: Any,
    mode: Any,
    rng: Any,
    facts: Any,
    payoff: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = _WORD(0)

        def pointer(k: int, *where: Any) -> Any:
            kind = signature.args[k]
            view = make_array(kind)(context, builder, arguments[k])
            place = cgutils.get_item_pointer(context, builder, kind, view, list(where))
            return builder.bitcast(place, _POINTER)

        function = builder.inttoptr(
            arguments[0],
            ir.FunctionType(
                ir.VoidType(), [*[_POINTER] * 3, _WORD, _WORD, *[_POINTER] * 3]
            ).as_pointer(),
        )
        builder.call(
            function,
            [
                pointer(1, zero),
                pointer(2, arguments[3], zero),
                pointer(2, arguments[4], zero),
                arguments[5],
                arguments[6],
                pointer(7, zero),
                pointer(8, arguments[4], zero),
                pointer(9, arguments[4], zero),
            ],
        )
        return context.get_dummy_value()

    given = (address, constants, states, above, below, action, mode, rng, facts, payoff)
    return types.none(*given), generate


_called = intrinsic(_call)


def _overload(
    address: Any,
    constants: Any,
    states: Any,
    above: Any,
    below: Any,
    action: Any,
    mode: Any,
    rng: Any,
    facts: Any,
    payoff: Any,
) -> Any:
    def call(
        address: Any,
        constants: Any,
        states: Any,
        above: Any,
        below: Any,
        action: Any,
        mode: Any,
        rng: Any,
        facts: Any,
        payoff: Any,
    ) -> Any:
        return _called(address, constants, states, above, below, action, mode, rng, facts, payoff)

    return call


overload(call_rules)(_overload)
