"""A gate where threads wait for each other, over and over: `threading.Barrier` at less than half
its cost.

Every thread has a door of its own, a plain lock. The last to come opens the doors of all others;
whoever goes through his door shuts it behind him. So nobody takes turns at one lock, and the gate
can be used again at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress


def _nothing() -> None:
    pass


class Gate:
    """For `threads` threads. `last`: what the last to come does before all go on."""

    def __init__(self, threads: int, last: Callable[[], None] = _nothing) -> None:
        self._last = last
        self._doors = [threading.Lock() for _ in range(threads)]
        for door in self._doors:
            door.acquire()
        self._counting = threading.Lock()
        self._missing = threads
        self._broken = False

    def wait(self, k: int) -> None:
        """Thread k, until all are here. `BrokenBarrierError` when one of them never comes."""
        with self._counting:
            self._missing -= 1
            everybody = self._missing == 0
        if everybody:
            self._missing = len(self._doors)
            if not self._broken:
                self._last()
            self._open(k)
        elif not self._broken:
            self._doors[k].acquire()
        if self._broken:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """Nobody waits here any more."""
        self._broken = True
        self._open(-1)

    def _open(self, k: int) -> None:
        """All doors but the k-th; one that is open stays so."""
        for other, door in enumerate(self._doors):
            if other != k:
                with suppress(RuntimeError):
                    door.release()
