"""Adds a strategy that `benchmarks/cfr_br.py` or `benchmarks/real_frontier.py` trained to those
that come with the package, or replaces it:

    python tools/ship_strategy.py NAME FILE.npz --summary TEXT --date 2026-11-18

Writes `poker/bots/strategies/NAME.npz` and its entry in `index.json`. Game, algorithm, iterations
and command are those of the file; its exploitability is that of the row of
`benchmarks/cfr_br.csv` or `real_frontier.csv` with the same probabilities that was measured on all
flops.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter
from counterplay.poker.bots.shipped import (
    FOLDER,
    INDEX,
    LISTED,
    NAME,
    ShippedStrategy,
    digest,
    read_facts,
    read_index,
    read_quantised,
)

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
MEASURED = {"cfr_br.csv": "mb_per_game", "real_frontier.csv": "risk_mb_per_game"}  # their columns
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
ALL = "all"  # flops: every board
DIGITS = 6  # of an exploitability in sb/h
MOST_IN_ALL = 25_000_000  # bytes
FROM_FILE = ("game", "algorithm", "seed", "iterations", "command")


@dataclass(frozen=True)
class Description:
    """What a person says about a strategy."""

    name: str
    summary: str
    date: str


def ship(file: Path, about: Description, folder: Path = FOLDER) -> ShippedStrategy:
    """Writes both files."""
    if NAME.fullmatch(about.name) is None:
        raise BadParameter(f"a name has small letters, digits and hyphens, not {about.name!r}")
    path, index, content = folder / f"{about.name}.npz", folder / INDEX, file.read_bytes()
    strategy = read_quantised(file)
    mb_per_game = exact_value(strategy)
    listed = read_index(index) if index.exists() else ()
    others = [one for one in listed if one.name != about.name]
    size = sum((folder / f"{one.name}.npz").stat().st_size for one in others) + len(content)
    if size > MOST_IN_ALL:
        raise BadParameter(f"all strategies together would have {size / 1e6:.1f} MB; 25 at most")
    facts = read_facts(file)
    entry = ShippedStrategy(
        **asdict(about),
        **{name: facts[name] for name in FROM_FILE},
        exploitability=round(mb_per_game / MB, DIGITS),
        mb_per_game=mb_per_game,
        sha256=hashlib.sha256(content).hexdigest(),
    )
    files.write_bytes(path, content)
    place = next((k for k, one in enumerate(listed) if one.name == about.name), len(others))
    every = [*others[:place], entry, *others[place:]]
    files.write_json(index, {LISTED: [asdict(one) for one in every]})
    read_index.cache_clear()
    return entry


def exact_value(strategy: cp.Strategy) -> float:
    """The exploitability in mb/g that was measured on all flops for these probabilities."""
    for file, column in MEASURED.items():
        for row in reversed(_rows(file, strategy)):
            if row["flops"] == ALL:
                return round(float(row[column]), 2)
    names = " or ".join(MEASURED)
    raise BadParameter(f"no exact measurement of this strategy ({digest(strategy)}) is in {names}")


def _rows(file: str, strategy: cp.Strategy) -> list[dict[str, str]]:
    """The measurements of these probabilities."""
    name = digest(strategy)
    with (BENCHMARKS / file).open() as rows:
        return [row for row in csv.DictReader(rows) if row["digest"] == name]


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition(":")
    parser = argparse.ArgumentParser(prog="python tools/ship_strategy.py", description=summary)
    parser.add_argument("name")
    parser.add_argument("file", type=Path, help="as benchmarks/cfr_br.py --out writes it")
    for option in ("--summary", "--date"):
        parser.add_argument(option, required=True)
    given = parser.parse_args(arguments)
    about = Description(given.name, given.summary, given.date)
    print(ship(given.file, about))


if __name__ == "__main__":
    main()
