"""Convergence of outcome sampling per iteration, one by one and several interleaved histories:
`python -m benchmarks.interleaved`, four minutes, into `benchmarks/interleaved.csv`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows

#: Game, iterations and seeds: exploitability of one run is off by a third, so few say nothing.
RUNS = (("goofspiel(4)", 500_000, 64), ("goofspiel(5)", 1_000_000, 24))
INTERLEAVE = (1, 8, 16, 32, 64)
PATH = Path(__file__).with_suffix(".csv")


def main() -> None:
    rows = []
    for name, iterations, seeds in RUNS:
        for interleave in INTERLEAVE:
            found = [
                cp.solve(
                    name,
                    "mccfr",
                    iterations=iterations,
                    seed=seed,
                    interleave=interleave,
                    measure_every=iterations,
                ).exploitability
                for seed in range(seeds)
            ]
            error = float(np.std(found, ddof=1) / np.sqrt(seeds))
            rows.append((name, iterations, seeds, interleave, float(np.mean(found)), error))
            print(*rows[-1], flush=True)
    header = ("game", "iterations", "seeds", "interleave", "exploitability", "standard_error")
    write_rows(PATH, header, rows)


if __name__ == "__main__":
    main()
