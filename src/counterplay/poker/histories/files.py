"""Files of hand histories: compressed content, text encodings, checksums of text files, folders.

Text files end with a checksum in a comment. Each checksum covers the lines since the previous one,
so concatenated files remain valid; files of other programs have none.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import re
import zlib
from pathlib import Path
from typing import Any

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile

GZIP, BZIP2 = b"\x1f\x8b", b"BZh"  # first bytes of a compressed file
COMPRESSED = (".gz", ".bz2")
MAX_BYTES = 1 << 31  # of a file: some ten million hands
MAX_RATIO = 60  # of content to compressed bytes; random cards compress to about a tenth
MIN_ALLOWANCE = 1 << 20  # bytes of content that any compressed file may have
CHUNK = 1 << 20  # bytes
CHECKSUM_COMMENT = "# checksum of the lines above: "
_CHECKSUM = re.compile(re.escape(CHECKSUM_COMMENT.encode()) + rb"([^\r\n]*)\r?\n?")
#: Suffixes that are read from folders. `.txt` may be anything and is left out.
IN_FOLDERS = (".phh", ".phhs", ".log", ".parquet")


def suffix_of(path: Path) -> str:
    """The suffix below any compression: `.log` for `match.log.gz`."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() if last in COMPRESSED else last


def file_bytes(path: Path) -> bytes:
    """The decompressed content, as UTF-8 without a byte-order mark if it is text; or `BadFile`."""
    data = read_bytes(path, MAX_BYTES)
    if data.startswith((GZIP, BZIP2)):
        data = _decompress(path, data)
    if data[257:262] == b"ustar":
        raise BadFile(f"{path}: an archive of files; unpack it and give the folder")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _decompress(path: Path, data: bytes) -> bytes:
    allowance = min(MAX_BYTES, MAX_RATIO * len(data) + MIN_ALLOWANCE)
    source = io.BytesIO(data)
    chunks: list[bytes] = []
    try:
        with gzip.open(source) if data.startswith(GZIP) else bz2.open(source) as file:
            while chunk := file.read(CHUNK):
                chunks.append(chunk)
                allowance -= len(chunk)
                if allowance < 0:
                    raise BadFile(f"{path}: unpacks to more than hands can be packed to")
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: damaged, cannot be unpacked ({str(error)[:80]})") from None
    return b"".join(chunks)


def add_checksum(text: str) -> str:
    """`text`, which ends with a newline, followed by its checksum."""
    return f"{text}{CHECKSUM_COMMENT}{hashlib.sha256(text.encode()).hexdigest()}\n"


def verify_checksums(path: Path, data: bytes) -> None:
    """Raises `BadFile` unless every checksum in the text matches."""
    start = 0
    for match in _CHECKSUM.finditer(data):
        text = data[start : match.start()]
        forms = (text, text.replace(b"\r\n", b"\n"))
        if match[1] not in {hashlib.sha256(form).hexdigest().encode() for form in forms}:
            raise BadFile(
                f"{path}: damaged (a checksum does not fit; if you changed it yourself, delete "
                f"the line {CHECKSUM_COMMENT!r})"
            )
        start = match.end()


def hand_files(folder: Path, suffixes: tuple[str, ...] = IN_FOLDERS) -> list[Path]:
    """Files in a folder and below, sorted by name with numbers in order (2 before 10)."""

    def natural_order(path: Path) -> list[Any]:
        parts = re.split(r"([0-9]{1,18})", str(path))
        return [int(part) if k % 2 else part for k, part in enumerate(parts)]

    files = [file for file in folder.rglob("*") if suffix_of(file) in suffixes and file.is_file()]
    paths = sorted(files, key=natural_order)
    if not paths:
        listed = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        compressed = " or ".join(COMPRESSED)
        raise BadFile(f"{folder}: no {listed} file in this folder, packed as {compressed} or not")
    return paths
