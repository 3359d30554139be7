"""Draws `docs/images/by-size.png` from what `counterplay reproduce by-size --scale paper` found
(`docs/results/paper/by-size.csv`), or, until that is there, from a run with 12 seconds for each
(`by_size.csv`): `python -m benchmarks.by_size`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from counterplay.experiments.paper.by_size import picture
from counterplay.experiments.paper.rules.by_size import SizeRun

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "images" / "by-size.png"
FOUND = (ROOT / "docs" / "results" / "paper" / "by-size.csv", Path(__file__).with_suffix(".csv"))


def read(path: Path) -> dict[str, dict[str, dict[str, SizeRun]]]:
    """By family, game and method."""
    runs: dict[str, dict[str, dict[str, SizeRun]]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            numbers: list[Any] = [row.get(name) or None for name in SizeRun._fields[1:]]
            one = SizeRun(row["note"], *(x and float(x) for x in numbers))
            runs.setdefault(row["family"], {}).setdefault(row["game"], {})[row["method"]] = one
    return runs


def main() -> None:
    picture(read(next(path for path in FOUND if path.exists())), PICTURE)


if __name__ == "__main__":
    main()
