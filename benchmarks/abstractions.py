"""Card abstractions judged by exploitability: CFR and CFR-BR in hold'em that ends on the flop.

    python -m benchmarks.abstractions [KIND ...] [--buckets 10 50] [--seed 1]

Writes benchmarks/abstractions.csv, a row for each kind, number of buckets and algorithm; a row that
is there is replaced. Exploitability is exact, in mb/g, averaged over the seats. CFR is external
sampling in the abstract game, CFR-BR plays against an opponent that sees its cards.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows

OUT = Path(__file__).parent / "abstractions.csv"
HEADER = ["kind", "buckets", "algorithm", "iterations", "mb_per_game"]
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
#: Numbers of buckets on the flop; of nested kinds before the flop and within each of these.
BUCKETS = {
    "classes": (10, 50, 200, 570),
    "emd": (10, 50, 200, 570),
    "nested": (5, 10),
    "nested-percentile": (5,),
    "nested-emd": (5, 10),
}
CFR, CFR_BR = "mccfr-external", "cfr-br"
ITERATIONS = {CFR: 400_000, CFR_BR: 2_000}


def add_row(row: Sequence[object]) -> None:
    """Adds a row to the file, in place of an older one, in the order of `BUCKETS`."""
    rows = [[str(value) for value in row]]
    if OUT.exists():
        with OUT.open() as file:
            rows += [old for old in list(csv.reader(file))[1:] if old[:3] != rows[0][:3]]
    kinds = [*BUCKETS]
    rows.sort(key=lambda r: (kinds.index(r[0]), int(r[1]), r[2] == CFR_BR))
    write_rows(OUT, HEADER, rows)
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)), flush=True)


def measure(kind: str, buckets: int, algorithm: str, seed: int) -> None:
    """Trains a strategy and measures it exactly."""
    game = cp.load(f"flop_holdem(buckets={buckets},kind={kind})")
    n = ITERATIONS[algorithm]
    options: dict[str, Any] = {"plus": False} if algorithm == CFR_BR else {}
    run = cp.solve(game, algorithm, iterations=n, seed=seed, threads=2, **options)
    value = MB * cp.exploitability(game, run.strategy)
    add_row([kind, buckets, algorithm, n, round(value, 2)])


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.abstractions", description=summary)
    parser.add_argument("kinds", nargs="*", choices=[*BUCKETS], help="all without a name")
    parser.add_argument("--buckets", type=int, nargs="*", help="all of a kind without a number")
    parser.add_argument("--algorithms", nargs="*", default=[CFR, CFR_BR], choices=[*ITERATIONS])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    for kind in given.kinds or BUCKETS:
        for buckets in BUCKETS[kind]:
            if given.buckets is None or buckets in given.buckets:
                for algorithm in given.algorithms:
                    measure(kind, buckets, algorithm, given.seed)


if __name__ == "__main__":
    main()
