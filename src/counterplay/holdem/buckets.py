"""Card buckets: what a strategy sees of its cards (Section 3.1, 3.3.2). Only the current one counts; earlier ones are forgotten.

Equal width, as in the paper: EHS from 0 to 1/N is bucket 0, and so on; computed in whole numbers, so a border is where it
should be. Equal frequency: each bucket holds the same share of all deals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.holdem.boards import boards
from counterplay.holdem.cards import HOLDING_CARDS
from counterplay.holdem.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.holdem.tables import Strengths
from counterplay.kernels.jit import index, jit

KINDS = ("width", "frequency")


class Buckets(NamedTuple):
    """Buckets of every holding; on the river by way of its count, which saves a table of 134,459 boards."""

    preflop: np.ndarray  # uint16[1326]
    flop: np.ndarray  # uint16[1755, 1326]
    turn: np.ndarray  # uint16[16432, 1326]
    river: np.ndarray  # uint16[1981]: bucket of a river count
    river_count: np.ndarray  # uint16[134459, 1326]: of the table, mapped


class LookUp(NamedTuple):
    """Buckets as kernels read them: in one byte each where 256 suffice, because most of the time goes into memory."""

    preflop: np.ndarray  # uint8[1326]
    early: np.ndarray  # uint8[18187, 1326]: flops, then turns
    river: np.ndarray  # uint8[k]: bucket of an entry of `river_count`
    river_count: (
        np.ndarray
    )  # uint8[134459, 1326]: buckets; with more than 256 of them counts, uint16 like the rest


def look_up(buckets: Buckets) -> LookUp:
    """Compact tables: 202 MB, or 48 MB and the mapped counts."""
    early = np.concatenate([buckets.flop, buckets.turn])
    if buckets.river.max() > 255 or early.max() > 255:
        return LookUp(buckets.preflop, early, buckets.river, buckets.river_count)
    small = buckets.river.astype(np.uint8)
    river = np.empty(buckets.river_count.shape, dtype=np.uint8)
    for low in range(0, len(river), 4096):
        np.take(small, buckets.river_count[low : low + 4096], out=river[low : low + 4096])
    return LookUp(
        buckets.preflop.astype(np.uint8),
        early.astype(np.uint8),
        np.arange(256, dtype=np.uint8),
        river,
    )


def make_buckets(strengths: Strengths, n: int, kind: str) -> Buckets:
    """N buckets a round."""
    river_counts = np.arange(RIVER_TOTAL + 1)
    if kind == "width":
        return Buckets(
            _by_width(strengths.preflop, n, PREFLOP_TOTAL),
            _by_width(strengths.flop, n, FLOP_TOTAL),
            _by_width(strengths.turn, n, TURN_TOTAL),
            _by_width(river_counts, n, RIVER_TOTAL),
            strengths.river,
        )
    if kind != "frequency":
        raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    river_deals = _river_deals(strengths.river)
    return Buckets(
        _by_frequency(strengths.preflop, np.ones(len(strengths.preflop)), n),
        _by_frequency(strengths.flop, np.repeat(boards(3).weight, strengths.flop.shape[1]), n),
        _by_frequency(strengths.turn, np.repeat(boards(4).weight, strengths.turn.shape[1]), n),
        _by_frequency(river_counts, river_deals, n),
        strengths.river,
    )


def _by_width(counts: np.ndarray, n: int, total: int) -> np.ndarray:
    """floor(n · count / total), the best hand in the last bucket."""
    wide = np.asarray(counts, dtype=np.float64 if total * n >= 2**63 else np.int64)
    return np.minimum(wide * n // total, n - 1).astype(np.uint16)


def _by_frequency(counts: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """Borders where the cumulated weight passes k / n; entries of no strength (a card on the board) do not count."""
    values = np.asarray(counts)
    if values.max() > 10**8:  # pre-flop: few entries, large numbers
        _, place = np.unique(values, return_inverse=True)
        return _by_frequency(place + 1, weight, n)
    share = np.bincount(values.reshape(-1), weights=weight.reshape(-1))
    share[0] = 0.0
    before = (np.cumsum(share) - share) / share.sum()  # share of weaker hands
    bucket = np.minimum((before * n + 1e-12).astype(np.int64), n - 1).astype(np.uint16)
    chosen: np.ndarray = bucket[values]
    return chosen


@jit
def _count_rivers(river_count: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Add the weight of every board to the counts of its holdings."""
    for row in range(index(len(river_count))):
        for column in range(index(river_count.shape[1])):
            out[index(river_count[row, column])] += weight[row]


def _river_deals(river_count: np.ndarray) -> np.ndarray:
    """float64[1981]: how many deals have each river count."""
    deals = np.zeros(RIVER_TOTAL + 1)
    _count_rivers(river_count, boards(5).weight, deals)
    deals[0] = (
        0.0  # impossible holdings are counted there; the few hands that lose to everything stay in the first bucket
    )
    return deals


def bucket_shares(buckets: Buckets, n: int, sample: int = 200_000) -> list[np.ndarray]:
    """float64[n] for each round: how often a bucket is dealt, by a sample of deals with a fixed seed."""
    rng = np.random.default_rng(1)
    shares = []
    for size, table in ((3, buckets.flop), (4, buckets.turn), (5, buckets.river_count)):
        weight, masks = boards(size).weight, boards(size).masks
        board = rng.choice(len(weight), size=sample, p=weight / weight.sum())
        pair = rng.integers(0, table.shape[1], size=sample)
        cards = HOLDING_CARDS[pair].astype(np.int64)
        taken = (masks[board[:, None], cards & 3] >> (cards >> 2)) & 1
        free = ~taken.any(axis=1)
        found = table[board[free], pair[free]]
        shares.append(
            np.bincount(found if size < 5 else buckets.river[found], minlength=n) / free.sum()
        )
    return [np.bincount(buckets.preflop, minlength=n) / len(buckets.preflop), *shares]
