"""Percentile buckets of the mean square of the strength at the showdown, E[HS²] (Johanson 2007),
which favours hands that may become strong.

`squared`: before the flop every class of starting hands is a bucket, unless a number is given.
`nested`: percentiles within each bucket of the street before (perfect recall, `recall.py`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.poker.abstraction.abstraction import AbstractionSpec, Buckets
from counterplay.poker.abstraction.ehs import (
    flop_percentiles,
    nested_buckets,
    percentile,
    river_deals,
)
from counterplay.poker.abstraction.histograms import SQUARES
from counterplay.poker.abstraction.numbered import (
    N_CLASSES,
    NumberedAbstraction,
    buckets_to_flop,
    final_flop_strengths,
    starting_classes,
)
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import RIVER_TOTAL, count_preflop
from counterplay.poker.cards.tables import strengths

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
    AbstractionSpec("squared", SquaredAbstraction.maker(SQUARED)),
    AbstractionSpec("nested", SquaredAbstraction.maker(NESTED)),
)
