"""Rows of a strategy: one for each decision of the betting tree and bucket of its street.

Rows are numbered decision by decision, bucket by bucket; they are the information sets of the form.
`row_of` is the only place that computes a row, in kernels and outside of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from counterplay.poker.betting.betting import BettingTree


def row_of(first_row: Any, node: Any, bucket: Any) -> Any:
    """Returns the row of a (signed) bucket at a node; outside kernels also for arrays."""
    return first_row[node] + bucket


_in_kernels: Any = register_jitable  # untyped
_in_kernels(row_of)


def buckets_at(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int64[decisions]: the number of buckets on the street of each decision."""
    buckets: np.ndarray = np.array(counts, dtype=np.int64)[tree.nodes.street[tree.nodes.node]]
    return buckets


def first_rows(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int32[n]: the first row of every node, 0 at terminals. `counts`: by street."""
    n = buckets_at(tree, counts)
    rows = np.zeros(len(tree.nodes.player), dtype=np.int32)
    rows[tree.nodes.node] = np.cumsum(n) - n
    return rows


def nodes_and_buckets(tree: BettingTree, counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns int32[m] and int64[m]: node and bucket of every row."""
    n = buckets_at(tree, counts)
    node = np.repeat(tree.nodes.node, n)
    return node, np.arange(len(node)) - np.repeat(np.cumsum(n) - n, n)


def first_slots(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int32[m + 1]: the first slot of every row, and the number of slots."""
    actions = np.repeat(tree.nodes.action_count, buckets_at(tree, counts))
    first = np.zeros(len(actions) + 1, dtype=np.int32)
    np.cumsum(actions, out=first[1:])
    return first


def slots_of(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int64[m, 3]: the slot of each of `ACTIONS` in every row, -1 where it is illegal."""
    legal = tree.legal[nodes_and_buckets(tree, counts)[0]]
    offset = np.cumsum(legal, axis=1) - 1
    slots: np.ndarray = np.where(legal, first_slots(tree, counts)[:-1, None] + offset, -1)
    return slots
