"""Hold'em that ends on the flop: CFR-BR in card abstractions, and linear CFR without any.

    python -m benchmarks.flop_holdem [cfr-br] [linear-cfr] [--seed 1]

Writes benchmarks/flop_holdem.csv. Exploitability is exact, in mb/g, averaged over the seats;
`published` is of Johanson et al. 2012 ([2-4] hold'em) in that unit, and of Brown et al. 2019 (Flop
Hold'em, as digitised by others), who print the sum over the seats, here halved.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from benchmarks.vector_cfr import VectorCfr
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.betting.betting import betting_tree
from counterplay.poker.vector.chance import HoldemChance
from counterplay.poker.vector.learner_tables import HoldingRows, LearnerTables
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.suit_permutations import FULL_DECK
from counterplay.poker.vector.traversal import LearnerSeat, Step, Traversal

OUT = Path(__file__).parent / "flop_holdem.csv"
HEADER = ["game", "algorithm", "iterations", "seconds", "mb_per_game", "published"]
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
#: Games with the iterations at which they are measured, and the published value.
CFR_BR = {
    "flop_holdem(buckets=5,kind=nested)": ((500, 2_000, 8_000), 81.3),
    "flop_holdem(buckets=570,kind=classes)": ((500, 2_000, 8_000), 25.4),
}
LINEAR_CFR = {20: 118 / 2, 30: 65 / 2, 50: 31 / 2}
DTYPE = np.float32


def add_row(row: Sequence[object]) -> None:
    """Add a row to the file, in place of an older one."""
    rows: list[Sequence[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = [old for old in csv.reader(file) if old[:3] != [str(x) for x in row[:3]]][1:]
    write_rows(OUT, HEADER, [*rows, row])
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)), flush=True)


def cfr_br(seed: int) -> None:
    """CFR-BR in the abstractions: plain regret matching, linear average."""
    for name, (marks, published) in CFR_BR.items():
        game = cp.load(name)
        solver = new_solver(game, "cfr-br", seed, {"plus": False, "threads": 2})
        spent = 0.0
        for mark in marks:
            before = time.perf_counter()
            solver.step(mark - solver.iterations)
            spent += time.perf_counter() - before
            value = MB * cp.exploitability(game, solver.strategy())
            row = (mark, round(spent, 1), round(value, 2))
            add_row([game.name, "cfr-br", *row, published])


def linear_cfr(seed: int) -> None:
    """Linear CFR with a row for every holding on every flop."""
    rules = cp.load("flop_holdem").rules
    streets = streets_of(betting_tree(rules.betting), DTYPE)
    chance = HoldemChance(FULL_DECK, rules.betting.board, symmetric=True)
    rows = HoldingRows(chance, len(streets))
    solver, spent = VectorCfr(chance, streets, rows, DTYPE), 0.0
    for t in range(1, max(LINEAR_CFR) + 1):
        before = time.perf_counter()
        solver.iterate(Step(float(t), float(t)))
        spent += time.perf_counter() - before
        if t in LINEAR_CFR:
            # regret matching of strategy sums is the average strategy
            tables = LearnerTables(solver.tables.strategy_sum, solver.tables.strategy_sum)
            seats = [LearnerSeat(chance, streets, i, rows, tables, DTYPE) for i in (0, 1)]
            traversal = Traversal(chance, streets, DTYPE)
            value = MB * sum(traversal.value_against(seat, None) for seat in seats)
            row = (t, round(spent, 1), round(value, 2))
            add_row(["flop_holdem, lossless", "linear cfr", *row, LINEAR_CFR[t]])


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flop_holdem", description=summary)
    parts = {"cfr-br": cfr_br, "linear-cfr": linear_cfr}
    parser.add_argument("parts", nargs="*", choices=[*parts], help="all without a name")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    for name in given.parts or parts:
        parts[name](given.seed)


if __name__ == "__main__":
    main()
