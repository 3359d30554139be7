"""Shipped strategies head to head, and against Poki and Sparbot.

    python -m benchmarks.ladder [PLAYER ...] [--hands 20000000] [--slow-hands 100000] [--missing]

Plays every pair of the players (by default all shipped strategies and both bots), each deal twice
with the seats swapped; with `--missing` those alone that have no row. Players with a table of
probabilities play `--hands` in kernels; Poki, a program, plays `--slow-hands`, and its results are
luck-adjusted (AIVAT). Writes benchmarks/ladder.csv: sb/h of the player with a 95% interval; a row
that is there is replaced.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.players import game_of

OUT = Path(__file__).parent / "ladder.csv"
HEADER = ["player", "opponent", "sb_per_hand", "low", "high", "hands", "luck_adjusted"]
OPPONENTS = ("poki", "sparbot")
SEED = 1
DIGITS = 5  # of sb/h


def is_program(name: str) -> bool:
    """Return whether a bot has no table of probabilities."""
    return BOTS[name].strategy is None and BOTS[name].table is None


def played(player: str, opponent: str, hands: int, slow_hands: int) -> list[object]:
    """Play a match and return its row."""
    slow = is_program(player) or is_program(opponent)
    match = cp.play_match(
        game_of(player), player, opponent, slow_hands if slow else hands, SEED, luck_adjusted=slow
    )
    won = match.adjusted if match.adjusted is not None else match
    numbers = (round(value, DIGITS) for value in (won.mean, *won.interval))
    return [player, opponent, *numbers, match.hands, slow]


def read_rows() -> list[list[str]]:
    """Return the rows of the file."""
    if not OUT.exists():
        return []
    with OUT.open() as file:
        return list(csv.reader(file))[1:]


def add_row(row: Sequence[object]) -> None:
    """Add a row to the file, in place of an older one of the same pair."""
    rows = [old for old in read_rows() if {*old[:2]} != {*row[:2]}]
    write_rows(OUT, HEADER, [*rows, row])
    print("  ".join(f"{name} {value}" for name, value in zip(HEADER, row, strict=True)), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ladder", description=summary)
    parser.add_argument("players", nargs="*", help="two or more; all without a name")
    parser.add_argument("--hands", type=int, default=20_000_000)
    parser.add_argument("--slow-hands", type=int, default=100_000)
    parser.add_argument("--missing", action="store_true", help="only pairs without a row")
    given = parser.parse_args(arguments)
    players = given.players or [*(one.name for one in cp.strategies()), *OPPONENTS]
    known = [{*row[:2]} for row in read_rows()] if given.missing else []
    for player, opponent in combinations(players, 2):
        if {player, opponent} in known:
            continue
        add_row(played(player, opponent, given.hands, given.slow_hands))


if __name__ == "__main__":
    main()
