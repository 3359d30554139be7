"""Full width on several threads over one: where two begin to pay, and what they bring. Writes
benchmarks/full_width.csv.

    python -m benchmarks.full_width [--threads 2] [--pin]

Microseconds per iteration, the least of several turns, on games from small to large, with threads
forced also where the choice would be one. Runs are added to the file: what two threads bring
depends on where the machine's processors are. `work` is what `core/parallel/full_width.py` decides
by."""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.parallel import full_width
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.algorithms import new_solver

GAMES = [
    "kuhn", "leduc", "bluff(1,1,3)", "goofspiel(4)", "bluff(1,1,4)", "bluff(1,1,5)",
    "goofspiel(5)", "pam(3,3,8)", "bluff(1,1,6)", "goofspiel(6)", "ocp(500)",
]  # fmt: skip
OTHERS = ("dcfr", "pcfr+", "cfr", "egt")  # on the two games of the design
CHOSEN = ("bluff(1,1,6)", "goofspiel(6)")
REPEATS, SECONDS = 40, 0.02
KNOWN = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]


def compare(name: str, algorithm: str, threads: int, pin: bool) -> tuple[float, float]:
    """Seconds per iteration of one thread and of several, taking turns."""
    game = cp.load(name)
    solvers = [new_solver(game, algorithm, 0, more) for more in ({}, {"threads": threads})]
    if pin:
        _pin(solvers[1])
    counts = [_fitting(solver) for solver in solvers]
    least = [float("inf")] * 2
    for _ in range(REPEATS):
        for k, (solver, n) in enumerate(zip(solvers, counts, strict=True)):
            before = time.perf_counter()
            solver.step(n)
            least[k] = min(least[k], (time.perf_counter() - before) / n)
    return least[0], least[1]


def _pin(solver: Any) -> None:
    """Each thread to a processor of its own, where the system would rather move them about."""
    known = KNOWN
    group = getattr(solver, "_threads", None) or solver._regrets.kernel_threads
    os.sched_setaffinity(0, {known[0]})
    group.run(_bind, known)
    os.sched_setaffinity(0, {known[0]})


def _bind(known: list[int], group: Any, k: int) -> None:
    os.sched_setaffinity(0, {known[k % len(known)]})
    time.sleep(0.02)  # so that every thread takes one


def _fitting(solver: Any) -> int:
    solver.step(1)
    n = 1
    while True:
        before = time.perf_counter()
        solver.step(n)
        took = time.perf_counter() - before
        if took > SECONDS / 2:
            return max(1, int(n * SECONDS / took))
        n *= 2


def side_work(name: str) -> int:
    return min(full_width.side_work(side) for side in cp.load(name).sequence_form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=min(cores(), 2))
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "full_width.csv")
    given = parser.parse_args()
    vars(full_width)["cores"] = lambda: len(KNOWN)  # also when this thread is bound to one of them
    rows = _read(given.out)
    run = 1 + max((int(row[-1]) for row in rows), default=0)
    for name in GAMES:
        chosen = full_width.useful_threads(cp.load(name).sequence_form, given.threads)
        before, full_width.LEAST_WORK = full_width.LEAST_WORK, 1
        for algorithm in ("cfr+", *(OTHERS if name in CHOSEN else ())):
            one, many = compare(name, algorithm, given.threads, given.pin)
            micro = (f"{1e6 * seconds:.2f}" for seconds in (one, many))
            row = (name, algorithm, given.threads, side_work(name), *micro, f"{one / many:.3f}")
            rows.append((*row, chosen, run))
            print(*rows[-1], flush=True)
        full_width.LEAST_WORK = before
    header = ["game", "algorithm", "threads", "work", "us_one", "us_many", "ratio", "chosen", "run"]
    write_rows(given.out, header, rows)


def _read(path: Path) -> list[Any]:
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.reader(file))[1:]


if __name__ == "__main__":
    main()
