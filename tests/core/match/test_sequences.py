"""Confidence sequences: their coverage, measured at all times together, for samples of several
shapes, among them payoffs of games."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter

import counterplay as cp
from counterplay.core.match.sequences import (
    LEAST,
    PRIOR,
    RECENT,
    ConfidenceSequence,
    ControlledSamples,
)

Draw = Callable[[np.random.Generator, int], np.ndarray]
PLANNED = 1_500


def kuhn_payoffs(rng: np.random.Generator, n: int) -> np.ndarray:
    """Payoffs of player 1 when both play uniformly: a few values, far from normal."""
    return rng.choice([-2.0, -1.0, 1.0, 2.0], size=n, p=[0.2, 0.25, 0.4, 0.15]) - 0.05


#: Samples of mean 0: normal; few values; mostly nothing, at times a large pot, to one side (as
#: luck-adjusted payoffs are), at rare times a larger one beside other luck; of alternating
#: spread, and of one that grows, as of a player who begins quietly.
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "kuhn": kuhn_payoffs,
    "large pots": lambda rng, n: rng.choice([-0.25, 4.75], size=n, p=[0.95, 0.05]),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
    "student": lambda rng, n: rng.standard_t(4.0, size=n),
    "wide": lambda rng, n: 6.0 * rng.exponential(size=n) - 6.0,
    "rare": lambda rng, n: 5.0 * (rng.random(n) < 0.02) - 0.1 + 0.5 * rng.normal(size=n),
    "spread": lambda rng, n: rng.normal(size=n) * np.where(np.arange(n) % 2 == 0, 0.2, 3.0),
    "grows": lambda rng, n: rng.normal(size=n) * np.where(np.arange(n) < n // 2, 0.5, 5.0),
    "grows twice": lambda rng, n: rng.normal(size=n) * 0.3 * 10.0 ** (np.arange(n) * 3 // n / 2),
}


def misses(samples: np.ndarray) -> np.ndarray:
    """bool[runs]: whether an interval of a run, at any time, misses 0; `samples`: [runs, n]."""
    n = samples.shape[1]
    t, factor = np.arange(1, n + 1), ConfidenceSequence(n, 1.0)._factor
    sums, squares, cubes = ((samples**power).cumsum(axis=1) for power in (1, 2, 3))
    mean = sums / t
    spread = np.maximum(squares - t * mean**2, 0.0)
    variance = np.maximum(spread / np.maximum(t - 1, 1), (spread + PRIOR) / (t - 1 + PRIOR))
    before = np.pad(mean, ((0, 0), (1, 0)))[:, :-1]
    latest = lfilter([1 / RECENT], [1, 1 / RECENT - 1], (samples - before) ** 2, axis=1)
    variance = variance + (1 - t / n) * np.maximum(latest - variance, 0.0)
    skewness = (cubes / t - 3 * mean * squares / t + 2 * mean**3) / variance**1.5
    relative = np.where(t > factor, factor / t, np.nan)
    half = relative * np.sqrt(variance / (1 - relative**2))
    shift = np.sqrt(variance) * np.clip(skewness, -6, 6) * (1 + 2 * relative**2 * t) / (6 * t)
    outside = (mean - half + np.minimum(shift, 0) > 0) | (mean + half + np.maximum(shift, 0) < 0)
    missed: np.ndarray = outside[:, LEAST - 1 :].any(axis=1)
    return missed


@pytest.mark.parametrize("planned", [100, PLANNED])
@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_at_all_times_together(shape: str, planned: int) -> None:
    """1,000 exams of 200 and of 3,000 hands: at most 5% may ever exclude the truth, with three
    standard errors of that share for the luck of the test; and not so few that it is wide for
    nothing. Of the spread far above the scale the prior may not make less."""
    rng = np.random.default_rng(34)
    missed = misses(np.stack([SHAPES[shape](rng, planned) for _ in range(1_000)])).mean()
    assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1_000)
    assert missed >= (0.015 if planned == PLANNED else 0.003)


def test_the_twin_of_the_class() -> None:
    samples = np.random.default_rng(1).normal(0.3, 2.0, size=200)
    sequence = ConfidenceSequence(200, 1.0)
    intervals = sequence.add(samples[:120]) + sequence.add(samples[120:])
    for t in (LEAST, 77, 200):
        part, relative = samples[:t], 2.2414 * math.sqrt(200) / t
        found = intervals[t - 1]
        assert found.mean == pytest.approx(part.mean())
        if relative >= 1.0:
            assert math.isinf(found.low)
            continue
        variance = part.var(ddof=1)  # above the scale
        before = np.concatenate([[0.0], part.cumsum()[:-1] / np.arange(1, t)])
        weights = (1 - 1 / RECENT) ** np.arange(t)[::-1] / RECENT
        latest = float(weights @ (part - before) ** 2)
        deviation = math.sqrt(variance + (1 - t / 200) * max(latest - variance, 0.0))
        half = relative * deviation / math.sqrt(1 - relative**2)
        skewness = ((part - part.mean()) ** 3).mean() / deviation**3
        shift = deviation * skewness * (1 + 2 * relative**2 * t) / (6 * t)
        assert found.high - found.mean == pytest.approx(half + max(shift, 0), rel=1e-3)
        assert found.mean - found.low == pytest.approx(half - min(shift, 0), rel=1e-3)
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


def test_controls_keep_the_mean_and_take_out_variance() -> None:
    rng = np.random.default_rng(5)
    controls = rng.normal(size=(400, 50, 2)) * [1.0, 3.0]
    noise = rng.normal(size=(400, 50))
    samples = 0.25 + controls @ [0.5, -1.0] + noise
    controlled = ControlledSamples(2, 1.0)
    assert np.array_equal(controlled.multiples, [0.0, 0.0])
    first = controlled.add(samples[0], controls[0])
    assert np.array_equal(first, samples[0])  # nothing is known before
    rest = [controlled.add(*block) for block in zip(samples[1:], controls[1:], strict=True)]
    assert controlled.multiples == pytest.approx([0.5, -1.0], abs=0.03)
    assert np.std(rest) < 1.05
    assert np.mean(rest) == pytest.approx(0.25, abs=0.03)


def test_controls_that_say_nothing_or_the_same_are_left_alone() -> None:
    rng = np.random.default_rng(6)
    samples, twice = rng.normal(size=200), np.repeat(rng.normal(size=(200, 1)), 2, axis=1)
    controlled = ControlledSamples(2, 1.0)
    controlled.add(samples, twice)
    assert np.abs(controlled.multiples).max() < 0.2
    controlled.add(samples, np.zeros((200, 2)))
    assert np.isfinite(controlled.multiples).all()


def test_limits() -> None:
    with pytest.raises(cp.CounterplayError):
        ConfidenceSequence(0, 1.0)
    for level in (0.0, 1.0, 2.0, math.nan):
        with pytest.raises(cp.CounterplayError):
            ConfidenceSequence(10, 1.0, level)
    with pytest.raises(cp.CounterplayError, match="planned"):
        ConfidenceSequence(3, 1.0).add(np.zeros(4))
