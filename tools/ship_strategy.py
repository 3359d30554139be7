"""Adds a strategy that `benchmarks/cfr_br.py` trained to those that come with the package, or
replaces it:

    python tools/ship_strategy.py NAME FILE.npz --summary TEXT --command COMMAND --date 2026-11-18

Writes `poker/bots/strategies/NAME.npz` and its entry in `index.json`. The game is that of the
command; iterations and exploitability are those of its row of `benchmarks/cfr_br.csv` that was
measured on all flops.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter
from counterplay.poker.bots.shipped import (
    FOLDER,
    INDEX,
    KIND,
    LISTED,
    NAME,
    ShippedStrategy,
    read_index,
    read_strategy,
)

ROWS = Path(__file__).parent.parent / "benchmarks" / "cfr_br.csv"
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
DIGITS = 6  # of an exploitability in sb/h


@dataclass(frozen=True)
class Description:
    """What a person says about a strategy."""

    name: str
    summary: str
    command: str
    date: str


def ship(steps: np.ndarray, about: Description, folder: Path = FOLDER) -> ShippedStrategy:
    """Writes both files. `steps`: uint8[n_slots], 255 in each information set."""
    if NAME.fullmatch(about.name) is None:
        raise BadParameter(f"a name has small letters, digits and hyphens, not {about.name!r}")
    game = cp.load(shlex.split(about.command)[3])  # python -m benchmarks.cfr_br GAME
    measured, path = _exact_row(game.name), folder / f"{about.name}.npz"
    header = {"game": game.name, "fingerprint": game.fingerprint}
    files.write_arrays(path, KIND, {"steps": steps}, header, small=True)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    read_strategy(path, sha256, game)  # an error for a sum other than 1
    mb_per_game = float(measured["mb_per_game"])
    entry = ShippedStrategy(
        **asdict(about),
        game=game.name,
        algorithm="cfr-br",
        seed=int(measured["seed"]),
        iterations=int(measured["iterations"]),
        exploitability=round(mb_per_game / MB, DIGITS),
        mb_per_game=mb_per_game,
        measured="exact",
        sha256=sha256,
    )
    index = folder / INDEX
    others = read_index(index) if index.exists() else ()
    listed = [one for one in others if one.name != entry.name] + [entry]
    files.write_json(index, {LISTED: [asdict(one) for one in listed]})
    read_index.cache_clear()
    return entry


def _exact_row(game: str) -> dict[str, Any]:
    """The last measurement of a game on all flops."""
    with ROWS.open() as file:
        rows = [row for row in csv.DictReader(file) if row["game"] == game]
    exact = [row for row in rows if row["flops"] == "all"]
    if not exact:
        raise BadParameter(f"{ROWS.name} has no exact measurement of {game}; train with --exact")
    return exact[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition(":")
    parser = argparse.ArgumentParser(prog="python tools/ship_strategy.py", description=summary)
    parser.add_argument("name")
    parser.add_argument("file", type=Path, help="steps, as benchmarks/cfr_br.py --out writes them")
    for option in ("--summary", "--command", "--date"):
        parser.add_argument(option, required=True)
    given = parser.parse_args(arguments)
    with np.load(given.file, allow_pickle=False) as arrays:
        steps = arrays["steps"]
    print(ship(steps, Description(given.name, given.summary, given.command, given.date)))


if __name__ == "__main__":
    main()
