"""Confidence sequences hold at any time."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.core.base.errors import BadParameter
from counterplay.core.responses.evidence import ALPHA, Evidence, half_width


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_coverage_for_whoever_looks_after_every_step(p: float, alpha: float) -> None:
    """Of 2,000 players watched for 1,500 decisions, at most alpha ever leave the interval; the
    slack is four standard errors. The bound is not empty: at a single look it would be much
    narrower."""
    rng = np.random.default_rng(1)
    n = np.arange(1, 1_501)
    means = np.cumsum(rng.random((2_000, 1_500)) < p, axis=1) / n
    left = (np.abs(means - p) > half_width(n, alpha)).any(axis=1).mean()
    assert left <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / 2_000)


def test_coverage_where_the_mean_follows_the_past() -> None:
    """What is done less what was expected of it, the expectation depending on the last action."""
    rng = np.random.default_rng(2)
    n, players = 800, 1_000
    last, total, out = np.zeros(players), np.zeros(players), np.zeros(players, dtype=bool)
    for step in range(1, n + 1):
        expected = np.where(last > 0, 0.8, 0.2)
        last = (rng.random(players) < expected).astype(float)
        total += last - expected
        out |= np.abs(total) > half_width(step) * step
    assert out.mean() <= ALPHA


def test_it_narrows_and_confirms() -> None:
    assert half_width(100) < half_width(10) < half_width(1)
    assert np.isinf(half_width(0))
    evidence = Evidence.none(3, 3)
    assert not evidence.confirmed.any()
    for k in range(400):
        evidence.add(0, k % 2, np.array([0.5, 0.5, 0.0]))
        evidence.add(1, 1, np.array([0.3, 0.7, 0.0]))
    assert evidence.confirmed.tolist() == [False, True, False]
    first = evidence.deviations()[0]
    assert (first.group, first.share, first.n) in {(1, 0.0, 400), (1, 1.0, 400)}
    assert first.expected == pytest.approx(0.3 if first.action == 0 else 0.7)


@pytest.mark.parametrize(("alpha", "rho"), [(0.0, 1.0), (1.0, 1.0), (0.1, 0.0)])
def test_mistakes(alpha: float, rho: float) -> None:
    with pytest.raises(BadParameter, match="alpha"):
        half_width(10, alpha, rho)
