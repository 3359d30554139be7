"""The store of expensive results: found by a hash of everything that determines them, and verified
when read.

A *piece* is a value (anything JSON can hold) and arrays. Its *recipe* holds its settings, seeds and
digests of its inputs; the version of the code that makes it belongs to every piece. So another
setting, another input or other code is another piece. A *draft* stores work in progress.

A piece is the file `<folder>/<version of the code>/<kind>-<hash of the recipe>.piece`:

    SHA-256 of the next three lines
    kind, version of the code, recipe and format
    the value
    name, dtype, shape and checksum of each array

and then the arrays, each aligned so that it can be mapped into memory. Nothing is compressed, so a
file never yields more than its own length. A file that is damaged, foreign, of a newer format or of
another recipe is made again. Files are written under a temporary name and renamed. Pieces of older
code are removed beyond `KEPT_VERSIONS` versions, in the cache folder `CACHED_VERSIONS`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from counterplay.core.base.disk import file_lock, open_regular, remove_abandoned, write_pieces
from counterplay.core.base.errors import CounterplayError
from counterplay.core.base.files import check_values, parse_json
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar
from counterplay.core.base.version import code_version

FORMAT = 1  # of the files
KEPT_VERSIONS, CACHED_VERSIONS = 4, 2  # of the code
ALIGNED = 64  # bytes: alignment of arrays
CHECKSUM_LINE = 65  # bytes
DTYPE = re.compile(r"[<>|][biufcSU]\d{1,9}")  # numbers and texts
MOST_LINE = 1 << 26  # bytes of the value, and of the list of arrays with its blanks
Recipe = Mapping[str, Any]
T = TypeVar("T")


def cache_root() -> Path:
    """$COUNTERPLAY_CACHE, $XDG_CACHE_HOME/counterplay or ~/.cache/counterplay."""
    explicit = os.environ.get("COUNTERPLAY_CACHE")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "counterplay"


class Piece(NamedTuple):
    """The content of a file of the store."""

    value: Any
    arrays: dict[str, np.ndarray]

    def fits(self, shapes: Mapping[str, tuple[tuple[int, ...], Any]]) -> bool:
        """Whether the arrays have these names, shapes and dtypes."""
        return {k: (array.shape, array.dtype) for k, array in self.arrays.items()} == dict(shapes)


class Store:
    """The pieces in `root` that code of version `code` makes."""

    def __init__(self, root: Path, code: str, versions: int = KEPT_VERSIONS) -> None:
        self.work, self.code, self._versions = root / code, code, versions
        self.written: set[Path] = set()

    def value(self, kind: str, recipe: Recipe, make: Callable[[], Any]) -> Any:
        """The stored value of `make()`, which JSON can hold; computed if it is not there."""
        return self.piece(kind, recipe, lambda: Piece(make(), {})).value

    def arrays(
        self, kind: str, recipe: Recipe, make: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """The stored arrays of `make()`; computed if they are not there."""
        return self.piece(kind, recipe, lambda: Piece(None, make())).arrays

    def piece(
        self, kind: str, recipe: Recipe, make: Callable[[], Piece], stays: str | None = None
    ) -> Piece:
        """The piece of this recipe, made if it is not there; its draft is removed. `stays`: the
        subject of the warning where the disk cannot be written ("the tables stay" in memory);
        without it that is an error."""
        slot = self.slot(kind, recipe)
        piece = slot.read() or _UNWRITTEN.get(slot.path)
        if piece is None:
            with file_lock(slot.path):  # waits while another process makes it
                piece = slot.read() or self._make(slot, make, stays)
        self.draft(kind, recipe).remove()
        return piece

    def _make(self, slot: Slot, make: Callable[[], Piece], stays: str | None) -> Piece:
        made = make()
        piece = Piece(json.loads(json.dumps(made.value)), made.arrays)
        if stays is None:
            slot.write(*piece)
        elif not write_or_warn(slot, piece, stays):
            _UNWRITTEN[slot.path] = piece
        return piece

    def has(self, kind: str, recipe: Recipe) -> bool:
        """Whether there is a file for this recipe, damaged or not."""
        path = self.slot(kind, recipe).path
        return path.is_file() and self.accepts(path)

    def draft(self, kind: str, recipe: Recipe) -> Slot:
        """The file of the work in progress on this piece."""
        return self.slot(kind, recipe, "draft")

    def slot(self, kind: str, recipe: Recipe, suffix: str = "piece") -> Slot:
        """The file of a piece or draft."""
        about = {"kind": kind, "code": self.code, "recipe": recipe, "is": suffix, "format": FORMAT}
        head = json.dumps(about, sort_keys=True, allow_nan=False).encode()
        name = f"{kind}-{hashlib.sha256(head).hexdigest()[:32]}.{suffix}"
        return Slot(self, self.work / name, head)

    def accepts(self, path: Path) -> bool:
        """Whether a file may be read; subclasses refuse some."""
        return True

    def record_written(self, path: Path) -> None:
        """Records a new file; the first one removes pieces of older code."""
        if not self.written:
            remove_old_versions(self.work, self._versions)
        self.written.add(path)


class Slot(NamedTuple):
    """The file of one piece or draft."""

    store: Store
    path: Path
    head: bytes  # kind, version of the code, recipe and format

    def read(self, mapped: bool = False, most: int | None = None) -> Piece | None:
        """The piece if the file is whole and of this recipe, else None. `mapped`: arrays stay on
        disk, read-only. `most`: the largest size of the file in bytes."""
        if not self.store.accepts(self.path):
            return None
        try:
            return _read(self.path, self.head, mapped, most)
        except (OSError, ValueError, TypeError, OverflowError, RecursionError):
            return None

    def write(self, value: Any, arrays: Mapping[str, np.ndarray]) -> None:
        """Writes the file, or raises `CounterplayError`."""
        flat = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        index = []
        for name, array in arrays.items():
            if not DTYPE.fullmatch(array.dtype.str):
                raise TypeError(f"arrays of {array.dtype} are not stored")
            data = _bytes(flat[name])
            checksum = zlib.crc32(_padding(len(data)), zlib.crc32(data))
            index.append([name, array.dtype.str, list(array.shape), checksum])
        lines = [json.dumps(part).encode() for part in (value, index)]
        for line in lines:  # else it would be made anew for ever
            check_values(line)
            if len(line) + ALIGNED > MOST_LINE:
                raise CounterplayError(f"cannot write {self.path}: a value of {len(line):,} bytes")
        text = b"\n".join([self.head, *lines])
        blank = b" " * (-(len(text) + CHECKSUM_LINE + 1) % ALIGNED)
        pieces: list[bytes | memoryview] = [_sha256(text), text, blank, b"\n"]
        for array in flat.values():
            pieces += [_bytes(array), _padding(array.nbytes)]
        write_pieces(self.path, pieces)
        self.store.record_written(self.path)

    def remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()


#: Pieces that could not be written.
_UNWRITTEN: dict[Path, Piece] = {}


class Cached(Generic[T]):
    """One object of a module: from memory, from the cache folder, or made now and put in both.

    `pack` turns the object into a piece; `unpack` turns it back, or returns None where the arrays
    do not fit. `name`: the subject of the warning where the disk cannot be written ("the tables
    stay" in memory). The version of the code is that of `modules` and their imports.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        modules: tuple[str, ...],
        make: Callable[[ProgressCallback], T],
        pack: Callable[[T], Piece],
        unpack: Callable[[Piece], T | None],
        recipe: Callable[[], Recipe] = dict,
        mapped: bool = False,
    ) -> None:
        self._name, self._kind, self._modules = name, kind, modules
        self._make, self._pack, self._unpack = make, pack, unpack
        self._recipe, self._mapped = recipe, mapped
        self._held: dict[Path, T] = {}

    def get(self, progress: ProgressCallback = no_progress) -> T:
        """The object, from memory, from disk, or made now."""
        slot = self.slot()
        if slot.path not in self._held:
            stored = self.read()
            if stored is None:
                with progress_bar(progress) as progress:
                    stored = self._new(slot, progress)
            self._held[slot.path] = stored
        return self._held[slot.path]

    def slot(self) -> Slot:
        """The file of the object."""
        return cached_store(self._kind, *self._modules).slot(self._kind, self._recipe())

    def read(self) -> T | None:
        """The object on disk if the file is whole, else None."""
        slot = self.slot()
        remove_abandoned(slot.path.parent)
        piece = slot.read(self._mapped)
        return None if piece is None else self._unpack(piece)

    def write(self, made: T) -> None:
        self.slot().write(*self._pack(made))

    def size_on_disk(self) -> int:
        """The size of the file in bytes, 0 if there is none."""
        path = self.slot().path
        return path.stat().st_size if path.is_file() else 0

    def _new(self, slot: Slot, progress: ProgressCallback) -> T:
        with file_lock(slot.path, lambda: progress(0.0, "another process is making this")):
            stored = self.read()
            if stored is not None:
                return stored
            made = self._make(progress)
            progress(0.99, "saving")
            if not write_or_warn(slot, self._pack(made), self._name):
                return made
        progress(1.0, "done")
        stored = self.read()  # memory-mapped, as in later processes
        return made if stored is None else stored


