"""The EHS tables on disk: built once, kept in the cache folder with checksums, mapped into memory
afterwards.

457 MB on disk. A table that is damaged or half written is found by its checksum and built again,
never used. Where the folder cannot be written the tables stay in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.base import mapped
from counterplay.base.kept import Kept, Write
from counterplay.base.progress import Tell, untold
from counterplay.holdem.boards import Links, make_links
from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.strength import count_earlier, count_preflop, count_rivers
from counterplay.kernels.jit import cache_root
from counterplay.parallel.processes import cores

#: Changes when the meaning of the tables does.
VERSION = 2
KIND = "holdem strengths"


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


def table_folder() -> Path:
    return cache_root() / "holdem" / f"ehs-{VERSION}"


def strengths(tell: Tell = untold) -> Strengths:
    """The tables: from memory, from disk, or built now (about half a minute on two cores)."""
    return _kept.at(table_folder(), tell)


def board_links() -> Links:
    """How classes of boards follow each other."""
    return Links(strengths().flops, strengths().next_boards)


def read_tables(folder: Path) -> Strengths | None:
    """The tables of a folder if all of them are whole, otherwise None."""
    found = mapped.read_mapped(folder, KIND, SHAPES)
    return None if found is None else Strengths(**found)


def _make(tell: Tell) -> tuple[Strengths, Write]:
    threads = cores()
    river = count_rivers(threads, lambda share: tell(0.7 * share, "rivers"))
    turn = count_earlier(4, river, threads, lambda share: tell(0.7 + 0.25 * share, "turns"))
    flop = count_earlier(3, turn, threads, lambda share: tell(0.95 + 0.04 * share, "flops"))
    built = Strengths(count_preflop(flop), flop, turn, river, *make_links())
    return built, lambda folder: _write(folder, built)


def _write(folder: Path, built: Strengths) -> None:
    mapped.write_mapped(folder, KIND, built._asdict(), VERSION)


_kept = Kept("the hold'em tables stay", read_tables, _make)


def size_on_disk(folder: Path) -> int:
    """Bytes of the tables in a folder, 0 if they are not there."""
    paths = [folder / f"{name}.npy" for name in SHAPES]
    return sum(path.stat().st_size for path in paths) if all(path.exists() for path in paths) else 0
