"""Full width on one thread, on all processors and on a CUDA device. Writes
benchmarks/full_width_gpu.csv.

    python -m benchmarks.full_width_gpu [--games leduc,goofspiel(7)] [--out FILE] [--no-equality]

Speed: iterations of CFR+ per second, taking turns, the median of several. Equality: the largest
difference of any number of the tables after 1,000 iterations, the device in double precision
against processors. Gap: exploitability after so many iterations on the device, in double and in
single precision. Published figures of others stand beside (ms per iteration of CFR).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver

GAMES = [
    "leduc", "bluff(1,1,4)", "goofspiel(5)", "bluff(1,1,5)", "pam(3,3,8)", "bluff(1,1,6)",
    "goofspiel(6)", "ocp(500)", "goofspiel(7)",
]  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "one thread": {},
    "all processors": {"threads": "auto"},
    "cuda double": {"backend": "cuda"},
    "cuda single": {"backend": "cuda", "precision": "single"},
}
GAPS = (100, 1_000, 10_000)  # iterations
GAP_GAMES = ("leduc", "bluff(1,1,6)", "goofspiel(6)")
REPEATS, SECONDS = 3, 0.3
EQUAL_AFTER = 1_000
HEADER = ["what", "game", "way", "value", "unit", "entries", "processors"]
#: GPU-CFR (2026), CFR, ms per iteration: on an A100, on 8 CPU threads; LiteEFG on one thread.
PUBLISHED = {
    "Kuhn": (0.113, 0.177, 0.008),
    "Leduc": (0.304, 0.612, 1.233),
    "Liar's Dice": (0.556, 4.378, 102.9),
    "a turn endgame of no-limit hold'em, 433,610 states": (0.397, 5.360, 102.2),
    "Battleship": (0.380, 3.138, 81.0),
}
Row = tuple[str, str, str, float, str, int, int]


def speed(game: Game, ways: list[str]) -> Iterator[Row]:
    """Iterations per second, and exploitabilities per second."""
    solvers = {way: new_solver(game, "cfr+", 0, WAYS[way]) for way in ways}
    work: dict[str, dict[str, Callable[[], Any]]] = {"iterations": {}, "exploitabilities": {}}
    for way, solver in solvers.items():
        _fitting(solver.step)  # to warm up
        n = _fitting(solver.step)
        work["iterations"][way] = lambda solver=solver, n=n: (solver.step(n), n)[1]
        policy = solver.policy()
        work["exploitabilities"][way] = lambda s=solver, p=policy: (s.measure(p), 1)[1]
    for what, jobs in work.items():
        rates: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(REPEATS):
            for way, job in jobs.items():
                before = time.perf_counter()
                n = job()
                rates[way].append(n / (time.perf_counter() - before))
        for way in ways:
            yield what, game.name, way, statistics.median(rates[way]), "per second", 0, 0


def _fitting(step: Callable[[int], None]) -> int:
    """Iterations that take about `SECONDS`."""
    n = 1
    while True:
        before = time.perf_counter()
        step(n)
        took = time.perf_counter() - before
        if took > SECONDS / 4:
            return max(1, int(n * SECONDS / took))
        n *= 2


def equality(game: Game) -> Iterator[Row]:
    """The largest difference of any number of the tables."""
    one = new_solver(game, "cfr+", 0, WAYS["all processors"])
    other = new_solver(game, "cfr+", 0, WAYS["cuda double"])
    for solver in (one, other):
        solver.step(EQUAL_AFTER)
    tables = other.tables()
    most = max(
        float(np.abs(array - tables[name]).max(initial=0.0)) for name, array in one.tables().items()
    )
    gap = abs(one.measure(one.policy()) - other.measure(other.policy()))
    what = f"largest difference after {EQUAL_AFTER:,} iterations"
    yield what, game.name, "cuda double", most, "in the tables", 0, 0
    yield what, game.name, "cuda double", gap, "in exploitability", 0, 0


def gaps(game: Game) -> Iterator[Row]:
    """What single precision does to the gap that can be reached."""
    for way in ("cuda double", "cuda single"):
        solver = new_solver(game, "cfr+", 0, WAYS[way])
        for n in GAPS:
            solver.step(n - solver.iterations)
            gap = cp.exploitability(game, solver.strategy())
            yield f"exploitability after {n:,} iterations", game.name, way, gap, "b1 + b2", 0, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", default=";".join(GAMES), help="separated by ;")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "full_width_gpu.csv")
    parser.add_argument("--no-equality", action="store_true")
    given = parser.parse_args()
    rows: list[Row] = []
    for name in given.games.split(";"):
        begun = time.perf_counter()
        game = cp.load(name)
        entries = len(game.sequence_form.one.value)
        print(f"{game.name}: {entries:,} entries, made in {time.perf_counter() - begun:.1f} s")
        ways = list(WAYS) if _device() else list(WAYS)[:2]
        parts = [speed(game, ways)]
        if _device() and not given.no_equality:
            parts += [equality(game)] + ([gaps(game)] if name in GAP_GAMES else [])
        for part in parts:
            for row in part:
                rows.append((*row[:5], entries, cores()))
                print(f"  {row[0]:42} {row[2]:15} {row[3]:14.6g} {row[4]}", flush=True)
                write_rows(given.out, HEADER, rows)
    for game, (gpu, eight, lite) in PUBLISHED.items():
        print(f"published: {game}: {gpu} ms on an A100, {eight} on 8 threads, LiteEFG {lite} ms")


def _device() -> bool:
    from counterplay.core.kernels.device import cupy

    try:
        cupy()
        return True
    except BadParameter:
        return False


if __name__ == "__main__":
    main()