def cached_arrays(
    name: str,
    kind: str,
    modules: tuple[str, ...],
    make: Callable[[ProgressCallback], Iterable[np.ndarray]],
    shapes: Mapping[str, tuple[tuple[int, ...], Any]],
    unpack: Callable[[Iterable[np.ndarray]], T],
    recipe: Callable[[], Recipe] = dict,
) -> Cached[T]:
    """An object made of arrays with these names, shapes and dtypes, which are mapped into memory.
    `unpack` makes it from them, such as `tuple` or the `_make` of a named tuple."""

    def pack(made: Any) -> Piece:
        named = zip(shapes.items(), made, strict=True)
        return Piece(None, {n: array.astype(dtype, copy=False) for (n, (_, dtype)), array in named})

    def unpack_piece(piece: Piece) -> T | None:
        return unpack(piece.arrays[n] for n in shapes) if piece.fits(shapes) else None

    return Cached(name, kind, modules, make, pack, unpack_piece, recipe, mapped=True)


def cached_store(kind: str, *modules: str) -> Store:
    """The store of a kind in the cache folder, for results of these modules."""
    return Store(cache_root() / "store" / kind, code_version(*modules), CACHED_VERSIONS)


def write_or_warn(slot: Slot, piece: Piece, name: str) -> bool:
    """Whether the piece could be written; a warning says where it stays in memory instead."""
    try:
        slot.write(*piece)
    except CounterplayError as error:
        warnings.warn(f"{name} in memory: {error}", stacklevel=5)
        return False
    return True


