"""Numbers in the docs are those of committed CSVs, each written by the command that the page names.

A table after `<!-- data/FILE.csv OPPONENT -->` has a row for each of some rows of that file:
player, engine, observed games, and sb/h with its 95% interval.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
MARK = re.compile(r"<!-- (data/[\w.-]+\.csv) (\w+) -->\n((?:\|.*\n)+)")
FOUND = [
    (page.relative_to(DOCS).as_posix(), *match)
    for page in sorted(DOCS.rglob("*.md"))
    for match in MARK.findall(page.read_text())
]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _rows(file: str, opponent: str) -> dict[tuple[str, str, str], str]:
    """Cells as the docs have them, by player, engine and observed games."""
    found = {}
    for row in csv.DictReader((DOCS / file).read_text().splitlines()):
        if row["opponent"] == opponent:
            half = 1.96 * float(row["standard_error"])
            key = row["player"], row["engine"], f"{int(row['observed_games']):,}"
            found[key] = f"{float(row['sb_per_hand']):+.3f} ± {half:.3f}"
    return found


@pytest.mark.parametrize(("page", "file", "opponent", "table"), FOUND)
def test_a_table_has_the_numbers_of_its_file(
    page: str, file: str, opponent: str, table: str
) -> None:
    known = _rows(file, opponent)
    lines = table.splitlines()[2:]
    assert lines, page
    for line in lines:
        player, engine, games, cell = _cells(line)
        assert known[player, engine, games] == cell, f"{page}: {line}"


def test_every_file_of_numbers_is_used_and_its_command_named() -> None:
    used = {file: page for page, file, _, _ in FOUND}
    assert {f"data/{path.name}" for path in (DOCS / "data").glob("*.csv")} == set(used)
    for file, page in used.items():
        assert f"counterplay reproduce {Path(file).stem}" in (DOCS / page).read_text()
