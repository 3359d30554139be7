"""How close the lower bound by play comes to the exact exploitability, and after how long:
`python -m benchmarks.lower_bounds [GAME ...]`, a few minutes for each game, whose rows it replaces
in `benchmarks/lower_bounds.csv`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import counterplay as cp

#: Games with a known answer; the last one's tree takes gigabytes.
GAMES = ("leduc", "bluff(1,1,6)", "goofspiel(6)", "bluff(2,1,6)")
ALGORITHMS = (None, "mccfr", "mccfr-external", "mcts")  # None: all, as by default
SECONDS = (2.0, 10.0)
FIELDS = ("game", "strategy", "exact", "algorithm", "seconds", "bound", "error")
PATH = Path(__file__).with_suffix(".csv")


def measure(game: cp.Game) -> Iterator[tuple[Any, ...]]:
    """A strategy far from equilibrium and one near it."""
    weak = cp.solve(game, "mccfr", iterations=300_000, seed=1).strategy
    near = cp.solve(game, "cfr+", iterations=40).strategy
    for name, strategy in (("300,000 iterations of mccfr", weak), ("40 of cfr+", near)):
        exact = cp.exploitability(game, strategy)
        for algorithm in ALGORITHMS:
            for seconds in SECONDS:
                found: Any = cp.exploitability(
                    game, strategy, "play", seconds=seconds, algorithm=algorithm
                )
                who = algorithm or "all three"
                yield game.name, name, exact, who, seconds, float(found), found.error


def main() -> None:
    names = sys.argv[1:] or GAMES
    with PATH.open(newline="") as file:
        kept = [row for row in csv.DictReader(file) if row["game"] in GAMES]
    rows = [tuple(row[name] for name in FIELDS) for row in kept if row["game"] not in names]
    for game in map(cp.load, names):
        for row in measure(game):
            print(*row, flush=True)
            rows.append(row)
    rows.sort(key=lambda row: GAMES.index(str(row[0])))
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
