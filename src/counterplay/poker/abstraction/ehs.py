"""Buckets by effective hand strength (Section 3.1, 3.3.2).

Equal width, as in the paper: EHS from 0 to 1/N is bucket 0, and so on; computed in whole numbers,
so a border is where it should be. Equal frequency: each bucket holds the same share of all deals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.abstraction import AbstractionSpec, BucketNumbers, Buckets
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.poker.cards.tables import Strengths, strengths

KINDS = ("width", "frequency")
ROWS = 64  # of a table at once
MOST_BUCKETS = 1000  # of a street
DEFAULT_BUCKETS = 10


@dataclass(frozen=True)
class EhsAbstraction:
    """So many buckets of EHS on each street."""

    counts: tuple[int, ...]
    kind: str = "width"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")

    @property
    def deck(self) -> Deck:
        return FULL

    @property
    def even(self) -> bool:
        """Whether all streets have the same number of buckets."""
        return len(set(self.counts)) == 1

    @property
    def arguments(self) -> str:
        named = zip(STREETS, self.counts, strict=True)
        numbers = (
            f"buckets={self.counts[0]}" if self.even else ",".join(f"{k}={n}" for k, n in named)
        )
        return numbers if self.kind == KINDS[0] else f"{numbers},kind={self.kind}"

    @property
    def key(self) -> str:
        numbers = str(self.counts[0]) if self.even else "/".join(str(n) for n in self.counts)
        return f"{numbers} {self.kind}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        return make_buckets(strengths(), self.counts, self.kind)


def make_buckets(tables: Strengths, counts: tuple[int, ...], kind: str) -> Buckets:
    """Buckets of each street from its strengths."""
    river_counts = np.arange(RIVER_TOTAL + 1)
    strength = (tables.preflop, tables.flop, tables.turn, river_counts)
    if kind == "width":
        totals = (PREFLOP_TOTAL, FLOP_TOTAL, TURN_TOTAL, RIVER_TOTAL)
        found = [_by_width(*street) for street in zip(strength, counts, totals, strict=True)]
    else:
        weight = (
            np.ones(len(tables.preflop)),
            np.repeat(boards(3).weight, tables.flop.shape[1]),
            np.repeat(boards(4).weight, tables.turn.shape[1]),
            river_deals(tables.river),
        )
        found = [_by_frequency(*street) for street in zip(strength, weight, counts, strict=True)]
    preflop, flop, turn, river = found
    return Buckets(preflop, flop, turn, river, tables.river)


def _by_width(counts: np.ndarray, n: int, total: int) -> np.ndarray:
    """floor(n · count / total), the best hand in the last bucket."""
    found = np.zeros(counts.shape, dtype=np.uint16)
    if n == 1:
        return found
    for low in range(0, len(counts), ROWS):  # piece by piece in the processor's cache
        wide = counts[low : low + ROWS].astype(np.float64 if total * n >= 2**63 else np.int64)
        wide *= n
        found[low : low + ROWS] = np.minimum(wide // total, n - 1)
    return found


def _by_frequency(counts: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """Borders where the cumulated weight passes k / n; entries of no strength (a card on the
    board) do not count."""
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


def river_deals(river_count: np.ndarray) -> np.ndarray:
    """float64[1981]: how many deals have each river count.

    Impossible holdings are counted at 0 and left out; the few hands that lose to everything stay in
    the first bucket.
    """
    deals = np.zeros(RIVER_TOTAL + 1)
    _count_rivers(river_count, boards(5).weight, deals)
    deals[0] = 0.0
    return deals


def _make(numbers: BucketNumbers, kind: str) -> EhsAbstraction:
    for name, number in numbers.items():
        if number is not None:
            whole_number(number, 1, MOST_BUCKETS, name)
    all_streets = numbers["buckets"] if numbers["buckets"] is not None else DEFAULT_BUCKETS
    of_street = (numbers[street] for street in STREETS)
    return EhsAbstraction(tuple(all_streets if n is None else n for n in of_street), kind)


ABSTRACTION = AbstractionSpec("ehs", _make)
