"""Text files as others leave them: packed with gzip or bzip2, with a byte-order mark, in UTF-16."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import zlib
from pathlib import Path

from counterplay.core.base.errors import BadFile

GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
PACKED = (".gz", ".bz2")
MOST_TIMES = 60  # as large as the packed file: hands of random cards pack to a tenth or so
LEAST_ROOM = 1 << 20  # bytes
AT_ONCE = 1 << 20  # bytes


def suffix_of(path: Path) -> str:
    """What a file is by its name: `.log` for `match.log.gz` too."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in PACKED else last


def unpacked(path: Path, data: bytes, most: int) -> bytes:
    """The content, UTF-8 where it is text, without a byte-order mark; or `BadFile`. `most`: bytes
    of it."""
    if data.startswith((GZIP, BZIP2)):
        data = _unpack(path, data, most)
    if data[257:262] == b"ustar":
        raise BadFile(f"{path}: an archive of files; unpack it and give the folder")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _unpack(path: Path, data: bytes, most: int) -> bytes:
    room = min(most, MOST_TIMES * len(data) + LEAST_ROOM)
    source = io.BytesIO(data)
    pieces: list[bytes] = []
    try:
        with gzip.open(source) if data.startswith(GZIP) else bz2.open(source) as file:
            while piece := file.read(AT_ONCE):
                pieces.append(piece)
                room -= len(piece)
                if room < 0:
                    raise BadFile(f"{path}: unpacks to more than hands can be packed to")
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: damaged, cannot be unpacked ({str(error)[:80]})") from None
    return b"".join(pieces)
