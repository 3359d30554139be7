"""Files that are whole or absent: written to a temporary name, flushed, renamed. No pickle."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base.errors import BadFile, CounterplayError

#: Version of the file formats. A file with a larger number comes from a newer Counterplay.
FORMAT = 1


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` so that a kill at any moment leaves either the old file or the new one."""
    write_pieces(path, [data])


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview], new: bool = False) -> None:
    """`write_bytes` of what need not be copied into one piece first. `new`: refuse to write over a file."""
    if not path.name:
        raise CounterplayError(f"cannot write {str(path)!r}: not a file name")
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")  # two writers, two names
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))  # of two writers, one
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise CounterplayError(f"cannot write {path}: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, data: Mapping[str, Any], new: bool = False) -> None:
    write_pieces(path, [json.dumps(data, indent=2).encode(), b"\n"], new)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file, or `BadFile`."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not valid JSON ({_brief(error)})") from None
    if not isinstance(data, dict):
        raise BadFile(f"{path}: expected a JSON object")
    return data


def write_arrays(path: Path, kind: str, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any], small: bool = False) -> None:
    """Arrays and a JSON header of one `kind` ("strategy", "checkpoint", ...) as an .npz file; `small`: compressed."""
    text = json.dumps({"counterplay": kind, "format": FORMAT, "arrays": list(arrays), **header})
    buffer = io.BytesIO()
    save: Any = np.savez_compressed if small else np.savez
    save(buffer, allow_pickle=False, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What `write_arrays` wrote. Every kind of damage gives `BadFile`, never a wrong answer."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile) or "header" not in file:
                raise BadFile(f"{path}: not a Counterplay file")
            if file.zip is None or file.zip.testzip() is not None:  # numpy looks at a checksum only where it reads to the end
                raise BadFile(f"{path}: damaged (a checksum does not fit)")
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except IsADirectoryError:
        raise BadFile(f"{path}: is a folder, not a file") from None
    except CounterplayError:
        raise
    except Exception as error:  # a corrupt archive can fail in many ways inside numpy and zipfile
        raise BadFile(f"{path}: damaged or not a Counterplay file ({_brief(error)})") from None
    if not isinstance(header, dict) or "counterplay" not in header:
        raise BadFile(f"{path}: not a Counterplay file")
    if header["counterplay"] != kind:
        raise BadFile(f"{path}: holds a {header['counterplay']}, expected a {kind}")
    if header.get("arrays", list(arrays)) != list(arrays):
        raise BadFile(f"{path}: damaged (not all arrays are there)")
    version = header.get("format")
    if type(version) is not int or version < 1:
        raise BadFile(f"{path}: damaged (format {version!r})")
    if version > FORMAT:
        raise BadFile(f"{path}: written by a newer version of Counterplay (format {version}, this one reads {FORMAT})")
    return arrays, header


def _brief(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:100] if lines else type(error).__name__
