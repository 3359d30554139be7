"""Bucket splitting: halves by strength whose mixing keeps the bucket's totals."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterplay.poker.bots.sparbot.build import _halved, halves, split_rows


@given(st.lists(st.tuples(*[st.floats(0.0, 1.0)] * 3), min_size=1, max_size=8))
def test_halves_keep_the_totals_and_are_probabilities(found: list[tuple[float, ...]]) -> None:
    rows = np.array(found) + 1e-3
    rows /= rows.sum(axis=1, keepdims=True)
    weak, strong = halves(rows)
    for half in (weak, strong):
        assert (half >= -1e-12).all()
        np.testing.assert_allclose(half.sum(axis=1), 1.0)
    np.testing.assert_allclose((weak + strong) / 2, rows, atol=1e-12)


def test_the_stronger_half_raises_first_and_the_weaker_folds_first() -> None:
    weak, strong = halves(np.array([[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]]))
    np.testing.assert_allclose(weak, [[0.6, 0.4, 0.0], [0.2, 0.2, 0.6]])
    np.testing.assert_allclose(strong, [[0.0, 0.2, 0.8], [0.0, 0.0, 1.0]], atol=1e-12)


def test_only_the_last_half_of_a_path_decides() -> None:
    rng = np.random.default_rng(1)
    n = 3
    for rounds in (1, 2, 3):
        rows = rng.dirichlet(np.ones(3), size=n**rounds)
        both = halves(rows)
        found = split_rows(rows, n)
        assert len(found) == (2 * n) ** rounds
        for path in np.ndindex(*(2 * n,) * rounds):
            whole = np.ravel_multi_index(tuple(b // 2 for b in path), (n,) * rounds)
            here = np.ravel_multi_index(path, (2 * n,) * rounds)
            np.testing.assert_array_equal(found[here], both[path[-1] % 2][whole])


def test_halves_have_the_same_weight_and_the_stronger_hands_are_above() -> None:
    rng = np.random.default_rng(2)
    bucket = rng.integers(0, 4, 5_000).astype(np.uint16).reshape(5, -1)
    strength, weight = rng.permutation(5_000).reshape(5, -1), rng.random(5_000)
    found = _halved(bucket, strength, weight)
    np.testing.assert_array_equal(found // 2, bucket)
    for b in range(4):
        low, high = (strength[found == 2 * b + k] for k in (0, 1))
        assert low.max() < high.min()
        shares = [weight.reshape(5, -1)[found == 2 * b + k].sum() for k in (0, 1)]
        assert abs(shares[0] - shares[1]) < 0.01 * sum(shares)
