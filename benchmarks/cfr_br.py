"""CFR-BR on a CUDA device: percentile buckets, classes of starting hands before the flop.

    python -m benchmarks.cfr_br [--buckets 100] [--seconds 420] [--folder runs/cfr-br] [--out OUT]

Trains for so many seconds in total and keeps checkpoints in the folder; the same command with more
seconds continues there. Then measures on sampled flops (0: exactly, on all of them) and adds a row
to benchmarks/cfr_br.csv: exploitability in mb/g, half the width of the interval beside it. With
`--out` that file, the strategy (`strategy.npz`, probabilities in steps of 1/256) and the learner's
tables (`learner.npz`) are written there too; `--start learner.npz` begins with those, and with an
adversary that has learnt nothing.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.forms.game import Game
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.limits import Limits, Progress
from counterplay.core.solvers.run import Run, run_solver

OUT = Path(__file__).parent / "cfr_br.csv"
HEADER = ["game", "seed", "iterations", "seconds", "flops", "mb_per_game", "plus_minus"]
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
STEPS = 256  # of quantised probabilities
SAY_SECONDS = 20.0  # between two lines of progress


class Reporter:
    """Prints the rate now and then."""

    def __init__(self) -> None:
        self._last = (time.monotonic(), 0)

    def __call__(self, progress: Progress) -> None:
        now, (before, done) = time.monotonic(), self._last
        if now - before > SAY_SECONDS or done == 0:
            rate = (progress.iterations - done) / (now - before)
            self._last = (now, progress.iterations)
            print(
                f"{progress.seconds:7.1f} s  {progress.iterations:8,} iterations  {rate:6.1f}/s",
                flush=True,
            )


def train(game: Game, seconds: float, folder: Path, start: Path | None, **options: Any) -> Run:
    """Train in a folder, or go on there."""
    limits = {"seconds": seconds, "on_chunk": Reporter()}
    if (folder / "checkpoint.npz").exists():
        return cp.resume(folder, game=game, **limits)
    shutil.rmtree(folder, ignore_errors=True)  # of a run without a checkpoint
    solver = new_solver(game, "cfr-br", options.pop("seed"), options)
    if start is not None:
        arrays = solver.arrays()
        with np.load(start) as saved:
            for name in saved.files:
                arrays[name] = saved[name].astype(arrays[name].dtype)
        solver.restore(arrays, str(start))
    return run_solver(solver, Limits(**limits), folder)


def quantised(strategy: cp.Strategy, steps: int = STEPS) -> cp.Strategy:
    """Returns the strategy with probabilities in whole steps that sum to 1 (largest remainders)."""
    first = strategy.game.form.first
    scaled = strategy.probabilities * steps
    whole = np.floor(scaled)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    missing = steps - np.add.reduceat(whole, first[:-1]).round().astype(np.int64)
    order = np.lexsort((-(scaled - whole), owner))
    rank = np.arange(len(whole)) - first[owner]
    whole[order] += rank < missing[owner]
    return cp.Strategy(strategy.game, whole / steps)


def save(run: Run, strategy: cp.Strategy, out: Path) -> None:
    """Write the strategy and the learner's tables."""
    out.mkdir(parents=True, exist_ok=True)
    strategy.save(out / "strategy.npz")
    arrays = {
        name: array if name == "counters" else array.astype(np.float32)
        for name, array in run._solver.arrays().items()
        if name.startswith(("regret", "strategy_sum", "counters"))
    }
    np.savez_compressed(out / "learner.npz", **arrays)


def measure(run: Run, strategy: cp.Strategy, flops: int, backend: str, out: Path | None) -> None:
    """Measure on flops, or exactly, and add a row to the file."""
    options: dict[str, Any] = {"flops": flops, "seed": 3} if flops else {}
    before = time.monotonic()
    result = cp.exploitability(run.game, strategy, backend=backend, **options)
    error = getattr(result, "error", 0.0)
    row = [run.game.name, run.seed, run.iterations, round(run.seconds, 1), flops or "all"]
    row += [round(MB * float(result), 2), round(MB * float(error), 2)]
    rows: list[Sequence[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = list(csv.reader(file))[1:]
    write_rows(OUT, HEADER, [*rows, row])
    if out is not None:
        shutil.copy(OUT, out / OUT.name)
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)))
    print(f"measured in {time.monotonic() - before:.0f} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cfr_br", description=summary)
    parser.add_argument("--buckets", type=int, default=100, help="on each street after the first")
    parser.add_argument("--seconds", type=float, default=420.0, help="of training in total")
    parser.add_argument("--folder", type=Path, default=Path("runs/cfr-br"), help="of checkpoints")
    parser.add_argument("--out", type=Path, help="folder for the strategy and the learner's tables")
    parser.add_argument("--start", type=Path, help="tables of a learner to begin with")
    parser.add_argument("--flops", type=int, default=150, help="for the evaluation; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    given = parser.parse_args(arguments)
    game = cp.load(f"holdem(buckets={given.buckets},kind=classes)")
    run = train(
        game, given.seconds, given.folder, given.start, seed=given.seed, backend=given.backend
    )
    print(f"{run.iterations:,} iterations in {run.seconds:.0f} s", flush=True)
    strategy = quantised(run.strategy)
    if given.out is not None:
        save(run, strategy, given.out)
    measure(run, strategy, given.flops, given.backend, given.out)


if __name__ == "__main__":
    main()
