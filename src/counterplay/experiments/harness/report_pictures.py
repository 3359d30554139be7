"""Pictures for the report: PNG files as data URIs."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
INCH = 0.0254  # metres
DOTS_PER_INCH = 150.0  # of a picture that does not say it
READABLE = 66  # screen pixels per printed inch at which the labels can still be read


@dataclass(frozen=True)
class Picture:
    """A picture as HTML wants it; sizes in pixels."""

    name: str
    data: str  # data URI
    width: int
    height: int
    least_width: int  # below this its labels cannot be read


def picture(name: str, data: bytes) -> Picture:
    """`data` as a PNG file, or ValueError if it is not a whole one."""
    chunks = _chunks(data)
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    dots = DOTS_PER_INCH
    if b"pHYs" in chunks:
        per_metre, _, unit = struct.unpack(">IIB", chunks[b"pHYs"])
        dots = per_metre * INCH if unit == 1 and per_metre else dots
    least = min(width, round(width / dots * READABLE))
    return Picture(
        name, "data:image/png;base64," + base64.b64encode(data).decode(), width, height, least
    )


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The first chunk of each kind; ValueError unless every chunk is whole and the end is there."""
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    chunks: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while b"IEND" not in chunks:
        head = data[at : at + 8]
        if len(head) < 8:
            raise ValueError("cut off")
        length, kind = struct.unpack(">I4s", head)
        body, check = data[at + 8 : at + 8 + length], data[at + 8 + length : at + 12 + length]
        if len(check) < 4 or struct.unpack(">I", check)[0] != zlib.crc32(kind + body):
            raise ValueError("damaged")
        chunks.setdefault(kind, body)
        at += 12 + length
    if (
        len(chunks.get(b"IHDR", b"")) != 13
        or b"IDAT" not in chunks
        or len(chunks.get(b"pHYs", b"123456789")) != 9
    ):
        raise ValueError("damaged")
    return chunks
