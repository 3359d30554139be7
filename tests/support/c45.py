"""Data and trees for the tests of C4.5."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np

from counterplay.poker.models.c45.learn import Attribute, Tree

NAN = float("nan")
X = Attribute("x")
AB, ABC = ("a", "b"), ("a", "b", "c")
#: Added to values so that some lie on either side of every tolerance: 1e-6 and 1e-5.
NEAR = (0.0, 1e-9, 5e-7, -5e-7, 9e-7, 2e-6, 9e-6, 1e-5, 1.1e-5, 3e-5)

Data = tuple[list[Attribute], np.ndarray, np.ndarray, np.ndarray]


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def random_data(seed: int) -> Data:
    """Attributes, values, classes and weights: small whole numbers, nominal values, missing
    ones."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 90)), int(rng.integers(1, 5))
    attributes, columns = [], []
    for a in range(k):
        n_values = int(rng.integers(2, 5))
        nominal = rng.random() < 0.4
        names = tuple("stuvw"[:n_values])
        attributes.append(Attribute(f"a{a}", "nominal", names) if nominal else Attribute(f"a{a}"))
        columns.append(rng.integers(0, n_values, n) if nominal else rng.integers(0, 8, n))
    x = np.stack(columns, axis=1).astype(float)
    y = (x[:, 0] + rng.integers(0, 3, n) * (rng.random(n) < 0.6)).astype(np.int64) % 3
    x[rng.random(x.shape) < rng.choice([0, 0.2, 0.5])] = np.nan
    weights = rng.choice([1.0, 1.0, 2.0, 0.5], n) if rng.random() < 0.3 else np.ones(n)
    return attributes, x, y, weights


def near_data(seed: int) -> Data:
    """`random_data` with numeric values that almost meet, and rows of weight 0."""
    attributes, x, y, weights = random_data(seed)
    rng = np.random.default_rng([seed, 1])
    numeric = np.array([a.kind == "numeric" for a in attributes])
    x = (
        x * np.where(numeric, rng.choice([1e-5, 1e-3, 1.0]), 1.0)
        + rng.choice(NEAR, x.shape) * numeric
    )
    weights = weights * (rng.random(len(weights)) > rng.choice([0.0, 0.4]))
    weights[0] = 1.0
    return attributes, x, y, weights


def shape(tree: Tree, node: int = 0) -> Any:
    """Class counts, or attribute, threshold, class counts and sons, as the twin gives them."""
    counts = tree.counts[node].tolist()
    if not tree.children[node]:
        return counts
    threshold = float(tree.threshold[node])
    sons = [shape(tree, son) for son in tree.children[node]]
    return int(tree.attribute[node]), None if isnan(threshold) else threshold, counts, sons


def same(a: Any, b: Any) -> bool:
    """The same tests with the same thresholds to the last bit; counts up to rounding."""
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return type(a) is type(b) and np.allclose(a, b, rtol=0, atol=1e-5)
    return (
        a[:2] == b[:2]
        and same(a[2], b[2])
        and len(a[3]) == len(b[3])
        and all(map(same, a[3], b[3]))
    )
