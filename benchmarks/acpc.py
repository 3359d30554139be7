"""Hands per second over the protocol: our dealer and two of our players, a process each, and
whether the match is that of `play_match` on the same cards. Writes benchmarks/acpc.csv, beside rows
of machines with other numbers of processors. Run: python -m benchmarks.acpc"""

from __future__ import annotations

import csv
import statistics
import tempfile
from pathlib import Path

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.base.processors import cores
from counterplay.opponents.hands.acpc import read_acpc

OUT = Path(__file__).parent / "acpc.csv"
HEADER = ["processors", "one", "two", "hands_per_second", "least", "most", "as_play_match"]
HANDS, SEED, ASKED = 3_000, 1, 2_000
REPEATS = 3
PAIRS = (
    ("always-call", "always-raise"),
    ("uniform", "probe"),
    ("probe", "sparbot"),
    ("poki", "probe"),
)


def _same(one: str, two: str, log: Path) -> bool:
    """Whether every action is that of `play_match`."""
    ours = log.with_name("ours.log")
    cards = cp.acpc_cards(SEED, HANDS)
    cp.play_match("holdem(buckets=10)", two, one, cards=cards, duplicate=False, log=ours)
    bettings = [[hand.betting for hand in read_acpc(path).hands] for path in (log, ours)]
    return bettings[0] == bettings[1]


def _keep(row: list[object]) -> None:
    """Instead of the one of this pair and as many processors."""
    rows: list[list[object]] = []
    if OUT.exists():
        with OUT.open() as file:
            rows = [list(old) for old in list(csv.reader(file))[1:] if old[:3] != row[:3]]
    write_rows(OUT, HEADER, [*rows, row])


def main() -> None:
    print(f"ACPC over loopback, {HANDS:,} hands, medians of {REPEATS} (range)")
    for one, two in PAIRS:
        sitters = (cp.sitter(one, 1), cp.sitter(two, 2))
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "match.log"
            plan = cp.MatchPlan((one, two), HANDS, SEED, log=log)
            results = [cp.deal_acpc(plan, sitters) for _ in range(REPEATS)]
            same = _same(one, two, log)
        rates = sorted(result.hands / result.seconds for result in results)
        middle = statistics.median(rates)
        _keep([str(cores()), one, two, *(f"{x:.0f}" for x in (middle, rates[0], rates[-1])), same])
        reached = "" if one == "poki" else f"  (>= {ASKED:,}: {'yes' if middle >= ASKED else 'NO'})"
        spread = f"{middle:,.0f} hands/s ({rates[0]:,.0f}-{rates[-1]:,.0f})"
        print(f"{one} against {two}: {spread}{reached}; as play_match: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
