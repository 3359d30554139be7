"""The two formats of files: JSON objects with a checksum, and arrays with a JSON header. No
pickle."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from counterplay.base.archive import HEADER, Archive
from counterplay.base.disk import open_regular, read_bytes, write_bytes, write_pieces, write_text
from counterplay.base.errors import BadFile

__all__ = [
    "CHECKSUM",
    "FORMAT",
    "read_arrays",
    "read_checked_json",
    "read_header",
    "read_json",
    "warn_unchecked",
    "with_checksum",
    "write_arrays",
    "write_bytes",
    "write_json",
    "write_pieces",
    "write_text",
]

#: Version of the file formats. A file with a larger number comes from a newer Counterplay.
FORMAT = 1
#: The field of a JSON file that holds the checksum of all others.
CHECKSUM = "file_checksum"
MOST_JSON = 1 << 26  # bytes
MOST_VALUES = 8_000_000  # in a JSON file: some hundred MB of memory
T = TypeVar("T")


def write_json(path: Path, data: Mapping[str, Any], new: bool = False) -> None:
    """A JSON object, with its checksum as the last field. `new`: refuse to write over a file."""
    text = json.dumps(with_checksum(data), indent=2)
    write_pieces(path, [text.encode(), b"\n"], new)


def with_checksum(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same object with a field that no change of another field leaves right."""
    content = {key: value for key, value in data.items() if key != CHECKSUM}
    return {**content, CHECKSUM: _checksum(json.loads(json.dumps(content)))}


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file without its checksum, or `BadFile`."""
    return read_checked_json(path)[0]


def read_checked_json(path: Path) -> tuple[dict[str, Any], bool]:
    """The same, and whether the file carries a checksum. Those of older versions do not."""
    data = read_bytes(path, MOST_JSON)
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise BadFile(f"{path}: holds more than {MOST_VALUES:,} values")
    try:
        content = json.loads(data)
        checked = _take_checksum(content) if isinstance(content, dict) else None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not valid JSON ({_brief(error)})") from None
    if not isinstance(content, dict):
        raise BadFile(f"{path}: expected a JSON object")
    if checked is False:
        why = f"its checksum does not fit; without {CHECKSUM!r} it is not checked"
        raise BadFile(f"{path}: damaged, or changed by hand ({why})")
    return content, checked is True


def warn_unchecked(path: Path) -> None:
    """To say when a file of an older version has been read."""
    warnings.warn(
        f"{path} carries no checksum, so damage to it cannot be noticed; save it again",
        stacklevel=3,
    )


def _take_checksum(content: dict[str, Any]) -> bool | None:
    """Remove the checksum from `content`; whether it fits, None where there is none."""
    if CHECKSUM in content:
        return bool(content.pop(CHECKSUM) == _checksum(content))
    *others, last = content.items() or [("", None)]
    return False if last[1] == _checksum(dict(others)) else None  # False: only its name is damaged


def write_arrays(
    path: Path,
    kind: str,
    arrays: Mapping[str, np.ndarray],
    header: Mapping[str, Any],
    small: bool = False,
) -> None:
    """Arrays and a JSON header of one `kind` ("strategy", "checkpoint", ...) as an .npz file;
    `small`: compressed."""
    text = json.dumps({"counterplay": kind, "format": FORMAT, "arrays": list(arrays), **header})
    buffer = io.BytesIO()
    save: Any = np.savez_compressed if small else np.savez
    packed: dict[str, Any] = {HEADER: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    save(buffer, allow_pickle=False, **packed)
    write_bytes(path, buffer.getvalue())


def read_header(path: Path, kind: str) -> dict[str, Any]:
    """The header of what `write_arrays` wrote; enough to say how large its arrays may be."""
    return _read(path, lambda archive: _checked_header(archive, kind))


def read_arrays(
    path: Path, kind: str, most: int | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What `write_arrays` wrote. Every kind of damage gives `BadFile`, never a wrong answer.

    `most`: bytes that the arrays can have together. A compressed file is read only where that is
    known.
    """

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
        except (
            Exception
        ) as error:  # a corrupt archive can fail in many ways inside numpy and zipfile
            raise BadFile(f"{path}: damaged or not a Counterplay file ({_brief(error)})") from None


def _checked_header(archive: Archive, kind: str) -> dict[str, Any]:
    header = archive.header()
    if not isinstance(header, dict) or "counterplay" not in header:
        raise BadFile("not a Counterplay file")
    if header["counterplay"] != kind:
        raise BadFile(f"holds a {header['counterplay']}, expected a {kind}")
    if header.get("arrays", archive.names) != archive.names:
        raise BadFile("damaged (not all arrays are there)")
    version = header.get("format")
    if type(version) is not int or version < 1:
        raise BadFile(f"damaged (format {version!r})")
    if version > FORMAT:
        raise BadFile(
            f"written by a newer version of Counterplay (format {version}, this one reads {FORMAT})"
        )
    return header


def _brief(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:100] if lines else type(error).__name__
