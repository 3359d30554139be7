"""Exact exploitability of hold'em strategies on a CUDA device: known answers and times. Writes
benchmarks/exact.csv. With --cpu how long some flops take on one processor: exact_cpu.csv. With
--check what single precision on the device is off by on some flops: exact_check.csv.

    python -m benchmarks.exact [always-fold always-call ...] [STRATEGY_FILE ...]
    python -m benchmarks.exact --cpu
    python -m benchmarks.exact --check FOLDER
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.players import bot
from counterplay.poker.vector.evaluation import vector_values
from counterplay.poker.vector.flop_values import (
    PreparedQuery,
    ValueQuery,
    values_on_cpu,
    values_on_device,
)

OUT = Path(__file__).parent / "exact.csv"
DEFAULT = ("always-fold", "always-call", "always-raise")
FLOPS = (300, 700, 1100)  # of 1,755
CHECKED = (0, 700)
NAMES = {"best": "best response", "value": "value"}


def table_of(name: str) -> Table:
    if Path(name).exists():
        return strategy_table(cp.Strategy.load(name))
    table: Table = bot(name).table
    return table


def write_exact(name: str, first: float, second: float, seconds: float) -> None:
    """A row of exact.csv, instead of the one that had its name."""
    rows = []
    if OUT.exists():
        with OUT.open() as file:
            rows = [row for row in list(csv.reader(file))[1:] if row[0] != name]
    worth = 500 * (first + second)
    rows.append([name, *map(str, (first, second, worth, round(seconds, 1)))])
    print(f"{name:20} {first:.6f} {second:.6f} sb/h  {worth:.4f} mb/g  {seconds:.0f} s", flush=True)
    write_rows(
        OUT, ["strategy", "best_response_1", "best_response_2", "mb_per_game", "seconds"], rows
    )


def main(names: list[str]) -> None:
    game = cp.load("holdem(buckets=10)")
    for name in names or DEFAULT:
        table, before = table_of(name), time.perf_counter()
        asked = [ValueQuery(player, table) for player in (0, 1)]
        first, second = vector_values(game, asked, "cuda")
        write_exact(name, first, second, time.perf_counter() - before)


def on_one_processor() -> None:
    """A best response, and a value, on some flops against a strategy that gets everywhere."""
    game = cp.load("holdem(buckets=10)")
    table = strategy_table(cp.Strategy.uniform(game))
    rows = []
    for what, by in (("best response", None), ("value", table)):
        question = PreparedQuery(ValueQuery(0, table, by), game.rules.tree)
        for flop in (FLOPS[0], *FLOPS):  # the first time to compile
            before = time.process_time()
            list(values_on_cpu([question], [flop], 1))
            rows.append((what, flop, round(time.process_time() - before, 2)))
        rows.pop(-len(FLOPS) - 1)
        for row in rows[-len(FLOPS) :]:
            print(f"{row[0]:14} flop {row[1]:5}  {row[2]:6.1f} s")
    write_rows(OUT.with_name("exact_cpu.csv"), ["what", "flop", "seconds_of_a_processor"], rows)


def check(folder: Path) -> None:
    """The device beside processors in double precision, flop by flop: a best response and a value
    against a strategy of half a minute. What processors find is kept in `folder`, so that this can
    be done elsewhere. `off` is what the answer would be off by if every flop were like this one."""
    game, kept = cp.load("holdem(buckets=10)"), folder / "check.npz"
    if not kept.exists():
        solved = cp.solve(game, "mccfr-external", iterations=1_000_000, seed=1).strategy
        found = {"policy": solved.probabilities}
        for what, asked in _both(game, solved).items():
            for flop, values in values_on_cpu(asked, CHECKED):
                found |= {f"{k}_{what}_{flop}": one for k, one in enumerate(values)}
        np.savez(kept, **found)
    exact, rows = np.load(kept), []
    for what, asked in _both(game, cp.Strategy(game, exact["policy"])).items():
        for flop, values in values_on_device(asked, CHECKED):
            for k, (q, one) in enumerate(zip(asked, values, strict=True)):
                other, every = exact[f"{k}_{what}_{flop}"], float(q.weight.sum())
                off = 1000 * abs(q.game_value(every * one) - q.game_value(every * other))
                relative = float(abs(one - other).max() / abs(other).max())
                rows.append((NAMES[what], k + 1, flop, off, relative))
                print(f"{what:6} player {k + 1} flop {flop:5}  {off:.6f} mb/g", flush=True)
    header = ["what", "player", "flop", "off_mb_per_game", "relative"]
    write_rows(OUT.with_name("exact_check.csv"), header, rows)


def _both(game: cp.Game, strategy: cp.Strategy) -> dict[str, list[PreparedQuery]]:
    """The best response of each player, and the value."""
    table = strategy_table(strategy)
    return {
        what: [PreparedQuery(ValueQuery(k, table, by), game.rules.tree) for k in (0, 1)]
        for what, by in (("best", None), ("value", table))
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["--cpu"]:
        on_one_processor()
    elif sys.argv[1:2] == ["--check"]:
        check(Path(sys.argv[2]))
    else:
        main(sys.argv[1:])
