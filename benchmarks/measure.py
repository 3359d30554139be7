"""Timing on a noisy machine: the programs compared take turns several times, and the spread is
printed."""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

REPEATS = 5


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


@dataclass(frozen=True)
class Rates:
    """Work per second in each repeat."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def rate(work: Callable[[int], None], seconds: float = 0.4) -> float:
    """Units per second of `work(n)`, which does n units, over about `seconds`."""
    n = 1
    while True:
        before = time.perf_counter()
        work(n)
        took = time.perf_counter() - before
        if took >= seconds:
            return n / took
        n = max(n + 1, int(n * min(10.0, 1.2 * seconds / max(took, 1e-9))))


def compare_rates(
    ours: Callable[[int], None], theirs: Callable[[int], None]
) -> tuple[Rates, Rates]:
    """Rates of both, taking turns REPEATS times after a warm-up of each."""
    ours(1)
    theirs(1)
    pairs = [(rate(ours), rate(theirs)) for _ in range(REPEATS)]
    return Rates(tuple(pair[0] for pair in pairs)), Rates(tuple(pair[1] for pair in pairs))


def ratio_text(ours: Rates, theirs: Rates) -> tuple[float, str]:
    """Median and range of the ratios over the turns."""
    ratios = [a / b for a, b in zip(ours.values, theirs.values, strict=True)]
    return statistics.median(ratios), f"{min(ratios):,.0f}-{max(ratios):,.0f}"
