"""The page on exploitability in hold'em has the numbers of the committed files."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "explanation" / "holdem-exploitability.md").read_text()


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((ROOT / "benchmarks" / name).read_text().splitlines()))


def _tables(name: str) -> list[list[list[str]]]:
    found = re.findall(rf"<!-- benchmarks/{re.escape(name)} -->\n((?:\|.*\n)+)", PAGE)
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        for table in found
    ]


def test_exact() -> None:
    known = {row["strategy"]: row for row in _rows("exact.csv")}
    ((_, _, *lines),) = _tables("exact.csv")
    for name, worth in lines:
        assert worth == f"{float(known[name]['mb_per_game']):.2f}", name
    assert len(lines) == 4
    last = float(known[lines[-1][0]]["seconds"])
    assert f"The last took {last:.0f} seconds." in PAGE


def test_over_training() -> None:
    known = {
        (row["player"], row["backend"], f"{row['seconds']} s"): (
            f"{float(row['mb_per_game']):.0f} ± {float(row['error']):.0f}"
        )
        for row in _rows("exploitability.csv")
    }
    shown = 0
    for (head, _, *lines), backend in zip(
        _tables("exploitability.csv"), ("cpu", "cuda"), strict=True
    ):
        for name, *cells in lines:
            assert cells == [known.get((name, backend, when), "") for when in head[1:]], name
            shown += sum(map(bool, cells))
    assert shown == sum(key[1] in ("cpu", "cuda") and key[2] != "0 s" for key in known)


def test_what_responses_win_and_risk() -> None:
    known = {
        (row["opponent"], f"{float(row['p']):g}", row["buckets"]): [
            f"{float(row['won_sb']):+.3f}",
            f"{float(row['risk_mb_per_game']):,.0f} ± {float(row['risk_error']):.0f}",
        ]
        for row in _rows("holdem_frontier.csv")
    }
    ((_, _, *lines),) = _tables("holdem_frontier.csv")
    for opponent, p, *cells in lines:
        wanted = [known.get((opponent, p, buckets), ["", ""]) for buckets in ("10", "100")]
        assert cells == [*wanted[0], *wanted[1]], (opponent, p)
    assert len(lines) == len({key[:2] for key in known})


def test_by_boards_or_by_hands() -> None:
    ((_, _, *lines),) = _tables("by_board.csv")
    for line, row in zip(lines, _rows("by_board.csv"), strict=True):
        assert line == [
            row["by"],
            f"{int(row['number']):,}",
            f"{float(row['sb_per_hand']):+.4f}",
            f"{float(row['standard_error']):.4f}",
            f"{float(row['seconds_of_a_processor']):.1f}",
        ]
