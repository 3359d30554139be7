"""Tables in the docs that show a benchmark have the numbers of its committed file."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TABLE = re.compile(r"<!-- benchmarks/public\.csv -->\n((?:\|.*\n)+)")


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def test_strength_against_seconds() -> None:
    rows = csv.DictReader((ROOT / "benchmarks" / "public.csv").read_text().splitlines())
    known = {
        (f"{int(row['buckets']):,}", f"{float(row['seconds']):g}", row["algorithm"]): (
            f"{float(row['sb_per_hand']):+.3f}"
        )
        for row in rows
    }
    page = (ROOT / "docs" / "explanation" / "holdem.md").read_text()
    head, _, *lines = TABLE.findall(page)[0].splitlines()
    algorithms = _cells(head)[2:]
    assert len(lines) == 9
    for line in lines:
        buckets, seconds, *won = _cells(line)
        assert won == [known[buckets, seconds, name] for name in algorithms], line
    assert f"({known['100', '300', 'mccfr-external']} after 300 s)" in page
    for few in ("20", "50"):
        public, external = (known[few, "60", f"mccfr-{name}"] for name in ("public", "external"))
        assert f"{public} against {external} with {few} buckets" in page
