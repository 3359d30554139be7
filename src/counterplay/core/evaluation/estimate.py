"""`FlopEstimate`: a number from a sample of flops with its interval, which sums and differences
propagate; and the width of intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

LEVEL = 0.95  # of all intervals


class Drawn(NamedTuple):
    """What a number would be if every flop were like one drawn, stratum by stratum. Numbers with
    the same `flops` are added flop by flop."""

    flops: bytes  # the numbers of the flops drawn
    strata: tuple[tuple[np.ndarray, float], ...]  # values of its flops, and its share
    fitted: int = 0  # coefficients that were fitted to the values

    def half(self) -> float:
        """Half the 95% interval of the mean."""
        return stratified_half(self.strata, self.fitted)

    def times(self, factor: float) -> Drawn:
        return self._replace(strata=tuple((factor * x, share) for x, share in self.strata))

    def plus(self, other: Drawn) -> Drawn:
        both = zip(self.strata, other.strata, strict=True)
        strata = tuple((x + y, share) for (x, share), (y, _) in both)
        return Drawn(self.flops, strata, max(self.fitted, other.fitted))


class FlopEstimate(float):
    """A number from a sample of flops. `error`: half its 95% interval. `bias`: the measured amount
    by which a best response's choice before the flop makes it too high (negative: too low).
    `flops`: the size of the sample. `drawn`: the sample itself, where it is known. `unit`: of the
    number, where it is known; a product has none.

    Sums, differences and products with plain numbers propagate the others. The interval of a sum
    over the same flops is that of the sums on each flop; without the samples errors are added,
    which is wide enough, or wider.
    """

    error: float
    bias: float
    flops: int
    drawn: Drawn | None
    unit: str

    def __new__(
        cls,
        value: float,
        error: float,
        bias: float,
        flops: int,
        drawn: Drawn | None = None,
        unit: str = "",
    ) -> FlopEstimate:
        estimate = super().__new__(cls, value)
        estimate.error, estimate.bias, estimate.flops = error, bias, flops
        estimate.drawn, estimate.unit = drawn, unit
        return estimate

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{float(self):.6g} ± {self.error:.2g}{unit} (95%, from {self.flops} flops)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[FlopEstimate], tuple[Any, ...]]:
        facts = self.error, self.bias, self.flops, self.drawn, self.unit
        return FlopEstimate, (float(self), *facts)

    def __neg__(self) -> FlopEstimate:
        drawn = self.drawn and self.drawn.times(-1.0)
        return FlopEstimate(-float(self), self.error, -self.bias, self.flops, drawn, self.unit)

    def __add__(self, other: float) -> FlopEstimate:
        error, bias = (getattr(other, name, 0.0) for name in ("error", "bias"))
        error, drawn = self.error + error, self.drawn
        if isinstance(other, FlopEstimate):
            one, two, drawn = self.drawn, other.drawn, None
            if one is not None and two is not None and one.flops == two.flops:
                drawn = one.plus(two)
                error = drawn.half()
        total = float(self) + float(other)
        return FlopEstimate(total, error, self.bias + bias, self.flops, drawn, self.unit)

    __radd__ = __add__

    def __sub__(self, other: float) -> FlopEstimate:
        return self + -other

    def __rsub__(self, other: float) -> FlopEstimate:
        return -self + other

    def __mul__(self, factor: float) -> float:
        if isinstance(factor, FlopEstimate):
            return float(self) * float(factor)
        value, error = float(self) * float(factor), abs(factor) * self.error
        drawn = self.drawn and self.drawn.times(float(factor))
        return FlopEstimate(value, error, factor * self.bias, self.flops, drawn)

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
