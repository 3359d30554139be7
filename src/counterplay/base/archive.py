"""Reading .npz files of others: every size is known and allowed before anything of that size is
made.

Allowed are members once each, no Python objects, no more than the caller expects. Without an
expectation nothing may be compressed, so that a file never yields more than its own length.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np

from counterplay.base.errors import BadFile

HEADER = "header"
MOST_MEMBERS = 100
MOST_PACKED_HEADER = 1 << 20  # bytes, where it is compressed
MOST_HEADER = 1 << 28  # a checkpoint keeps its measurements there
PIECE = 1 << 20
END = 22  # bytes of the record at the end of an archive without a comment
LARGE_ARCHIVE = 1 << 31  # only from here on an archive needs the 64-bit record


class Archive:
    """An open .npz file whose directory has been checked. `BadFile` has no file name yet; the
    caller adds it."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = os.fstat(file.fileno()).st_size
        _check_end(file, self.size)
        self._zip = zipfile.ZipFile(file)
        names = [info.filename for info in self._zip.infolist()]
        if len(set(names)) < len(names):
            raise BadFile("damaged (a member stands twice)")
        if not all(name.endswith(".npy") for name in names):
            raise BadFile("not a Counterplay file")
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        if HEADER not in self._members:
            raise BadFile("not a Counterplay file")

    @property
    def names(self) -> list[str]:
        """The arrays, without the header."""
        return [name for name in self._members if name != HEADER]

    def header(self) -> Any:
        info = self._members[HEADER]
        stored = info.compress_type == zipfile.ZIP_STORED
        if info.file_size > min(MOST_HEADER, self.size if stored else MOST_PACKED_HEADER):
            raise BadFile(f"damaged (a header of {info.file_size / 1e6:,.0f} MB)")
        return json.loads(self._array(info).tobytes())

    def arrays(self, most: int | None) -> dict[str, np.ndarray]:
        """All arrays. `most`: bytes that they may have together; without it, those of the file."""
        members = {name: self._members[name] for name in self.names}
        total = sum(info.file_size for info in members.values())
        packed = any(info.compress_type != zipfile.ZIP_STORED for info in members.values())
        limit = self.size if most is None else most + PIECE
        if total > limit or (packed and most is None):
            raise BadFile(
                f"holds {total / 1e6:,.1f} MB of arrays where {limit / 1e6:,.1f} are the most"
            )
        return {name: self._array(info) for name, info in members.items()}

    def _array(self, info: zipfile.ZipInfo) -> np.ndarray:
        with self._zip.open(info) as member:
            shape, fortran, dtype = _array_header(member)
            count = 1
            for length in shape:
                count *= int(length)
            start = member.tell()
            if dtype.hasobject or count * dtype.itemsize != info.file_size - start:
                raise BadFile("damaged (an array of another size than it says)")
            flat = np.empty(count, dtype)
            view = flat.view(np.uint8) if flat.nbytes else flat
            at = 0
            while piece := member.read(PIECE):  # to the end, where the checksum is looked at
                view[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
                at += len(piece)
            if at != flat.nbytes:
                raise BadFile("damaged (an array that is cut off)")
        return flat.reshape(shape, order="F" if fortran else "C")


def _check_end(file: BinaryIO, size: int) -> None:
    """The directory must be small before `zipfile` reads it whole."""
    if size < END:
        raise BadFile("not a Counterplay file")
    file.seek(max(size - END - 20, 0))
    tail = file.read()
    end = tail[-END:]
    if end[:4] != b"PK\x05\x06" or end[-2:] != b"\0\0":
        raise BadFile("damaged, or not a Counterplay file (no directory at its end)")
    directory = int.from_bytes(end[12:16], "little")
    large = tail.startswith(b"PK\x06\x07") and size < LARGE_ARCHIVE
    if directory > MOST_MEMBERS * 200 or large:
        raise BadFile("damaged, or not a Counterplay file (too many members)")


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    readers: dict[Any, Any] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise BadFile(f"damaged (arrays of version {version})")
    found: tuple[tuple[int, ...], bool, np.dtype[Any]] = readers[version](member)
    return found
