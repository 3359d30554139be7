"""Arrays of public chance sampling: the workspace of one traversal, and the restriction of a player
to a model in a restricted game."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import ALL

FEW = 20  # buckets on the last street up to which `value_by_bucket` is faster
MODEL = 2  # index of the model's reach and paths, after those of both players


class InfosetRows(NamedTuple):
    """Numbers of information sets and slots, of a form."""

    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]


class Restriction(NamedTuple):
    """The restriction of a player to a model (`core/forms/restricted.py`). `restricted` is -1
    without a model."""

    restricted: int
    per_hand: bool  # the model is followed or not for a whole hand; else at each information set
    share: np.ndarray  # [2]: 1 - p and p, per hand
    fixed: np.ndarray  # float64[s]: σ_fix
    confidence: np.ndarray  # float64[m]: Pconf(I), at each information set


class TraversalWorkspace(NamedTuple):
    """Buffers of one thread: s streets, n holdings, b buckets, k nodes of a street, e onward ends,
    w action sequences times lanes, f = min(b, FEW) buckets."""

    y: np.ndarray  # [s, 3, n, LANES]: reach at the start of the group
    path: np.ndarray  # [s, 3, b, w]: probability of each action sequence from there
    policy: np.ndarray  # [s, b, k * LANES]: σ of the action that leads to a node
    restricted_policy: np.ndarray  # the same mixed with the model; σ_fix if per hand
    onward_value: np.ndarray  # [s, 2, e, n, LANES]: values after the onward ends
    root: np.ndarray  # [2, n, LANES]: values at the start of the group of the second street
    showdown_path: np.ndarray  # [3, b, w]: paths of the sequences with a showdown
    fold_path: np.ndarray  # [3, b, w]: of those with a fold
    showdown_weight: np.ndarray  # [b, w]: Σ payoff · own path over the showdowns of a sequence
    fold_weight: np.ndarray  # [b, w]: the same for folds
    showdown_total: np.ndarray  # [b, w]: unweighted value of showdowns to a bucket
    fold_total: np.ndarray  # [b, w]: the same for folds
    gain: np.ndarray  # [b, k * LANES]: value of each node to a bucket
    own_reach: np.ndarray  # [b, LANES]: own reach of a bucket at the start
    row: np.ndarray  # [2, w]
    sums: np.ndarray  # [2, 53, w]: of showdowns and of folds
    value: np.ndarray  # [k * LANES]: values of the nodes to one holding
    reached: np.ndarray  # bool[n]
    bucket_cards: np.ndarray  # [f, 53 * LANES]: -½ per holding of a bucket and card; +½ in ALL
    bucket_sums: np.ndarray  # [53, f * LANES]: the other's reach by card and bucket
    bucket_wins: np.ndarray  # [f, f * LANES]: what each bucket wins from each
    bucket_met: np.ndarray  # [f, f * LANES]: the reach of each that shares no card
    bucket_showdown: np.ndarray  # [f, f * LANES]: payoff times paths of both at showdowns
    bucket_fold: np.ndarray  # [f, f * LANES]: the same for folds
    bucket_half: np.ndarray  # [f, f * LANES]: half the difference of the two
    bucket_rest: np.ndarray  # [f, 53 * LANES]
    half: np.ndarray  # [1]: 0.5
    onward_end: np.ndarray  # int64[s]: the onward end of each street that the traversal is behind


def new_traversal_workspace(
    streets: tuple[Street, ...], counts: tuple[int, ...], dtype: Any
) -> TraversalWorkspace:
    """Returns a workspace for a card abstraction with `counts` buckets on the streets."""
    s, n, b = len(streets), N_HOLDINGS, min(max(counts), N_HOLDINGS)
    f = min(b, FEW)
    nodes = max(len(street.player) for street in streets) * LANES
    w = max(int(street.n_sequences.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets)
    shapes: dict[str, tuple[int, ...]] = {
        "y": (s, 3, n, LANES),
        "path": (s, 3, b, w),
        **dict.fromkeys(("policy", "restricted_policy"), (s, b, nodes)),
        "onward_value": (s, 2, ends, n, LANES),
        "root": (2, n, LANES),
        **dict.fromkeys(("showdown_path", "fold_path"), (3, b, w)),
        **dict.fromkeys(("showdown_weight", "fold_weight"), (b, w)),
        **dict.fromkeys(("showdown_total", "fold_total"), (b, w)),
        "gain": (b, nodes),
        "own_reach": (b, LANES),
        "row": (2, w),
        "sums": (2, ALL + 1, w),
        "value": (nodes,),
        **dict.fromkeys(("bucket_cards", "bucket_rest"), (f, (ALL + 1) * LANES)),
        "bucket_sums": (ALL + 1, f * LANES),
        **dict.fromkeys(("bucket_wins", "bucket_met"), (f, f * LANES)),
        **dict.fromkeys(("bucket_showdown", "bucket_fold", "bucket_half"), (f, f * LANES)),
    }
    arrays = {name: np.zeros(shape, dtype=dtype) for name, shape in shapes.items()}
    return TraversalWorkspace(
        **arrays,
        reached=np.zeros(n, dtype=np.bool_),
        half=np.array([0.5], dtype=dtype),
        onward_end=np.zeros(s, dtype=np.int64),
    )
