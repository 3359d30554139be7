"""Large tables on disk: a folder with one .npy file per array and a manifest of checksums, mapped
into memory when read.

A folder is whole or worth nothing. Arrays are written first and the manifest last, each by rename,
so that a kill, a second writer or damage shows as a checksum that does not fit; whoever reads then
gets None and builds the tables again.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base import disk, files

MANIFEST = "manifest.json"
Shapes = Mapping[str, tuple[tuple[int, ...], Any]]  # by name: shape and dtype


def read_mapped(folder: Path, kind: str, shapes: Shapes) -> dict[str, np.ndarray] | None:
    """The tables of a folder, read-only, if all of them are whole and of this kind, otherwise None.

    What a killed writer left there is removed.
    """
    disk.remove_abandoned(folder)
    try:
        manifest = files.read_json(folder / MANIFEST)
        if manifest.get("counterplay") != kind:
            return None
        found = {}
        for name, (shape, dtype) in shapes.items():
            array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            if (
                array.shape != shape
                or array.dtype != dtype
                or checksum(array) != manifest.get(name)
            ):
                return None
            found[name] = array
    except Exception:
        # a damaged header can fail in many ways inside numpy; whatever it was, the table is not
        # whole
        return None
    return found


def write_mapped(folder: Path, kind: str, arrays: Mapping[str, np.ndarray], version: int) -> None:
    """Arrays first, the manifest last: without it nothing is trusted."""
    manifest: dict[str, Any] = {"counterplay": kind, "version": version}
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, np.lib.format.header_data_from_array_1_0(array)
        )
        files.write_pieces(folder / f"{name}.npy", [header.getvalue(), _bytes(array)])
        manifest[name] = checksum(array)
    files.write_json(folder / MANIFEST, manifest)


def checksum(array: np.ndarray) -> int:
    return zlib.crc32(_bytes(np.ascontiguousarray(array)))


def _bytes(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
