"""Barriers: points where several threads wait for each other.

`barrier` is for threads inside kernels, which do not go back to Python. A counter of all arrivals
is its whole state. A thread adds one and spins until the number of arrivals is a multiple of the
number of threads; nothing has to be reset. After a while a spinning thread yields its processor, so
more threads than processors are slow but not stuck.

`ThreadBarrier` is for threads in Python: `threading.Barrier` at less than half its cost. Every
thread has a lock of its own, which the last to arrive releases, so threads do not take turns at one
lock and the barrier can be used again at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types as _types
from numba.np import arrayobj

from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.jit import jit

cgutils: Any = _cgutils  # the modules of Numba have no types
types: Any = _types
make_array: Any = arrayobj.make_array
intrinsic: Any = numba.extending.intrinsic

MOST_THREADS = 64  # of one process
SPINS = 20_000  # readings of the counter before the processor is yielded
_YIELD = "sched_yield" if os.name == "posix" else None


def new_counter() -> np.ndarray:
    """int64[1]: the counter of a barrier, on a cache line of its own."""
    return cache_aligned(np.zeros(1, dtype=np.int64))


def _address(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    view = make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(
        context, builder, kind, view, [context.get_constant(types.intp, 0)]
    )


def _typed_arrive(typing: Any, counter: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature.args[0], arguments[0])
        return builder.atomic_rmw("add", address, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


def _typed_arrivals(typing: Any, counter: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature.args[0], arguments[0])
        return builder.load_atomic(address, "acquire", 8)

    return types.int64(counter), generate


def _typed_yield(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _YIELD is not None:
            form = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, form, _YIELD), [])
        return context.get_dummy_value()

    return types.none(), generate


_arrive = intrinsic(_typed_arrive)  # add one; the value before
_arrivals = intrinsic(_typed_arrivals)
_yield_processor = intrinsic(_typed_yield)


@jit(inner=True)
def barrier(counter: np.ndarray, threads: int) -> None:
    """Wait until all `threads` are here. What each wrote before, all others see after."""
    if threads > 1:
        full = (_arrive(counter) // threads + 1) * threads
        spins = 0
        while _arrivals(counter) < full:
            spins += 1
            if spins > SPINS:
                _yield_processor()


def _nothing() -> None:
    pass


class ThreadBarrier:
    """A barrier for a number of threads in Python. `action`: called by the last thread to arrive,
    before any goes on."""

    def __init__(self, threads: int, action: Callable[[], None] = _nothing) -> None:
        self._action = action
        self._locks = [threading.Lock() for _ in range(threads)]
        for lock in self._locks:
            lock.acquire()
        self._counting = threading.Lock()
        self._missing = threads
        self._broken = False

    def wait(self, k: int) -> None:
        """Thread k waits for all others. `BrokenBarrierError` when one of them never arrives."""
        with self._counting:
            self._missing -= 1
            last = self._missing == 0
        if last:
            self._missing = len(self._locks)
            if not self._broken:
                self._action()
            self._release(k)
        elif not self._broken:
            self._locks[k].acquire()
        if self._broken:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """Break the barrier: nobody waits here any more."""
        self._broken = True
        self._release(-1)

    def _release(self, k: int) -> None:
        """Release the locks of all threads but the k-th; one that is free stays so."""
        for other, lock in enumerate(self._locks):
            if other != k:
                with suppress(RuntimeError):
                    lock.release()
