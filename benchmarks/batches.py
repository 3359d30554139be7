"""What batches of boards cost in convergence: public chance sampling on a CUDA device, 100 buckets.

    python -m benchmarks.batches [seconds, 4] [buckets, 100]
    python -m benchmarks.batches draw

Writes benchmarks/batches.csv and docs/images/batches.png: sb/h against one fixed strategy (10
buckets, 2,000,000 iterations of external sampling), 1,000,000 duplicate hands, by batch, boards and
seconds.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from benchmarks.public import reference
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.solvers.algorithms import new_solver

HERE = Path(__file__).parent
OUT, IMAGE = HERE / "batches.csv", HERE.parent / "docs" / "images" / "batches.png"
HEADER = ["buckets", "batch", "boards", "seconds", "sb_per_hand", "low", "high"]
BATCHES = (1, 4, 16, 64, 256, 1024)
HANDS = 1_000_000


def main(seconds: float, buckets: int) -> None:
    game, opponent = cp.load(f"holdem(buckets={buckets})"), reference()
    rows: list[tuple[Any, ...]] = []
    for batch in BATCHES:
        solver = new_solver(game, "mccfr-public", 1, {"backend": "cuda", "batch": batch})
        solver.step(1)
        spent = 0.0
        for until in (seconds / 16, seconds / 4, seconds):
            while spent < until:
                before = time.perf_counter()
                solver.step(max(1, 64 // batch))
                spent += time.perf_counter() - before
            result = cp.play_match(game, solver.strategy(), opponent, HANDS, 5)
            boards = solver.iterations * batch
            rows.append((buckets, batch, boards, until, result.mean, *result.interval))
            print(
                f"batch {batch:5} {boards:9,} boards {until:5.1f} s  {result.mean:+.4f} sb/h",
                flush=True,
            )
            write_rows(OUT, HEADER, rows)


def draw() -> None:
    with OUT.open() as file:
        rows = [[float(text) for text in row] for row in list(csv.reader(file))[1:]]
    figure, axes = new_figure(1, 2, 11.0, 4.2)
    for axis, column, label in zip(np.ravel(axes), (2, 3), ("boards", "seconds"), strict=True):
        for colour, style, batch in zip(COLOURS, STYLES, BATCHES, strict=False):
            line = np.array([row for row in rows if row[1] == batch])
            if len(line):
                off = (line[:, 6] - line[:, 5]) / 2
                axis.errorbar(
                    line[:, column], line[:, 4], off, color=colour, linestyle=style, marker="o",
                    label=f"batch of {batch}",
                )  # fmt: skip
        axis.set(xscale="log", xlabel=label)
        axis.xaxis.set_minor_formatter("")
    np.ravel(axes)[0].set_ylabel("sb/h against a fixed strategy")
    np.ravel(axes)[0].legend(fontsize=8)
    save_figure(figure, IMAGE)


if __name__ == "__main__":
    if sys.argv[1:] == ["draw"]:
        draw()
    else:
        given = sys.argv[1:]
        main(float(given[0]) if given else 4.0, int(given[1]) if len(given) > 1 else 100)
