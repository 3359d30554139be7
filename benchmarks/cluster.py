"""Workers that share no memory: what they send, and what rare synchronisation costs. Writes
benchmarks/cluster.csv.

    python -m benchmarks.cluster [--parts leduc,holdem,traffic,ray,expected]

What is not measured stays in the file as it was.

leduc, holdem: convergence after as many iterations with 1 to 16 workers, by `sync_interval`, the
share of all iterations so far that they play between two synchronisations; the workers take turns
in this process, which gives the bits of a cluster. Leduc: exploitability over one worker's, the
mean over seeds. Hold'em: sb/h against one reference strategy. traffic: bytes that a worker sends at
a synchronisation, and per second of its own playing. ray: the same on a real cluster of this
machine, with what a synchronisation takes. expected: the efficiency to expect on many machines,
worked out from these."""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.parallel.changes import ChangedRows, add_rows, changed_rows, pack
from counterplay.core.parallel.remote_pool import RemotePool
from counterplay.core.parallel.remote_worker import FAN_IN, LocalWorkers
from counterplay.core.solvers.algorithms import new_solver

WORKERS = (1, 2, 4, 8, 16)
INTERVALS = (0.03, 0.1, 0.3, 1.0)
HEADER = ["what", "game", "algorithm", "workers", "sync_interval", "value", "unit"]
Row = tuple[str, str, str, int, float, float, str]
LEDUC, SEEDS = 60_000, 4
HOLDEM, HANDS = 150_000, 1_000_000
#: Of a machine in a data centre, for what is expected: bytes per second in and out.
NETWORK = 1.25e9
LATENCY = 0.002  # seconds of a message
SLOTS_PER_BUCKET = 16_583  # of hold'em
HOUR = 3_600.0


def pool(game: str, algorithm: str, workers: int, interval: float, seed: int) -> Any:
    """A solver with so many workers, also where a game is small for them."""
    solver: Any = new_solver(cp.load(game), algorithm, seed, {})
    solver.join(RemotePool(solver, new_solver, LocalWorkers(), workers, 1, interval), {})
    return solver


def leduc() -> Iterator[Row]:
    for algorithm in ("mccfr-external", "mccfr"):
        n = LEDUC if algorithm == "mccfr-external" else 10 * LEDUC
        one = math.nan
        for workers in WORKERS:
            for interval in INTERVALS if workers > 1 else INTERVALS[1:2]:
                found = []
                for seed in range(SEEDS):
                    solver = pool("leduc", algorithm, workers, interval, seed)
                    solver.step(n)
                    found.append(cp.exploitability(solver.game, solver.strategy()))
                mean = float(np.mean(found))
                one = mean if workers == 1 else one
                what = f"exploitability over one worker's after {n:,} iterations"
                yield what, "leduc", algorithm, workers, interval, mean / one, "times"


def holdem() -> Iterator[Row]:
    game = cp.load("holdem(buckets=10)")
    reference: Any = new_solver(game, "mccfr-external", 99, {})
    reference.step(HOLDEM)
    opponent = reference.strategy()
    for workers in WORKERS:
        for interval in (0.1, 1.0) if workers > 1 else (0.1,):
            solver = pool(game.name, "mccfr-external", workers, interval, 1)
            solver.step(HOLDEM)
            won = cp.play_match(game, solver.strategy(), opponent, HANDS, 5).mean
            what = f"won from a reference after {HOLDEM:,} iterations"
            yield what, game.name, "mccfr-external", workers, interval, won, "sb/h"


