"""Spots: iterations per second, and the time to an exploitability of 1%, 0.5% and 0.1% of the pot.

    python -m benchmarks.spots [river] [turn] [flop] [wide] [--threads 2] [--backend cuda]
    python -m benchmarks.spots --device [--minutes 8] [--out FILE]

The second measures river, turn and flop on a device and then by all processors, each in its part
of the time. Writes benchmarks/spots.csv, beside its rows of other spots, backends and threads;
`target` is empty where the time was over before it was reached. Exploitability is b1 + b2 in
percent of the pot; programs that average it over the players print half of it, 0.5% for 1%. Seconds
are those of iterations, kernels compiled before, and `measuring` those of the measurements between
them; `processor_seconds` are of all threads, without those in which other programs had the
processors.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows
from counterplay.core.base.errors import CounterplayError
from counterplay.core.forms.game import Game
from counterplay.core.parallel.processes import cores
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
TARGETS, PRECISION = (1.0, 0.5, 0.1), "single"
MOST_SECONDS = 240.0
PUBLISHED = ("river", "turn", "flop")  # what the documentation speaks of
KEY = [HEADER.index(name) for name in ("spot", "backend", "threads")]


def measure(name: str, precision: str, options: dict[str, Any], most: float) -> list[list[Any]]:
    """Returns a row for each target that is reached in `most` seconds, and for the end of them."""
    game = spot(**SPOTS[name])
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
        while spent + measuring < most and percent > target:
            before = time.perf_counter()
            solver.step(max(1, due - solver.iterations))
            between = time.perf_counter()
            percent = 100 * solver.exploitability() / game.rules.pot
            spent += between - before
            measuring += time.perf_counter() - between
            due = int(solver.iterations * 1.1) + 1
        rows.append([
            *_about(name, game, options), round(solver.iterations / spent, 1), solver.iterations,
            round(percent, 3), target if percent <= target else "", round(spent, 2),
            round(measuring, 2), round(time.process_time() - began, 2),
        ])  # fmt: skip
        print("  ".join(f"{n} {v}" for n, v in zip(HEADER, rows[-1], strict=True)), flush=True)
        if percent > target:
            break  # out of time
    return rows


def _about(name: str, game: Game, options: dict[str, Any]) -> list[Any]:
    """The columns of a spot and of what solves it."""
    layout = game.rules.layout
    return [
        name, SPOTS[name]["board"], SPOTS[name]["bets"],
        "/".join(str(len(side.holding)) for side in layout.sides), len(layout.tree.kind),
        int(layout.boards.first[-1]), sum(layout.n_slots), options["precision"],
        options.get("backend", "cpu"), options.get("threads", ""),
    ]  # fmt: skip


def measure_all(
    work: list[tuple[str, dict[str, Any]]], out: Path, each: float, altogether: float
) -> None:
    """Measures spots, each at most `each` seconds and its share of what is left of `altogether`.
    What cannot be measured is said, and the rest goes on."""
    end = time.monotonic() + altogether
    for k, (name, options) in enumerate(work):
        most = min(each, (end - time.monotonic()) / (len(work) - k))
        try:
            rows = measure(name, PRECISION, options, most)
        except CounterplayError as error:
            print(f"{name} {options}: {error}", flush=True)
            continue
        _replace(out, rows)


def _replace(out: Path, rows: list[list[Any]]) -> None:
    """Writes rows in place of those of the same spot, backend and number of threads."""
    old: list[list[Any]] = []
    if out.exists():
        with out.open() as file:
            old = list(csv.reader(file))[1:]
    new = {_key(row) for row in rows}
    kept = [row for row in old if _key(row) not in new] + rows
    order = list(SPOTS)
    write_rows(out, HEADER, sorted(kept, key=lambda row: (order.index(row[0]), _key(row))))


def _key(row: list[Any]) -> tuple[str, ...]:
    return tuple(str(row[k]) for k in KEY)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spots", nargs="*")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backend", default="cpu", help="cpu or cuda")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="of each spot at most")
    parser.add_argument("--device", action="store_true", help="on a device, and by all processors")
    parser.add_argument("--minutes", type=float, default=8.0, help="with --device: in all, about")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(words)
    names, cuda = given.spots, {"backend": "cuda"}
    kinds: list[dict[str, Any]] = [cuda if given.backend == "cuda" else {"threads": given.threads}]
    if given.device:
        kinds, names = [cuda, {"threads": cores()}], names or list(PUBLISHED)
    work = [(name, options) for options in kinds for name in names or list(SPOTS)]
    measure_all(work, given.out, given.seconds, 60 * given.minutes if given.device else math.inf)


if __name__ == "__main__":
    main()
