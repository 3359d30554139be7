"""Positions of a shipped strategy of limit hold'em, solved again: time, memory and both numbers.

    python -m benchmarks.positions BOARD BETTING KIND [--iterations 60] [--percent 1]

KIND is unsafe, safe or max-margin. Writes benchmarks/positions.csv, beside its rows of other
positions and kinds: exploitability (b1 + b2, percent of the pot) and leak (both players' together,
small bets per hand dealt there) of the blueprint and of the new strategy. Seconds are of all of it,
also of measuring and compiling; `threads` is how many processors worked.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import write_rows
from counterplay.core.parallel.processes import cores
from counterplay.poker.players import find_strategy
from counterplay.poker.spots.positions import KINDS, hold_position, resolve

OUT = Path(__file__).parent / "positions.csv"
STRATEGY = "safe"
HEADER = [
    *("strategy", "board", "betting", "kind", "holdings", "rivers", "threads", "iterations"),
    *("blueprint_percent", "percent", "blueprint_leak", "leak", "seconds", "peak_gb"),
]
KEY = HEADER[:4]


def measure(board: str, betting: str, kind: str, options: dict[str, Any]) -> list[Any]:
    """Returns a row of one position and kind."""
    start = time.perf_counter()
    position = hold_position(find_strategy(STRATEGY), betting, board)
    layout, pot = position.game.rules.layout, position.game.rules.pot
    found = resolve(
        position, kinds=[kind], progress=lambda share, what: print(f"{share:.0%} {what}"), **options
    )
    percent = {name: 100 * x / pot for name, x in found.exploitability.items()}
    leak = {name: sum(pair) for name, pair in found.leak.items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return [
        STRATEGY, board, betting, kind,
        "/".join(str(len(side.holding)) for side in layout.sides),
        len(layout.boards.dealt) - int(layout.boards.first[-2]), cores(),
        found.iterations[kind], round(percent["blueprint"], 3), round(percent[kind], 3),
        round(leak["blueprint"], 6), round(leak[kind], 6), round(time.perf_counter() - start, 1),
        round(peak, 2),
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("board")
    parser.add_argument("betting")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--percent", type=float)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args(arguments)
    options = {"iterations": given.iterations, "percent": given.percent}
    row = measure(given.board, given.betting, given.kind, options)
    rows = []
    if given.out.exists():
        with given.out.open() as file:
            rows = [[one[name] for name in HEADER] for one in csv.DictReader(file)]
    rows = [one for one in rows if one[: len(KEY)] != row[: len(KEY)]]
    write_rows(given.out, HEADER, [*rows, row])
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)))


if __name__ == "__main__":
    main()
