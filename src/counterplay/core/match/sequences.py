"""Confidence sequences: intervals of a mean that hold at all times together, up to a planned number
of samples, so that one may stop whenever the answer is clear.

With S_t the sum of t independent samples of mean μ and standard deviation σ, the largest of
|S_t - tμ| up to the planned n exceeds c σ √n with a probability of at most 4 (1 - Φ(c)) (reflection
principle, in the limit of Brownian motion: Donsker). So

    mean_t ± c σ_t √n / t,    Φ(c) = 1 - α / 4

holds for all t ≤ n together with probability 1 - α. In short matches the limit is not reached, and
four things keep the promise there:
- σ_t² is the sample variance, or if it is larger its mean with `scale`², which counts as `PRIOR`
  samples: where large payoffs are rare, early samples may have met none of them.
- The variance is one about μ and not about the mean (self-normalised sums; de la Peña, Lai and Shao
  2009): with g = c² n / t² the interval is wider by 1 / sqrt(1 - g), and unknown where g ≥ 1.
- σ_t² is that of all n samples. If the latest samples, the past of an exponential mean of `RECENT`
  samples, spread more than all so far, those to come are taken to spread like them: for a player
  who begins quietly, √n times the σ of the first samples is no bound of the whole sum.
- If samples are skewed, their mean and variance err together; the end towards the longer tail is
  moved out by the term of Johnson (1978), σ_t k (1 + 2 c² n / t) / 6t, k the skewness.
At t = n the interval is 1.14 times as wide as one that holds for n samples only; the mixtures of
Robbins, which have no planned n, are 1.55 times as wide there. Early intervals are wide, where an
estimate σ_t and the limit are least to be trusted. Deviation from exact coverage: σ_t is estimated,
and the limit is one. Rare payoffs far from the others, of which fewer than about ten are met, are
missed by every interval that does not know their bound; those that do, with the 24 sb of a hand,
are several times as wide. `tests/core/match/test_sequences.py` and `benchmarks/sequences.py`
measure the coverage, `benchmarks/exam.py` that of exams.

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
RECENT = 30  # samples of the latest spread
MOST_SKEWNESS = 6.0


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


class ControlledSamples:
    """Samples less a combination of controls, numbers of mean 0: the combination with the least
    variance in the samples before, so that it does not depend on the sample it is used for and the
    mean stays."""

    def __init__(self, controls: int, scale: float) -> None:
        self._prior = PRIOR * positive(scale, "scale") ** 2 * np.eye(controls)
        self._count, self._sums = 0, np.zeros(1 + controls)
        self._products = np.zeros((1 + controls, 1 + controls))

    def add(self, samples: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """Returns a block of samples, float64[n], less the combination of float64[n, controls]."""
        controlled: np.ndarray = samples - controls @ self.multiples
        rows = np.column_stack([samples, controls])
        self._count += len(rows)
        self._sums += rows.sum(axis=0)
        self._products += rows.T @ rows
        return controlled

    @property
    def multiples(self) -> np.ndarray:
        """The combination for the next block."""
        together = self._products - np.outer(self._sums, self._sums) / max(self._count, 1)
        solved: np.ndarray = np.linalg.solve(together[1:, 1:] + self._prior, together[1:, 0])
        return solved


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
        self._factor = float(ndtri(1.0 - alpha / 4.0)) * math.sqrt(self.planned)  # c √n
        self._count, self._mean, self._squares, self._cubes = 0, 0.0, 0.0, 0.0
        self._recent = 0.0  # variance of the latest samples

    def add(self, samples: np.ndarray) -> list[RunningInterval]:
        """Takes samples in their order; returns the interval after each."""
        if self._count + len(samples) > self.planned:
            raise BadParameter(f"more than the {self.planned:,} samples that were planned")
        intervals = []
        for sample in samples.tolist():
            self._count += 1
            n, before = self._count, sample - self._mean
            self._mean += before / n
            self._recent += (before**2 - self._recent) / RECENT
            self._cubes += before**3 * (n - 1) * (n - 2) / n**2 - 3 * before * self._squares / n
            self._squares += before * (sample - self._mean)
            intervals.append(self.interval)
        return intervals

    @property
    def deviation(self) -> float:
        """The standard deviation of the samples so far, or if it is larger that of them with the
        scale."""
        return math.sqrt(self._variance())

    def _variance(self) -> float:
        degrees = max(self._count - 1, 0)
        with_scale = (self._squares + self._prior) / (degrees + PRIOR)
        return max(self._squares / max(degrees, 1), with_scale)

    def _planned_variance(self) -> float:
        """That of all planned samples, those to come like the latest if these spread more."""
        variance = self._variance()
        return variance + (1.0 - self._count / self.planned) * max(self._recent - variance, 0.0)

    @property
    def interval(self) -> RunningInterval:
        """The interval now."""
        t, mean = self._count, self._mean
        if t < LEAST or t <= self._factor:
            return RunningInterval(mean, -math.inf, math.inf, t)
        deviation, relative = math.sqrt(self._planned_variance()), self._factor / t
        half = relative * deviation / math.sqrt(1.0 - relative**2)
        skewness = self._cubes / t / deviation**3
        skewness = min(max(skewness, -MOST_SKEWNESS), MOST_SKEWNESS)
        shift = deviation * skewness * (1.0 + 2.0 * relative**2 * t) / (6.0 * t)
        return RunningInterval(
            mean, mean - half + min(shift, 0.0), mean + half + max(shift, 0.0), t
        )
