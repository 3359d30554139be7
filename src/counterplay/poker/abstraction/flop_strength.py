"""Buckets of hand strength on the flop, for games whose showdown is there.

The strength of a hand of five cards is its share of wins against a random holding. Before the flop
holdings are ordered by the mean square of what it will be. `percentile`: buckets with equal shares
of all deals; `classes`: the same, with all classes of starting hands before the flop; `nested`: the
flop's buckets are percentiles within a bucket before the flop, and the two together are the bucket
(perfect recall).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.poker.abstraction.abstraction import AbstractionSpec, BucketNumbers, Buckets
from counterplay.poker.abstraction.ehs import (
    CLASSES,
    DEFAULT_BUCKETS,
    EQUAL_WIDTH,
    MOST_BUCKETS,
    N_CLASSES,
    PERCENTILE,
    percentile,
    starting_classes,
)
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.cards.strength import count_flops, count_preflop

NESTED = "nested"
KINDS = (PERCENTILE, CLASSES, NESTED)


@cache
def _strengths() -> tuple[np.ndarray, np.ndarray]:
    """Returns the strength of every holding on every flop, and before it."""
    flop = count_flops()
    return flop, count_preflop(flop.astype(np.int64) ** 2)


@dataclass(frozen=True)
class FlopStrengthAbstraction:
    """`preflop` and `flop` buckets; nested ones within each bucket before the flop."""

    preflop: int
    flop: int
    kind: str = PERCENTILE

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.kind == CLASSES and self.preflop != N_CLASSES:
            raise BadParameter(
                f"kind=classes has {N_CLASSES} buckets before the flop, not {self.preflop}"
            )

    @property
    def counts(self) -> tuple[int, ...]:
        flop = self.preflop * self.flop if self.kind == NESTED else self.flop
        return self.preflop, flop, 1, 1

    @property
    def deck(self) -> Deck:
        return FULL

    @property
    def arguments(self) -> str:
        if self.kind == CLASSES or self.preflop == self.flop:
            numbers = f"buckets={self.flop}"
        else:
            numbers = f"preflop={self.preflop},flop={self.flop}"
        return numbers if self.kind == PERCENTILE else f"{numbers},kind={self.kind}"

    @property
    def key(self) -> str:
        return f"flop strength {self.preflop}/{self.flop} {self.kind}"

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        strength, before = _strengths()
        weight = boards(3).weight
        if self.kind == CLASSES:
            preflop = starting_classes()
        else:
            preflop = percentile(before, np.ones(N_HOLDINGS), self.preflop)
        if self.kind == NESTED:
            flop = np.zeros(strength.shape, dtype=np.uint16)
            for b in range(self.preflop):
                part = strength[:, preflop == b]
                within = percentile(part, np.repeat(weight, part.shape[1]), self.flop)
                flop[:, preflop == b] = b * self.flop + within
        else:
            flop = percentile(strength, np.repeat(weight, N_HOLDINGS), self.flop)
        turn, river = (np.zeros((len(boards(n).masks), N_HOLDINGS), np.uint16) for n in (4, 5))
        return Buckets(preflop, flop, turn, np.zeros(1, np.uint16), river)


def _make(numbers: BucketNumbers, kind: str) -> FlopStrengthAbstraction:
    for name in ("turn", "river"):
        if numbers[name] is not None:
            raise BadParameter(f"abstraction=flop has no buckets on the {name}")
    most = MOST_BUCKETS if kind != NESTED else 100
    for name, number in numbers.items():
        if number is not None:
            whole_number(number, 1, most, name)
    every = numbers["buckets"] or DEFAULT_BUCKETS
    preflop = numbers["preflop"] or (N_CLASSES if kind == CLASSES else every)
    kind = PERCENTILE if kind == EQUAL_WIDTH else kind  # the default of hold'em's game
    return FlopStrengthAbstraction(preflop, numbers["flop"] or every, kind)


ABSTRACTION = AbstractionSpec("flop", _make)
