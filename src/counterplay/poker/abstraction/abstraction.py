"""A view of the cards: which bucket a holding has on a board, street by street. Only the current
one counts.

A view is a small value that says how many buckets each street has and can work out which they are.
What it works out are `Buckets`; kernels read them as `Cards`, together with the links from board to
board.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.base.registry import Registry
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.decks import FULL, Deck

ROWS = 1024  # of a table at once
SAMPLE = 200_000  # deals that shares of buckets are measured on


class Buckets(NamedTuple):
    """Buckets of every holding; on the river by way of an entry, which may be the bucket itself or
    a count of wins.

    Where two suits have the same cards on a board, holdings that differ by a swap of them must be
    in the same bucket.
    """

    preflop: np.ndarray  # uint16[1326]
    flop: np.ndarray  # uint16[1755, 1326]
    turn: np.ndarray  # uint16[16432, 1326]
    river: np.ndarray  # uint16[k]: bucket of an entry
    river_entry: np.ndarray  # uint16[134459, 1326], each less than k; may be mapped from disk


class CardAbstraction(Protocol):
    """A way to see the cards. Equal views are the same value, so that their tables are made
    once."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Buckets of each street."""

    @property
    def deck(self) -> Deck:
        """The cards in play."""

    @property
    def arguments(self) -> str:
        """Between the brackets of the game's name."""

    @property
    def key(self) -> str:
        """What the buckets depend on besides the EHS tables; strategies are kept under it."""

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        """Worked out, or read from where they are kept."""

    def __hash__(self) -> int: ...


BucketNumbers = dict[str, int | None]  # `buckets` for all streets, or the name of a street


class AbstractionSpec(NamedTuple):
    """A card abstraction by name, as in `holdem(view=sparbot)`."""

    name: str
    make: Callable[[BucketNumbers, str], CardAbstraction]  # from the numbers asked for, and `kind`


ABSTRACTIONS: Registry[AbstractionSpec] = Registry(
    "abstraction", lambda spec: isinstance(spec, AbstractionSpec)
)


def make_abstraction(name: str, numbers: BucketNumbers, kind: str) -> CardAbstraction:
    """A card abstraction by name, with the numbers of buckets that were asked for."""
    return ABSTRACTIONS.find(name, "view").make(numbers, kind)


class Cards(NamedTuple):
    """A view as kernels read it: one byte a bucket where 256 suffice, because most of the time
    goes into memory."""

    preflop: np.ndarray  # uint8[1326]
    early: np.ndarray  # uint8[18187, 1326]: flops, then turns
    river: np.ndarray  # uint8[k]: bucket of an entry
    river_entry: np.ndarray  # uint8[134459, 1326]; with more than 256 buckets uint16, like the rest
    flops: np.ndarray  # int32[22100]: of `Links`
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`
    deck: np.ndarray  # int64[52]: the cards in play


def cards_of(buckets: Buckets, deck: Deck = FULL) -> Cards:
    """Compact tables: 202 MB, or 48 MB and the entries as they are."""
    rest = (*deck.links(), np.array(deck.cards, dtype=np.int64))
    early = np.concatenate([buckets.flop, buckets.turn])
    if max(table.max() for table in (buckets.preflop, early, buckets.river)) > 255:
        return Cards(buckets.preflop, early, buckets.river, buckets.river_entry, *rest)
    small = buckets.river.astype(np.uint8)
    river = np.zeros(buckets.river_entry.shape, dtype=np.uint8)
    for low in range(0, len(river) if small.any() else 0, ROWS):
        found = buckets.river_entry[low : low + ROWS]
        np.take(small, found, out=river[low : low + ROWS], mode="clip")  # "raise" copies
    preflop, same = buckets.preflop.astype(np.uint8), np.arange(256, dtype=np.uint8)
    return Cards(preflop, early.astype(np.uint8), same, river, *rest)


def bucket_shares(buckets: Buckets, counts: tuple[int, ...]) -> list[np.ndarray]:
    """float64[counts[k]] for street k: how often a bucket is dealt, by a sample of deals with a
    fixed seed."""
    rng = np.random.default_rng(1)
    shares = [np.bincount(buckets.preflop, minlength=counts[0]) / len(buckets.preflop)]
    later = ((3, buckets.flop), (4, buckets.turn), (5, buckets.river_entry))
    for n, (size, table) in zip(counts[1:], later, strict=True):
        weight, masks = boards(size).weight, boards(size).masks
        board = rng.choice(len(weight), size=SAMPLE, p=weight / weight.sum())
        pair = rng.integers(0, table.shape[1], size=SAMPLE)
        cards = HOLDING_CARDS[pair].astype(np.int64)
        taken = (masks[board[:, None], cards & 3] >> (cards >> 2)) & 1
        free = ~taken.any(axis=1)
        found = table[board[free], pair[free]]
        found = found if size < 5 else buckets.river[found]
        shares.append(np.bincount(found, minlength=n) / free.sum())
    return shares
