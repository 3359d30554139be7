"""Progress of long work: callbacks, a progress bar, and messages.

Library calls of more than `FIRST_SECONDS` show a bar by themselves (`progress_bar`), on a terminal
or in a notebook; `show_progress(False)` turns that off, and a callback of the caller replaces it.
Messages (`say`) are for what has no share done: counts, compiling.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol, TextIO

#: Called with the share of the work done, in [0, 1], and a description of the current step.
ProgressCallback = Callable[[float, str], None]
#: The same for work of a single step.
ShareCallback = Callable[[float], None]


class PartCallback(Protocol):
    """A callback of either kind."""

    def __call__(self, share: float, what: str = "") -> None: ...


#: Nothing is shown of shorter work. A count is reported again whenever its time has doubled.
FIRST_SECONDS = 2.0
EVERY_SECONDS = 0.2  # between two updates of the bar
WIDTH = 30  # characters of the bar
_busy = False  # whether a bar, or a callback of the caller, shows the work of this process


def no_progress(share: float, what: str = "") -> None:
    """The default callback: does nothing."""


def part(
    progress: ProgressCallback, low: float = 0.0, high: float = 1.0, title: str = ""
) -> PartCallback:
    """The callback of a part of larger work, which covers the shares from `low` to `high`.
    `title`: its description, in place of those of the part."""

    def report(share: float, what: str = "") -> None:
        progress(low + (high - low) * min(max(share, 0.0), 1.0), title or what)

    return report


def stage(progress: ProgressCallback, k: int, n: int, title: str = "") -> PartCallback:
    """The callback of stage k of n equal stages."""
    return part(progress, k / n, (k + 1) / n, title)


def _print_message(text: str) -> None:
    if interactive():
        print(f"\r{text:<{WIDTH + 60}}", file=sys.stderr)


_listener: Callable[[str], None] | None = _print_message


def listen(callback: Callable[[str], None] | None) -> None:
    """Sends messages to `callback`, None: to no one; then there are no bars either."""
    global _listener
    _listener = callback


def show_progress(show: bool = True) -> None:
    """Whether calls that take more than some seconds show a progress bar, on a terminal or in a
    notebook (they do by default)."""
    listen(_print_message if show else None)


def say(text: str) -> None:
    """Sends a message about long work; the processes of a pool send none."""
    if _listener is not None and multiprocessing.parent_process() is None:
        _listener(text)


def interactive() -> bool:
    """Whether progress is shown: by the main thread, on a terminal or in a notebook."""
    if _listener is not _print_message or multiprocessing.parent_process() is not None:
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    return _shell() is not None or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def progress_bar(progress: Callable[..., None] | None = None, **limits: Any) -> Iterator[Any]:
    """The callback of long work: the caller's `progress`, else a bar that appears after
    `FIRST_SECONDS` and disappears at the end, if progress is shown. Work inside of that work shows
    nothing of its own. `limits`: of a `ProgressBar`."""
    global _busy
    if _busy:
        yield progress or no_progress
        return
    given = progress is not None and progress is not no_progress
    bar = None if given or not interactive() else ProgressBar(after=FIRST_SECONDS, **limits)
    _busy = True
    try:
        yield bar or progress or no_progress
    finally:
        _busy = False
        if bar is not None:
            bar.clear()


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
            say(f"{self.what}: {number:,} so far")


class ProgressBar:
    """A progress bar, which appears `after` some seconds. Pass it as `on_chunk` of `solve`,
    `resume` and `respond`, with the limit of the run, or as `progress` of `play_match`, `frontier`
    and others: `cp.solve("leduc", seconds=30, on_chunk=cp.ProgressBar(seconds=30))`."""

    def __init__(
        self,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        stream: TextIO | None = None,
        after: float = 0.0,
    ) -> None:
        self._limits = {"iterations": iterations, "seconds": seconds}
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._last, self._after = -EVERY_SECONDS, after
        self._handle: Any = None
        self._notebook = stream is None and _shell() is not None
        self._open = False  # whether a line without an end is on the terminal

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
        if now < self._after or (now - self._last < EVERY_SECONDS and share < 1.0):
            return
        self._last = now
        left = f", {now * (1 - share) / share:.0f} s left" if 0.0 < share < 1.0 else ""
        note = f"{share:.0%} {what} ({now:.0f} s{left})"
        if self._notebook:
            self._update(_Bar(share, note))
            return
        filled = round(WIDTH * share)
        end = "\n" if share >= 1.0 and not self._after else ""
        self._open = not end
        self._stream.write(f"\r{'█' * filled}{'·' * (WIDTH - filled)} {note:<60}{end}")
        self._stream.flush()

    def _update(self, bar: Any) -> None:
        """Shows a bar in a notebook, where the last one was."""
        from IPython.display import display

        show: Any = display  # not typed
        if self._handle is None:
            self._handle = show(_Bar(0.0, ""), display_id=True)
        self._handle.update(bar)

    def clear(self) -> None:
        """Removes the bar."""
        if self._handle is not None:
            self._update(_Bar(1.0, "done"))
        elif self._open:
            self._stream.write(f"\r{'':<{WIDTH + 62}}\r")
            self._stream.flush()
        self._open = False


class _Bar:
    def __init__(self, share: float, note: str) -> None:
        self._share, self._note = share, note

    def __repr__(self) -> str:
        return self._note

    def _repr_html_(self) -> str:
        bar = f'<progress value="{self._share:.4f}" max="1" style="width:20em"></progress>'
        return f"<div>{bar} {escape(self._note)}</div>"


def _shell() -> Any:
    """The shell of a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None
