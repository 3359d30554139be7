"""Games that fit in no tree, solved for ten minutes: what was found, how it plays, how exploitable
it is at least. `python -m benchmarks.large [--minutes M] [--threads N] [--processes P]`, into
`benchmarks/large.csv`; each in a process of its own, so that its peak of memory is its own, P at
once."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows

GAMES = ("bluff(2,2,6)", "goofspiel(10)")
ALGORITHMS = ("mccfr", "mcts")
HANDS = 1_000_000
HEADER = (
    "game",
    "algorithm",
    "threads",
    "seconds",
    "iterations",
    "information_sets",
    "peak_gb",
    "stopped_by",
    "against",
    "won",
    "half_interval",
)
PATH = Path(__file__).with_suffix(".csv")


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def solve_and_play(
    name: str, algorithm: str, seconds: float, threads: int
) -> list[tuple[Any, ...]]:
    """Rows: against uniform play, against itself a tenth of the way, and the lower bound."""
    game, early = cp.load(name), []

    def keep(progress: Any) -> None:
        if not early and progress.seconds >= seconds / 10:
            early.append(progress.strategy())

    options = {"threads": threads} if threads > 1 else {}
    run = cp.solve(game, algorithm, seconds=seconds, seed=1, on_chunk=keep, **options)
    strategy: Any = run.strategy
    facts = (
        name,
        algorithm,
        threads,
        round(run.seconds, 1),
        run.iterations,
        len(strategy),
        round(_peak_gb(), 2),
        run.stopped_by,
    )
    print(*facts, flush=True)
    del run  # its tables: a strategy and the responses to it need the room
    rows = []
    for other, whom in ((cp.Strategy.uniform(game), "uniform"), (early[0], "its earlier self")):
        match = cp.play_match(game, strategy, other, hands=HANDS, seed=1)
        rows.append((*facts, whom, round(match.mean, 4), round(1.96 * match.standard_error, 4)))
        print(rows[-1], flush=True)
    bound: Any = cp.exploitability(game, strategy, "play", seconds=seconds / 5, games=HANDS)
    rows.append((*facts, "exploitability at least", round(float(bound), 4), round(bound.error, 4)))
    print(rows[-1], flush=True)
    return rows


def _case(case: tuple[str, str, float, int]) -> list[tuple[Any, ...]]:
    return solve_and_play(*case)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=PATH)
    asked = parser.parse_args()
    cases = [
        (name, algorithm, 60.0 * asked.minutes, asked.threads)
        for name in GAMES
        for algorithm in ALGORITHMS
    ]
    rows: list[tuple[Any, ...]] = []
    with multiprocessing.get_context("spawn").Pool(asked.processes, maxtasksperchild=1) as pool:
        for found in pool.imap(_case, cases, chunksize=1):
            rows += found
            write_rows(asked.out, HEADER, rows)


if __name__ == "__main__":
    main()
