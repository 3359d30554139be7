"""Bucket splitting, an option of the original while it plays.

Published: a bucket is split in halves by strength, and the mixing shifted so that the bucket's
totals stay as they are. Chosen here: shifted as far as that allows, so that the stronger half
raises first and the weaker half folds first; halves have the same number of deals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.ehs import river_deals
from counterplay.poker.bots.sparbot.model import COLUMN
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import RIVER_TOTAL
from counterplay.poker.cards.tables import Strengths


def split_buckets(buckets: Buckets, strengths: Strengths) -> Buckets:
    """Bucket b becomes 2b, its weaker half, and 2b + 1."""
    flop, turn = (np.repeat(boards(size).weight, N_HOLDINGS) for size in (3, 4))
    return Buckets(
        _halved(buckets.preflop, strengths.preflop, np.ones(N_HOLDINGS)),
        _halved(buckets.flop, strengths.flop, flop),
        _halved(buckets.turn, strengths.turn, turn),
        _halved(buckets.river, np.arange(RIVER_TOTAL + 1), river_deals(strengths.river)),
        buckets.river_entry,
    )


def _halved(bucket: np.ndarray, strength: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """By the strength that halves the weight of each bucket. No strength: a card is on the
    board."""
    found = 2 * bucket.astype(np.uint16)
    flat, counts = bucket.reshape(-1), np.asarray(strength).reshape(-1)
    for b in np.unique(flat):
        mine = np.flatnonzero((flat == b) & (counts > 0))
        order = mine[np.argsort(counts[mine], kind="stable")]
        below = np.cumsum(weight[order])
        if len(order) and below[-1] > 0:
            middle = counts[order[np.searchsorted(below, below[-1] / 2)]]
            found[(bucket == b) & (np.asarray(strength) >= middle)] += 1
    return found


def split_rows(rows: np.ndarray, n_buckets: int) -> np.ndarray:
    """Rows by paths of n buckets to rows by paths of 2n: earlier halves are forgotten, the last one
    decides. float64[n^k, 3] to float64[(2n)^k, 3]."""
    rounds = round(np.log(len(rows)) / np.log(n_buckets))
    weak, strong = halves(rows)
    both = np.stack([weak, strong], axis=1)  # [path, half, action]
    shape: tuple[Any, ...] = (n_buckets,) * rounds
    found = both.reshape(*shape, 2, rows.shape[1])
    for axis in range(rounds - 1):
        found = np.repeat(found, 2, axis=axis)
    return np.ascontiguousarray(found).reshape(-1, rows.shape[1])


def halves(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the weaker and the stronger half do, each float64[paths, 3]; their mean is `rows`."""
    fold, call, bet = (COLUMN[name] for name in ("fold", "call", "raise"))
    weak, strong = np.zeros_like(rows), np.zeros_like(rows)
    strong[:, bet] = np.minimum(2 * rows[:, bet], 1.0)
    weak[:, bet] = 2 * rows[:, bet] - strong[:, bet]
    weak[:, fold] = np.minimum(2 * rows[:, fold], 1.0)
    strong[:, fold] = 2 * rows[:, fold] - weak[:, fold]
    for half in (weak, strong):
        half[:, call] = np.maximum(1.0 - half[:, fold] - half[:, bet], 0.0)
    return weak, strong
