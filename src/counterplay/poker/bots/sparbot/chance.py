"""BucketChance in the abstract games: transition probabilities between pairs of buckets, and
expected-value tables, estimated from sampled deals.

Published: for each change of street one matrix from pairs of buckets to pairs of buckets, averaged
over all cards; pairs, because the two hands share the board. The original enumerated some
characteristic flops; here whole deals are sampled with a fixed seed. A deal counts twice, once for
each seating of the two hands, so that every matrix is symmetric between the players.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import Buckets, Cards, cards_of
from counterplay.poker.abstraction.sparbot import N_BUCKETS
from counterplay.poker.cards.deal import Deal, bucket_of, compare, draw, find_board, new_deal

N_DEALS = 8_000_000
CHUNKS = 32  # with a random stream each, so that counts do not depend on the number of threads
SEED = 2003


class BucketChance(NamedTuple):
    """n buckets; pairs are (first seat's, second seat's)."""

    first: np.ndarray  # float64[n, n]: probability of each pair before the flop
    # float64[n, n, n, n] each, to flop, turn and river: probability of a pair after a pair
    transition: tuple[np.ndarray, ...]
    # float64[n, n] for each round: wins minus losses of the first seat at a showdown
    value: tuple[np.ndarray, ...]


class DealCounts(NamedTuple):
    """Numbers of sampled deals, by s = n² pairs of buckets."""

    first: np.ndarray  # int64[s]
    transition: np.ndarray  # int64[3, s, s]
    won: np.ndarray  # int64[4, s]: wins minus losses of the first seat


@jit
def _count_deals(
    cards: Cards, n: int, n_buckets: int, rng: np.ndarray, deal: Deal, counts: DealCounts
) -> None:
    """Adds n deals to `counts`; `deal` is workspace."""
    for _ in range(n):
        draw(deal, rng)
        compare(deal)
        won = deal.winner[ZERO]
        pair, swapped = ZERO, ZERO
        for street in range(4):
            board = find_board(cards, deal, street)
            one = index(bucket_of(cards, deal, board, 0, street))
            two = index(bucket_of(cards, deal, board, 1, street))
            pair_now, swapped_now = one * index(n_buckets) + two, two * index(n_buckets) + one
            if street == 0:
                counts.first[pair_now] += 1
                counts.first[swapped_now] += 1
            else:
                counts.transition[street - 1, pair, pair_now] += 1
                counts.transition[street - 1, swapped, swapped_now] += 1
            counts.won[street, pair_now] += won
            counts.won[street, swapped_now] -= won
            pair, swapped = pair_now, swapped_now


def count_deals(
    buckets: Buckets, n: int, n_buckets: int, progress: ShareCallback = no_progress
) -> DealCounts:
    """DealCounts over n sampled deals; the same for the same n."""
    cards = cards_of(buckets)
    pairs = n_buckets**2
    total = _no_counts(pairs)

    def count_chunk(chunk: int) -> DealCounts:
        counts = _no_counts(pairs)
        share = n * (chunk + 1) // CHUNKS - n * chunk // CHUNKS
        _count_deals(cards, share, n_buckets, new_state(SEED, chunk), new_deal(), counts)
        return counts

    with ThreadPoolExecutor(cores()) as pool:  # kernels release the interpreter lock
        for done, part in enumerate(pool.map(count_chunk, range(CHUNKS)), 1):
            for sums, more in zip(total, part, strict=True):
                sums += more
            progress(done / CHUNKS)
    return total


def _no_counts(pairs: int) -> DealCounts:
    return DealCounts(
        *(np.zeros(shape, dtype=np.int64) for shape in ((pairs,), (3, pairs, pairs), (4, pairs)))
    )


def chance_from_counts(counts: DealCounts) -> BucketChance:
    """Relative frequencies of the counts. A pair of buckets without deals (none with millions) has
    no successors and value 0."""
    n = round(len(counts.first) ** 0.5)
    deals = [counts.first, *(counts.transition[k].sum(axis=0) for k in range(3))]
    return BucketChance(
        (counts.first / counts.first.sum()).reshape(n, n),
        tuple(
            (counts.transition[k] / np.maximum(deals[k], 1)[:, None]).reshape(n, n, n, n)
            for k in range(3)
        ),
        tuple((counts.won[k] / np.maximum(deals[k], 1)).reshape(n, n) for k in range(4)),
    )


def sparbot_chance(
    buckets: Buckets,
    progress: ShareCallback = no_progress,
    n_buckets: int = N_BUCKETS,
    deals: int = N_DEALS,
) -> BucketChance:
    """The chance moves of all eight models."""
    return chance_from_counts(count_deals(buckets, deals, n_buckets, progress))
