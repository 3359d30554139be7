"""Tables of speed in README and docs from benchmarks/RESULTS.md, which `make benchmark` writes."""

from __future__ import annotations

import re

import number_tables
from number_tables import table

RANGE = re.compile(r" \([^()]*\)$")  # of the runs, behind a median
BESIDE = ("outcome sampling, ", "CFR (alternating), ", "exact exploitability, ")
EHS = "exact EHS of every hand on every board"
TWO = (10, 100)  # buckets


def _lines() -> list[list[str]]:
    """The rows of all tables, cell by cell, without ranges."""
    text = (number_tables.DOCS.parent / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[RANGE.sub("", cell) for cell in line.strip("| ").split(" | ")] for line in lines]


def measured(work: str) -> str:
    """What the one row of that name says."""
    (cells,) = (cells for cells in _lines() if cells[0] == work)
    return cells[1]


def _number(work: str) -> float:
    return float(measured(work).replace(",", ""))


def speed_table() -> str:
    """Ratios to OpenSpiel, a row for each kind of work."""
    compared = [cells for cells in _lines() if cells[0].startswith(BESIDE) and len(cells) > 4]
    lines = []
    for kind in BESIDE:
        rows = [cells for cells in compared if cells[0].startswith(kind)]
        games = ", ".join(f"`{cells[0].removeprefix(kind)}`" for cells in rows)
        ratios = sorted((cells[3] for cells in rows), key=lambda ratio: float(_digits(ratio)))
        span = " to ".join(dict.fromkeys([_digits(ratios[0], ","), _digits(ratios[-1], ",")]))
        lines.append([kind.strip(", "), games, f"{span} times as fast"])
    return table(["work", "games", "ratio"], lines)


def _digits(ratio: str, separator: str = "") -> str:
    return ratio.removesuffix("x").replace(",", separator)


def holdem_speed_table() -> str:
    """Of limit hold'em."""
    many = [f"{_number(f'mccfr, {n} buckets, iterations/s, one thread') / 1e6:.1f}" for n in TWO]
    over = [f"{_number(f'mccfr, {n} buckets, two threads over one'):.2f}" for n in TWO]
    size, load = measured("size of the tables on disk"), "loading the tables, checksums included"
    tables = _number("match, two table strategies, both cores, hands/s") / 1e6
    poki = _number("match, poki against a table, one core, hands/s")
    rates = f"{many[0]} M iterations/s with {TWO[0]} buckets, {many[1]} M with {TWO[1]}"
    made = measured(f"{EHS}, 2 threads")
    lines = [
        [EHS, f"{made}, {size} on disk, mapped in {measured(load)}"],
        [
            "outcome sampling, one thread",
            f"{rates}; two threads {' and '.join(over)} times as many",
        ],
        ["matches between two tables, one process", f"{tables:.1f} million hands/s"],
        ["matches against Poki (re-created), one core", f"{poki:,.0f} hands/s"],
    ]
    return table(["limit hold'em", ""], lines)


def found_table() -> str:
    """Of games without a tree, with ranges."""
    text = (number_tables.DOCS.parent / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    block = text.split("| without a tree |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in block.splitlines()[2:]]
    lines = [cells[:3] for cells in rows if len(cells) > 3]  # what was asked for
    return table(["without a tree", "measured (range)", "asked for"], lines)


def positions_table() -> str:
    """Positions of a strategy solved again."""
    header = [
        *("position", "rivers", "holdings", "strategy", "exploitability, % of the pot"),
        *("leak, sb", "iterations", "minutes", "memory, GB"),
    ]
    lines = [
        [
            *(f"`{row['betting']}` on {row['board']}", row["rivers"], row["holdings"], row["kind"]),
            f"{float(row['blueprint_percent']):.1f} → {float(row['percent']):.1f}",
            *(f"{float(row['leak']):.4f}", row["iterations"]),
            *(f"{float(row['seconds']) / 60:.0f}", f"{float(row['peak_gb']):.1f}"),
        ]
        for row in number_tables.rows("../benchmarks/positions.csv")
    ]
    return table(header, lines)


def spots_table() -> str:
    """Seconds to an exploitability of a spot."""
    entries = number_tables.rows("../benchmarks/spots.csv")
    by = {
        "two cores": ("cpu", "2"),
        "16 processors of another machine": ("cpu", "16"),
        "an H200": ("cuda", ""),
    }
    lines = []
    for spot in ("river", "turn", "flop"):
        here = [row for row in entries if row["spot"] == spot]
        cells = [
            " / ".join(
                f"{float(row['seconds']):.2f}"
                for row in here
                if (row["backend"], row["threads"]) == who and row["target"] in ("0.5", "0.1")
            )
            for who in by.values()
        ]
        about = here[0]
        lines.append([f"{spot} `{about['board']}`", f"{int(about['slots']):,}", *cells])
    return table(["seconds to 0.5% / 0.1% of the pot", "slots", *by], lines)


SPEED = {
    "spots": spots_table,
    "speed": speed_table,
    "speed-holdem": holdem_speed_table,
    "found": found_table,
    "positions": positions_table,
}
