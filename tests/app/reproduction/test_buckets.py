"""Finer buckets: when they are measured; the experiment at toy size is in
test_reproduce_robust.py."""

from __future__ import annotations

import numpy as np

from counterplay.app.reproduction import buckets


def test_measurements_double_and_end_with_the_last() -> None:
    assert buckets.points(64) == [2, 4, 8, 16, 32, 64]
    assert buckets.points(3) == [1, 3]
    for size in buckets.SCALES.values():
        assert len(size.iterations) == len(buckets.BUCKETS)


def test_the_table_has_means_with_intervals() -> None:
    curves = {10: np.array([[[100.0, 2.0, 5e6, x, -x]] for x in (0.1, 0.2, 0.3)])}
    table = buckets._table(curves)
    assert table.rows == [["10", "100", "2.0", "5", "+0.200 ± 0.248", "-0.200 ± 0.248"]]
