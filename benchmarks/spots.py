"""Spots: iterations per second, and the time to an exploitability of 0.5% and 0.1% of the pot.

    python -m benchmarks.spots [river] [turn] [flop] [wide] [--threads 2] [--backend cuda]

Writes benchmarks/spots.csv. Exploitability is b1 + b2 in percent of the pot; programs that average
it over the players print half of it. Seconds are those of iterations, kernels compiled before, and
`measuring` those of the measurements between them; `processor_seconds` are of all threads, without
those in which other programs had the processors.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.spots.game import spot

OUT = Path(__file__).parent / "spots.csv"
HEADER = [
    *("spot", "board", "bets", "holdings", "histories", "boards", "slots", "precision"),
    *("backend", "threads"),
    *("iterations_per_second", "iterations", "percent_of_pot", "target", "seconds", "measuring"),
    "processor_seconds",
]
#: The ranges of a raised pot, and of a pot with a second raise.
RAISED = (
    "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
)
RERAISED = (
    "TT+,AQs+,A5s-A4s,AKo,KQs,QJs:0.5,JTs:0.5",
    "99-TT,JJ:0.5,AJs+,AQo,KQs,KJs,QJs,JTs,T9s,98s,87s:0.5",
)
SPOTS: dict[str, dict[str, Any]] = {
    "river": {"board": "QsJh2c5d8s", "pot": 20, "stacks": 90, "bets": "50,100,allin"},
    "turn": {
        "board": "Td9d6hQc", "pot": 200, "stacks": 900, "ranges": RAISED, "bets": "50,100",
    },
    "flop": {
        "board": "Td9d6h", "pot": 200, "stacks": 400, "ranges": RERAISED, "bets": "33,75",
        "raises": "allin", "cap": 2,
    },
    "wide": {"board": "Td9d6h", "pot": 200, "stacks": 900, "ranges": RAISED, "bets": "50"},
}  # fmt: skip
TARGETS = (0.5, 0.1)
MOST_SECONDS = 240.0


def measure(name: str, precision: str, options: dict[str, Any], most: float) -> list[list[Any]]:
    """Returns a row for each target."""
    game = spot(**SPOTS[name])
    layout = game.rules.layout
    options = {"precision": precision, **options}
    if "backend" in options:
        new_solver(game, "dcfr", 0, options).step(1)  # compiles
    solver = new_solver(game, "dcfr", 0, options)
    solver.step(0)
    solver.exploitability()
    rows: list[list[Any]] = []
    spent, measuring, due, began = 0.0, 0.0, 10, time.process_time()
    percent = 100.0
    for target in TARGETS:
        while spent < most and percent > target:
            before = time.perf_counter()
            solver.step(max(1, due - solver.iterations))
            between = time.perf_counter()
            percent = 100 * solver.exploitability() / game.rules.pot
            spent += between - before
            measuring += time.perf_counter() - between
            due = int(solver.iterations * 1.1) + 1
        if percent > target:
            break  # out of time
        rows.append([
            name, SPOTS[name]["board"], SPOTS[name]["bets"],
            "/".join(str(len(side.holding)) for side in layout.sides), len(layout.tree.kind),
            int(layout.boards.first[-1]), sum(layout.n_slots), precision,
            options.get("backend", "cpu"), options.get("threads", ""),
            round(solver.iterations / spent, 1), solver.iterations, round(percent, 3), target,
            round(spent, 2), round(measuring, 2), round(time.process_time() - began, 2),
        ])  # fmt: skip
        print("  ".join(f"{n} {v}" for n, v in zip(HEADER, rows[-1], strict=True)), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spots", nargs="*", default=list(SPOTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backend", default="cpu", help="cpu or cuda")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="of each spot at most")
    given = parser.parse_args()
    cuda = given.backend == "cuda"
    options: dict[str, Any] = {"backend": "cuda"} if cuda else {"threads": given.threads}
    old: list[list[Any]] = []
    on = HEADER.index("backend")
    if OUT.exists():
        with OUT.open() as file:
            rows = list(csv.reader(file))[1:]
        old = [
            row
            for row in rows
            if (row[0], row[on]) not in {(n, given.backend) for n in given.spots}
        ]
    order = list(SPOTS)
    for name in given.spots:
        old += measure(name, "single", options, given.seconds)
        write_rows(OUT, HEADER, sorted(old, key=lambda row: (order.index(row[0]), row[on])))


if __name__ == "__main__":
    main()
