"""The EHS tables on disk: built once, kept in the cache folder with checksums, mapped into memory afterwards.

457 MB on disk. A table that is damaged or half written is found by its checksum and built again, never used. Where the
folder cannot be written the tables stay in memory.
"""

from __future__ import annotations

import io
import os
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.base import files
from counterplay.base.errors import CounterplayError
from counterplay.holdem.boards import Links, make_links
from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.strength import count_earlier, count_preflop, count_rivers
from counterplay.kernels.jit import cache_root

#: Changes when the meaning of the tables does.
VERSION = 2
MANIFEST = "manifest.json"
Tell = Callable[[float, str], None]


class Strengths(NamedTuple):
    """EHS of every holding on every board, as counts (see `strength.py` for the totals)."""

    preflop: np.ndarray  # uint64[1326]
    flop: np.ndarray  # uint32[1755, 1326]
    turn: np.ndarray  # uint32[16432, 1326]
    river: np.ndarray  # uint16[134459, 1326]
    flops: np.ndarray  # int32[22100]: of `Links`, kept here because making them takes a second
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`


SHAPES = {
    "preflop": ((N_HOLDINGS,), np.uint64),
    "flop": ((1_755, N_HOLDINGS), np.uint32),
    "turn": ((16_432, N_HOLDINGS), np.uint32),
    "river": ((134_459, N_HOLDINGS), np.uint16),
    "flops": ((22_100,), np.int32),
    "next_boards": ((18_187, 52), np.int32),
}
_loaded: dict[Path, Strengths] = {}


def table_folder() -> Path:
    return cache_root() / "holdem" / f"ehs-{VERSION}"


def strengths(tell: Tell = lambda share, what: None) -> Strengths:
    """The tables: from memory, from disk, or built now (about half a minute on two cores)."""
    folder = table_folder()
    if folder not in _loaded:
        _loaded[folder] = read_tables(folder) or _build(folder, tell)
    return _loaded[folder]


def board_links() -> Links:
    """How classes of boards follow each other."""
    return Links(strengths().flops, strengths().next_boards)


def read_tables(folder: Path) -> Strengths | None:
    """The tables of a folder if all of them are whole, otherwise None."""
    try:
        manifest = files.read_json(folder / MANIFEST)
        found = {}
        for name, (shape, kind) in SHAPES.items():
            array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            if array.shape != shape or array.dtype != kind or _checksum(array) != manifest.get(name):
                return None
            found[name] = array
    except Exception:  # a damaged header can fail in many ways inside numpy; whatever it was, the table is not whole
        return None
    return Strengths(**found)


def _build(folder: Path, tell: Tell) -> Strengths:
    threads = os.cpu_count() or 1
    river = count_rivers(threads, lambda share: tell(0.7 * share, "rivers"))
    turn = count_earlier(4, river, threads, lambda share: tell(0.7 + 0.25 * share, "turns"))
    flop = count_earlier(3, turn, threads, lambda share: tell(0.95 + 0.04 * share, "flops"))
    built = Strengths(count_preflop(flop), flop, turn, river, *make_links())
    tell(0.99, "saving")
    try:
        _write(folder, built)
    except CounterplayError as error:
        warnings.warn(f"the hold'em tables stay in memory: {error}", stacklevel=3)
        return built
    tell(1.0, "done")
    return read_tables(folder) or built


def _write(folder: Path, built: Strengths) -> None:
    """Arrays first, the manifest last: without it nothing is trusted."""
    manifest: dict[str, Any] = {"counterplay": "holdem strengths", "version": VERSION}
    for name, array in built._asdict().items():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        files.write_bytes(folder / f"{name}.npy", buffer.getvalue())
        manifest[name] = _checksum(array)
    files.write_json(folder / MANIFEST, manifest)


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def size_on_disk(folder: Path) -> int:
    """Bytes of the tables in a folder, 0 if they are not there."""
    paths = [folder / f"{name}.npy" for name in SHAPES]
    return sum(path.stat().st_size for path in paths) if all(path.exists() for path in paths) else 0