def digest(*arrays: np.ndarray) -> str:
    """A hash of arrays that a piece is made from."""
    sha256 = hashlib.sha256()
    for array in arrays:
        sha256.update(f"{array.dtype.str} {array.shape} ".encode())
        sha256.update(np.ascontiguousarray(array).data)
    return sha256.hexdigest()[:32]


def _read(path: Path, head: bytes, mapped: bool, most: int | None) -> Piece | None:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            return None
        checksum = file.read(CHECKSUM_LINE)
        if file.read(len(head) + 1) != head + b"\n":
            return None
        value, index = (file.readline(MOST_LINE) for _ in range(2))
        start = file.tell()
        listed = index.rstrip(b" \n")
        text = b"".join([head, b"\n", value, listed])
        blank = -(len(text) + CHECKSUM_LINE + 1) % ALIGNED
        if checksum != _sha256(text) or index != listed + b" " * blank + b"\n":
            return None
        data: np.ndarray = np.zeros(0, np.uint8)
        if size > start:
            data = np.memmap(file, np.uint8, "r", start)
    arrays, at = {}, 0
    for name, kind, shape, crc in parse_json(index):
        if not DTYPE.fullmatch(kind) or min(shape, default=0) < 0:
            return None
        dtype = np.dtype(kind)
        length = math.prod(shape) * dtype.itemsize
        stop = at + length + len(_padding(length))
        if stop > len(data) or zlib.crc32(data[at:stop].data) != crc:
            return None
        array = data[at : at + length].view(dtype).reshape(shape)
        arrays[name] = array if mapped else np.array(array)
        at = stop
    return Piece(parse_json(value), arrays) if at == len(data) else None


def _sha256(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode() + b"\n"


def _padding(length: int) -> bytes:
    return bytes(-length % ALIGNED)


def _bytes(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def remove_old_versions(newest: Path, kept: int) -> None:
    """Removes the folders of all but the latest versions of the code, beside that of `newest`."""
    with suppress(OSError):  # another process may have removed them meanwhile
        beside = (path for path in newest.parent.iterdir() if path != newest)
        versions = [path for path in beside if re.fullmatch(r"[0-9a-f]{16}", path.name)]
        versions.sort(key=lambda path: path.stat().st_mtime)
        for folder in versions[: max(len(versions) - kept + 1, 0)]:
            shutil.rmtree(folder, ignore_errors=True)
