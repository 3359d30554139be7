"""Public chance sampling on a CUDA device beside external sampling on two processors: strength
against seconds of training.

    python -m benchmarks.device_training device [BUCKETS SECONDS] ...
    python -m benchmarks.device_training processors [BUCKETS SECONDS] ...
    python -m benchmarks.device_training draw

Writes benchmarks/device_training.csv and docs/images/device-training.png: sb/h against one fixed
strategy (10 buckets, 2,000,000 iterations of external sampling), 1,000,000 duplicate hands. Seconds
on the device are by the clock on the wall; those of two threads are half of what they had
processors, so that other work on the machine does not count.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from benchmarks.public import reference
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.sampling import SamplingSolver

HERE = Path(__file__).parent
OUT, IMAGE = HERE / "device_training.csv", HERE.parent / "docs" / "images" / "device-training.png"
HEADER = ["buckets", "algorithm", "on", "seconds", "iterations", "sb_per_hand", "low", "high"]
DEVICE, PROCESSORS = ((100, 60.0), (1000, 600.0)), ((100, 3600.0),)
BATCH = 16
HANDS = 1_000_000
Row = tuple[Any, ...]


def train(
    solver: SamplingSolver, seconds: float, piece: int, clock: Callable[[], float], first: Row
) -> None:
    """Play against the fixed strategy after seconds / 64, / 16, / 4 and seconds of training."""
    opponent, spent = reference(), 0.0
    solver.step(piece)
    for until in (seconds / 64, seconds / 16, seconds / 4, seconds):
        while spent < until:
            before = clock()
            solver.step(piece)
            spent += clock() - before
        result = cp.play_match(solver.game, solver.strategy(), opponent, HANDS, 5)
        row = (*first, until, solver.iterations, result.mean, *result.interval)
        rows = [old for old in _read() if old[:4] != row[:4]]
        write_rows(OUT, HEADER, sorted([*rows, row]))
        print(
            f"{first} {until:7.1f} s  {solver.iterations:12,}  {result.mean:+.4f} sb/h", flush=True
        )


def on_device(buckets: int, seconds: float) -> None:
    game = cp.load(f"holdem(buckets={buckets})")
    solver = new_solver(game, "mccfr-public", 1, {"backend": "cuda", "batch": BATCH})
    train(solver, seconds, 32, time.perf_counter, (buckets, "mccfr-public", "device"))


def on_processors(buckets: int, seconds: float) -> None:
    game = cp.load(f"holdem(buckets={buckets})")
    solver = new_solver(game, "mccfr-external", 1, {"threads": 2})

    def clock() -> float:
        return time.process_time() / 2

    train(solver, seconds, 50_000, clock, (buckets, "mccfr-external", "2 processors"))


def _read() -> list[Row]:
    if not OUT.exists():
        return []
    with OUT.open() as file:
        lines = list(csv.reader(file))[1:]
    return [
        (int(a), b, c, float(d), int(e), *map(float, numbers)) for a, b, c, d, e, *numbers in lines
    ]


def draw() -> None:
    rows = _read()
    figure, axes = new_figure(1, 1, 6.5, 4.2)
    axis = axes[0, 0]
    names = sorted({row[:3] for row in rows})
    for colour, style, name in zip(COLOURS, STYLES, names, strict=False):
        line = np.array([row[3:] for row in rows if row[:3] == name], dtype=np.float64)
        buckets, algorithm, on = name
        axis.errorbar(
            line[:, 0], line[:, 2], (line[:, 4] - line[:, 3]) / 2, color=colour, linestyle=style,
            marker="o", label=f"{algorithm}, {buckets:,} buckets, {on}",
        )  # fmt: skip
    axis.set(xscale="log", xlabel="seconds of training", ylabel="sb/h against a fixed strategy")
    axis.legend(fontsize=8)
    save_figure(figure, IMAGE)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "draw":
        draw()
    else:
        some = [(int(a), float(b)) for a, b in zip(given[::2], given[1::2], strict=True)]
        default = DEVICE if what == "device" else PROCESSORS
        for buckets, seconds in some or default:
            (on_device if what == "device" else on_processors)(buckets, seconds)
