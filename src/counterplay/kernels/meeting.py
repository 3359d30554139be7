"""Where threads inside a kernel wait for each other, without going back to Python.

A counter of all arrivals is the whole state. Whoever comes adds one and waits until as many have
come as make the round full; nothing has to be set back. Waiting is reading the counter; after a
while the processor is offered to others, so that more threads than processors are slow, not stuck.
"""

from __future__ import annotations

import os
from typing import Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types as _types
from numba.np import arrayobj

from counterplay.kernels.jit import jit
from counterplay.kernels.lines import apart

cgutils: Any = _cgutils  # what follows has no types
types: Any = _types
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic

PATIENCE = 20_000  # looks at the counter before the processor is offered to others
_OFFER = "sched_yield" if os.name == "posix" else None


def new_door() -> np.ndarray:
    """int64[1]: a counter on a line of its own."""
    return apart(np.zeros(1, dtype=np.int64))


def _place(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    view = make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(
        context, builder, kind, view, [context.get_constant(types.intp, 0)]
    )


def _typed_arrive(typing: Any, door: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0])
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(door), generate


def _typed_look(typing: Any, door: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0])
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(door), generate


def _typed_offer(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _OFFER is not None:
            form = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, form, _OFFER), [])
        return context.get_dummy_value()

    return types.none(), generate


_arrive = intrinsic(_typed_arrive)  # add one; what it was before
_look = intrinsic(_typed_look)
_offer = intrinsic(_typed_offer)


@jit(inner=True)
def meet(door: np.ndarray, threads: int) -> None:
    """Wait until all `threads` are here. What each wrote before, all others see after."""
    if threads > 1:
        full = (_arrive(door) // threads + 1) * threads
        looks = 0
        while _look(door) < full:
            looks += 1
            if looks > PATIENCE:
                _offer()
