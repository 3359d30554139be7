"""Buckets of effective hand strength, EHS (Section 3.1, 3.3.2).

`equal-width` buckets, as in the paper: EHS from 0 to 1/N is bucket 0, and so on; computed in whole
numbers, so that borders are exact. `percentile` buckets: each has the same share of all deals.
`classes`: the same, but before the flop every class of starting hands (AA, AKs, ...) is a bucket.
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
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.poker.cards.tables import Strengths, strengths

EQUAL_WIDTH, PERCENTILE, CLASSES = KINDS = ("equal-width", "percentile", "classes")
#: Words in keys of games, as files have them.
KEY_WORD = {EQUAL_WIDTH: "width", PERCENTILE: "frequency", CLASSES: "frequency, classes"}
N_CLASSES = 169  # of starting hands
ROWS = 64  # rows of a table that are converted at once
MOST_BUCKETS = 1000  # on a street
DEFAULT_BUCKETS = 10


@dataclass(frozen=True)
class EhsAbstraction:
    """`counts[k]` buckets of EHS on street k."""

    counts: tuple[int, ...]
    kind: str = EQUAL_WIDTH

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.kind == CLASSES and self.counts[0] != N_CLASSES:
            raise BadParameter(
                f"kind=classes has {N_CLASSES} buckets before the flop, not {self.counts[0]}"
            )

    @property
    def deck(self) -> Deck:
        return FULL

    @property
    def uniform(self) -> bool:
        """Whether all streets have the same number of buckets; with classes all but the first."""
        return len(set(self.counts[self.kind == CLASSES :])) == 1

    @property
    def arguments(self) -> str:
        named = zip(STREETS, self.counts, strict=True)
        numbers = (
            f"buckets={self.counts[1]}" if self.uniform else ",".join(f"{k}={n}" for k, n in named)
        )
        return numbers if self.kind == EQUAL_WIDTH else f"{numbers},kind={self.kind}"

    @property
    def key(self) -> str:
        numbers = str(self.counts[1]) if self.uniform else "/".join(str(n) for n in self.counts)
        return f"{numbers} {KEY_WORD[self.kind]}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        return make_buckets(strengths(), self.counts, self.kind)


def make_buckets(tables: Strengths, counts: tuple[int, ...], kind: str) -> Buckets:
    """Returns the buckets of each street from its strengths."""
    river_counts = np.arange(RIVER_TOTAL + 1)
    strength = (tables.preflop, tables.flop, tables.turn, river_counts)
    if kind == EQUAL_WIDTH:
        totals = (PREFLOP_TOTAL, FLOP_TOTAL, TURN_TOTAL, RIVER_TOTAL)
        buckets = [_equal_width(*street) for street in zip(strength, counts, totals, strict=True)]
    else:
        weight = (
            np.ones(len(tables.preflop)),
            np.repeat(boards(3).weight, tables.flop.shape[1]),
            np.repeat(boards(4).weight, tables.turn.shape[1]),
            river_deals(tables.river),
        )
        buckets = [percentile(*street) for street in zip(strength, weight, counts, strict=True)]
    preflop, flop, turn, river = buckets
    if kind == CLASSES:
        preflop = starting_classes()
    return Buckets(preflop, flop, turn, river, tables.river)


def starting_classes() -> np.ndarray:
    """Returns uint16[1326]: the class of every holding, by its ranks and whether it is suited."""
    cards = HOLDING_CARDS.astype(np.int64)
    low, high = np.sort(cards // 4, axis=1).T
    suited = cards[:, 0] % 4 == cards[:, 1] % 4
    _, number = np.unique(np.where(suited, 13 * high + low, 13 * low + high), return_inverse=True)
    return number.astype(np.uint16)


def _equal_width(counts: np.ndarray, n: int, total: int) -> np.ndarray:
    """Returns floor(n · count / total), with EHS 1 in the last bucket."""
    buckets = np.zeros(counts.shape, dtype=np.uint16)
    if n == 1:
        return buckets
    for low in range(0, len(counts), ROWS):  # pieces that fit into the processor's cache
        wide = counts[low : low + ROWS].astype(np.float64 if total * n >= 2**63 else np.int64)
        wide *= n
        buckets[low : low + ROWS] = np.minimum(wide // total, n - 1)
    return buckets


def percentile(counts: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """Returns buckets with borders where the cumulated weight passes k / n. Entries of 0 (a card on
    the board) do not count."""
    values = np.asarray(counts)
    if values.max() > 10**8:  # pre-flop: few entries, large numbers
        _, rank = np.unique(values, return_inverse=True)
        return percentile(rank + 1, weight, n)
    share = np.bincount(values.reshape(-1), weights=weight.reshape(-1))
    share[0] = 0.0
    before = (np.cumsum(share) - share) / share.sum()  # share of weaker holdings
    bucket = np.minimum((before * n + 1e-12).astype(np.int64), n - 1).astype(np.uint16)
    buckets: np.ndarray = bucket[values]
    return buckets


@jit
def _count_rivers(river_count: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Adds the weight of every board to the counts of its holdings."""
    for row in range(index(len(river_count))):
        for column in range(index(river_count.shape[1])):
            out[index(river_count[row, column])] += weight[row]


def river_deals(river_count: np.ndarray) -> np.ndarray:
    """Returns float64[1981]: the number of deals with each river count.

    Blocked holdings have count 0, which is left out; the few holdings that lose to every other one
    stay in the first bucket.
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
    first = N_CLASSES if kind == CLASSES else all_streets
    given = zip((numbers[street] for street in STREETS), (first, *[all_streets] * 3), strict=True)
    return EhsAbstraction(tuple(usual if n is None else n for n, usual in given), kind)


ABSTRACTION = AbstractionSpec("ehs", _make)
