"""Python's garbage collector rests while a kernel is compiled.

Numba makes millions of small objects on the way, and the collector looks through all of them again
and again: a fifth of the time that a user waits for the first run.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event


class _Pause(event.Listener):
    """Told of every compilation, those inside another one too. Only one thread compiles at once."""

    def __init__(self) -> None:
        self._depth = 0
        self._paused = False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._paused = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._paused:
            gc.enable()


def pause_collector() -> None:
    """From now on."""
    event.register("numba:compile", _Pause())  # type: ignore[no-untyped-call]
