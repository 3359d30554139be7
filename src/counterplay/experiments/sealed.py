"""JSON files that know when they were changed: the last member is the SHA-256 of the file, with zeros in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from counterplay.base import files
from counterplay.base.errors import BadFile

LARGEST = 20_000_000  # bytes; a larger JSON file is none of ours
_DIGITS = 64
_BLANK = b"0" * _DIGITS
_END = b'"\n}\n'
_LEAD = b',\n  "checksum": "'


def write_sealed(path: Path, data: Mapping[str, Any]) -> None:
    """Write an object with its checksum, whole or not at all."""
    text = json.dumps({**data, "checksum": _BLANK.decode()}, indent=2).encode() + b"\n"
    head = text[: -len(_BLANK + _END)]
    files.write_bytes(path, head + _checksum(head) + _END)


def read_sealed(path: Path) -> dict[str, Any]:
    """What `write_sealed` wrote, or `BadFile` if a single bit of it is another."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadFile(f"{path.name}: too large")
        text = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path.name}: cannot be read ({error.strerror})") from None
    head, found = text[: -len(_BLANK + _END)], text[-len(_BLANK + _END) :]
    if not head.endswith(_LEAD) or found != _checksum(head) + _END:
        raise BadFile(f"{path.name}: damaged, or of a version that wrote no checksum")
    data: dict[str, Any] = json.loads(text)
    del data["checksum"]
    return data


def _checksum(head: bytes) -> bytes:
    return hashlib.sha256(head + _BLANK + _END).hexdigest().encode()
