"""Public chance sampling beside the other samplers on hold'em: strength against seconds of one
processor.

    python -m benchmarks.public [--seconds 5,15,60] [--buckets 10,100,1000] [--algorithms ...]
    python -m benchmarks.public --buckets 20,50 --algorithms mccfr-public,mccfr-external

Writes benchmarks/public.csv and docs/images/public.png: sb/h against one fixed
strategy (10 buckets, 2,000,000 iterations of external sampling), 1,000,000 duplicate hands. Every
solver runs alone, one after the other, and seconds are those that it had a processor. `--draw`
draws what is there.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.solvers.algorithms import new_solver

HERE = Path(__file__).parent
ALGORITHMS: dict[str, dict[str, Any]] = {
    "mccfr-public": {},
    "mccfr-external": {},
    "mccfr": {},
    "mcts": {"c": 17.0},
}
PIECE = {"mccfr-public": 2, "mccfr-external": 500, "mccfr": 20_000, "mcts": 20_000}
PICTURED = (10, 100, 1000)  # buckets
HANDS = 1_000_000
LONGER = {(100, "mccfr-external"): (300.0,)}  # to be compared with a twentieth of it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", default="5,15,60")
    parser.add_argument("--buckets", default="10,100,1000")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if given.draw:
        _draw(_read())
        return
    seconds = [float(text) for text in given.seconds.split(",")]
    opponent = reference()
    counts = [int(text) for text in given.buckets.split(",")]
    chosen = given.algorithms.split(",")
    rows = [row for row in _read() if not (row[0] in counts and row[1] in chosen)]
    for buckets in counts:
        game = cp.load(f"holdem(buckets={buckets})")
        for algorithm in chosen:
            solver = new_solver(game, algorithm, 1, ALGORITHMS[algorithm])
            solver.step(1)  # compile
            spent = 0.0
            for until in [*seconds, *LONGER.get((buckets, algorithm), ())]:
                while spent < until:
                    before = time.process_time()
                    solver.step(PIECE[algorithm])
                    spent += time.process_time() - before
                result = cp.play_match(game, solver.strategy(), opponent, HANDS, 5)
                rate = solver.iterations / spent
                low, high = result.interval
                rows.append((buckets, algorithm, until, rate, result.mean, low, high))
                print(
                    f"{buckets:5} {algorithm:15} {until:6.0f} s  {rate:12,.1f} iterations/s  "
                    f"{result.mean:+.4f} sb/h ({low:+.4f} to {high:+.4f})",
                    flush=True,
                )
                _write(rows)
    _draw(rows)


def reference() -> cp.Strategy:
    """The strategy all are played against."""
    game = cp.load("holdem(buckets=10)")
    return cp.solve(game, "mccfr-external", iterations=2_000_000, seed=99, threads=2).strategy


def _read() -> list[tuple[Any, ...]]:
    """Rows of earlier runs; those of other numbers of buckets are kept."""
    path = HERE / "public.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [(int(line[0]), line[1], *(float(text) for text in line[2:])) for line in lines]


def _write(rows: list[tuple[Any, ...]]) -> None:
    write_rows(
        (HERE / "public.csv"),
        [
            "buckets",
            "algorithm",
            "seconds",
            "iterations_per_second",
            "sb_per_hand",
            "low",
            "high",
        ],
        sorted(rows, key=lambda row: row[0]),
    )


def _draw(rows: list[tuple[Any, ...]]) -> None:
    counts = [count for count in PICTURED if any(row[0] == count for row in rows)]
    figure, axes = new_figure(1, len(counts), 3.6 * len(counts), 3.2)
    for axis, buckets in zip(axes[0], counts, strict=True):
        for k, algorithm in enumerate(ALGORITHMS):
            here = [row for row in rows if row[0] == buckets and row[1] == algorithm]
            axis.plot(
                [row[2] for row in here],
                [row[4] for row in here],
                color=COLOURS[k],
                linestyle=STYLES[k],
                marker="o",
                label=algorithm,
            )
        axis.set_xscale("log")
        marks = sorted({row[2] for row in rows if row[0] == buckets})
        axis.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axis.set_xticks([], minor=True)
        axis.set_title(f"{buckets:,} buckets")
        axis.set_xlabel("seconds on one processor")
    axes[0, 0].set_ylabel("sb/h against a fixed strategy")
    axes[0, min(1, len(counts) - 1)].legend(frameon=False, loc="lower right")
    save_figure(figure, HERE.parent / "docs" / "images" / "public.png")


if __name__ == "__main__":
    main()
