"""How often a confidence sequence ever excludes the truth, for payoffs of several shapes, among
them those for which it does so too often: rare payoffs far from the others. Writes
benchmarks/sequences.csv. Run: python -m benchmarks.sequences"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.measure import write_rows
from counterplay.core.match.sequences import ConfidenceSequence

OUT = Path(__file__).parent / "sequences.csv"
RUNS = 1_000
DEALS = (100, 1_500)  # of an exam of 200 and of 3,000 hands
SCALE = 1.0
Draw = Callable[[np.random.Generator, int], np.ndarray]


def rare(one_in: int, size: float) -> Draw:
    """Losses of `size` in one of so many deals, beside other luck; with mean 0."""
    return lambda rng, n: (
        size / one_in - size * (rng.random(n) < 1.0 / one_in) + 0.5 * rng.normal(size=n)
    )


def grows(factor: float) -> Draw:
    """A spread that grows by a factor in the middle of the exam."""
    return lambda rng, n: 0.5 * rng.normal(size=n) * np.where(np.arange(n) < n // 2, 1.0, factor)


SHAPES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
    "spread grows fourfold": grows(4.0),
    "loses 5 sb in 1 of 50 deals": rare(50, 5.0),
    "loses 10 sb in 1 of 200 deals": rare(200, 10.0),
    "loses 24 sb in 1 of 500 deals": rare(500, 24.0),
}


def missed(draw: Draw, deals: int) -> float:
    """The share of runs with an interval, at any time, that excludes 0."""
    rng, count = np.random.default_rng(34), 0
    for _ in range(RUNS):
        intervals = ConfidenceSequence(deals, SCALE).add(draw(rng, deals))
        count += any(interval.excludes(0.0) for interval in intervals)
    return count / RUNS


def main() -> None:
    rows = []
    for shape, draw in SHAPES.items():
        rows.append((shape, *(missed(draw, deals) for deals in DEALS)))
        print(*rows[-1], flush=True)
    write_rows(OUT, ["shape", *(f"missed_{deals}" for deals in DEALS)], rows)


if __name__ == "__main__":
    main()
