"""Count, mean and squared deviations of payoffs, block by block, in kernels that threads can run.

Sums are pairwise, as NumPy's (eight partial sums, then halves), so that a match gives the same bits
however it is split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit

SERIES = 5  # deals played twice, their two seats, and the seats of deals played once
COUNT, MEAN, SQUARES = ZERO, ONE, index(2)  # rows of an array of tallies
_BOTH, _FIRST, _SECOND, _FIRST_ONCE, _SECOND_ONCE = (index(k) for k in range(SERIES))
_EIGHT, _MOST = index(8), index(128)  # NumPy's: partial sums, longest range that is not halved
_PARTS = tuple(index(k) for k in range(8))


@dataclass(frozen=True)
class Tally:
    """Count, mean and sum of squared deviations of five series: deals played twice, their two
    seats, and the seats of deals played once. float64[5] each."""

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, other: Tally) -> Tally:
        return merge_tallies([self, other])


def tally(won: np.ndarray) -> Tally:
    """The tally of `won` (float64[deals, 2]), the payoffs of `a` as player 1 and as player 2 in
    each deal, NaN where it was not played."""
    rows = np.empty((3, SERIES))
    tally_block(np.ascontiguousarray(won, dtype=np.float64), np.empty(len(won)), rows)
    return Tally(*rows)


def merge_tallies(parts: Sequence[Tally]) -> Tally:
    """The tally of all parts, added in order."""
    rows = np.array([(part.count, part.mean, part.squares) for part in parts])
    whole = np.zeros((3, SERIES))
    add_tallies(rows.reshape(-1, 3, SERIES), whole)
    return Tally(*whole)


@jit
def add_tallies(parts: np.ndarray, whole: np.ndarray) -> None:
    """Adds `parts` (float64[n, 3, 5]) to `whole` (float64[3, 5]) by Chan, Golub & LeVeque."""
    for k in range(index(len(parts))):
        for s in range(index(SERIES)):
            n, m = whole[COUNT, s], parts[k, COUNT, s]
            share = m / max(n + m, 1.0)
            delta = parts[k, MEAN, s] - whole[MEAN, s] if n > 0.0 and m > 0.0 else 0.0
            if n > 0.0:
                whole[MEAN, s] += delta * share
            else:
                whole[MEAN, s] = parts[k, MEAN, s]
            whole[COUNT, s] = n + m
            whole[SQUARES, s] = whole[SQUARES, s] + parts[k, SQUARES, s] + delta * delta * n * share


@jit
def tally_block(won: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """Fills `out` (float64[3, 5]) from `won` (float64[n, 2]). `values`: scratch, float64[n]."""
    for s in range(index(SERIES)):
        n = _pick(won, s, values)
        out[COUNT, s] = float(n)
        out[MEAN, s] = out[SQUARES, s] = 0.0
        if n > ZERO:
            mean = _sum(values, ZERO, n) / float(n)
            for k in range(n):
                values[k] = (values[k] - mean) * (values[k] - mean)
            out[MEAN, s] = mean
            out[SQUARES, s] = _sum(values, ZERO, n)


@jit(inner=True)
def _pick(won: np.ndarray, series: int, values: np.ndarray) -> int:
    """Copies a series to the front of `values`; returns its length."""
    n = ZERO
    for k in range(index(len(won))):
        one, two = won[k, ZERO], won[k, ONE]
        first, second = not np.isnan(one), not np.isnan(two)
        if series < _FIRST_ONCE:
            if first and second:
                values[n] = (
                    (one + two) / 2.0 if series == _BOTH else one if series == _FIRST else two
                )
                n += ONE
        elif first != second and first == (series == _FIRST_ONCE):
            values[n] = one if first else two
            n += ONE
    return n


@jit(inner=True)
def _sum(values: np.ndarray, low: int, n: int) -> float:
    """values[low] + ... + values[low + n - 1], in the order of `np.sum`."""
    if n < _EIGHT:
        total = 0.0
        for k in range(low, low + n):
            total += values[k]
        return total
    if n <= _MOST:
        return _sum_by_eight(values, low, n)
    half = n // index(2)
    half -= half % _EIGHT
    return _sum(values, low, half) + _sum(values, low + half, n - half)


@jit(inline=True)
def _sum_by_eight(values: np.ndarray, low: int, n: int) -> float:
    a, b, c, d = values[low], values[low + ONE], values[low + _PARTS[2]], values[low + _PARTS[3]]
    e, f = values[low + _PARTS[4]], values[low + _PARTS[5]]
    g, h = values[low + _PARTS[6]], values[low + _PARTS[7]]
    k = low + _EIGHT
    end = low + n
    while k + _EIGHT <= end:
        a += values[k]
        b += values[k + ONE]
        c += values[k + _PARTS[2]]
        d += values[k + _PARTS[3]]
        e += values[k + _PARTS[4]]
        f += values[k + _PARTS[5]]
        g += values[k + _PARTS[6]]
        h += values[k + _PARTS[7]]
        k += _EIGHT
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while k < end:
        total += values[k]
        k += ONE
    return float(total)
