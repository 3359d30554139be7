"""CFR-BR in limit hold'em on a CUDA device: exploitability over time.

    python -m benchmarks.cfr_br GAME [--seconds 300] [--points 4] [--exact] [--out OUT]

Trains a player, for example `holdem(buckets=100,kind=classes)`, and measures its average strategy
on the same sampled flops after 1/8, 1/4, 1/2 and all of the time (`--points 4`), with its
probabilities in steps of 1/255 at the end; `--exact` adds its exploitability over every board. Adds
a row for each measurement to benchmarks/cfr_br.csv: mb/g averaged over the seats, half the width of
the interval beside it (0: exact). `--out`: a folder for that file and the strategy.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver

OUT = Path(__file__).parent / "cfr_br.csv"
HEADER = ["game", "seed", "iterations", "seconds", "flops", "mb_per_game", "plus_minus"]
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
STEPS = 255  # of quantised probabilities
CHUNK = 50  # iterations between two looks at the clock
SAY_SECONDS = 20.0  # between two lines of progress
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


class Training:
    """A solver and the seconds that it has had."""

    def __init__(self, game: str, seed: int, options: dict[str, Any]) -> None:
        self.game = cp.load(game)
        say(f"{self.game.name}: {self.game.form.n_slots:,} slots")
        self.solver: Solver = new_solver(self.game, "cfr-br", seed, options)
        self.solver.step(1)  # kernels are compiled
        self.seconds = 0.0
        say("compiled")

    def train(self, seconds: float) -> None:
        """Train until it has had so many seconds."""
        said, done, before = time.monotonic(), self.solver.iterations, time.monotonic()
        while self.seconds < seconds:
            self.solver.step(CHUNK)
            now = time.monotonic()
            self.seconds, before = self.seconds + now - before, now
            if now - said > SAY_SECONDS:
                rate = (self.solver.iterations - done) / (now - said)
                say(f"{self.seconds:.0f} s, {self.solver.iterations:,} iterations, {rate:.1f}/s")
                said, done = now, self.solver.iterations

    def measure(self, strategy: cp.Strategy, flops: int, backend: str) -> None:
        """Measure on so many flops, or on all (0), and add a row to the file."""
        options: dict[str, Any] = {"flops": flops, "seed": 3} if flops else {}
        result = cp.exploitability(self.game, strategy, backend=backend, **options)
        mean, error = MB * float(result), MB * float(getattr(result, "error", 0.0))
        solver = self.solver
        row = [self.game.name, solver.seed, solver.iterations, round(self.seconds, 1)]
        row += [flops or "all", round(mean, 2), round(error, 2)]
        rows: list[Sequence[object]] = []
        if OUT.exists():
            with OUT.open() as file:
                rows = list(csv.reader(file))[1:]
        write_rows(OUT, HEADER, [*rows, row])
        say("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)))


def quantised(strategy: cp.Strategy, steps: int = STEPS) -> cp.Strategy:
    """Return the strategy with probabilities in whole steps that sum to 1 (largest remainders)."""
    first = strategy.game.form.first
    scaled = strategy.probabilities * steps
    whole = np.floor(scaled)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    missing = steps - np.add.reduceat(whole, first[:-1]).round().astype(np.int64)
    order = np.lexsort((-(scaled - whole), owner))
    rank = np.arange(len(whole)) - first[owner]
    whole[order] += rank < missing[owner]
    return cp.Strategy(strategy.game, whole / steps)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cfr_br", description=summary)
    parser.add_argument("game", help="for example holdem(buckets=100,kind=classes)")
    parser.add_argument("--seconds", type=float, default=300.0, help="of training")
    parser.add_argument("--points", type=int, default=4, help="measurements, each time doubled")
    parser.add_argument("--flops", type=int, default=48, help="of a measurement")
    parser.add_argument("--exact", action="store_true", help="at the end also on every board")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--out", type=Path, help="a folder for the strategy and the file")
    given = parser.parse_args(arguments)
    training = Training(given.game, given.seed, {"backend": given.backend})
    strategy = training.solver.strategy()
    for point in range(given.points - 1, -1, -1):
        training.train(given.seconds / 2**point)
        strategy = training.solver.strategy()
        if point == 0:
            strategy = quantised(strategy)
        training.measure(strategy, given.flops, given.backend)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", training.game.name).strip("-")
        steps = np.rint(strategy.probabilities * STEPS).astype(np.uint8)
        np.savez_compressed(given.out / f"{name}.npz", steps=steps)
        shutil.copy(OUT, given.out / OUT.name)
    if given.exact:
        training.measure(strategy, 0, given.backend)
        if given.out is not None:
            shutil.copy(OUT, given.out / OUT.name)


if __name__ == "__main__":
    main()
