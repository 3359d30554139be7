"""Hands per second over the protocol: our dealer and two of our players, who sit in its process or
have one each, over loopback either way; and whether the match is that of `play_match` on the same
cards. Writes benchmarks/acpc.csv, beside rows of machines with other numbers of processors. The
time of a match is that between its first state and its last. Run: python -m benchmarks.acpc"""

from __future__ import annotations

import csv
import os
import resource
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.parallel.processes import cores
from counterplay.poker.histories.acpc import read_acpc

OUT = Path(__file__).parent / "acpc.csv"
HEADER = ["processors", "players_in", "one", "two"]
HEADER += ["hands_per_second", "least", "most", "as_play_match"]
KEY = 4  # columns
WAYS = {"the dealer's process": False, "processes of their own": True}
HANDS, SEED, ASKED = 3_000, 1, 2_000
REPEATS = 5
PAIRS = (
    ("always-call", "always-raise"),
    ("uniform", "probe"),
    ("probe", "sparbot"),
    ("poki", "probe"),
)


class Measured(NamedTuple):
    """By match."""

    rates: list[float]  # hands per second, sorted
    busy: float  # milliseconds of all processes per hand, with what it takes to start them
    same: bool  # as `play_match`

    def row(self, key: list[str]) -> list[object]:
        middle = statistics.median(self.rates)
        return [*key, *(f"{x:.0f}" for x in (middle, self.rates[0], self.rates[-1])), self.same]

    def text(self) -> str:
        middle = statistics.median(self.rates)
        range_ = f"{self.rates[0]:,.0f}-{self.rates[-1]:,.0f}"
        reached = "yes" if middle >= ASKED else "no"
        return (
            f"{middle:,.0f} hands/s ({range_}; >= {ASKED:,}: {reached}), {self.busy:.2f} ms of CPU "
            f"a hand with starting, as play_match: {'yes' if self.same else 'NO'}"
        )


def _measure(one: str, two: str, own_processes: bool) -> Measured:
    seats = (cp.acpc_seat(one, 1), cp.acpc_seat(two, 2))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "match.log"
        plan = cp.MatchPlan((one, two), HANDS, SEED, log=log)
        before = _cpu()
        results = [cp.deal_acpc(plan, seats, own_processes=own_processes) for _ in range(REPEATS)]
        busy = 1_000 * (_cpu() - before) / (REPEATS * HANDS)
        same = _bettings(log) == _bettings(_ours(one, two, Path(folder) / "ours.log"))
    return Measured(sorted(result.hands / result.seconds for result in results), busy, same)


def _cpu() -> float:
    """Seconds of this process and of those that it started and saw end."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _ours(one: str, two: str, log: Path) -> Path:
    cards = cp.acpc_cards(SEED, HANDS)
    cp.play_match("holdem(buckets=10)", two, one, cards=cards, duplicate=False, log=log)
    return log


def _bettings(log: Path) -> list[str]:
    return [hand.betting for hand in read_acpc(log).hands]


def _keep(row: list[object]) -> None:
    """Instead of the one of the same kind."""
    rows: list[list[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = [list(old) for old in list(csv.reader(file))[1:] if old[:KEY] != row[:KEY]]
    write_rows(OUT, HEADER, [*rows, row])


def _measured() -> Iterator[tuple[list[str], Measured]]:
    for one, two in PAIRS:
        for way, own_processes in WAYS.items():
            yield [str(cores()), way, one, two], _measure(one, two, own_processes)


def main() -> None:
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    print(
        f"ACPC over loopback, {HANDS:,} hands, medians of {REPEATS} (range), {cores()} processors"
    )
    print(f"load of the machine before (1, 5, 15 minutes): {load}")
    for key, measured in _measured():
        _, way, one, two = key
        _keep(measured.row(key))
        print(f"{one} against {two}, players in {way}: {measured.text()}", flush=True)


if __name__ == "__main__":
    main()
