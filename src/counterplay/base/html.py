"""Small pieces of HTML for notebooks: tables with bars, pictures. All text is escaped, and nothing
is loaded from elsewhere."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

SHOWN_ROWS = 24
_CELL = "text-align:left;padding:2px 10px 2px 0"


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
    from counterplay.base.plotting import png

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
