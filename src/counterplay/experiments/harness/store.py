"""What experiments keep between runs: pieces, each found by a hash of what made it and checked
before it is believed.

A *piece* is a value (anything JSON can hold) and some arrays: a trained strategy, a match, the
points of a curve. Its *recipe* names everything that made it: settings, seeds, and digests of what
it was made from. The version of the code belongs to every piece. So another setting, another input
or other code is another piece, and nothing is ever found under a name alone.

On disk a piece is `work/<version of the code>/<kind>-<hash of the recipe>.piece`: a line with the
SHA-256 of all that follows, a line with kind, version and recipe, a line with the value, and the
arrays as an .npz archive. A piece that is damaged, or is not what its name says, is made again. A
*draft* is the same for work in progress.

The folder `work` may be deleted at any time. Pieces of older code go when there are more than
`KEPT_VERSIONS`.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base import files
from counterplay.base.locks import alone
from counterplay.experiments.harness import sources

WORK = "work"  # folder beside the results
KEPT_VERSIONS = 4  # of the code
Recipe = Mapping[str, Any]


class Piece(NamedTuple):
    """What is kept."""

    value: Any
    arrays: dict[str, np.ndarray]


class Store:
    """The pieces beside the results in `folder`. `again`: believe only what this very store has
    made, or its helpers have."""

    def __init__(self, folder: str | Path, again: bool = False) -> None:
        self.folder = Path(folder)  # pictures, tables and verdicts go here
        self.again = again
        self._since = time.time()
        self.code = sources.pieces_version()
        self.work = self.folder / WORK / self.code
        self._made: set[Path] = set()

    def value(self, kind: str, recipe: Recipe, make: Callable[[], Any]) -> Any:
        """`make()`, something JSON can hold, or what was kept of it."""
        return self.piece(kind, recipe, lambda: Piece(make(), {})).value

    def arrays(
        self, kind: str, recipe: Recipe, make: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The same for arrays."""
        return self.piece(kind, recipe, lambda: Piece(None, make())).arrays

    def piece(self, kind: str, recipe: Recipe, make: Callable[[], Piece]) -> Piece:
        """The piece of this recipe, made if it is not there; its draft is then over."""
        place = self._slot(kind, recipe, "piece")
        found = place.read()
        if found is None:
            with alone(place.path):  # while another process makes it, wait
                found = place.read() or self._make(place, make)
        self.draft(kind, recipe).path.unlink(missing_ok=True)
        return found

    def _make(self, place: Slot, make: Callable[[], Piece]) -> Piece:
        made = make()
        found = Piece(json.loads(json.dumps(made.value)), made.arrays)
        place.write(*found)
        return found

    def has(self, kind: str, recipe: Recipe) -> bool:
        """Whether there is a piece of this recipe, damaged or not."""
        path = self._slot(kind, recipe, "piece").path
        return path.is_file() and self.believes(path)

    def draft(self, kind: str, recipe: Recipe) -> Slot:
        """Where the making of this piece keeps what it has so far."""
        return self._slot(kind, recipe, "draft")

    def _slot(self, kind: str, recipe: Recipe, suffix: str) -> Slot:
        head = _canonical({"kind": kind, "code": self.code, "recipe": recipe, "is": suffix})
        name = f"{kind}-{hashlib.sha256(head).hexdigest()[:32]}.{suffix}"
        return Slot(self, self.work / name, head)

    def believes(self, path: Path) -> bool:
        """With `again`, what this store has made, or its helpers have since it was opened."""
        if not self.again or path in self._made:
            return True
        try:
            return path.stat().st_mtime > self._since
        except OSError:
            return False

    def wrote(self, path: Path) -> None:
        if not self._made:
            _forget_old_code(self.work)
        self._made.add(path)


class Slot(NamedTuple):
    """The file of one piece or draft."""

    store: Store
    path: Path
    head: bytes  # kind, version of the code and recipe

    def read(self) -> Piece | None:
        """What is there if it is whole and of this recipe, else None."""
        if not self.store.believes(self.path):
            return None
        try:
            checksum, body = self.path.read_bytes().split(b"\n", 1)
            if checksum != hashlib.sha256(body).hexdigest().encode():
                return None
            head, value, archive = body.split(b"\n", 2)
        except (OSError, ValueError):
            return None
        if head != self.head:
            return None
        return Piece(json.loads(value), _unpack(archive))

    def write(self, value: Any, arrays: Mapping[str, np.ndarray]) -> None:
        body = b"\n".join([self.head, json.dumps(value).encode(), _pack(arrays)])
        checksum = hashlib.sha256(body).hexdigest().encode()
        files.write_pieces(self.path, [checksum, b"\n", body])
        self.store.wrote(self.path)


def digest(*arrays: np.ndarray) -> str:
    """A hash of numbers that a piece is made from."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()[:32]


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, allow_nan=False).encode()


def _pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    if not arrays:
        return b""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpack(archive: bytes) -> dict[str, np.ndarray]:
    if not archive:
        return {}
    with np.load(io.BytesIO(archive), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _forget_old_code(newest: Path) -> None:
    """Remove the pieces of all but the latest versions of the code."""
    versions = [
        path for path in newest.parent.iterdir() if re.fullmatch(r"[0-9a-f]{16}", path.name)
    ]
    others = sorted((p for p in versions if p != newest), key=lambda p: p.stat().st_mtime)
    for folder in others[: max(len(others) - KEPT_VERSIONS + 1, 0)]:
        shutil.rmtree(folder, ignore_errors=True)
