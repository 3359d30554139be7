"""Confidence sequences: their coverage, measured at all times together, for samples of several
shapes, among them payoffs of games."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.match.sequences import LEAST, PRIOR, BlendedSamples, ConfidenceSequence

Draw = Callable[[np.random.Generator, int], np.ndarray]
PLANNED = 1_500


def kuhn_payoffs(rng: np.random.Generator, n: int) -> np.ndarray:
    """Payoffs of player 1 when both play uniformly: a few values, far from normal."""
    return rng.choice([-2.0, -1.0, 1.0, 2.0], size=n, p=[0.2, 0.25, 0.4, 0.15]) - 0.05


#: Samples of mean 0: normal; few values; mostly nothing, at times a large pot, to one side (as
#: luck-adjusted payoffs are); of alternating spread.
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "kuhn": kuhn_payoffs,
    "large pots": lambda rng, n: rng.choice([-0.25, 4.75], size=n, p=[0.95, 0.05]),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
    "student": lambda rng, n: rng.standard_t(4.0, size=n),
    "spread": lambda rng, n: rng.normal(size=n) * np.where(np.arange(n) % 2 == 0, 0.2, 3.0),
}


def misses(samples: np.ndarray) -> np.ndarray:
    """bool[runs]: whether an interval of a run, at any time, misses 0; `samples`: [runs, n]."""
    n = samples.shape[1]
    t = np.arange(1, n + 1)
    sums, squares = samples.cumsum(axis=1), (samples**2).cumsum(axis=1)
    mean = sums / t
    variance = (np.maximum(squares - t * mean**2, 0.0) + PRIOR) / (t - 1 + PRIOR)
    factor = ConfidenceSequence(n, 1.0)._factor
    outside = np.abs(mean) > factor * np.sqrt(variance) / t
    missed: np.ndarray = outside[:, LEAST - 1 :].any(axis=1)
    return missed


@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_at_all_times_together(shape: str) -> None:
    """1,000 exams of 3,000 hands: at most 5% may ever exclude the truth, with three standard
    errors of that share for the luck of the test; and not so few that it is wide for nothing."""
    rng = np.random.default_rng(34)
    missed = misses(np.stack([SHAPES[shape](rng, PLANNED) for _ in range(1_000)])).mean()
    assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1_000)
    assert missed >= 0.02


def test_the_twin_of_the_class() -> None:
    samples = np.random.default_rng(1).normal(0.3, 2.0, size=200)
    sequence = ConfidenceSequence(200, 1.0)
    intervals = sequence.add(samples[:120]) + sequence.add(samples[120:])
    for t in (LEAST, 77, 200):
        deviation = math.sqrt((samples[:t].var() * t + PRIOR) / (t - 1 + PRIOR))
        half = 2.2414 * deviation * math.sqrt(200) / t
        assert intervals[t - 1].mean == pytest.approx(samples[:t].mean())
        assert intervals[t - 1].high - intervals[t - 1].mean == pytest.approx(half, rel=1e-4)
    assert math.isinf(intervals[LEAST - 2].high)
    assert (misses(samples[None])[0]) == any(
        interval.excludes(0.0) for interval in intervals[LEAST - 1 :]
    )


def test_a_stopped_peek_is_no_longer_a_95_percent_interval() -> None:
    """What the sequence is for: ordinary intervals, looked at all the time, miss the truth."""
    rng = np.random.default_rng(2)
    samples = rng.normal(size=(300, PLANNED))
    t = np.arange(1, PLANNED + 1)
    outside = np.abs(samples.cumsum(axis=1) / t) > 1.96 / np.sqrt(t)
    assert outside[:, LEAST:].any(axis=1).mean() > 0.25


def test_a_blend_keeps_the_mean_and_has_less_variance() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(size=(400, 50))
    one, two = shared + rng.normal(size=shared.shape), shared + 0.5 * rng.normal(size=shared.shape)
    blend = BlendedSamples(1.0)
    assert blend.multiple == 0.0
    blended = np.concatenate([blend.add(a, b) for a, b in zip(one, two, strict=True)])
    assert blend.multiple == pytest.approx(0.8, abs=0.03)  # of independent errors 1 and 1/4
    assert blended.std() < 1.02 * math.sqrt(1.2)
    assert abs(blended.mean() - two.mean()) < 0.02
    same = BlendedSamples(1.0)
    same.add(one[0], one[0])
    assert same.multiple == 0.0


def test_limits() -> None:
    with pytest.raises(cp.CounterplayError):
        ConfidenceSequence(0, 1.0)
    for level in (0.0, 1.0, 2.0, math.nan):
        with pytest.raises(cp.CounterplayError):
            ConfidenceSequence(10, 1.0, level)
    with pytest.raises(cp.CounterplayError, match="planned"):
        ConfidenceSequence(3, 1.0).add(np.zeros(4))
