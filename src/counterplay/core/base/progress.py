"""Progress of long work: callbacks, a progress bar, and a count where the total is unknown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any, TextIO

#: Called with the share of the work done, in [0, 1], and a description of the current step.
ProgressCallback = Callable[[float, str], None]
#: The same for work of a single step.
ShareCallback = Callable[[float], None]
#: A count is reported after this many seconds, then whenever the elapsed time has doubled.
FIRST_SECONDS = 2.0
EVERY_SECONDS = 0.2  # between two updates of the bar
WIDTH = 30  # characters of the bar
_listener: Callable[[str], None] | None = None


def no_progress(share: float, what: str = "") -> None:
    """The default callback: does nothing."""


def part(progress: ProgressCallback, low: float, high: float, what: str) -> ShareCallback:
    """The callback of one step of larger work, which covers the shares from `low` to `high`."""
    return lambda share: progress(low + (high - low) * share, what)


def listen(callback: Callable[[str], None] | None) -> None:
    """Sends the messages of every `Count` to `callback`; None: to no one. The command line
    listens, the library by itself is silent."""
    global _listener
    _listener = callback


class Count:
    """Reports "histories: 1,200,000 so far" at growing intervals."""

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


class ProgressBar:
    """A progress bar. Pass it as `on_chunk` of `solve`, `resume` and `respond`, with the limit of
    the run, or as `progress` of `play_match`, `frontier` and others:
    `cp.solve("leduc", seconds=30, on_chunk=cp.ProgressBar(seconds=30))`."""

    def __init__(
        self,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        stream: TextIO | None = None,
    ) -> None:
        self._limits = {"iterations": iterations, "seconds": seconds}
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._last = -EVERY_SECONDS
        self._handle = _notebook_handle() if stream is None else None

    def __call__(self, progress: Any, what: str = "") -> None:
        """`progress`: a `Progress` of a solver, or a share from 0 to 1 with a description."""
        if isinstance(progress, int | float):
            self._show(float(progress), what)
            return
        done = [getattr(progress, name) / limit for name, limit in self._limits.items() if limit]
        rate = progress.iterations / max(progress.seconds, 1e-9)
        self._show(max(done, default=0.0), f"{progress.iterations:,} iterations, {rate:,.0f}/s")

    def _show(self, share: float, what: str) -> None:
        now = time.monotonic() - self._started
        share = min(max(share, 0.0), 1.0)
        if now - self._last < EVERY_SECONDS and share < 1.0:
            return
        self._last = now
        left = f", {now * (1 - share) / share:.0f} s left" if 0.0 < share < 1.0 else ""
        note = f"{share:.0%} {what} ({now:.0f} s{left})"
        if self._handle is not None:
            self._handle.update(_Bar(share, note))
            return
        filled = round(WIDTH * share)
        end = "\n" if share >= 1.0 else ""
        self._stream.write(f"\r{'█' * filled}{'·' * (WIDTH - filled)} {note:<60}{end}")
        self._stream.flush()


class _Bar:
    def __init__(self, share: float, note: str) -> None:
        self._share, self._note = share, note

    def __repr__(self) -> str:
        return self._note

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self._share:.4f}" max="1" style="width:20em"></progress>'
        return f"<div>{bar} {escape(self._note)}</div>"


def _notebook_handle() -> Any:
    """The display handle of the bar in a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display(_Bar(0.0, ""), display_id=True)
