"""How long work says where it stands. Whoever shows it passes a function; the default hears
nothing. A library is silent about a count of unknown size; the command line listens."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Called with the share of the work done, in [0, 1], and what is running.
ProgressCallback = Callable[[float, str], None]
#: The same where there is one kind of work only.
ShareCallback = Callable[[float], None]
#: The count is said after so many seconds, and again whenever twice the time has passed.
FIRST_SECONDS = 2.0
_listener: Callable[[str], None] | None = None


def no_progress(share: float, what: str = "") -> None:
    """Nobody listens."""


def part(progress: ProgressCallback, low: float, high: float, what: str) -> ShareCallback:
    """Tells of one kind of work inside a larger one: its share from `low` to `high` of the
    whole."""
    return lambda share: progress(low + (high - low) * share, what)


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
