"""What interleaving several histories brings: iterations of outcome sampling per second of a
processor, one by one and interleaved, taking turns: `python -m benchmarks.interleaved_speed`, five
minutes, into `benchmarks/interleaved_speed.csv`. In hold'em also whether it learns as much: matches
between players that were trained for equally many iterations."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.solvers.algorithms import new_solver

#: Game, iterations of a turn, and before the first, so that tables have been met.
GAMES = (
    ("goofspiel(7)", 200_000, 2_000_000),
    ("goofspiel(8)", 200_000, 2_000_000),
    ("holdem(buckets=10)", 400_000, 1_000_000),
    ("holdem(buckets=100)", 400_000, 1_000_000),
    ("holdem(buckets=1000)", 400_000, 2_000_000),
)
INTERLEAVE = (1, 8, 16, 32)
REPEATS = 5
TRAINED, SEEDS, HANDS, AT_ONCE = 20_000_000, 3, 2_000_000, 16
PATH = Path(__file__).with_suffix(".csv")
HEADER = ("what", "game", "interleave", "value", "least", "most")


def speed(name: str, turn: int, before: int) -> list[tuple[Any, ...]]:
    game = cp.load(name)
    solvers = {
        w: new_solver(game, "mccfr", 1, {} if w == 1 else {"interleave": w}) for w in INTERLEAVE
    }
    for solver in solvers.values():
        solver.step(before)
    rates: dict[int, list[float]] = {w: [] for w in solvers}
    for _ in range(REPEATS):
        for w, solver in solvers.items():
            begun = time.thread_time()  # of this thread: the machine has others
            solver.step(turn)
            rates[w].append(turn / (time.thread_time() - begun))
    rows: list[tuple[Any, ...]] = []
    for w, found in rates.items():
        over = [a / b for a, b in zip(found, rates[1], strict=True)]
        rows.append(("iterations per second", name, w, round(statistics.median(found)), "", ""))
        rows.append(("over one by one", name, w, statistics.median(over), min(over), max(over)))
    return rows


def strength(name: str) -> list[tuple[Any, ...]]:
    """What a player trained interleaved wins from one trained one by one, by seeds."""
    won = []
    for seed in range(SEEDS):
        one, many = (
            cp.solve(name, "mccfr", iterations=TRAINED, seed=seed, interleave=w).strategy
            for w in (1, AT_ONCE)
        )
        won.append(cp.play_match(name, many, one, HANDS, seed).mean)
    return [("sb/h against one by one", name, AT_ONCE, statistics.median(won), min(won), max(won))]


def main() -> None:
    rows: list[tuple[Any, ...]] = []
    for name, turn, before in GAMES:
        rows += speed(name, turn, before)
        for row in rows[-2 * len(INTERLEAVE) :]:
            print(*row, flush=True)
        write_rows(PATH, HEADER, rows)
    rows += strength("holdem(buckets=10)")
    print(*rows[-1], flush=True)
    write_rows(PATH, HEADER, rows)


if __name__ == "__main__":
    main()
