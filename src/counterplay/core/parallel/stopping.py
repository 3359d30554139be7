"""Stopping between two pieces of work: Ctrl-C and SIGTERM set a flag."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Whoever asks again after so many seconds wants to stop at once.
PATIENCE = 1.0


class Stop:
    """Call it to know whether somebody asked to stop."""

    def __init__(self) -> None:
        self._flag = False
        self._asked = 0.0

    def __call__(self) -> bool:
        return self._flag

    def ask(self) -> None:
        self._flag = True

    def _hear(self, _number: int, _frame: Any) -> None:
        if not self._flag:
            self._asked = time.monotonic()
        elif time.monotonic() - self._asked > PATIENCE:
            raise KeyboardInterrupt
        self._flag = True


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Collect signals instead of being interrupted by them; only the main thread gets any. Ignored
    signals stay ignored."""
    stop = Stop()
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        before = {
            n: handler for n, handler in before.items() if handler not in (None, signal.SIG_IGN)
        }
    for number in before:
        signal.signal(number, stop._hear)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
