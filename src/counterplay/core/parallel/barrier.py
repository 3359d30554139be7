"""Barriers, at which several threads wait for each other.

`barrier` is for threads inside kernels. Its state is a counter of all arrivals: a thread adds one
and spins until the number of arrivals is a multiple of the number of threads, so nothing has to be
reset. After a while a spinning thread yields its processor, so that more threads than processors
are slow but do not deadlock.

`ThreadBarrier` is for threads in Python and takes less than half the time of `threading.Barrier`.
Every thread has its own lock, which the last to arrive releases, so that threads do not contend for
one lock and the barrier can be reused at once.
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

from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.intrinsics import item_pointer
from counterplay.core.kernels.jit import jit

cgutils: Any = _cgutils  # the modules of Numba have no types
types: Any = _types
intrinsic: Any = numba.extending.intrinsic

MOST_THREADS = 64  # of one process
SPINS = 20_000  # readings of the counter before the processor is yielded
_YIELD = "sched_yield" if os.name == "posix" else None


def new_counter() -> np.ndarray:
    """Returns int64[1]: the counter of a barrier, on its own cache line."""
    return cache_aligned(np.zeros(1, dtype=np.int64))


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    zero = context.get_constant(types.intp, 0)
    return item_pointer(context, builder, signature.args[0], arguments[0], zero)


def _typed_arrive(typing: Any, counter: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature, arguments)
        return builder.atomic_rmw("add", address, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


def _typed_arrivals(typing: Any, counter: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature, arguments)
        return builder.load_atomic(address, "acquire", 8)

    return types.int64(counter), generate


def _typed_yield(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _YIELD is not None:
            form = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, form, _YIELD), [])
        return context.get_dummy_value()

    return types.none(), generate


_arrive = intrinsic(_typed_arrive)  # adds one and returns the value before
_arrivals = intrinsic(_typed_arrivals)
_yield_processor = intrinsic(_typed_yield)


@jit(inner=True)
def barrier(counter: np.ndarray, threads: int) -> None:
    """Waits until all `threads` arrive. Writes before the barrier are visible after it."""
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
    """A barrier for threads in Python. `action`: called by the last thread that arrives."""

    def __init__(self, threads: int, action: Callable[[], None] = _nothing) -> None:
        self._action = action
        self._locks = [threading.Lock() for _ in range(threads)]
        for lock in self._locks:
            lock.acquire()
        self._counting = threading.Lock()
        self._missing = threads
        self._broken = False

    def wait(self, k: int) -> None:
        """Thread k waits for all others; `BrokenBarrierError` after `abort`."""
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
        """Breaks the barrier: releases all waiting threads."""
        self._broken = True
        self._release(-1)

    def _release(self, k: int) -> None:
        """Releases the locks of all threads but the k-th, if they are held."""
        for other, lock in enumerate(self._locks):
            if other != k:
                with suppress(RuntimeError):
                    lock.release()
