"""Fair timing on a noisy machine: contenders take turns, several times, and the spread is
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
    """A file of results, whole."""
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
    """`work(n)` does n units; units per second over about `seconds`."""
    n = 1
    while True:
        before = time.perf_counter()
        work(n)
        took = time.perf_counter() - before
        if took >= seconds:
            return n / took
        n = max(n + 1, int(n * min(10.0, 1.2 * seconds / max(took, 1e-9))))


def side_by_side(ours: Callable[[int], None], theirs: Callable[[int], None]) -> tuple[Rates, Rates]:
    """Both in turn, REPEATS times, after a warm-up of each."""
    ours(1)
    theirs(1)
    pairs = [(rate(ours), rate(theirs)) for _ in range(REPEATS)]
    return Rates(tuple(pair[0] for pair in pairs)), Rates(tuple(pair[1] for pair in pairs))


def ratio_text(ours: Rates, theirs: Rates) -> tuple[float, str]:
    """Median of the ratios of each turn, and its range."""
    ratios = [a / b for a, b in zip(ours.values, theirs.values, strict=True)]
    return statistics.median(ratios), f"{min(ratios):,.0f}-{max(ratios):,.0f}"
