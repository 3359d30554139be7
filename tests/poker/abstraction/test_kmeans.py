"""k-means in whole numbers: exact, monotone, the same bits on any number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from counterplay.core.base.errors import BadParameter
from counterplay.poker.abstraction.kmeans import (
    SCALE,
    fastest_assignment,
    kmeans,
    nearest,
    nearest_by_products,
    with_sums,
)


def points_of(seed: int, n: int = 45_000, d: int = 8) -> np.ndarray:
    """Returns clustered points with many duplicates."""
    rng = np.random.default_rng(seed)
    middle = rng.integers(0, SCALE, size=(12, d))
    spread = rng.normal(0.0, 150.0, size=(n, d))
    points: np.ndarray = np.clip(middle[rng.integers(12, size=n)] + spread, 0, SCALE)
    return points.round(-1).astype(np.int16)


def brute_force(points: np.ndarray, centres: np.ndarray) -> list[int]:
    """Returns the first of the nearest centres of each point, in plain Python."""
    found = []
    for point in points.tolist():
        squares = [sum((a - b) ** 2 for a, b in zip(point, c, strict=True)) for c in centres]
        found.append(squares.index(min(squares)))
    return found


def labels(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    out = np.empty(len(points), dtype=np.uint16)
    nearest(points, centres, out)
    return out


@pytest.mark.parametrize("d", [1, 3, 19])
def test_the_nearest_centre_is_that_of_brute_force(d: int) -> None:
    """Few values, so that there are many ties; extreme ones, so that squares are largest."""
    rng = np.random.default_rng(d)
    for values in ([0, 1, 2], [0, SCALE], list(range(SCALE + 1))):
        points, centres = (rng.choice(values, size=(n, d)).astype(np.int16) for n in (200, 30))
        centres = centres[np.argsort(centres.sum(axis=1), kind="stable")]
        expected = brute_force(points, centres.tolist())
        assert labels(points, with_sums(centres)).tolist() == expected
        by_products = np.empty(len(points), dtype=np.uint16)
        nearest_by_products(points, with_sums(centres), by_products)
        assert by_products.tolist() == expected


def test_the_code_of_a_device_gives_the_same_bits() -> None:
    """The same code with NumPy in place of CuPy, over several pieces."""
    points = points_of(1)
    centres = kmeans(points, 100, 1)
    assert centres is not None
    out = np.empty(len(points), dtype=np.uint16)
    nearest_by_products(points, centres, out, np)
    assert np.array_equal(out, labels(points, centres))


def test_a_device_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterplay.core.kernels.device.cupy", lambda: np)
    points, out = points_of(2, 300), np.empty(300, dtype=np.uint16)
    centres = kmeans(points, 7, 1)
    assert centres is not None
    fastest_assignment()(points, centres, out)
    assert np.array_equal(out, labels(points, centres))

    def missing() -> None:
        raise BadParameter("there is no CUDA device")

    monkeypatch.setattr("counterplay.core.kernels.device.cupy", missing)
    assert fastest_assignment() is nearest


@pytest.mark.parametrize("k", [1, 8, 60, 500])
def test_the_objective_never_rises_and_all_clusters_are_filled(k: int) -> None:
    points = points_of(k)
    objectives: list[int] = []
    centres = kmeans(points, k, 1, objectives=objectives)
    assert centres is not None
    assert all(later <= earlier for earlier, later in pairwise(objectives))
    label = labels(points, centres)
    assert np.array_equal(np.unique(label), np.arange(k))
    gaps = points.astype(np.int64) - centres[label, :-1]
    assert int((gaps**2).sum()) == objectives[-1]
    assert (np.diff(centres[:, -1]) >= 0).all()
    if k > 1:
        assert objectives[-1] < objectives[0]


def test_one_cluster_has_its_mean() -> None:
    points = points_of(5, 1_001)
    centres = kmeans(points, 1, 1)
    assert centres is not None
    assert np.abs(centres[0, :-1] - points.mean(axis=0)).max() <= 0.5


def test_same_seed_same_bits_on_any_number_of_threads() -> None:
    points = points_of(3)
    one, again, two, other = (
        kmeans(points, 50, seed, threads) for seed, threads in ((1, 1), (1, 1), (1, 2), (2, 1))
    )
    assert one is not None
    assert again is not None
    assert two is not None
    assert other is not None
    assert np.array_equal(one, again)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_as_many_clusters_as_different_points_and_no_more() -> None:
    points = np.repeat(points_of(4, 9), 20, axis=0)
    different = len(np.unique(points, axis=0))
    objectives: list[int] = []
    assert kmeans(points, different, 1, objectives=objectives) is not None
    assert objectives[-1] == 0
    assert kmeans(points, different + 1, 1) is None
