"""Results as data frames, as HTML for notebooks and as JSON.

pandas and polars are optional: without them a frame is a mapping from names to lists, which both
accept. All text in HTML is escaped, and no external resource is loaded.
"""

from __future__ import annotations

import base64
import importlib
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError

Columns = dict[str, list[Any]]
LIBRARIES = ("pandas", "polars")
PLAIN = "dict"
SHOWN_ROWS = 24
_CELL = "text-align:left;padding:2px 10px 2px 0"


def frame(columns: Columns, library: str | None = None) -> Any:
    """A data frame of `library`; by default of the first installed, else the columns."""
    if library not in (None, *LIBRARIES, PLAIN):
        known = ", ".join((*LIBRARIES, PLAIN))
        raise BadParameter(f"a data frame is one of {known}, not {library!r}")
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name) is not None), PLAIN)
    if library == PLAIN:
        return columns
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise CounterplayError(
            f"{library} is not installed; pip install {library}, or take library='dict'"
        ) from None
    return module.DataFrame(columns)


class Tabular:
    """A result with columns, a figure and an HTML display."""

    @abstractmethod
    def columns(self) -> Columns:
        """Names and their values, all of the same length."""

    @abstractmethod
    def _figure(self) -> Any:
        """A matplotlib figure."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """The HTML that a notebook displays."""

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame: of pandas where it is installed, else of polars, else a plain mapping
        from names to lists; `library` says which ("pandas", "polars", "dict")."""
        return frame(self.columns(), library)

    def plot(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure; with `path` it is saved there as PNG and None is returned."""
        figure = self._figure()
        if path is None:
            return figure
        from counterplay.core.base.plotting import save_figure

        save_figure(figure, Path(path))
        return None


def one_row(facts: Mapping[str, Any]) -> Columns:
    """A single row."""
    return {name: [value] for name, value in facts.items()}


def finite(value: Any) -> Any:
    """The value as JSON can hold it: numbers that are not finite are None, keys are texts."""
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


class Html(str):
    """Text that is HTML already and is not escaped."""


def text(value: Any) -> str:
    """A value as escaped text."""
    if isinstance(value, Html):
        return value
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if type(value) is int else escape(str(value))


def heading(title: str, note: str = "") -> str:
    more = f' <span style="opacity:.7">{escape(note)}</span>' if note else ""
    return f"<div><strong>{escape(title)}</strong>{more}</div>"


def bar(share: float, colour: str = "#0072B2") -> Html:
    """A probability as a bar with its number."""
    width = round(100 * min(max(share, 0.0), 1.0), 1)
    fill = f"linear-gradient(to right,{colour}55 {width}%,transparent {width}%)"
    box = "display:inline-block;min-width:7em;padding:0 4px"
    return Html(f'<span style="{box};background:{fill}">{share:.3f}</span>')


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """A table; `total`: the number of all rows where only some are shown."""
    shown = [list(row) for row in rows]
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{text(cell)}</td>' for cell in row) + "</tr>"
        for row in shown
    )
    more = "" if total is None or total <= len(shown) else f"<div>… {total:,} rows in all</div>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def facts(pairs: dict[str, Any]) -> str:
    """A table of names and values."""
    rows = "".join(
        f'<tr><td style="{_CELL};opacity:.7">{escape(name)}</td><td>{text(value)}</td></tr>'
        for name, value in pairs.items()
    )
    return f"<table>{rows}</table>"


def picture(figure: Any, alt: str) -> str:
    """A figure as an inline image."""
    from counterplay.core.base.plotting import png

    data = base64.b64encode(png(figure, 80)).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def mixed_cell(label: str, shares: Sequence[float], shades: Sequence[str]) -> str:
    """A table cell with a coloured band for each share."""
    stops, left = [], 0.0
    for share, shade in zip(shares, shades, strict=True):
        stops.append(f"{shade} {100 * left:.0f}% {100 * (left + share):.0f}%")
        left += share
    fill = f"background:linear-gradient(to right,{','.join(stops)})"
    halo = "text-shadow:0 0 3px #fff,0 0 3px #fff;color:#000"
    box = f"{fill};{halo};padding:2px 4px;font-size:11px;text-align:center"
    return f'<td style="{box}">{escape(label)}</td>'
