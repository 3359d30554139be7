"""A card abstraction: the bucket of a holding on a board, for each street. A player does not
remember the buckets of earlier streets, unless they follow from the present one (perfect recall,
nested kinds).

A `CardAbstraction` is a small value that knows the number of buckets on each street and can compute
them as `Buckets`; kernels read them as `Cards`, together with the links between canonical boards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.base.registry import Registry
from counterplay.core.kernels.jit import index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.deal import Deal, bucket_of, draw, find_board, new_deal, remembers
from counterplay.poker.cards.decks import FULL, Deck

ROWS = 1024  # rows of a table that are converted at once
SAMPLE = 200_000  # deals in the estimate of bucket frequencies
NO_RECALL = np.zeros(0, dtype=np.uint16)  # `turn_after` where no bucket depends on the one before


class Buckets(NamedTuple):
    """Buckets of every holding on every canonical board. On the river the tables have an entry,
    which may be the bucket itself or a count of wins, and the bucket of each entry.

    With perfect recall the tables have an entry on the turn too, and the bucket of an entry on turn
    and river depends on that of the street before: the order of the cards is not in the tables. The
    bucket on the flop must imply the one before it.

    Holdings that a suit permutation of the board onto itself maps to each other must have the same
    bucket.
    """

    preflop: np.ndarray  # uint16[1326]
    flop: np.ndarray  # uint16[1755, 1326]
    turn: np.ndarray  # uint16[16432, 1326]: with perfect recall the entry, less than j
    river: np.ndarray  # uint16[k]: bucket of an entry; with perfect recall uint16[turn buckets, k]
    river_entry: np.ndarray  # uint16[134459, 1326]: less than k; may be mapped from disk
    turn_after: np.ndarray = NO_RECALL  # with perfect recall uint16[flop buckets, j]


class CardAbstraction(Protocol):
    """A card abstraction. Equal ones have equal hashes, so that their tables are made once."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of buckets on each street."""

    @property
    def deck(self) -> Deck:
        """The cards in play."""

    @property
    def arguments(self) -> str:
        """Arguments in the name of the game."""

    @property
    def key(self) -> str:
        """Everything the buckets depend on besides the EHS tables; part of the key of the game."""

    def buckets(self, progress: ShareCallback = no_progress) -> Buckets:
        """Returns the buckets, computed or from the cache."""

    def __hash__(self) -> int: ...


BucketNumbers = dict[str, int | None]  # by `buckets` (all streets) or the name of a street


class AbstractionSpec(NamedTuple):
    """A kind of card abstraction by name, as in `holdem(kind=sparbot)`."""

    name: str
    #: From the numbers of buckets and the cards of the board at a showdown, 3 or 5.
    make: Callable[[BucketNumbers, int], CardAbstraction]


ABSTRACTIONS: Registry[AbstractionSpec] = Registry(
    "abstraction", lambda spec: isinstance(spec, AbstractionSpec)
)


def make_abstraction(kind: str, numbers: BucketNumbers, on_board: int) -> CardAbstraction:
    """Returns the card abstraction of a kind with these numbers of buckets."""
    return ABSTRACTIONS.find(kind, "kind").make(numbers, on_board)


