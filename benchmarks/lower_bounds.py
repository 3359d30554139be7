"""How close the lower bound by play comes to the exact exploitability, and after how long:
`python -m benchmarks.lower_bounds`, five minutes, into `benchmarks/lower_bounds.csv`."""

from __future__ import annotations

import csv
from pathlib import Path

import counterplay as cp

GAMES = ("leduc", "bluff(1,1,5)", "goofspiel(5)")
ALGORITHMS = ("mcts", "mccfr", "mccfr-external")
SECONDS = (1.0, 4.0, 16.0)
PATH = Path(__file__).with_suffix(".csv")


def main() -> None:
    """A strategy far from equilibrium and one near it, of each game."""
    rows = []
    for game in map(cp.load, GAMES):
        near = cp.solve(game, "cfr+", iterations=40).strategy
        early = cp.solve(game, "mccfr", iterations=20_000, seed=1).strategy
        for name, strategy in (("20,000 iterations of mccfr", early), ("40 of cfr+", near)):
            exact = cp.exploitability(game, strategy)
            for algorithm in ALGORITHMS:
                for seconds in SECONDS:
                    found = cp.exploitability(
                        game, strategy, "play", seconds=seconds, algorithm=algorithm
                    )
                    row = (game.name, name, exact, algorithm, seconds, float(found), found.error)
                    print(*row, flush=True)
                    rows.append(row)
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("game", "strategy", "exact", "algorithm", "seconds", "bound", "error"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
