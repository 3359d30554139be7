"""Several threads: what they cost in convergence and what they bring in speed. Writes
benchmarks/threads.csv.

    python -m benchmarks.threads [--no-convergence] [--no-speed] [--threads 1,2,4,8,16]

What is not measured stays in the file as it was.

Convergence: exploitability after as many iterations, the mean over seeds, over that of one thread.
In hold'em: sb/h against one reference strategy, 1,000,000 duplicate hands. Speed: iterations per
second over those of one thread, taking turns, after some seconds of training; and what the machine
allows: as many solvers of one thread each that never meet, at once.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.parallel.pool import most_threads
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver

CONVERGENCE: list[tuple[str, str, int, dict[str, Any]]] = [
    ("leduc", "mccfr", 1_000_000, {}),
    ("leduc", "mccfr-external", 100_000, {}),
    ("leduc", "mcts", 400_000, {"c": 13.0}),
    ("bluff(1,1,4)", "mcts", 200_000, {"c": 1.0}),
    ("bluff(1,1,6)", "mccfr-external", 100_000, {}),
    ("bluff(1,1,6)", "mcts", 2_000_000, {"c": 1.0}),
    ("goofspiel(5)", "mccfr", 2_000_000, {}),
    ("goofspiel(5)", "mccfr-external", 100_000, {}),
    ("goofspiel(5)", "mcts", 1_000_000, {"c": 1.0}),
    ("ocp(500)", "mcts", 300_000, {"c": 2.0}),
    ("ocp(500)", "mccfr-external", 100_000, {}),
]
HOLDEM: list[tuple[str, int, dict[str, Any]]] = [
    ("mcts", 6_000_000, {"c": 17.0}),
    ("mccfr", 6_000_000, {}),
    ("mccfr-external", 300_000, {}),
]
SEEDS, REPEATS, SECONDS, WARM = 4, 2, 2.0, 3.0
Row = tuple[
    str, str, str, int, float, float, float
]  # kind, game, algorithm, threads, median, least, most


def convergence(counts: list[int], chosen: list[str]) -> Iterator[Row]:
    for name, algorithm, iterations, options in CONVERGENCE:
        if algorithm not in chosen:
            continue
        game = cp.load(name)
        one = np.nan
        for threads in counts:
            if threads > most_threads(game):
                continue
            found = []
            for seed in range(SEEDS):
                solver = new_solver(game, algorithm, seed, {**options, "threads": threads})
                solver.step(iterations)
                found.append(cp.exploitability(game, solver.strategy()))
            one = float(np.mean(found)) if threads == 1 else one
            ratios = np.array(found) / one
            yield (
                "exploitability over one thread's",
                name,
                algorithm,
                threads,
                float(ratios.mean()),
                ratios.min(),
                ratios.max(),
            )


def holdem_strength(counts: list[int], chosen: list[str]) -> Iterator[Row]:
    game = cp.load("holdem(buckets=10)")
    reference = new_solver(game, "mccfr-external", 99, {"threads": min(cores(), 8)})
    reference.step(1_000_000)
    opponent = reference.strategy()
    for algorithm, iterations, options in HOLDEM:
        for threads in counts if algorithm in chosen else ():
            found = []
            for seed in range(SEEDS):
                solver = new_solver(game, algorithm, seed, {**options, "threads": threads})
                solver.step(iterations)
                found.append(cp.play_match(game, solver.strategy(), opponent, 1_000_000, 5).mean)
            yield (
                "sb/h against a reference",
                game.name,
                algorithm,
                threads,
                float(np.mean(found)),
                min(found),
                max(found),
            )


def speed(counts: list[int]) -> Iterator[Row]:
    for buckets in (10, 100):
        game = cp.load(f"holdem(buckets={buckets})")
        for algorithm, _, options in HOLDEM:
            solvers = {t: new_solver(game, algorithm, 1, {**options, "threads": t}) for t in counts}
            apart = {t: [new_solver(game, algorithm, k, options) for k in range(t)] for t in counts}
            chunk = {t: _warm(solver) for t, solver in solvers.items()}
            rates: dict[int, list[float]] = {t: [] for t in counts}
            limits: dict[int, list[float]] = {t: [] for t in counts}
            for _ in range(REPEATS):
                for t, solver in solvers.items():
                    rates[t].append(_rate(solver, chunk[t]))
                    limits[t].append(_rate_apart(apart[t], chunk[counts[0]]))
            name, one = game.name, rates[counts[0]]
            for t in counts:
                yield _row("rate over one thread's", name, algorithm, t, rates[t], one)
                yield _row("the same, never meeting", name, algorithm, t, limits[t], one)
            yield _row("iterations per second", name, algorithm, counts[0], one, [1.0] * REPEATS)


def _row(
    what: str, game: str, algorithm: str, threads: int, found: list[float], base: list[float]
) -> Row:
    ratios = [rate / one for rate, one in zip(found, base, strict=True)]
    return what, game, algorithm, threads, statistics.median(ratios), min(ratios), max(ratios)


def _warm(solver: Any) -> int:
    """Past the first meetings; how many iterations take about `SECONDS`."""
    n, begun = 50_000, time.perf_counter()
    while True:
        before = time.perf_counter()
        solver.step(n)
        took = time.perf_counter() - before
        if took > SECONDS / 4 and time.perf_counter() - begun > WARM:
            return int(n * SECONDS / took)
        n = n if took > SECONDS / 4 else 2 * n


def _rate(solver: Any, n: int) -> float:
    before = time.perf_counter()
    solver.step(n)
    return n / (time.perf_counter() - before)


def _rate_apart(solvers: list[Any], n: int) -> float:
    """Iterations per second of all of them."""
    before = time.perf_counter()
    with ThreadPoolExecutor(len(solvers)) as pool:
        for job in [pool.submit(solver.step, n) for solver in solvers]:
            job.result()
    return n * len(solvers) / (time.perf_counter() - before)


def matches(counts: list[int]) -> Iterator[Row]:
    """Two tables: hands per second with all processors over those with one."""
    game = cp.load("holdem(buckets=10)")
    found: dict[int, list[float]] = {t: [] for t in counts}
    for _ in range(REPEATS):
        for t in counts:
            before = time.perf_counter()
            cp.play_match(game, "probe", "always-raise", 4_000_000 * t, 1, processes=t)
            found[t].append(4_000_000 * t / (time.perf_counter() - before))
    for t in counts:
        ratios = [rate / base for rate, base in zip(found[t], found[counts[0]], strict=True)]
        yield (
            "hands per second over one thread's",
            game.name,
            "match",
            t,
            statistics.median(ratios),
            min(ratios),
            max(ratios),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-convergence", action="store_true")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--converging", default="mcts,mccfr,mccfr-external")
    parser.add_argument(
        "--threads", default=",".join(str(t) for t in (1, 2, 4, 8, 16) if t <= cores())
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "threads.csv")
    given = parser.parse_args()
    counts = [int(text) for text in given.threads.split(",")]
    parts = [] if given.no_speed else [speed(counts), matches(counts)]
    if not given.no_convergence:
        chosen = given.converging.split(",")
        parts += [convergence(counts, chosen), holdem_strength(counts, chosen)]
    rows = _read(given.out)
    for part in parts:
        for row in part:
            rows = [old for old in rows if old[:4] != row[:4]] + [(*row, cores())]
            print(
                f"{row[0]:34}  {row[1]:20}  {row[2]:15}  {row[3]:3}  {row[4]:10.4g}  "
                f"({row[5]:.4g} to {row[6]:.4g})",
                flush=True,
            )
            write_rows(
                given.out,
                [
                    "what",
                    "game",
                    "algorithm",
                    "threads",
                    "median",
                    "least",
                    "most",
                    "processors",
                ],
                rows,
            )


def _read(path: Path) -> list[tuple[Any, ...]]:
    if not path.exists():
        return []
    with path.open() as file:
        return [(*row[:3], int(row[3]), *row[4:]) for row in list(csv.reader(file))[1:]]


if __name__ == "__main__":
    main()
