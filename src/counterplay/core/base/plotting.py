"""One style for all figures: readable in print, in grey and by colour-blind readers."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files

# Okabe and Ito's palette; every series also has its own line style, so colour is never the only
# difference.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A matplotlib figure and its two-dimensional grid of axes, drawn without a display."""
    figure = _figure_class()(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.grid(True, alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


@cache
def _figure_class() -> type[Any]:
    """A figure class that notebooks display without pyplot."""
    from matplotlib.figure import Figure

    return type("Picture", (Figure,), {"_repr_png_": lambda figure: png(figure, 100)})


def png(figure: Any, dpi: int = 150) -> bytes:
    """A figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def curve(axis: Any, x: list[float], y: list[float], label: str, series: int) -> None:
    """One line of a plot, in its own colour and style."""
    colour, style = COLOURS[series % len(COLOURS)], STYLES[series % len(STYLES)]
    axis.plot(x, y, color=colour, linestyle=style, label=label, marker=".")


def band(axis: Any, x: np.ndarray, runs: np.ndarray, label: str, series: int) -> None:
    """Median over runs (float[runs, x]) as a line, the range of all runs as a band."""
    colour, style = COLOURS[series % len(COLOURS)], STYLES[series % len(STYLES)]
    axis.plot(x, np.median(runs, axis=0), color=colour, linestyle=style, label=label)
    axis.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.18, linewidth=0)


def save_figure(figure: Any, path: Path, title: str | None = None) -> None:
    """Writes a PNG file, with a title above all plots of the figure."""
    if title is not None:
        figure.suptitle(title)
    files.write_bytes(path, png(figure))
