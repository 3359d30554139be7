"""Buckets of effective hand strength, EHS or E[HS] (Section 3.1, 3.3.2).

`equal-width` buckets, as in the paper: EHS from 0 to 1/N is bucket 0, and so on; computed in whole
numbers, so that borders are exact. `percentile` buckets: each has the same share of all deals.
`classes`: the same, but before the flop every class of starting hands (AA, AKs, ...) is a bucket.
`nested-percentile`: percentiles within each bucket of the street before (perfect recall,
`recall.py`).

`squared` and `nested` are the same by the mean square of the strength at the showdown, E[HS²]
(Johanson 2007), which favours hands that may become strong; before the flop `squared` has a bucket
for every class of starting hands, unless a number is given.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.kernels.jit import index, jit
from counterplay.poker.abstraction.abstraction import AbstractionSpec, Buckets
from counterplay.poker.abstraction.histograms import SQUARES
from counterplay.poker.abstraction.numbered import (
    FINAL_FLOP_TOTAL,
    N_CLASSES,
    NumberedAbstraction,
    buckets_to_flop,
    final_flop_strengths,
    starting_classes,
)
from counterplay.poker.abstraction.recall import TURN_ENTRIES, recall_buckets
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import (
    FLOP_TOTAL,
    PREFLOP_TOTAL,
    RIVER_TOTAL,
    TURN_TOTAL,
    Strengths,
    count_preflop,
    strengths,
)

EQUAL_WIDTH, PERCENTILE, CLASSES = "equal-width", "percentile", "classes"
NESTED_PERCENTILE = "nested-percentile"
#: Words in keys of games, as files have them.
KEY_WORD = {EQUAL_WIDTH: "width", PERCENTILE: "frequency", CLASSES: "frequency, classes"}
ROWS = 64  # rows of a table that are converted at once
FLOPS = 19_600  # that a holding can meet


class EhsAbstraction(NumberedAbstraction):
    """Buckets of EHS."""

    nested_kinds: ClassVar = frozenset({NESTED_PERCENTILE})
    class_kinds: ClassVar = frozenset({CLASSES})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == CLASSES and self.numbers[0] != N_CLASSES:
            raise BadParameter(
                f"kind=classes has {N_CLASSES} buckets before the flop, not {self.numbers[0]}"
            )

    @property
    def key(self) -> str:
        if self.on_board == 3:
            word = "frequency" if self.kind == PERCENTILE else self.kind
            return f"flop strength {self.numbers[0]}/{self.numbers[1]} {word}"
        numbers = str(self.numbers[1]) if self.uniform else "/".join(str(n) for n in self.numbers)
        return f"{numbers} {KEY_WORD.get(self.kind, self.kind)}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        if self.on_board == 5:
            tables = strengths()
            if not self.nested:
                return make_buckets(tables, self.numbers, self.kind)
            first = percentile(tables.preflop, np.ones(N_HOLDINGS), self.numbers[0])
            return nested_buckets(self, first, (tables.flop, tables.turn), progress)
        flop = final_flop_strengths()
        before = count_preflop(flop)
        if self.kind == EQUAL_WIDTH:
            first = _equal_width(before, self.numbers[0], FINAL_FLOP_TOTAL * FLOPS)
            return buckets_to_flop(first, _equal_width(flop, self.numbers[1], FINAL_FLOP_TOTAL))
        if self.kind == CLASSES:
            first = starting_classes()
        else:
            first = percentile(before, np.ones(N_HOLDINGS), self.numbers[0])
        nested = first if self.nested else None
        return buckets_to_flop(first, flop_percentiles(flop, self.numbers[1], nested))


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
    if values.max() > 10**8:  # large numbers, of which there are few
        _, rank = np.unique(values, return_inverse=True)
        rank += values.min() > 0
        return percentile(rank.reshape(values.shape), weight, n)
    share = np.bincount(values.reshape(-1), weights=weight.reshape(-1))
    share[0] = 0.0
    before = (np.cumsum(share) - share) / share.sum()  # share of weaker holdings
    bucket = np.minimum((before * n + 1e-12).astype(np.int64), n - 1).astype(np.uint16)
    buckets: np.ndarray = bucket[values]
    return buckets


def flop_percentiles(strength: np.ndarray, n: int, nested: np.ndarray | None) -> np.ndarray:
    """Returns percentile buckets on the flop; with `nested` (uint16[1326]) percentiles within each
    of these buckets, numbered one after the other."""
    weight = boards(3).weight
    if nested is None:
        return percentile(strength, np.repeat(weight, N_HOLDINGS), n)
    out = np.zeros(strength.shape, dtype=np.uint16)
    for b in range(int(nested.max()) + 1):
        part = strength[:, nested == b]
        out[:, nested == b] = b * n + percentile(part, np.repeat(weight, part.shape[1]), n)
    return out


def nested_buckets(
    abstraction: NumberedAbstraction,
    first: np.ndarray,
    strength: tuple[np.ndarray, np.ndarray],
    progress: ShareCallback,
) -> Buckets:
    """Returns buckets with perfect recall on four streets. `first`: before the flop; `strength`: on
    the flop and the turn."""
    numbers, weight = abstraction.numbers, np.repeat(boards(4).weight, N_HOLDINGS)

    def make() -> tuple[np.ndarray, np.ndarray]:
        flop, turn = strength
        return flop_percentiles(flop, numbers[1], first), percentile(turn, weight, TURN_ENTRIES)

    return recall_buckets(abstraction.key, numbers, first, make, progress)


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


SQUARED, NESTED = "squared", "nested"


class SquaredAbstraction(NumberedAbstraction):
    """Percentile buckets of E[HS²]."""

    preflop_by_class: ClassVar = True
    nested_kinds: ClassVar = frozenset({NESTED})
    class_kinds: ClassVar = frozenset({SQUARED})

    @property
    def key(self) -> str:
        numbers = "/".join(str(n) for n in self.numbers)
        return (
            f"flop strength {numbers} {self.kind}"
            if self.on_board == 3
            else f"{numbers} {self.kind}"
        )

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        if self.on_board == 3:
            flop = final_flop_strengths()
            first = self._preflop(count_preflop(flop.astype(np.int64) ** 2))
            nested = first if self.nested else None
            made = buckets_to_flop(first, flop_percentiles(flop, self.numbers[1], nested))
            self._check((made.preflop, made.flop))
            return made
        preflop, *later = SQUARES.get(lambda share, what: progress(share))
        first = self._preflop(preflop)
        if self.nested:
            return nested_buckets(self, first, (later[0], later[1]), progress)
        flop, turn = (
            percentile(table, np.repeat(boards(size).weight, N_HOLDINGS), n)
            for table, size, n in zip(later, (3, 4), self.numbers[1:3], strict=True)
        )
        deals = river_deals(strengths().river)
        river = percentile(np.arange(RIVER_TOTAL + 1), deals, self.numbers[3])
        self._check((first, flop, turn, river))
        return Buckets(first, flop, turn, river, strengths().river)

    def _preflop(self, strength: np.ndarray) -> np.ndarray:
        if self.numbers[0] == N_CLASSES:
            return starting_classes()
        return percentile(strength, np.ones(N_HOLDINGS), self.numbers[0])

    def _check(self, tables: tuple[np.ndarray, ...]) -> None:
        """Raises `BadParameter` if a bucket is empty."""
        for street, table, n in zip(STREETS, tables, self.counts, strict=False):
            empty = n - np.count_nonzero(np.bincount(table.reshape(-1), minlength=n))
            if empty:
                raise BadParameter(
                    f"kind={self.kind}: {empty} of {n} buckets on the {street} are empty, since "
                    "many hands have the same strength; use fewer"
                )


ABSTRACTION = (
    AbstractionSpec("equal-width", EhsAbstraction.maker(EQUAL_WIDTH)),
    AbstractionSpec("percentile", EhsAbstraction.maker(PERCENTILE)),
    AbstractionSpec("classes", EhsAbstraction.maker(CLASSES)),
    AbstractionSpec("nested-percentile", EhsAbstraction.maker(NESTED_PERCENTILE)),
    AbstractionSpec("squared", SquaredAbstraction.maker(SQUARED)),
    AbstractionSpec("nested", SquaredAbstraction.maker(NESTED)),
)
