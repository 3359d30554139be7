"""What kinds of card abstractions with any number of buckets on each street have in common: their
numbers, names and keys, and the tables of games that end on the flop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from operator import mul
from typing import ClassVar

import numpy as np

from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.poker.abstraction.abstraction import BucketNumbers, Buckets
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import SIZES
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import FULL, Deck
from counterplay.poker.cards.strength import count_flops

#: The kind of a game that names none, by the cards of the board at its showdown.
DEFAULT_KIND = {5: "equal-width", 3: "percentile"}
DEFAULT_BUCKETS = 10
MOST_BUCKETS = 10_000  # on a street
MOST_NESTED = 100  # within a bucket of the street before
MOST_ROWS = 65_535  # buckets on a street, as kernels keep them
N_CLASSES = 169  # of starting hands
FINAL_FLOP_TOTAL = 2 * 1081  # of `count_flops`: an opponent has one of 47 · 46 / 2 holdings


@dataclass(frozen=True)
class NumberedAbstraction(ABC):
    """`numbers[k]` buckets on street k of a game of two or four streets; of nested kinds within
    each bucket of the street before, so that the buckets have perfect recall."""

    numbers: tuple[int, ...]
    kind: str
    nested_kinds: ClassVar[frozenset[str]] = frozenset()
    #: Kinds that have a bucket for every class of starting hands unless a number is given.
    class_kinds: ClassVar[frozenset[str]] = frozenset()
    #: Whether no two hands of one class are in different buckets before the flop.
    preflop_by_class: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.nested and max(self.counts) > MOST_ROWS:
            raise BadParameter(
                f"kind={self.kind} has {max(self.counts):,} sequences of buckets on the last street"
                f", the product of the numbers on all streets, and at most {MOST_ROWS:,} are "
                "possible; use fewer buckets"
            )
        if self.preflop_by_class and self.numbers[0] > N_CLASSES:
            raise BadParameter(
                f"kind={self.kind} has at most {N_CLASSES} buckets before the flop, as many as "
                f"there are classes of starting hands, not {self.numbers[0]}; "
                f"preflop={N_CLASSES} gives a bucket to each"
            )

    @property
    @abstractmethod
    def key(self) -> str:
        """Everything the buckets depend on besides the EHS tables."""

    @abstractmethod
    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        """Returns the buckets, computed or from the cache."""

    @property
    def nested(self) -> bool:
        return self.kind in self.nested_kinds

    @property
    def on_board(self) -> int:
        """Cards of the board at a showdown."""
        return 5 if len(self.numbers) == len(STREETS) else 3

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of buckets on each street; 1 behind the last one."""
        counts = accumulate(self.numbers, mul) if self.nested else self.numbers
        return (*counts, *[1] * (len(STREETS) - len(self.numbers)))

    @property
    def deck(self) -> Deck:
        return FULL

    @property
    def arguments(self) -> str:
        named = zip(STREETS, self.numbers, strict=False)
        numbers = (
            f"buckets={self.numbers[1]}"
            if self.uniform
            else ",".join(f"{street}={n}" for street, n in named)
        )
        usual = self.kind == DEFAULT_KIND[self.on_board]
        return numbers if usual else f"{numbers},kind={self.kind}"

    @property
    def uniform(self) -> bool:
        """Whether `buckets=` gives all numbers."""
        first, *later = self.numbers
        return len(set(later)) == 1 and first == self._usual_preflop(self.kind, later[0])

    @classmethod
    def _usual_preflop(cls, kind: str, n: int) -> int:
        return N_CLASSES if kind in cls.class_kinds else n

    @classmethod
    def maker(cls, kind: str) -> Callable[[BucketNumbers, int], NumberedAbstraction]:
        """Returns the `make` of a spec."""

        def make(numbers: BucketNumbers, on_board: int) -> NumberedAbstraction:
            most = MOST_NESTED if kind in cls.nested_kinds else MOST_BUCKETS
            for name, number in numbers.items():
                if number is not None:
                    whole_number(number, 1, most, name)
            every = numbers["buckets"] or DEFAULT_BUCKETS
            usual = (cls._usual_preflop(kind, every), every, every, every)
            streets = STREETS[: 4 if on_board == 5 else 2]
            return cls(tuple(numbers[k] or n for k, n in zip(streets, usual, strict=False)), kind)

        return make


def starting_classes() -> np.ndarray:
    """Returns uint16[1326]: the class of every holding, by its ranks and whether it is suited."""
    cards = HOLDING_CARDS.astype(np.int64)
    low, high = np.sort(cards // 4, axis=1).T
    suited = cards[:, 0] % 4 == cards[:, 1] % 4
    _, number = np.unique(np.where(suited, 13 * high + low, 13 * low + high), return_inverse=True)
    return number.astype(np.uint16)


def buckets_to_flop(preflop: np.ndarray, flop: np.ndarray) -> Buckets:
    """Returns buckets of a game that ends on the flop; all are 0 after it."""
    turn, river = (np.zeros((SIZES[n], N_HOLDINGS), np.uint16) for n in (4, 5))
    return Buckets(preflop, flop, turn, np.zeros(1, np.uint16), river)


@cache
def final_flop_strengths() -> np.ndarray:
    """Returns uint16[1755, 1326]: strengths of hands of five cards (`count_flops`)."""
    return count_flops()
