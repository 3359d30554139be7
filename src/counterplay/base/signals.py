"""Ctrl-C and SIGTERM between two steps of work instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collect the signals that ask to stop; whoever works looks at the list. Threads other than the main one get none."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda got, _frame: received.append(got)) for number in signals]
    try:
        yield received
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