class Cards(NamedTuple):
    """A card abstraction in arrays for kernels: one byte a bucket where 256 buckets suffice, since
    memory access takes most of the time."""

    preflop: np.ndarray  # uint8[1326]
    early: np.ndarray  # uint8[18187, 1326]: flops, then turns
    river: np.ndarray  # uint8[k]: bucket of an entry; with perfect recall as in `Buckets`
    river_entry: np.ndarray  # uint8[134459, 1326]; with more than 256 buckets uint16, like the rest
    flops: np.ndarray  # int32[22100]: of `Links`
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`
    deck: np.ndarray  # int64[52]: the cards in play
    turn_after: np.ndarray | None  # with perfect recall as in `Buckets`


def cards_of(buckets: Buckets, deck: Deck = FULL) -> Cards:
    """Returns compact tables: 202 MB, or 48 MB and the unchanged entries."""
    early, recall = np.concatenate([buckets.flop, buckets.turn]), buckets.river.ndim == 2
    after = buckets.turn_after if recall else None  # None: one array more slows kernels by a third
    rest = (*deck.links(), np.array(deck.cards, dtype=np.int64), after)
    if recall or max(table.max() for table in (buckets.preflop, early, buckets.river)) > 255:
        return Cards(buckets.preflop, early, buckets.river, buckets.river_entry, *rest)
    small = buckets.river.astype(np.uint8)
    river = np.zeros(buckets.river_entry.shape, dtype=np.uint8)
    for low in range(0, len(river) if small.any() else 0, ROWS):
        entry = buckets.river_entry[low : low + ROWS]
        np.take(small, entry, out=river[low : low + ROWS], mode="clip")  # "raise" copies
    preflop, identity = buckets.preflop.astype(np.uint8), np.arange(256, dtype=np.uint8)
    return Cards(preflop, early.astype(np.uint8), identity, river, *rest)


def check_filled(buckets: Buckets, counts: tuple[int, ...]) -> None:
    """Raises `BadParameter` if a holding has a bucket that the abstraction does not have."""
    turn, river = buckets.turn, buckets.river
    _check_entries("river", buckets.river_entry, river)
    if river.ndim == 2:
        _check_entries("turn", turn, buckets.turn_after)
        turn = buckets.turn_after
        for name, table, n in (("turn", turn, counts[1]), ("river", river, counts[2])):
            if len(table) != n:
                raise BadParameter(
                    f"the buckets of this card abstraction are not filled: on the {name} they "
                    f"follow {len(table)} buckets of the street before, and there are {n}"
                )
    tables = (buckets.preflop, buckets.flop, turn, river[..., : int(buckets.river_entry.max()) + 1])
    for name, table, n in zip(STREETS, tables, counts, strict=True):
        if (bucket := int(table.max())) >= n:
            raise BadParameter(
                f"the buckets of this card abstraction are not filled: on the {name} a holding has "
                f"bucket {bucket}, and there are {n}, from 0 on"
            )


def _check_entries(street: str, entries: np.ndarray, buckets: np.ndarray) -> None:
    """Raises `BadParameter` if a holding has an entry without a bucket."""
    entry, n = int(entries.max()), buckets.shape[-1]
    if entry >= n:
        raise BadParameter(
            f"the buckets of this card abstraction are not filled: on the {street} a holding has "
            f"entry {entry}, and there are buckets for {n}, from 0 on"
        )


@jit
def _count_deals(cards: Any, n: int, deal: Deal, rng: np.ndarray, out: np.ndarray) -> None:
    """Adds the buckets of one player in n deals to `out`, by street and bucket."""
    for _ in range(n):
        draw(deal, rng)
        bucket = np.int64(0)
        for street in range(4):
            board = find_board(cards, deal, street)
            bucket = np.int64(bucket_of(cards, deal, board, 0, street, bucket))
            out[index(street), index(bucket)] += 1


def bucket_shares(buckets: Buckets, cards: Cards, counts: tuple[int, ...]) -> list[np.ndarray]:
    """Returns float64[counts[k]] for street k: the frequency of each bucket in a sample of deals
    with a fixed seed. `cards`: the buckets for kernels."""
    if remembers(cards):
        deals = np.zeros((4, max(counts)), dtype=np.int64)
        _count_deals(cards, SAMPLE, new_deal(), new_state(1), deals)
        return [row[:n] / SAMPLE for row, n in zip(deals, counts, strict=True)]
    rng = np.random.default_rng(1)
    shares = [np.bincount(buckets.preflop, minlength=counts[0]) / len(buckets.preflop)]
    later = ((3, buckets.flop), (4, buckets.turn), (5, buckets.river_entry))
    for n, (size, table) in zip(counts[1:], later, strict=True):
        weight, masks = boards(size).weight, boards(size).masks
        board = rng.choice(len(weight), size=SAMPLE, p=weight / weight.sum())
        holding = rng.integers(0, table.shape[1], size=SAMPLE)
        held = HOLDING_CARDS[holding].astype(np.int64)
        blocked = (masks[board[:, None], held & 3] >> (held >> 2)) & 1
        free = ~blocked.any(axis=1)
        bucket = table[board[free], holding[free]]
        bucket = bucket if size < 5 else buckets.river[bucket]
        shares.append(np.bincount(bucket, minlength=n) / free.sum())
    return shares
