"""What takes long to make is made once: from memory, from disk, or made now and kept in both."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from counterplay.base.errors import CounterplayError
from counterplay.base.progress import Tell, untold

T = TypeVar("T")
Write = Callable[[Path], None]


class Kept(Generic[T]):
    """One thing for each place on disk, since the cache folder can change.

    `read(place)` gives it, or None unless it is there and whole; `make(tell)` gives it and what
    writes it to a place. Where that cannot be written it stays in memory, with a warning. `name`:
    as in "the tables stay" in memory.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[Path], T | None],
        make: Callable[[Tell], tuple[T, Write]],
    ) -> None:
        self._name, self._read, self._make = name, read, make
        self._held: dict[Path, T] = {}

    def at(self, place: Path, tell: Tell = untold) -> T:
        """From memory, from disk, or made now."""
        if place not in self._held:
            found = self._read(place)
            self._held[place] = self._new(place, tell) if found is None else found
        return self._held[place]

    def _new(self, place: Path, tell: Tell) -> T:
        made, write = self._make(tell)
        tell(0.99, "saving")
        try:
            write(place)
        except CounterplayError as error:
            warnings.warn(f"{self._name} in memory: {error}", stacklevel=4)
            return made
        tell(1.0, "done")
        found = self._read(place)  # as a later process would have it: mapped, where it is large
        return made if found is None else found
