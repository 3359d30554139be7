"""Two holdings up to a renaming of suits, 93,769 matchups (47,008 up to who has which), and how
often each pair of buckets comes on the flop: over all 17,296 that four known cards leave.

Counting one takes 0.3 ms and is done when a matchup is first met. All of them take some ten
seconds of a processor, and are kept in the cache folder.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Piece, Slot, cached_store, write_or_warn
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import CardAbstraction
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import Deal, bucket_of, find_board, new_deal, pair_of

N_FLOPS = 17_296  # that four known cards leave
N_MATCHUPS = 93_769
_PIECE = 500  # matchups a thread counts at once


class Matchups(NamedTuple):
    """m matchups, b buckets on the flop and before it at most."""

    number: np.ndarray  # int32[1326 · 1326]: of two holdings; -1 where they share a card
    flops: np.ndarray  # uint16[m, b²]: how many have each pair of buckets
    filled: np.ndarray  # bool[m]: whether they were counted
    buckets: int


@cache
def _numbers() -> tuple[np.ndarray, np.ndarray]:
    """`Matchups.number`, and int32[m]: two holdings of each matchup, as one number."""
    cards = HOLDING_CARDS.astype(np.int32)
    shared = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    least = np.full((N_HOLDINGS, N_HOLDINGS), N_HOLDINGS**2, dtype=np.int32)
    for order in permutations(range(4)):
        renamed = np.sort((cards & ~3) | np.array(order, dtype=np.int32)[cards & 3], axis=1)
        name = renamed[:, 1] * (renamed[:, 1] - 1) // 2 + renamed[:, 0]
        np.minimum(least, name[:, None] * N_HOLDINGS + name, out=least)
    met = np.zeros(N_HOLDINGS**2, dtype=np.bool_)
    met[least[~shared]] = True
    number = np.cumsum(met, dtype=np.int32) - np.int32(1)
    return np.where(shared, -1, number[least]).ravel(), np.flatnonzero(met).astype(np.int32)


@jit
def count_flops(cards: Any, b: int, chance: Deal, out: np.ndarray) -> None:
    """Add all flops that the four cards in front leave to `out` (uint16[b²]). The flop of
    `chance` is put back; its class is not."""
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
    """The number of the matchup in front of the deck; its flops are counted."""
    place = pair_of(chance, 0, False) * N_HOLDINGS + pair_of(chance, 1, False)
    number = index(matchups.number[index(place)])
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


_HELD: dict[Path, Matchups] = {}


def matchups(
    view: CardAbstraction, cards: Any, whole: bool, progress: ProgressCallback = no_progress
) -> Matchups:
    """Those of a view: from memory, from disk, or empty. `whole`: all of them counted, and kept."""
    store = cached_store("matchups", __name__, type(view).__module__)
    slot = store.slot("matchups", {"view": view.key})
    if slot.path not in _HELD:
        _HELD[slot.path] = _read(slot, view) or _empty(view)
    found = _HELD[slot.path]
    if whole and not found.filled.all():
        _fill(cards, found, progress)
        write_or_warn(slot, Piece(None, {"count": found.flops}), "the flops of matchups stay")
    return found


def _empty(view: CardAbstraction) -> Matchups:
    numbers, pairs = _numbers()
    b = max(view.counts)
    count = np.zeros((len(pairs), b * b), dtype=np.uint16)
    return Matchups(numbers, count, np.zeros(len(pairs), dtype=np.bool_), index(b))


def _fill(cards: Any, found: Matchups, progress: ProgressCallback) -> None:
    """Count what is missing; where two matchups differ in who has which, only one of them."""
    pairs, holdings = _numbers()[1].astype(np.int64), HOLDING_CARDS.astype(np.int64)
    turned = found.number[pairs % N_HOLDINGS * N_HOLDINGS + pairs // N_HOLDINGS]
    left = pairs[~found.filled & ~found.filled[turned] & (np.arange(len(pairs)) <= turned)]
    pieces = [left[k : k + _PIECE] for k in range(0, len(left), _PIECE)]

    def work(piece: np.ndarray) -> None:
        _count_some(cards, found, piece, holdings, new_deal())

    with ThreadPoolExecutor(cores()) as pool:
        for k, _ in enumerate(pool.map(work, pieces)):
            progress((k + 1) / len(pieces), "counting the flops of all matchups, once")
    rest = np.flatnonzero(~found.filled)
    seen = found.flops[turned[rest]].reshape(-1, found.buckets, found.buckets)
    found.flops[rest] = seen.transpose(0, 2, 1).reshape(len(rest), -1)
    found.filled[rest] = True


def _read(slot: Slot, view: CardAbstraction) -> Matchups | None:
    """What is on disk, if it is whole."""
    new = _empty(view)
    piece = slot.read(most=new.flops.nbytes + (1 << 20))
    count = np.zeros(0) if piece is None else piece.arrays.get("count", np.zeros(0))
    if count.shape != new.flops.shape or not (count.sum(axis=1) == N_FLOPS).all():
        return None
    return new._replace(flops=count, filled=np.ones_like(new.filled))
