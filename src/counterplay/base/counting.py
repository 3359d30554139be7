"""A count said aloud while something of unknown size is made. A library is silent; the command
line listens."""

from __future__ import annotations

import time
from collections.abc import Callable

#: The count is said after so many seconds, and again whenever twice the time has passed.
FIRST_SECONDS = 2.0
_listener: Callable[[str], None] | None = None


def listen(callback: Callable[[str], None] | None) -> None:
    """From now on give every message to `callback`; None: to nobody."""
    global _listener
    _listener = callback


class Count:
    """Says "1,200,000 histories so far" now and then."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._started = time.monotonic()
        self._next = FIRST_SECONDS

    def say(self, number: int) -> None:
        passed = time.monotonic() - self._started
        if passed >= self._next:
            self._next = 2 * passed
            if _listener is not None:
                _listener(f"{self.what}: {number:,} so far")
