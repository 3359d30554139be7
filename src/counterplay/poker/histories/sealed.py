"""A checksum for text files, as a comment in their last line. Files of others have none and are
read as they are.

Each seal covers the lines since the one before it, so that two files put together in one are still
right.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from counterplay.core.base.errors import BadFile

MARK = "# checksum of the lines above: "
_SEAL = re.compile(re.escape(MARK.encode()) + rb"([^\r\n]*)\r?\n?")


def sealed(text: str) -> str:
    """`text`, which ends with a newline, and its checksum."""
    return f"{text}{MARK}{hashlib.sha256(text.encode()).hexdigest()}\n"


def check_seals(path: Path, data: bytes) -> None:
    """`BadFile` unless every checksum in the text fits."""
    start = 0
    for found in _SEAL.finditer(data):
        text = data[start : found.start()]
        forms = (text, text.replace(b"\r\n", b"\n"))
        if found[1] not in {hashlib.sha256(form).hexdigest().encode() for form in forms}:
            raise BadFile(
                f"{path}: damaged (a checksum does not fit; if you changed it yourself, delete "
                f"the line {MARK!r})"
            )
        start = found.end()
