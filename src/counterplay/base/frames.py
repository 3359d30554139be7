"""Results as data frames, pictures and rich displays of notebooks, for whoever derives from
`Framed`.

Neither pandas nor polars is needed: without them a frame is a plain mapping from names to lists,
which both take.
"""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from counterplay.base.errors import BadParameter, CounterplayError

Columns = dict[str, list[Any]]
LIBRARIES = ("pandas", "polars")
PLAIN = "dict"


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


class Framed:
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
        from counterplay.base.plotting import save_figure

        save_figure(figure, Path(path))
        return None


def one_row(facts: Mapping[str, Any]) -> Columns:
    """A single row."""
    return {name: [value] for name, value in facts.items()}
