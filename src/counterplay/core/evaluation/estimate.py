"""`FlopEstimate`: a number from a sample of flops with its interval, which sums and differences
propagate; and the width of intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

LEVEL = 0.95  # of all intervals


class FlopEstimate(float):
    """A number from a sample of flops. `error`: half its 95% interval. `bias`: the measured amount
    by which a best response's choice before the flop makes it too high (negative: too low).
    `flops`: the size of the sample.

    Sums, differences and products with plain numbers propagate all three. Errors are added, since
    the flops are the same: the interval of a sum is wide enough, or wider.
    """

    error: float
    bias: float
    flops: int

    def __new__(cls, value: float, error: float, bias: float, flops: int) -> FlopEstimate:
        estimate = super().__new__(cls, value)
        estimate.error, estimate.bias, estimate.flops = error, bias, flops
        return estimate

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.error:.2g} (95%, from {self.flops} flops)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[FlopEstimate], tuple[float, float, float, int]]:
        return FlopEstimate, (float(self), self.error, self.bias, self.flops)

    def __neg__(self) -> FlopEstimate:
        return FlopEstimate(-float(self), self.error, -self.bias, self.flops)

    def __add__(self, other: float) -> FlopEstimate:
        error, bias = (getattr(other, name, 0.0) for name in ("error", "bias"))
        total = float(self) + float(other)
        return FlopEstimate(total, self.error + error, self.bias + bias, self.flops)

    __radd__ = __add__

    def __sub__(self, other: float) -> FlopEstimate:
        return self + -other

    def __rsub__(self, other: float) -> FlopEstimate:
        return -self + other

    def __mul__(self, factor: float) -> float:
        if isinstance(factor, FlopEstimate):
            return float(self) * float(factor)
        value, error = float(self) * float(factor), abs(factor) * self.error
        return FlopEstimate(value, error, factor * self.bias, self.flops)

    __rmul__ = __mul__


def half_width(standard_error: float, degrees: float) -> float:
    """Half the width of a 95% interval."""
    from scipy.special import ndtri, stdtrit  # faster to import than scipy.stats

    if math.isnan(standard_error):
        return math.inf
    upper = (1 + LEVEL) / 2
    return float(ndtri(upper) if math.isinf(degrees) else stdtrit(degrees, upper)) * standard_error


def half_interval(value: float) -> float:
    """Returns half the 95% interval of a number; 0 for an exact one."""
    return value.error if isinstance(value, FlopEstimate) else 0.0


def upper_end(value: float) -> float:
    """Returns the upper end of a number's interval; an exact number itself."""
    return float(value) + half_interval(value)


def stratified_half(samples: Sequence[tuple[np.ndarray, float]], fitted: int = 0) -> float:
    """Returns half the 95% interval of a mean over strata, each given by its sample and its share:
    by Student's t with Satterthwaite's degrees of freedom, since samples of strata are small.
    `fitted`: coefficients that were fitted to the samples, a degree of freedom each."""
    parts = [share**2 * float(np.var(sample, ddof=1)) / len(sample) for sample, share in samples]
    variance = sum(parts)
    if variance == 0.0:
        return 0.0
    spread = zip(parts, samples, strict=True)
    freedom = variance**2 / sum(part**2 / (len(sample) - 1) for part, (sample, _) in spread)
    left = max(freedom - fitted, 1.0)
    return half_width((variance * freedom / left) ** 0.5, left)
