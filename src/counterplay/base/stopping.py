"""Stopping between two pieces of work: Ctrl-C and SIGTERM raise a flag, which forked processes
see too."""

from __future__ import annotations

import mmap
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Who asks again after so many seconds wants to stop at once.
PATIENCE = 1.0


class Stop:
    """Call it to know whether somebody asked to stop."""

    def __init__(self) -> None:
        self._flag = mmap.mmap(-1, 1)  # memory that a fork shares
        self._asked = 0.0

    def __call__(self) -> bool:
        return self._flag[0] != 0

    def ask(self) -> None:
        self._flag[0] = 1

    def _hear(self, _number: int, _frame: Any) -> None:
        if not self():
            self._asked = time.monotonic()
        elif time.monotonic() - self._asked > PATIENCE:
            raise KeyboardInterrupt
        self.ask()


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Collect signals instead of being torn apart by them; only the main thread gets any. What
    was ignored stays so."""
    stop = Stop()
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in SIGNALS}
        before = {
            number: handler
            for number, handler in before.items()
            if handler not in (None, signal.SIG_IGN)
        }
    for number in before:
        signal.signal(number, stop._hear)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """For a forked process: whoever forked it says when to stop."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
