"""What public chance sampling works with: numbers of a walk, and what ties a player to a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import ALL

FEW = 20  # buckets on the last street up to which `value_few` is faster
MODEL = 2  # where the model's reach and paths stand, behind those of both players


class Rows(NamedTuple):
    """Where information sets stand, of a form."""

    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]


class Ties(NamedTuple):
    """What ties a player to a model (`core/forms/restricted.py`). Without a model `restricted` is
    -1."""

    restricted: int
    once: bool  # one coin for the whole hand; otherwise one at each information set
    share: np.ndarray  # [2]: 1 - p and p of the one coin
    fixed: np.ndarray  # float64[s]: σ_fix
    confidence: np.ndarray  # float64[m]: Pconf(I), of a coin at each


class BoardWork(NamedTuple):
    """Numbers of one walk: s streets, n holdings, b buckets, k places, w = lines times lanes."""

    y: np.ndarray  # [s, 3, n, LANES]: reach at the start of the group
    path: np.ndarray  # [s, 3, b, w]: of each line, from the start
    policy: np.ndarray  # [s, b, k * LANES]: σ of the action that leads to a place
    # the same with the model's share; or σ_fix where there is one coin
    tied: np.ndarray
    value: np.ndarray  # [s, 2, ends, n, LANES]: of ends that go on
    root: np.ndarray  # [2, n, LANES]: values at the start of the group of the second street
    shown: np.ndarray  # [3, b, w]: paths of lines with a showdown
    gone: np.ndarray  # [3, b, w]: of those with a fold
    weight_shown: np.ndarray  # [b, w]: payoff times own path, summed over showdowns of a line
    weight_gone: np.ndarray  # [b, w]: the same of folds
    total_shown: np.ndarray  # [b, w]: what a bucket wins at showdowns
    total_gone: np.ndarray  # [b, w]: the same of folds
    gain: np.ndarray  # [b, k * LANES]: value of each place to a bucket
    held: np.ndarray  # [b, LANES]: own reach of a bucket
    row: np.ndarray  # [3, w]
    sums: np.ndarray  # [2, 53, w]: of showdowns and folds
    place: np.ndarray  # [k * LANES]: values of one holding
    reached: np.ndarray  # bool[n]
    cards: np.ndarray  # [f, 53 * LANES]: half the holdings of each bucket and card, all behind them
    few_sums: np.ndarray  # [53, f * LANES]: the other's reach by card and bucket, f at most
    few_won: np.ndarray  # [f, f * LANES]: what each bucket wins from each
    few_met: np.ndarray  # [f, f * LANES]: the reach of each that shares no card
    few_shown: np.ndarray  # [f, f * LANES]: payoffs times paths of both at showdowns
    few_gone: np.ndarray  # [f, f * LANES]: the same of folds
    few_both: np.ndarray  # [f, f * LANES]
    few_rest: np.ndarray  # [f, 53 * LANES]
    half: np.ndarray  # [1]
    at: np.ndarray  # int64[s]: the end of each street that the walk is behind


def new_work(streets: tuple[Street, ...], counts: tuple[int, ...], dtype: Any) -> BoardWork:
    """Room for walks over `streets` with so many buckets on each."""
    s, n, b = len(streets), N_HOLDINGS, min(max(counts), N_HOLDINGS)
    f = min(b, FEW)
    places = max(len(street.player) for street in streets) * LANES
    lines = max(int(street.n_lines.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets)
    shapes: dict[str, tuple[int, ...]] = {
        "y": (s, 3, n, LANES),
        "path": (s, 3, b, lines),
        "policy": (s, b, places),
        "tied": (s, b, places),
        "value": (s, 2, ends, n, LANES),
        "root": (2, n, LANES),
        "shown": (3, b, lines),
        "gone": (3, b, lines),
        "weight_shown": (b, lines),
        "weight_gone": (b, lines),
        "total_shown": (b, lines),
        "total_gone": (b, lines),
        "gain": (b, places),
        "held": (b, LANES),
        "row": (3, lines),
        "cards": (f, (ALL + 1) * LANES),
        "few_sums": (ALL + 1, f * LANES),
        "few_won": (f, f * LANES),
        "few_met": (f, f * LANES),
        "few_shown": (f, f * LANES),
        "few_gone": (f, f * LANES),
        "few_both": (f, f * LANES),
        "few_rest": (f, (ALL + 1) * LANES),
        "sums": (2, N_CARDS + 1, lines),
        "place": (places,),
    }
    arrays = {name: np.zeros(shape, dtype=dtype) for name, shape in shapes.items()}
    return BoardWork(
        **arrays,
        reached=np.zeros(n, dtype=np.bool_),
        half=np.array([0.5], dtype=dtype),
        at=np.zeros(s, dtype=np.int64),
    )
