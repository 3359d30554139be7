"""What threads bring to public chance sampling, and where the rest of their time goes. Writes
benchmarks/public_threads.csv.

    python -m benchmarks.public_threads [--threads 2] [--buckets 10,100,1000] [--seconds 4]

One thread and `--threads` take turns, a few seconds each, after a warm-up. Beside the rates of the
wall clock: the share of their time in which the threads play (the rest: merging, waiting for each
other), and an iteration's time over that of one thread, by the wall clock and by the clock of the
thread. If the first is longer than the second, threads wait for Python's lock or for a processor;
if the second is long, they share caches and memory. The gain is threads · playing / slower. The
first row of a number of buckets: the iterations before the warm-up ends, in part played by one
thread alone; the last: `--threads` solvers of one thread each, which never meet. With the sources
of an earlier version first in PYTHONPATH the same command measures that version.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver

REPEATS, WARM = 3, 40  # turns; iterations of each thread before the first
FIELDS = (
    "buckets", "threads", "how", "repeat", "one_per_second", "per_second", "gain", "playing",
    "slower", "slower_by_thread_clock", "processors",
)  # fmt: skip


class Clocked:
    """A solver whose seconds of playing are summed, by the wall clock and the threads' clocks."""

    def __init__(self, game: Any, seed: int, threads: int) -> None:
        self.solver = cast("Any", new_solver(game, "mccfr-public", seed, {"threads": threads}))
        self.threads, self._play, self.spent = threads, self.solver.play, []
        self.solver.play = self._clocked
        self.solver.step(0)
        self.started = self._timed(WARM * threads)

    def _timed(self, n: int) -> tuple[float, float, float, float]:
        self.spent.clear()
        started = time.perf_counter()
        self.solver.step(n)
        return self._rates(n, time.perf_counter() - started)

    def _rates(self, n: int, wall: float) -> tuple[float, float, float, float]:
        playing, own = (sum(clock) for clock in zip(*self.spent, strict=True))
        return n / wall, playing / wall / self.threads, playing / n, own / n

    def _clocked(self, *arguments: Any) -> Any:
        wall, own = time.perf_counter(), time.thread_time()
        nodes = self._play(*arguments)
        self.spent.append((time.perf_counter() - wall, time.thread_time() - own))
        return nodes

    def run(self, seconds: float) -> tuple[float, float, float, float]:
        """Returns iterations a second, the share of playing, and both clocks' seconds of an
        iteration."""
        self.spent.clear()
        done, piece = self.solver.iterations, 16 * self.threads
        started = time.perf_counter()
        while time.perf_counter() - started < seconds:
            self.solver.step(piece)
        return self._rates(self.solver.iterations - done, time.perf_counter() - started)


def measure(buckets: int, threads: int, seconds: float) -> list[tuple[Any, ...]]:
    game = cp.load(f"holdem(buckets={buckets})")
    one, together = Clocked(game, 1, 1), Clocked(game, 1, threads)
    rows = [_row(buckets, threads, "from the start", 0, one.started, together.started)]
    for repeat in range(REPEATS):
        base, found = one.run(seconds), together.run(seconds)
        rows.append(_row(buckets, threads, "together", repeat, base, found))
    apart = [one, *(Clocked(game, k + 2, 1) for k in range(threads - 1))]
    with ThreadPoolExecutor(threads) as pool:
        each = list(pool.map(lambda solver: solver.run(seconds), apart))
    total = (sum(found[0] for found in each), *(sum(x) / threads for x in zip(*each, strict=True)))
    rows.append(_row(buckets, threads, "apart", 0, base, (total[0], *total[2:])))
    return rows


def _row(
    buckets: int, threads: int, how: str, repeat: int, base: Any, found: Any
) -> tuple[Any, ...]:
    gain, slower, own = found[0] / base[0], found[2] / base[2], found[3] / base[3]
    print(
        f"{buckets:5} buckets  one thread {base[0]:7.1f}/s  {threads} {how} {found[0]:8.1f}/s  "
        f"gain {gain:5.2f}  playing {found[1]:.3f}  slower {slower:.3f}, by its clock {own:.3f}",
        flush=True,
    )
    return (
        buckets, threads, how, repeat, base[0], found[0], gain, found[1], slower, own, cores(),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=min(cores(), 16))
    parser.add_argument("--buckets", default="10,100,1000")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".csv"))
    given = parser.parse_args()
    rows: list[tuple[Any, ...]] = []
    for text in given.buckets.split(","):
        rows += measure(int(text), given.threads, given.seconds)
        write_rows(given.out, list(FIELDS), rows)


if __name__ == "__main__":
    main()
