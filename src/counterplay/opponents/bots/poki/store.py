"""The tables of `potential.py` on disk: built once (about 15 s on two cores), kept in the cache
folder with checksums.

96 MB. A damaged table is built again, never used; where the folder cannot be written the tables
stay in memory.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterplay.base import mapped
from counterplay.base.kept import Kept, Write
from counterplay.base.progress import Tell, untold
from counterplay.holdem.boards import SIZES, boards
from counterplay.holdem.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.kernels.jit import cache_root
from counterplay.opponents.bots.poki.potential import new_work, rate_boards
from counterplay.parallel.processes import cores

#: Changes when the meaning of the tables does.
VERSION = 1
KIND = "holdem potentials"
N_EARLY = SIZES[3] + SIZES[4]


class Potentials(NamedTuple):
    """Flops first, then turns."""

    # uint16[18187, 1326]: twice the wins plus the ties, of 2,162 on flops and 2,070 on turns
    hs: np.ndarray
    ppot: np.ndarray  # uint16[18187, 1326]: PPot1 of SCALE


def potential_folder() -> Path:
    return cache_root() / "holdem" / f"potential-{VERSION}"


def potentials(tell: Tell = untold) -> Potentials:
    """The tables: from memory, from disk, or built now."""
    return _kept.at(potential_folder(), tell)


def read_potentials(folder: Path) -> Potentials | None:
    """The tables of a folder if both are whole, otherwise None."""
    shapes = dict.fromkeys(Potentials._fields, ((N_EARLY, N_HOLDINGS), np.uint16))
    found = mapped.read_mapped(folder, KIND, shapes)
    return None if found is None else Potentials(**found)


def _make(tell: Tell) -> tuple[Potentials, Write]:
    built = count_potentials(cores(), tell)
    return built, lambda folder: _write(folder, built)


def _write(folder: Path, built: Potentials) -> None:
    mapped.write_mapped(folder, KIND, built._asdict(), VERSION)


_kept = Kept("the tables of Poki stay", read_potentials, _make)


def count_potentials(threads: int = 1, tell: Tell = untold) -> Potentials:
    """Both tables, counted."""
    built = Potentials(*(np.zeros((N_EARLY, N_HOLDINGS), dtype=np.uint16) for _ in range(2)))
    with ThreadPoolExecutor(threads) as pool:
        jobs = []
        for size, first in ((3, 0), (4, SIZES[3])):
            table, last = boards(size), first + SIZES[size]
            hs, ppot = built.hs[first:last], built.ppot[first:last]
            for low in range(0, SIZES[size], 128):
                high = min(low + 128, SIZES[size])
                jobs.append(
                    pool.submit(rate_boards, table, HOLDING_CARDS, new_work(), low, high, hs, ppot)
                )
        for k, job in enumerate(jobs):
            job.result()
            tell((k + 1) / len(jobs), "Poki's tables")
    return built
