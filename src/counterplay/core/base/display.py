"""How results are shown: as data frames, as pieces of HTML for notebooks, and a bar for progress.

Neither pandas nor polars is needed: without them a frame is a plain mapping from names to lists,
which both take. In HTML all text is escaped, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import base64
import importlib
import math
import sys
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from counterplay.core.base.errors import BadParameter, CounterplayError

Columns = dict[str, list[Any]]
LIBRARIES = ("pandas", "polars")
PLAIN = "dict"
SHOWN_ROWS = 24
_CELL = "text-align:left;padding:2px 10px 2px 0"
EVERY_SECONDS = 0.2
WIDTH = 30  # of the bar in a line of text


def frame(columns: Columns, library: str | None = None) -> Any:
    """A data frame of `library` (pandas, polars or dict); by default of the first that is there,
    else the columns as they are."""
    if library not in (None, *LIBRARIES, PLAIN):
        known = ", ".join((*LIBRARIES, PLAIN))
        raise BadParameter(f"a data frame is one of {known}, not {library!r}")
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name) is not None), PLAIN)
    if library == PLAIN:
        return columns
    try:
        found = importlib.import_module(library)
    except ImportError:
        raise CounterplayError(
            f"{library} is not installed; pip install {library}, or take library='dict'"
        ) from None
    return found.DataFrame(columns)


class Tabular:
    """A result with columns, a picture and a display."""

    @abstractmethod
    def columns(self) -> Columns:
        """Names and their values, each as long as the others."""

    @abstractmethod
    def _drawn(self) -> Any:
        """A matplotlib figure."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """What a notebook shows."""

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame: of pandas where it is installed, else of polars, else a plain mapping
        from names to lists; `library` says which ("pandas", "polars", "dict")."""
        return frame(self.columns(), library)

    def plot(self, path: str | Path | None = None) -> Any:
        """A picture: a matplotlib figure, which a notebook shows; with `path` it is saved there as
        PNG instead."""
        figure = self._drawn()
        if path is None:
            return figure
        from counterplay.core.base.plotting import save_figure

        save_figure(figure, Path(path))
        return None


def one_row(facts: Mapping[str, Any]) -> Columns:
    """A single row."""
    return {name: [value] for name, value in facts.items()}


class Raw(str):
    """HTML that is meant as such."""


def text(value: Any) -> str:
    """A value for people, escaped."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if type(value) is int else escape(str(value))


def heading(title: str, note: str = "") -> str:
    more = f' <span style="opacity:.7">{escape(note)}</span>' if note else ""
    return f"<div><strong>{escape(title)}</strong>{more}</div>"


def bar(share: float, colour: str = "#0072B2") -> Raw:
    """A probability as a bar with its number."""
    width = round(100 * min(max(share, 0.0), 1.0), 1)
    fill = f"linear-gradient(to right,{colour}55 {width}%,transparent {width}%)"
    box = "display:inline-block;min-width:7em;padding:0 4px"
    return Raw(f'<span style="{box};background:{fill}">{share:.3f}</span>')


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """A table; `total`: how many rows there are where not all are shown."""
    shown = [list(row) for row in rows]
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{text(cell)}</td>' for cell in row) + "</tr>"
        for row in shown
    )
    more = "" if total is None or total <= len(shown) else f"<div>… {total:,} rows in all</div>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def facts(pairs: dict[str, Any]) -> str:
    """Names and values below each other."""
    rows = "".join(
        f'<tr><td style="{_CELL};opacity:.7">{escape(name)}</td><td>{text(value)}</td></tr>'
        for name, value in pairs.items()
    )
    return f"<table>{rows}</table>"


def picture(figure: Any, alt: str) -> str:
    """A figure as part of the page."""
    from counterplay.core.base.plotting import png

    data = base64.b64encode(png(figure, 80)).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def mixed_cell(label: str, shares: Sequence[float], shades: Sequence[str]) -> str:
    """A cell filled from the left by shares."""
    stops, left = [], 0.0
    for share, shade in zip(shares, shades, strict=True):
        stops.append(f"{shade} {100 * left:.0f}% {100 * (left + share):.0f}%")
        left += share
    fill = f"background:linear-gradient(to right,{','.join(stops)})"
    halo = "text-shadow:0 0 3px #fff,0 0 3px #fff;color:#000"
    box = f"{fill};{halo};padding:2px 4px;font-size:11px;text-align:center"
    return f'<td style="{box}">{escape(label)}</td>'


class ProgressBar:
    """Hears how far work is. Give it as `on_chunk` of `solve`, `resume` and `respond`, with the
    limit it runs to, or as `progress` of `play_match`, `frontier` and others:
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
