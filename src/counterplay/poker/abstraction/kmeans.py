"""k-means in whole numbers (Lloyd, with the seeding of Arthur & Vassilvitskii 2007).

Points and centres are whole numbers, so sums and squared distances are exact: threads, pieces and a
device give the same bits, and the objective, the sum of squared distances to the nearest centre,
never rises. The whole number next to the mean is the best whole centre of a cluster. Ties go to the
first centre. Centres are sorted by the sum of their coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.parallel.jobs import map_in_threads

SCALE = 4096  # a coordinate of 1; with at most 64 coordinates distances fit into 31 bits
ROUNDS = 40  # of Lloyd's algorithm at most
PIECE = 20_000  # points of one task
FARTHEST = 2**40  # above all squared distances

#: Fills the last argument with the number of the nearest centre of each point.
Assign = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


@jit
def nearest(points: np.ndarray, centres: np.ndarray, out: np.ndarray) -> None:
    """Fills `out` (uint16[n]) with the nearest centre of each point (int16[n, d]). `centres`,
    int32[k, d + 1]: sorted by their sums, which are the last column.

    The squared distance is at least the squared difference of the sums over d, so the search goes
    outwards from the centres with a similar sum and ends early.
    """
    n, k, d = index(len(points)), np.int64(len(centres)), index(points.shape[1])
    for i in range(n):
        total = np.int64(0)
        for j in range(d):
            total += points[i, j]
        low, high = np.int64(0), k  # the first centre with a sum of at least `total`
        while low < high:
            middle = (low + high) >> 1
            if _sum(centres, middle) < total:
                low = middle + 1
            else:
                high = middle
        best, chosen = np.int64(FARTHEST), np.int64(0)
        left, right = low - 1, low
        while left >= 0 or right < k:
            if left >= 0:
                gap = total - _sum(centres, left)
                if gap * gap > best * np.int64(d):
                    left = np.int64(-1)
                else:
                    distance = _distance(points, i, centres, left)
                    if distance < best or (distance == best and left < chosen):
                        best, chosen = distance, left
                    left -= 1
            if right < k:
                gap = total - _sum(centres, right)
                if gap * gap > best * np.int64(d):
                    right = k
                else:
                    distance = _distance(points, i, centres, right)
                    if distance < best or (distance == best and right < chosen):
                        best, chosen = distance, right
                    right += 1
        out[i] = chosen


@jit(inner=True)
def _sum(centres: np.ndarray, c: Any) -> Any:
    """The sum of a centre, which is its last column."""
    return np.int64(centres[index(c), index(centres.shape[1]) - ONE])


@jit(inner=True)
def _distance(points: np.ndarray, i: Any, centres: np.ndarray, c: Any) -> Any:
    total = np.int32(0)
    for j in range(index(points.shape[1])):
        gap = np.int32(points[i, j]) - np.int32(centres[index(c), j])
        total += gap * gap
    return np.int64(total)


@jit
def _approach(points: np.ndarray, centre: np.ndarray, closest: np.ndarray) -> None:
    """Lowers `closest` (int64[n]) to the squared distance from a new centre."""
    for i in range(index(len(points))):
        total = np.int32(0)
        for j in range(index(points.shape[1])):
            gap = np.int32(points[i, j]) - np.int32(centre[j])
            total += gap * gap
        if total < closest[i]:
            closest[i] = total


@jit
def _add_up(
    points: np.ndarray, label: np.ndarray, centres: np.ndarray, sums: Any, count: Any, far: Any
) -> None:
    """Adds the points of each cluster to `sums` and `count`, and fills `far` with the squared
    distance of every point."""
    for i in range(index(len(points))):
        c = index(label[i])
        count[c] += 1
        far[i] = _distance(points, i, centres, c)
        for j in range(index(points.shape[1])):
            sums[c, j] += points[i, j]


def with_sums(centres: np.ndarray) -> np.ndarray:
    """Returns int32[k, d + 1]: centres with their sums behind them, as `nearest` wants them."""
    wide = centres.astype(np.int32)
    return np.ascontiguousarray(np.hstack([wide, wide.sum(axis=1, keepdims=True)]))


def nearest_by_products(
    points: np.ndarray, centres: np.ndarray, out: np.ndarray, module: Any = np
) -> None:
    """`nearest` by matrix products, for the arrays of CuPy or NumPy; the same bits, since whole
    numbers below 2^53 are exact in double precision."""
    middle = module.asarray(centres[:, :-1], dtype=module.float64)
    size = (middle * middle).sum(axis=1)
    for low in range(0, len(points), PIECE):
        part = module.asarray(points[low : low + PIECE], dtype=module.float64)
        label = (size - 2.0 * (part @ middle.T)).argmin(axis=1)
        out[low : low + PIECE] = label if module is np else module.asnumpy(label)


def fastest_assignment() -> Assign:
    """Returns `nearest_by_products` on a CUDA device where there is one, else `nearest`."""
    from counterplay.core.kernels.device import cupy

    try:
        return partial(nearest_by_products, module=cupy())
    except BadParameter:
        return nearest


def seeds(points: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray | None:
    """Returns k different points as centres: each drawn by its squared distance from those before.
    None where there are not as many."""
    closest = np.full(len(points), FARTHEST, dtype=np.int64)
    chosen = [int(rng.integers(len(points)))]
    while len(chosen) < k:
        _approach(points, points[chosen[-1]], closest)
        share = np.cumsum(closest)
        if share[-1] == 0:
            return None
        chosen.append(int(np.searchsorted(share, rng.integers(share[-1]), side="right")))
    return points[chosen]


def kmeans(
    points: np.ndarray,
    k: int,
    seed: int,
    threads: int = 1,
    progress: ShareCallback = no_progress,
    objectives: list[int] | None = None,
) -> np.ndarray | None:
    """Returns int32[k, d + 1], `with_sums`: centres such that each is the nearest of a point. None
    where there are fewer different points. `objectives` gets the objective of each round."""
    centres = seeds(points, k, np.random.default_rng(seed))
    if centres is None:
        return None
    label, far = np.empty(len(points), dtype=np.uint16), np.empty(len(points), dtype=np.int64)
    rounds, last = 0, -1
    while True:
        centres = centres[np.argsort(centres.sum(axis=1, dtype=np.int64), kind="stable")]
        known = with_sums(centres)

        def assign(low: int, known: np.ndarray = known) -> None:
            nearest(points[low : low + PIECE], known, label[low : low + PIECE])

        map_in_threads(assign, range(0, len(points), PIECE), threads)
        sums, count = np.zeros(centres.shape, np.int64), np.zeros(k, np.int64)
        _add_up(points, label, known, sums, count, far)
        objective, rounds = int(far.sum()), rounds + 1
        if objectives is not None:
            objectives.append(objective)
        progress(min(rounds / ROUNDS, 1.0))
        empty = np.flatnonzero(count == 0)
        if len(empty) == 0 and (objective == last or rounds >= ROUNDS):
            return known
        last = objective
        filled = np.maximum(count, 1)[:, None]
        centres = ((2 * sums + filled) // (2 * filled)).astype(points.dtype)
        # a centre without points moves to a point far from its own
        centres[empty] = points[np.argsort(-far, kind="stable")[: len(empty)]]
