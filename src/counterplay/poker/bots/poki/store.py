"""The tables of `potential.py` on disk: built once (about 15 s on two cores), 96 MB in the store
(`core/base/store.py`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Cached, Piece
from counterplay.core.parallel.processes import cores
from counterplay.poker.bots.poki.potential import new_work, rate_boards
from counterplay.poker.cards.canonical import SIZES, boards
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS

N_EARLY = SIZES[3] + SIZES[4]


class Potentials(NamedTuple):
    """Flops first, then turns."""

    # uint16[18187, 1326]: twice the wins plus the ties, of 2,162 on flops and 2,070 on turns
    hs: np.ndarray
    ppot: np.ndarray  # uint16[18187, 1326]: PPot1 of SCALE


def potentials(progress: ProgressCallback = no_progress) -> Potentials:
    """The tables: from memory, from disk, or built now."""
    return TABLES.get(progress)


def count_potentials(threads: int = 1, progress: ProgressCallback = no_progress) -> Potentials:
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
            progress((k + 1) / len(jobs), "Poki's tables")
    return built


def _unpack(piece: Piece) -> Potentials | None:
    shapes = dict.fromkeys(Potentials._fields, ((N_EARLY, N_HOLDINGS), np.uint16))
    return Potentials(**piece.arrays) if piece.fits(shapes) else None


TABLES = Cached(
    "the tables of Poki stay",
    "poki-potentials",
    (__name__,),
    make=lambda progress: count_potentials(cores(), progress),
    pack=lambda built: Piece(None, built._asdict()),
    unpack=_unpack,
    mapped=True,
)
