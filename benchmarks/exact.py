"""Exact exploitability of hold'em strategies on a CUDA device: known answers and times. Writes
benchmarks/exact.csv.

    python -m benchmarks.exact [always-fold always-call ...] [STRATEGY_FILE ...]
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import counterplay as cp
from counterplay.evaluation.boards import Asked, values_by_board
from counterplay.holdem.table import Table, strategy_table
from counterplay.opponents.bots.registry import bot

OUT = Path(__file__).parent / "exact.csv"
DEFAULT = ("always-fold", "always-call", "always-raise")


def table_of(name: str) -> Table:
    if Path(name).exists():
        return strategy_table(cp.Strategy.load(name))
    table: Table = bot(name).table
    return table


def main(names: list[str]) -> None:
    game = cp.load("holdem(buckets=10)")
    rows = []
    for name in names or DEFAULT:
        table, before = table_of(name), time.perf_counter()
        asked = [Asked(player, table) for player in (0, 1)]
        first, second = values_by_board(game, asked, "cuda")
        seconds = time.perf_counter() - before
        rows.append((name, first, second, 500 * (first + second), round(seconds, 1)))
        print(f"{name:20} {first:.6f} {second:.6f} sb/h  {rows[-1][3]:.4f} mb/g  {seconds:.0f} s")
        with OUT.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(
                ["strategy", "best_response_1", "best_response_2", "mb_per_game", "seconds"]
            )
            writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
