"""A bar that shows how far work is: in a notebook as a bar of the page, elsewhere as a line on
standard error."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any, TextIO

EVERY_SECONDS = 0.2
WIDTH = 30  # of the bar in a line of text


class ProgressBar:
    """Hears how far work is. Give it as `on_chunk` of `solve`, `resume` and `respond`, with the
    limit it runs to, or as `tell` of `play_match`, `frontier` and others:
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
        """A `Progress` of a solver, or a share from 0 to 1 and what is running."""
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
    """Where the bar lies on the page of a notebook; None elsewhere."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    if found is None or not hasattr(found, "kernel"):
        return None
    from IPython.display import display

    return display(_Bar(0.0, ""), display_id=True)
