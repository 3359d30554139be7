"""Sparbot with other choices than the bot's: what becomes of the fourth bet of a round, and bucket
splitting, an option of the original while it plays.

Published: a bucket is split in halves by strength, and the mixing shifted so that the bucket's
totals are unchanged. Chosen here: shifted as far as possible, so that the stronger half raises
first and the weaker half folds first; halves have equal numbers of deals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.ehs import river_deals
from counterplay.poker.bots.sparbot.build import Policies, full_rows
from counterplay.poker.bots.sparbot.model import COLUMN
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.strength import RIVER_TOTAL, Strengths, strengths
from counterplay.poker.holdem.table import Table, new_table

#: The fourth bet of a round, which the models lack: always called; answered as the third; or called
#: and also made, with the strongest bucket or with the two strongest.
CALLED, AS_THIRD = "called", "answered as the third"
MADE, MADE_BY_TWO = "made with the strongest", "made with the two strongest"
CAPPING = {MADE: 1, MADE_BY_TWO: 2}  # buckets


def variant_rows(
    policies: Policies, n_buckets: int, fourth: str = CALLED, split: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """first_row and policy of a `Table`."""
    if raising := CAPPING.get(fourth, 0):
        policies = {
            history: _cap(rows, n_buckets, raising) if _third(history) else rows
            for history, rows in policies.items()
        }
    if split:
        policies = {history: split_rows(rows, n_buckets) for history, rows in policies.items()}
    return full_rows(policies, n_buckets * (1 + split), called=fourth != AS_THIRD)


def variant_table(
    buckets: Buckets, policies: Policies, n_buckets: int, fourth: str, split: bool
) -> Table:
    """The table of a bot with these choices."""
    first_row, policy = variant_rows(policies, n_buckets, fourth, split)
    if split:
        buckets, n_buckets = split_buckets(buckets, strengths()), 2 * n_buckets
    return new_table(buckets, first_row, np.array([0, 0, n_buckets, n_buckets]), policy)


def _third(history: str) -> bool:
    """Whether the player to act faces the third bet of a round after the flop."""
    return "/" in history and history.endswith("rrr")


def _cap(rows: np.ndarray, n_buckets: int, raising: int) -> np.ndarray:
    """Calls with the `raising` strongest buckets become raises. On the river the strongest is the
    last bucket, before it the last but one."""
    capped = rows.copy()
    paths = np.arange(len(capped))
    street = round(np.log(len(capped)) / np.log(n_buckets))
    best = n_buckets - 1 if street == 3 else n_buckets - 2
    strong = (paths % n_buckets <= best) & (paths % n_buckets > best - raising)
    capped[strong, COLUMN["raise"]] += capped[strong, COLUMN["call"]]
    capped[strong, COLUMN["call"]] = 0.0
    return capped


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
    """Splits each bucket at the strength that halves its weight. Strength 0 marks holdings that
    share a card with the board."""
    halved = 2 * bucket.astype(np.uint16)
    flat, counts = bucket.reshape(-1), np.asarray(strength).reshape(-1)
    for b in np.unique(flat):
        members = np.flatnonzero((flat == b) & (counts > 0))
        order = members[np.argsort(counts[members], kind="stable")]
        below = np.cumsum(weight[order])
        if len(order) and below[-1] > 0:
            middle = counts[order[np.searchsorted(below, below[-1] / 2)]]
            halved[(bucket == b) & (np.asarray(strength) >= middle)] += 1
    return halved


def split_rows(rows: np.ndarray, n_buckets: int) -> np.ndarray:
    """Rows by paths of n buckets to rows by paths of 2n, float64[n^k, 3] to float64[(2n)^k, 3].
    Only the half of the last bucket matters."""
    rounds = round(np.log(len(rows)) / np.log(n_buckets))
    weak, strong = halves(rows)
    both = np.stack([weak, strong], axis=1)  # [path, half, action]
    shape: tuple[Any, ...] = (n_buckets,) * rounds
    split = both.reshape(*shape, 2, rows.shape[1])
    for axis in range(rounds - 1):
        split = np.repeat(split, 2, axis=axis)
    return np.ascontiguousarray(split).reshape(-1, rows.shape[1])


def halves(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strategies of the weaker and the stronger half, float64[paths, 3] each; their mean is
    `rows`."""
    fold, call, bet = (COLUMN[name] for name in ("fold", "call", "raise"))
    weak, strong = np.zeros_like(rows), np.zeros_like(rows)
    strong[:, bet] = np.minimum(2 * rows[:, bet], 1.0)
    weak[:, bet] = 2 * rows[:, bet] - strong[:, bet]
    weak[:, fold] = np.minimum(2 * rows[:, fold], 1.0)
    strong[:, fold] = 2 * rows[:, fold] - weak[:, fold]
    for half in (weak, strong):
        half[:, call] = np.maximum(1.0 - half[:, fold] - half[:, bet], 0.0)
    return weak, strong
