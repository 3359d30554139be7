"""Hold'em: exact EHS, iterations per second, threads, memory, matches. Also alone: python -m
benchmarks.holdem"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import REPEATS, rate
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.cards.strength import (
    TABLES,
    count_earlier,
    count_preflop,
    count_rivers,
    strengths,
)
from counterplay.poker.players import bot

HEADER = ("hold'em", "measured (range)", "asked for", "reached")
Row = tuple[str, str, str, str]

LOAD = (
    "import time; t = time.perf_counter(); import counterplay.poker.cards.strength as h; "
    "h.strengths(); print(time.perf_counter() - t)"
)
MEMORY = """
import counterplay as cp
cp.solve("holdem(buckets=100)", "mccfr", iterations=200_000, threads=2)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["RssAnon"].split()[0]) / 1e6)
"""


def _row(
    work: str, values: list[float], text: str, asked: str = "", reached: bool | None = None
) -> Row:
    middle, least, most = (text.format(f(values)) for f in (statistics.median, min, max))
    spread = f"{middle} ({least}-{most})"
    return work, spread, asked, "" if reached is None else "yes" if reached else "NO"


def _child(code: str) -> float:
    return float(
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
    )


def _tables() -> Iterator[Row]:
    threads = os.cpu_count() or 1
    before = time.perf_counter()
    turn = count_earlier(4, count_rivers(threads), threads)
    count_preflop(count_earlier(3, turn, threads))
    took = time.perf_counter() - before
    yield _row(
        f"exact EHS of every hand on every board, {threads} threads",
        [took],
        "{:.1f} s",
        "<= 120 s",
        took <= 120,
    )
    loads = [_child(LOAD) for _ in range(3)]
    yield _row(
        "loading the tables, checksums included",
        loads,
        "{:.2f} s",
        "< 1 s",
        statistics.median(loads) < 1,
    )
    yield "size of the tables on disk", f"{TABLES.size_on_disk() / 1e6:.0f} MB", "", ""


def _contenders() -> dict[str, Any]:
    made = {}
    for n in (10, 100):
        game = load(f"holdem(buckets={n})")
        for algorithm, options in (("mccfr", {}), ("mcts", {"c": 17.0}), ("mccfr-external", {})):
            for threads in (1, 2):
                made[f"{algorithm} {n} {threads}"] = new_solver(
                    game, algorithm, 1, {**options, "threads": threads}
                )
    return made


def rows() -> Iterator[Row]:
    strengths()
    yield from _tables()
    solvers = _contenders()
    for solver in solvers.values():
        solver.step(
            300_000 if solver.name != "mccfr-external" else 10_000
        )  # past the first, uniform play
    rates = {
        name: [rate(solver.step) for _ in range(REPEATS)]
        for name, solver in solvers.items()
        if name.endswith("1")
    }
    for name, values in rates.items():
        algorithm, n, _ = name.split()
        asked = {"mccfr 10": ">= 700,000"}.get(f"{algorithm} {n}", "")
        reached = statistics.median(values) >= 700_000 if asked else None
        yield _row(
            f"{algorithm}, {n} buckets, iterations/s, one thread", values, "{:,.0f}", asked, reached
        )

    def ratios(a: str, b: str) -> list[float]:
        """In turns, so that noise hits both."""
        found = []
        for _ in range(REPEATS):
            found.append(rate(solvers[a].step) / rate(solvers[b].step))
        return found

    finer = ratios("mccfr 100 1", "mccfr 10 1")
    yield _row(
        "mccfr, 100 buckets over 10 buckets, rate",
        finer,
        "{:.2f}",
        ">= 0.5",
        statistics.median(finer) >= 0.5,
    )
    search = ratios("mcts 10 1", "mccfr 10 1")
    yield _row(
        "mcts over mccfr, 10 buckets, rate",
        search,
        "{:.2f}",
        ">= 1",
        statistics.median(search) >= 1,
    )
    for algorithm in ("mccfr", "mcts", "mccfr-external"):
        for n in (10, 100):
            gain = ratios(f"{algorithm} {n} 2", f"{algorithm} {n} 1")
            yield _row(
                f"{algorithm}, {n} buckets, two threads over one",
                gain,
                "{:.2f}",
                ">= 1.6",
                statistics.median(gain) >= 1.6,
            )
    memory = _child(MEMORY)
    yield (
        "memory of training, 100 buckets, two threads, beyond mapped files",
        f"{memory:.2f} GB",
        "< 1 GB",
        "yes" if memory < 1 else "NO",
    )
    yield from _matches()


def _matches() -> Iterator[Row]:
    game = load("holdem(buckets=10)")
    random = Strategy.random(game, 1)
    plans = (
        ("two table strategies, both cores", random, Strategy.random(game, 2), 400_000, 200_000),
        ("sparbot against a table, both cores", bot("sparbot"), random, 400_000, 20_000),
        ("poki against a table, one core", bot("poki"), random, 6_000, 300),
    )
    for name, a, b, hands, asked in plans:
        play_match(game, a, b, 2_000, 1, processes=1, luck_adjusted=False)
        results = [
            play_match(game, a, b, hands, k, processes=1, luck_adjusted=False) for k in range(3)
        ]
        speeds = [result.hands / result.seconds for result in results]
        yield _row(
            f"match, {name}, hands/s",
            speeds,
            "{:,.0f}",
            f">= {asked:,}",
            statistics.median(speeds) >= asked,
        )


def main() -> None:
    for row in rows():
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
