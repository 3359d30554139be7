"""CFR-BR on a CUDA device: percentile buckets, classes of starting hands before the flop.

    python -m benchmarks.cfr_br [--buckets 100] [--seconds 420] [--folder runs/cfr-br] [--out OUT]

Trains for so many seconds in total and keeps checkpoints in the folder; the same command with more
seconds continues there. `--wall` ends the training so that the whole command, with a measurement,
takes about so many seconds. First the ways to fill columns are timed (`--columns auto`), and with
`--trial 90` all `--variants` are trained for so long and measured on 24 flops; the best goes on.

At the end it is measured on sampled flops (0: exactly, on all), and a row is added to
benchmarks/cfr_br.csv: exploitability in mb/g, half the width of the interval beside it. With
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
from counterplay.poker.vector import cfr_br_cuda
from counterplay.poker.vector.cfr_br_source import COLUMN_KINDS

OUT = Path(__file__).parent / "cfr_br.csv"
HEADER = ["game", "variant", "seed", "iterations", "seconds", "flops", "mb_per_game", "plus_minus"]
VARIANTS: dict[str, dict[str, Any]] = {
    "plus": {"plus": True},
    "plain": {"plus": False, "ramp": 2_000},
    "linear": {"plus": False, "ramp": 1_000_000},
    "linear-plus": {"plus": True, "ramp": 1_000_000},
}
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
STEPS = 256  # of quantised probabilities
SAY_SECONDS = 20.0  # between two lines of progress
TRIAL_FLOPS = 24
RESERVE = 60.0  # seconds of a command for saving and measuring
TIMED = 20  # iterations that are timed
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


class Reporter:
    """Prints the rate now and then."""

    def __init__(self) -> None:
        self._last = (time.monotonic(), 0)

    def __call__(self, progress: Progress) -> None:
        now, (before, done) = time.monotonic(), self._last
        if done == 0:
            self._last = (now, progress.iterations)
        elif now - before > SAY_SECONDS:
            rate = (progress.iterations - done) / (now - before)
            self._last = (now, progress.iterations)
            say(
                f"{progress.seconds:.0f} s, {progress.iterations:,} iterations, {rate:.1f} a second"
            )


def fastest_columns(game: Game) -> str:
    """Time the ways to fill columns."""
    rates = {}
    for kind in COLUMN_KINDS:
        cfr_br_cuda.COLUMNS = kind
        try:
            solver = new_solver(game, "cfr-br", 1, {"backend": "cuda"})
            solver.step(3)
            before = time.perf_counter()
            solver.step(TIMED)
        except Exception as error:  # of the device: another way may do
            say(f"columns {kind}: {error}")
            continue
        rates[kind] = TIMED / (time.perf_counter() - before)
        say(f"columns {kind}: {rates[kind]:.1f} iterations a second")
        del solver
    return max(rates, key=lambda kind: rates[kind])


def trained(folder: Path) -> float:
    """Return the seconds of training in a folder; 0 without a checkpoint."""
    if not (folder / "checkpoint.npz").exists():
        return 0.0
    with (folder / "metrics.csv").open() as file:
        return float(list(csv.DictReader(file))[-1]["seconds"])


def train(
    game: Game, seconds: float, folder: Path, start: Path | None, seed: int, options: dict[str, Any]
) -> Run:
    """Train in a folder until it has so many seconds, or go on there."""
    limits = {"seconds": max(seconds, 1.0), "on_chunk": Reporter()}
    if trained(folder):
        return cp.resume(folder, game=game, **limits)
    shutil.rmtree(folder, ignore_errors=True)  # of a run without a checkpoint
    solver = new_solver(game, "cfr-br", seed, options)
    if start is not None:
        arrays = solver.arrays()
        with np.load(start) as saved:
            for name in saved.files:
                arrays[name] = saved[name].astype(arrays[name].dtype)
        solver.restore(arrays, str(start))
    return run_solver(solver, Limits(**limits), folder)


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


def measure(
    run: Run, variant: str, strategy: cp.Strategy, flops: int, backend: str, out: Path | None
) -> float:
    """Measure on flops, or exactly, and add a row to the file."""
    options: dict[str, Any] = {"flops": flops, "seed": 3} if flops else {}
    result = cp.exploitability(run.game, strategy, backend=backend, **options)
    mean, error = MB * float(result), MB * float(getattr(result, "error", 0.0))
    row = [run.game.name, variant, run.seed, run.iterations, round(run.seconds, 1)]
    row += [flops or "all", round(mean, 2), round(error, 2)]
    rows: list[Sequence[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = list(csv.reader(file))[1:]
    write_rows(OUT, HEADER, [*rows, row])
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(OUT, out / OUT.name)
    say("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)))
    return mean


def try_variants(game: Game, given: argparse.Namespace) -> str:
    """Train every variant for a while; moves the folder of the best one to the run's."""
    means = {}
    for variant in given.variants.split(","):
        folder, options = (
            given.folder.with_name(f"{given.folder.name}-{variant}"),
            VARIANTS[variant],
        )
        options = {**options, "backend": given.backend}
        run = train(game, given.trial, folder, given.start, given.seed, options)
        means[variant] = measure(run, variant, run.strategy, TRIAL_FLOPS, given.backend, given.out)
        del run
    best = min(means, key=lambda variant: means[variant])
    say(f"{best} goes on")
    shutil.rmtree(given.folder, ignore_errors=True)
    given.folder.with_name(f"{given.folder.name}-{best}").rename(given.folder)
    (given.folder / "variant.txt").write_text(best)
    return best


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cfr_br", description=summary)
    parser.add_argument("--buckets", type=int, default=100, help="on each street after the first")
    parser.add_argument("--seconds", type=float, default=420.0, help="of training in total")
    parser.add_argument("--wall", type=float, default=0.0, help="of the whole command")
    parser.add_argument("--trial", type=float, default=0.0, help="seconds of each variant")
    parser.add_argument("--variants", default="plus", help=", ".join(VARIANTS))
    parser.add_argument("--columns", default="auto", help=", ".join(["auto", *COLUMN_KINDS]))
    parser.add_argument("--folder", type=Path, default=Path("runs/cfr-br"), help="of checkpoints")
    parser.add_argument("--out", type=Path, help="folder for the strategy and the learner's tables")
    parser.add_argument("--start", type=Path, help="tables of a learner to begin with")
    parser.add_argument("--flops", type=int, default=150, help="for the evaluation; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    given = parser.parse_args(arguments)
    game = cp.load(f"holdem(buckets={given.buckets},kind=classes)")
    say(f"{game.name}: {game.form.n_slots:,} slots")
    auto = given.columns == "auto" and given.backend == "cuda"
    cfr_br_cuda.COLUMNS = fastest_columns(game) if auto else given.columns
    variant, known = given.variants.split(",")[0], given.folder / "variant.txt"
    if trained(given.folder):
        variant = known.read_text() if known.exists() else variant
    elif given.trial > 0:
        variant = try_variants(game, given)
    seconds = given.seconds
    if given.wall > 0:
        left = given.wall - RESERVE - (time.monotonic() - BEGUN)
        seconds = min(seconds, trained(given.folder) + left)
    options = {**VARIANTS[variant], "backend": given.backend}
    run = train(game, seconds, given.folder, given.start, given.seed, options)
    known.write_text(variant)
    say(f"{variant}: {run.iterations:,} iterations in {run.seconds:.0f} s")
    strategy = quantised(run.strategy)
    if given.out is not None:
        save(run, strategy, given.out)
    measure(run, variant, strategy, given.flops, given.backend, given.out)


if __name__ == "__main__":
    main()
