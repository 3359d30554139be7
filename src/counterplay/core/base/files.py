"""The two file formats: JSON objects with a checksum, and arrays with a JSON header. No pickle.

Every size in a file is checked before memory of that size is allocated. An .npz archive has each
member once, no Python objects, and no more bytes than the caller expects. Without an expectation
nothing may be compressed, so that a file never yields more than its own length.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from counterplay.core.base.disk import open_regular, read_bytes
from counterplay.core.base.disk import write_bytes as write_bytes
from counterplay.core.base.disk import write_pieces as write_pieces
from counterplay.core.base.disk import write_text as write_text
from counterplay.core.base.errors import BadFile

#: Version of the file formats. A file with a larger number comes from a newer Counterplay.
FORMAT = 1
#: The field of a JSON file that holds the checksum of all others.
CHECKSUM = "file_checksum"
MOST_JSON = 1 << 26  # bytes
MOST_VALUES = 8_000_000  # in a JSON file: some hundred MB of memory
HEADER = "header"
MOST_MEMBERS = 100
MOST_COMPRESSED_HEADER = 1 << 20  # bytes, where it is compressed
MOST_HEADER = 1 << 28  # the header of a checkpoint holds its measurements
PIECE = 1 << 20
END = 22  # bytes of the record at the end of an archive without a comment
LARGE_ARCHIVE = 1 << 31  # smaller archives have no 64-bit record
T = TypeVar("T")


def write_json(path: Path, data: Mapping[str, Any], new: bool = False) -> None:
    """Writes a JSON object with its checksum as the last field. `new`: refuse to overwrite."""
    content = {key: value for key, value in data.items() if key != CHECKSUM}
    content[CHECKSUM] = _checksum(json.loads(json.dumps(content)))
    write_pieces(path, [json.dumps(content, indent=2).encode(), b"\n"], new)


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file without its checksum, or `BadFile`."""
    return read_checked_json(path)[0]


def read_checked_json(path: Path) -> tuple[dict[str, Any], bool]:
    """The same, and whether the file carries a checksum."""
    data = read_bytes(path, MOST_JSON)
    try:
        content = parse_json(data)
        checked = _take_checksum(content) if isinstance(content, dict) else None
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not valid JSON ({_brief(error)})") from None
    if not isinstance(content, dict):
        raise BadFile(f"{path}: expected a JSON object")
    if checked is False:
        why = f"its checksum does not fit; without {CHECKSUM!r} it is not checked"
        raise BadFile(f"{path}: damaged, or changed by hand ({why})")
    return content, checked is True


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def parse_json(data: bytes) -> Any:
    """The value of JSON text, or `BadFile` where it would take too much memory."""
    check_values(data)
    return json.loads(data)


def check_values(data: bytes) -> None:
    """`BadFile` where JSON text holds too many values."""
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise BadFile(f"holds more than {MOST_VALUES:,} values")


def warn_unchecked(path: Path) -> None:
    """Warns that a file without a checksum was read."""
    warnings.warn(
        f"{path} carries no checksum, so damage to it cannot be noticed; save it again",
        stacklevel=3,
    )


def _take_checksum(content: dict[str, Any]) -> bool | None:
    """Removes the checksum from `content`; whether it matches, None where there is none."""
    if CHECKSUM in content:
        return bool(content.pop(CHECKSUM) == _checksum(content))
    *others, last = content.items() or [("", None)]
    return False if last[1] == _checksum(dict(others)) else None  # False: its name is damaged


def write_arrays(
    path: Path,
    kind: str,
    arrays: Mapping[str, np.ndarray],
    header: Mapping[str, Any],
    small: bool = False,
) -> None:
    """Writes arrays and a JSON header of one `kind` as an .npz file; `small`: compressed."""
    text = json.dumps({"counterplay": kind, "format": FORMAT, "arrays": list(arrays), **header})
    buffer = io.BytesIO()
    save: Any = np.savez_compressed if small else np.savez
    packed: dict[str, Any] = {HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    save(buffer, allow_pickle=False, **packed)
    write_bytes(path, buffer.getvalue())


def read_header(path: Path, kind: str) -> dict[str, Any]:
    """The header of a file of `write_arrays`; it tells how large the arrays may be."""
    return _read(path, lambda archive: _checked_header(archive, kind))


def read_arrays(
    path: Path, kind: str, most: int | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and header of a file of `write_arrays`; `BadFile` for any damage. `most`: the total
    bytes of the arrays, without which a compressed file is refused."""

    def both(archive: Archive) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        header = _checked_header(archive, kind)
        return archive.arrays(most), header

    return _read(path, both)


def _read(path: Path, use: Callable[[Archive], T]) -> T:
    with open_regular(path) as file:
        try:
            return use(Archive(file))
        except BadFile as error:
            raise BadFile(f"{path}: {error}") from None
        except Exception as error:  # numpy and zipfile raise many kinds for a corrupt archive
            raise BadFile(f"{path}: damaged or not a Counterplay file ({_brief(error)})") from None


def _checked_header(archive: Archive, kind: str) -> dict[str, Any]:
    header = archive.header()
    if not isinstance(header, dict) or "counterplay" not in header:
        raise BadFile("not a Counterplay file")
    if header["counterplay"] != kind:
        raise BadFile(f"holds a {header['counterplay']}, expected a {kind}")
    if header.get("arrays", archive.names) != archive.names:
        raise BadFile("damaged (not all arrays are there)")
    check_format(header.get("format"))
    return header


def check_format(version: Any, what: str = "") -> None:
    """`BadFile` for an invalid or newer format. `what`: the beginning of the message."""
    if type(version) is not int or version < 1:
        raise BadFile(f"{what}damaged (format {version!r})")
    if version > FORMAT:
        raise BadFile(
            f"{what}written by a newer version of Counterplay (format {version}, this one reads "
            f"{FORMAT})"
        )


def _brief(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:100] if lines else type(error).__name__


class Archive:
    """An open .npz file with a checked directory; the caller adds the file name to errors."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = os.fstat(file.fileno()).st_size
        _check_end(file, self.size)
        self._zip = zipfile.ZipFile(file)
        names = [info.filename for info in self._zip.infolist()]
        if len(set(names)) < len(names):
            raise BadFile("damaged (a member occurs twice)")
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
        if info.file_size > min(MOST_HEADER, self.size if stored else MOST_COMPRESSED_HEADER):
            raise BadFile(f"damaged (a header of {info.file_size / 1e6:,.0f} MB)")
        return json.loads(self._array(info).tobytes())

    def arrays(self, most: int | None) -> dict[str, np.ndarray]:
        """All arrays. `most`: their total bytes; by default the size of the file."""
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
            count, start = math.prod(map(int, shape)), member.tell()
            if dtype.hasobject or count * dtype.itemsize != info.file_size - start:
                raise BadFile("damaged (an array of another size than it says)")
            flat = np.empty(count, dtype)
            view = flat.view(np.uint8) if flat.nbytes else flat
            at = 0
            while piece := member.read(PIECE):  # to the end, where zipfile checks the checksum
                view[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
                at += len(piece)
            if at != flat.nbytes:
                raise BadFile("damaged (an array that is cut off)")
        return flat.reshape(shape, order="F" if fortran else "C")


def _check_end(file: BinaryIO, size: int) -> None:
    """Checks the size of the directory, which `zipfile` reads whole."""
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
    header: tuple[tuple[int, ...], bool, np.dtype[Any]] = readers[version](member)
    return header
