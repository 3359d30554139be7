"""The EHS tables: built once, cached on disk with checksums (457 MB, `core/base/store.py`), and
mapped into memory afterwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.store import cached_arrays
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.canonical import Links, make_links
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import count_earlier, count_preflop, count_rivers

#: Version of the meaning of the tables; part of the key of a hold'em game.
VERSION = 2


class Strengths(NamedTuple):
    """EHS of every holding on every board, as counts (see `strength.py` for the totals)."""

    preflop: np.ndarray  # uint64[1326]
    flop: np.ndarray  # uint32[1755, 1326]
    turn: np.ndarray  # uint32[16432, 1326]
    river: np.ndarray  # uint16[134459, 1326]
    flops: np.ndarray  # int32[22100]: of `Links`, cached because making them takes a second
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`


SHAPES = {
    "preflop": ((N_HOLDINGS,), np.uint64),
    "flop": ((1_755, N_HOLDINGS), np.uint32),
    "turn": ((16_432, N_HOLDINGS), np.uint32),
    "river": ((134_459, N_HOLDINGS), np.uint16),
    "flops": ((22_100,), np.int32),
    "next_boards": ((18_187, 52), np.int32),
}


def strengths(progress: ProgressCallback = no_progress) -> Strengths:
    """Returns the tables from memory or disk, or builds them (about half a minute on two cores)."""
    return TABLES.get(progress)


def board_links() -> Links:
    """Returns how canonical boards follow each other."""
    return Links(strengths().flops, strengths().next_boards)


def _make(progress: ProgressCallback) -> Strengths:
    threads = cores()
    river = count_rivers(threads, part(progress, 0.0, 0.7, "hold'em tables, rivers"))
    turn = count_earlier(4, river, threads, part(progress, 0.7, 0.95, "hold'em tables, turns"))
    flop = count_earlier(3, turn, threads, part(progress, 0.95, 0.99, "hold'em tables, flops"))
    return Strengths(count_preflop(flop), flop, turn, river, *make_links())


TABLES = cached_arrays(
    "the hold'em tables stay", "holdem-strengths", (__name__,), _make, SHAPES, Strengths._make
)