def traffic() -> Iterator[Row]:
    """Bytes of a late synchronisation, when a round is a tenth of all iterations."""
    for game, algorithm, n in (
        ("leduc", "mccfr-external", 60_000),
        ("holdem(buckets=10)", "mccfr-external", 100_000),
        ("holdem(buckets=100)", "mccfr-external", 100_000),
        ("holdem(buckets=10)", "mccfr-public", 300),
    ):
        solver = pool(game, algorithm, 2, 0.1, 1)
        solver._pool._sync[1] = 0
        solver.step(n)
        workers = solver._pool.remote
        begun = int(solver._pool._sync[0]) - solver.iterations
        solver.step(begun)  # to a synchronisation
        sent, before = workers.sent, time.perf_counter()
        solver.step(int(solver._pool._sync[0]) - solver.iterations)
        seconds = (time.perf_counter() - before) / 2  # of one worker
        each = (workers.sent - sent) / 2
        size = sum(array.nbytes for array in solver._pool.workers[0].tables)
        yield "sent by a worker at a synchronisation", game, algorithm, 2, 0.1, each, "bytes"
        yield "sent per second of playing", game, algorithm, 2, 0.1, each / seconds, "bytes/s"
        yield "its tables", game, algorithm, 2, 0.1, float(size), "bytes"
    plane = np.random.default_rng(1).normal(size=(1_000_000, 2))
    rows: ChangedRows = changed_rows(plane)
    before = time.process_time()
    packed = pack(rows)
    add_rows([rows, rows])
    took = time.process_time() - before
    what = "packing and adding, of one processor"
    yield what, "noise", "", 1, 0.0, plane.nbytes / took, "bytes/s"
    yield "packed, of its size", "noise", "", 1, 0.0, packed.n_bytes / plane.nbytes, "times"


def on_ray() -> Iterator[Row]:
    """Two workers on this machine."""
    for game, n in (("leduc", 60_000), ("holdem(buckets=10)", 60_000)):
        options = {"pool": "ray", "workers": 2}
        solver: Any = new_solver(cp.load(game), "mccfr-external", 1, options)
        solver._pool._sync[1] = 0
        solver.step(0)
        solver.step(n)
        syncs, before = int(solver._pool._sync[3]), time.perf_counter()
        solver._pool.settle()
        took = time.perf_counter() - before
        yield "a synchronisation", game, "mccfr-external", 2, 0.1, took, "seconds"
        yield (
            "synchronisations so far",
            game,
            "mccfr-external",
            2,
            0.1,
            float(syncs),
            "synchronisations",
        )
        solver._pool.stop()


def expected(rows: list[Row]) -> Iterator[Row]:
    """Share of the time that machines play, in a run of an hour and a run of a day, when all
    rows are touched: as many synchronisations as `sync_interval` makes of it, each a tree up and a
    broadcast down."""
    speed = next(row[5] for row in rows if row[0].startswith("packing and adding"))
    for buckets in (100, 1_000, 10_000):
        size = 16.0 * SLOTS_PER_BUCKET * buckets
        for machines in (10, 100, 1_000):
            levels = max(1, math.ceil(math.log(machines, FAN_IN)))
            up = levels * (FAN_IN * size / NETWORK + FAN_IN * size / speed + LATENCY)
            down = size / speed + 2 * size / NETWORK + levels * LATENCY
            for hours in (1.0, 24.0):
                syncs = math.log(1e4) / math.log(1.1)
                share = hours * HOUR / (hours * HOUR + syncs * (up + down))
                what = f"share of the time that machines play in {hours:g} h"
                yield what, f"holdem(buckets={buckets})", "any", machines, 0.1, share, "times"
            yield (
                "a synchronisation",
                f"holdem(buckets={buckets})",
                "any",
                machines,
                0.1,
                up + down,
                "s",
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="leduc,holdem,traffic,ray,expected")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "cluster.csv")
    given = parser.parse_args()
    rows = _read(given.out)
    for name in given.parts.split(","):
        makers = {"leduc": leduc, "holdem": holdem, "traffic": traffic, "ray": on_ray}
        found = expected(rows) if name == "expected" else makers[name]()
        for row in list(found) if name == "expected" else found:
            rows = [old for old in rows if old[:5] != row[:5]] + [row]
            print(*row, flush=True)
            write_rows(given.out, HEADER, rows)


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open() as file:
        return [
            (a, b, c, int(d), float(e), float(f), g)
            for a, b, c, d, e, f, g in list(csv.reader(file))[1:]
        ]


if __name__ == "__main__":
    main()
