"""Confidence sequences: intervals of a mean that hold at all times together, up to a planned number
of samples, so that one may stop whenever the answer is clear.

With S_t the sum of t independent samples of mean μ and standard deviation σ, the largest of
|S_t - tμ| up to the planned n exceeds c σ √n with a probability of at most 4 (1 - Φ(c)) (reflection
principle, in the limit of Brownian motion: Donsker). So

    mean_t ± c σ_t √n / t,    Φ(c) = 1 - α / 4

holds for all t ≤ n together with probability 1 - α. σ_t² is the mean of the sample variance and of
`scale`², which counts as `PRIOR` samples: where large payoffs are rare, early samples may have met
none of them. At t = n the interval is 1.14 times as wide as
one that holds for n samples only; the mixtures of Robbins, which have no planned n, are 1.55 times
as wide there. Early intervals are wide, where an estimate σ_t and the limit are least to be
trusted. Deviation from exact coverage: σ_t is estimated, and the limit is one; `tests/core/match/
test_sequences.py` measures the coverage.

A sample may depend on those before, as for players who learn: then the interval is one of the mean
of the expectations of the samples so far, each given those before it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, positive, probability, whole_number

LEVEL = 0.95
LEAST = 20  # samples before an interval is finite
PRIOR = 30  # samples that the scale counts


class RunningInterval(NamedTuple):
    """An interval of a mean after `samples` samples."""

    mean: float
    low: float
    high: float
    samples: int

    def excludes(self, value: float) -> bool:
        """Whether the mean is told apart from `value`."""
        return self.low > value or self.high < value

    def within(self, margin: float) -> bool:
        """Whether the mean is told to be less than `margin` from 0."""
        return -margin < self.low and self.high < margin


class BlendedSamples:
    """Two estimates of the same mean in one: the first, plus a multiple of the difference of the
    second from it, which has mean 0. The multiple is the one with the least variance in the samples
    before, so that it does not depend on the sample it is used for."""

    def __init__(self, scale: float) -> None:
        self._prior = PRIOR * positive(scale, "scale") ** 2
        self._sums = np.zeros(5)  # count, sums of both, of the product and of the square

    def add(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The blend of a block of samples."""
        difference = second - first
        blended: np.ndarray = first + self.multiple * difference
        parts = (first, difference, first * difference, difference**2)
        self._sums += [len(first), *(float(part.sum()) for part in parts)]
        return blended

    @property
    def multiple(self) -> float:
        """The multiple of the next block, from 0 to 1."""
        n, one, other, product, square = self._sums.tolist()
        together, spread = product - one * other / max(n, 1.0), square - other**2 / max(n, 1.0)
        return min(max(-together / (spread + self._prior), 0.0), 1.0)


class ConfidenceSequence:
    """The running intervals of at most `planned` samples, whose standard deviation is of the order
    of `scale`."""

    def __init__(self, planned: int, scale: float, level: float = LEVEL) -> None:
        from scipy.special import ndtri  # faster to import than scipy.stats

        self.planned = whole_number(planned, 1, None, "planned")
        alpha = 1.0 - probability(level, "level")
        if not 0.0 < alpha < 1.0:
            raise BadParameter(f"level must be between 0 and 1, not {level!r}")
        self.level, self._prior = level, PRIOR * positive(scale, "scale") ** 2
        self._factor = float(ndtri(1.0 - alpha / 4.0)) * math.sqrt(self.planned)
        self._count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, samples: np.ndarray) -> list[RunningInterval]:
        """Takes samples in their order; returns the interval after each."""
        if self._count + len(samples) > self.planned:
            raise BadParameter(f"more than the {self.planned:,} samples that were planned")
        intervals = []
        for sample in samples.tolist():
            self._count += 1
            before = sample - self._mean
            self._mean += before / self._count
            self._squares += before * (sample - self._mean)
            intervals.append(self.interval)
        return intervals

    @property
    def deviation(self) -> float:
        """σ_t: the standard deviation of the samples so far, and of the scale."""
        return math.sqrt((self._squares + self._prior) / (max(self._count - 1, 0) + PRIOR))

    @property
    def interval(self) -> RunningInterval:
        """The interval now."""
        half = math.inf
        if self._count >= LEAST:
            half = self._factor * self.deviation / self._count
        return RunningInterval(self._mean, self._mean - half, self._mean + half, self._count)
