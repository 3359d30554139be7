"""Matchups of two holdings up to suit permutations, and the distribution of bucket pairs on the
flop, over the 17,296 flops that four known cards leave.

There are 93,769 matchups, 47,008 without regard to the players' order. Counting one takes 0.3 ms
and is done when the matchup first occurs; counting all takes about ten seconds of one processor,
and the result is cached."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress, shown
from counterplay.core.base.store import Piece, Slot, cached_store, write_or_warn
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import CardAbstraction
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import Deal, bucket_of, find_board, holding_of, new_deal

N_FLOPS = 17_296  # after four known cards
N_MATCHUPS = 93_769
_PIECE = 500  # matchups in one task of a thread


class Matchups(NamedTuple):
    """m matchups; at most b buckets before and on the flop."""

    number: np.ndarray  # int32[1326 · 1326]: by two holdings; -1 where they share a card
    flops: np.ndarray  # uint16[m, b²]: number of flops with each pair of buckets
    filled: np.ndarray  # bool[m]: whether a matchup was counted
    buckets: int


@cache
def _numbers() -> tuple[np.ndarray, np.ndarray]:
    """Returns `Matchups.number`, and int32[m]: two holdings of each matchup, as one number."""
    cards = HOLDING_CARDS.astype(np.int32)
    shared = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    least = np.full((N_HOLDINGS, N_HOLDINGS), N_HOLDINGS**2, dtype=np.int32)
    for order in permutations(range(4)):
        permuted = np.sort((cards & ~3) | np.array(order, dtype=np.int32)[cards & 3], axis=1)
        image = permuted[:, 1] * (permuted[:, 1] - 1) // 2 + permuted[:, 0]
        np.minimum(least, image[:, None] * N_HOLDINGS + image, out=least)
    canonical = np.zeros(N_HOLDINGS**2, dtype=np.bool_)
    canonical[least[~shared]] = True
    number = np.cumsum(canonical, dtype=np.int32) - np.int32(1)
    return np.where(shared, -1, number[least]).ravel(), np.flatnonzero(canonical).astype(np.int32)


@jit
def count_flops(cards: Any, b: int, chance: Deal, out: np.ndarray) -> None:
    """Adds all flops that the first four cards of the deck leave to `out` (uint16[b²]). The flop of
    `chance` is restored, but not its canonical board."""
    deck = chance.deck
    a, m, z = deck[4], deck[5], deck[6]
    for high in range(52):
        if high in (deck[0], deck[1], deck[2], deck[3]):
            continue
        for middle in range(high):
            if middle in (deck[0], deck[1], deck[2], deck[3]):
                continue
            for low in range(middle):
                if low in (deck[0], deck[1], deck[2], deck[3]):
                    continue
                deck[4], deck[5], deck[6] = low, middle, high
                board = find_board(cards, chance, 1)
                one = index(bucket_of(cards, chance, board, 0, 1))
                two = index(bucket_of(cards, chance, board, 1, 1))
                out[one * index(b) + two] += 1
    deck[4], deck[5], deck[6] = a, m, z


@jit
def matchup_of(cards: Any, matchups: Matchups, chance: Deal) -> int:
    """Returns the matchup of the first four cards of the deck, with its flops counted."""
    both = holding_of(chance, 0, False) * N_HOLDINGS + holding_of(chance, 1, False)
    number = index(matchups.number[index(both)])
    if not matchups.filled[number]:
        count_flops(cards, matchups.buckets, chance, matchups.flops[number])
        matchups.filled[number] = True
    return number


@jit
def _count_some(
    cards: Any, matchups: Matchups, pairs: np.ndarray, holdings: np.ndarray, chance: Deal
) -> None:
    for k in range(index(len(pairs))):
        for player in range(index(2)):
            held = pairs[k] // N_HOLDINGS if player == ZERO else pairs[k] % N_HOLDINGS
            for j in range(index(2)):
                chance.deck[index(2) * player + j] = holdings[index(held), j]
        matchup_of(cards, matchups, chance)


_IN_MEMORY: dict[Path, Matchups] = {}


def matchups(
    abstraction: CardAbstraction, cards: Any, whole: bool, progress: ProgressCallback = no_progress
) -> Matchups:
    """Returns the matchups of a card abstraction: from memory, from disk, or empty. `whole`: counts
    all of them and caches them on disk."""
    store = cached_store("matchups", __name__, type(abstraction).__module__)
    slot = store.slot("matchups", {"abstraction": abstraction.key})
    if slot.path not in _IN_MEMORY:
        _IN_MEMORY[slot.path] = _read(slot, abstraction) or _empty(abstraction)
    table = _IN_MEMORY[slot.path]
    if whole and not table.filled.all():
        with shown(progress) as progress:
            _fill(cards, table, progress)
        write_or_warn(slot, Piece(None, {"count": table.flops}), "the flops of matchups stay")
    return table


def _empty(abstraction: CardAbstraction) -> Matchups:
    numbers, pairs = _numbers()
    b = max(abstraction.counts)
    count = np.zeros((len(pairs), b * b), dtype=np.uint16)
    return Matchups(numbers, count, np.zeros(len(pairs), dtype=np.bool_), index(b))


def _fill(cards: Any, table: Matchups, progress: ProgressCallback) -> None:
    """Counts what is missing; of two matchups that differ in the players' order only one is
    counted, and the other one is copied from it."""
    pairs, holdings = _numbers()[1].astype(np.int64), HOLDING_CARDS.astype(np.int64)
    swapped = table.number[pairs % N_HOLDINGS * N_HOLDINGS + pairs // N_HOLDINGS]
    left = pairs[~table.filled & ~table.filled[swapped] & (np.arange(len(pairs)) <= swapped)]
    pieces = [left[k : k + _PIECE] for k in range(0, len(left), _PIECE)]

    def work(piece: np.ndarray) -> None:
        _count_some(cards, table, piece, holdings, new_deal())

    with ThreadPoolExecutor(cores()) as pool:
        for k, _ in enumerate(pool.map(work, pieces)):
            progress((k + 1) / len(pieces), "counting the flops of all matchups, once")
    rest = np.flatnonzero(~table.filled)
    counted = table.flops[swapped[rest]].reshape(-1, table.buckets, table.buckets)
    table.flops[rest] = counted.transpose(0, 2, 1).reshape(len(rest), -1)
    table.filled[rest] = True


def _read(slot: Slot, abstraction: CardAbstraction) -> Matchups | None:
    """Returns the matchups on disk, or None unless all of them are there."""
    new = _empty(abstraction)
    piece = slot.read(most=new.flops.nbytes + (1 << 20))
    count = np.zeros(0) if piece is None else piece.arrays.get("count", np.zeros(0))
    if count.shape != new.flops.shape or not (count.sum(axis=1) == N_FLOPS).all():
        return None
    return new._replace(flops=count, filled=np.ones_like(new.filled))
