"""Public chance sampling beside the other samplers on hold'em: iterations per second, and strength
against seconds on one processor. Writes benchmarks/public.csv and benchmarks/public.png.

    python -m benchmarks.public [--seconds 5,15,60] [--buckets 10,100,1000]

Strength is sb/h against one fixed strategy (10 buckets, 2,000,000 iterations of external sampling),
1,000,000 duplicate hands. Every solver runs alone, one after the other.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import counterplay as cp
from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.solvers.algorithms import new_solver

HERE = Path(__file__).parent
ALGORITHMS: dict[str, dict[str, Any]] = {
    "mccfr-public": {},
    "mccfr-external": {},
    "mccfr": {},
    "mcts": {"c": 17.0},
}
PIECE = {"mccfr-public": 2, "mccfr-external": 500, "mccfr": 20_000, "mcts": 20_000}
HANDS = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", default="5,15,60")
    parser.add_argument("--buckets", default="10,100,1000")
    given = parser.parse_args()
    seconds = [float(text) for text in given.seconds.split(",")]
    opponent = _reference()
    rows: list[tuple[Any, ...]] = []
    for buckets in [int(text) for text in given.buckets.split(",")]:
        game = cp.load(f"holdem(buckets={buckets})")
        for algorithm, options in ALGORITHMS.items():
            solver = new_solver(game, algorithm, 1, options)
            solver.step(1)  # compile
            spent = 0.0
            for until in seconds:
                while spent < until:
                    before = time.perf_counter()
                    solver.step(PIECE[algorithm])
                    spent += time.perf_counter() - before
                result = cp.play_match(game, solver.strategy(), opponent, HANDS, 5)
                rate = solver.iterations / spent
                rows.append((buckets, algorithm, until, rate, result.mean, result.interval))
                low, high = result.interval
                print(
                    f"{buckets:5} {algorithm:15} {until:6.0f} s  {rate:12,.1f} iterations/s  "
                    f"{result.mean:+.4f} sb/h ({low:+.4f} to {high:+.4f})",
                    flush=True,
                )
                _write(rows)
    _draw(rows)


def _reference() -> cp.Strategy:
    """The strategy all are played against."""
    game = cp.load("holdem(buckets=10)")
    return cp.solve(game, "mccfr-external", iterations=2_000_000, seed=99, threads=2).strategy


def _write(rows: list[tuple[Any, ...]]) -> None:
    with (HERE / "public.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "buckets",
                "algorithm",
                "seconds",
                "iterations_per_second",
                "sb_per_hand",
                "low",
                "high",
            ]
        )
        writer.writerows((*row[:-1], *row[-1]) for row in rows)


def _draw(rows: list[tuple[Any, ...]]) -> None:
    counts = sorted({row[0] for row in rows})
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
        axis.set_title(f"{buckets} buckets")
        axis.set_xlabel("seconds on one processor")
    axes[0, 0].set_ylabel("sb/h against a fixed strategy")
    axes[0, 0].legend()
    save_figure(figure, HERE / "public.png")


if __name__ == "__main__":
    main()
