"""Tables of the docs' pages, each from a committed CSV. `make_results.py` puts them there."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
SCALES = ("quick", "paper")
Row = dict[str, str]


def rows(file: str) -> list[Row]:
    """Of a CSV below docs/; none where it is not there."""
    path = DOCS / file
    return list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []


def best(name: str) -> tuple[str, list[Row]]:
    """The CSV of an experiment at the larger scale there is, and which that is."""
    for scale in reversed(SCALES):
        if entries := rows(f"results/{scale}/{name}.csv"):
            return scale, entries
    return SCALES[0], []


def table(header: list[str], lines: list[list[str]]) -> str:
    made = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    made += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(made) + "\n"


def won(row: Row, places: int = 3) -> str:
    """sb/h with the 95% interval: that of the file, or from a standard error over so many deals
    that Student's t is normal."""
    if "low" in row:
        half = (float(row["high"]) - float(row["low"])) / 2
    else:
        half = 1.96 * float(row["standard_error"])
    return f"{float(row['sb_per_hand']):+.{places}f} ± {half:.{places}f}"


def bands_table() -> str:
    scale, entries = best("bots")
    lines = []
    for row in entries:
        low, high = float(row["published_low"]), float(row["published_high"])
        band = f"{low:+.3f}" if low == high else f"{low:+.3f} to {high:+.3f}"
        fitted = " (fitted)" if row["fitted"] == "True" else ""
        off = float(row["difference"])
        hands = f"{int(row['hands']):,}"
        lines.append(
            [row["player"], row["opponent"], band + fitted, won(row), hands, f"{off:+.3f}"]
        )
    header = ["player", "opponent", "published", f"here ({scale} scale)", "hands", "off by"]
    return table(header, lines)


def models_table() -> str:
    """What MCRNR10 wins from Poki, by model and engine."""
    _, entries = best("table2")
    lines = [
        [row["player"], row["engine"], f"{int(row['iterations']):,}", won(row)]
        for row in entries
        if row["part"] in ("table", "beyond") and row["opponent"] == "poki"
    ]
    return table(["player", "engine", "iterations a seat", "sb/h"], lines)


def games_table() -> str:
    """MCRNR10 against Poki by observed games."""
    _, entries = best("fig8")
    some = [row for row in entries if row.get("part") == "observed games"]
    lines = [[f"{int(row['games']):,}", won(row)] for row in some]
    return table(["observed games", "MCRNR10 against Poki, sb/h"], lines)


def race_table() -> str:
    """MCCFR and MCTS in hold'em by iterations, medians over seeds."""
    _, entries = best("fig4-holdem")
    by: dict[tuple[str, float], list[float]] = {}
    for row in entries:
        if row["algorithm"] == "mccfr" or (row["algorithm"], row["c"]) == ("mcts", "17.0"):
            key = row["algorithm"], float(row["iterations"])
            by.setdefault(key, []).append(float(row["sb_per_hand"]))
    points = sorted({t for name, t in by if name == "mccfr"})
    shown = [t for t in points if t in (1e6, 5e6, 1e7, 2e7, 5e7, 1e8)]
    lines = [
        [f"{t / 1e6:,.0f} million", *(_spread(by.get((name, t), [])) for name in ("mccfr", "mcts"))]
        for t in dict.fromkeys([*shown, *points[-1:]])
    ]
    return table(["iterations", "MCCFR (outcome sampling, ε = 0.6)", "MCTS (C = 17)"], lines)


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):+.3f} ({min(values):+.3f} to {max(values):+.3f})"


CHOICES = ("buckets", "ratio", "weak", "outs", "tremble", "leaf_bets", "fourth", "split")


def search_table() -> str:
    """The bot as it is, and the candidates nearest to the published bands."""
    entries = rows("data/sparbot.csv")
    here = [row for row in entries if row["ratio"] == "as it is" and row["tremble"] == "0.25"]
    as_it_is = ("called", "0.0", "False")
    here = [r for r in here if (r["fourth"], r["leaf_bets"], r["split"]) == as_it_is]
    nearest = sorted(entries, key=lambda row: float(row["misses"]))[:6]
    header = ["buckets", "ratio", "weak", "outs", "prior", "leaves", "fourth bet", "split"]
    header += ["always-call", "always-raise", "Poki", "off by (s.d.)"]
    numbers = ("always-call", "always-raise", "poki")
    lines = [
        [
            *(row[name] for name in CHOICES),
            *(f"{float(row[foe]):+.3f}" for foe in numbers),
            f"{float(row['misses']):.1f}",
        ]
        for row in [*here, *(row for row in nearest if row not in here)]
    ]
    return table(header, lines)


def family_table() -> str:
    """What is kept for judging, and what Tables 1 and 2 say, over the candidates that were
    judged."""
    entries = [row for row in rows("data/sparbot.csv") if row["mcrnr10"]]
    columns = ("cfr5", "cfr10", "cfr100", "mcrnr10", "best_response")
    header = ["candidate", "CFR5", "CFR10", "CFR100", "MCRNR10", "best response, 5 buckets"]
    lines = [
        [
            ", ".join(row[name] for name in CHOICES),
            *(f"{float(row[name]):+.3f}" for name in columns),
        ]
        for row in entries
    ]
    return table(header, lines)


NOISE = 0.005  # sb/h, more than the 95% interval of two million hands between tables


def survivors_table() -> str:
    """In how many of the judged candidates a conclusion of Tables 1 and 2 holds, and fails."""
    entries = [row for row in rows("data/sparbot.csv") if row["mcrnr10"]]

    def apart(one: str, other: str = "") -> list[float]:
        return [float(row[one]) - (float(row[other]) if other else 0.0) for row in entries]

    def level(bound: float) -> list[list[bool]]:
        off = [abs(x) for x in apart("mcrnr10", "cfr10")]
        return [[x < bound - NOISE for x in off], [x > bound + NOISE for x in off]]

    def sign(values: list[float]) -> list[list[bool]]:
        return [[x > NOISE for x in values], [x < -NOISE for x in values]]

    told = {
        "MCCFR10 loses a little to Sparbot": sign(apart("cfr10"))[::-1],
        "MCCFR100 wins from Sparbot": sign(apart("cfr100")),
        "MCCFR100 wins more from it than MCCFR10": sign(apart("cfr100", "cfr10")),
        "MCRNR10 performs similarly to MCCFR10, within 0.17": level(0.17),
        "MCRNR10 performs similarly to MCCFR10, within 0.02": level(0.02),
    }
    lines = [
        [text, *(f"{sum(side)} of {len(entries)}" for side in sides)]
        for text, sides in told.items()
    ]
    return table(["conclusion about Sparbot", "holds for", "fails for"], lines)


def weak_table() -> str:
    """Responses to a weak strategy."""
    lines = [
        [row["model"], row["unseen"] or "–", row["trust"] or "–", won(row)]
        for row in rows("data/weak.csv")
    ]
    return table(["model", "unseen cards", "Pconf (0.75 at most)", "sb/h"], lines)


def buckets_table() -> str:
    """Medians over seeds at the end of training."""
    scale, entries = best("buckets")
    ends: dict[tuple[str, str], Row] = {}
    for row in entries:
        key = row["buckets"], row["seed"]
        if key not in ends or float(row["iterations"]) > float(ends[key]["iterations"]):
            ends[key] = row
    lines = []
    for n in dict.fromkeys(row["buckets"] for row in entries):
        chosen = [row for (buckets, _), row in ends.items() if buckets == n]
        cells = [n, f"{statistics.median(float(row['seconds']) for row in chosen):.0f} s"]
        for column in ("sparbot", "mccfr10"):
            cells.append(_spread([float(row[f"sb_per_hand_{column}"]) for row in chosen]))
        lines.append(cells)
    header = ["buckets", f"training ({scale} scale)", "Sparbot", "MCCFR10"]
    return table(header, lines)


def averaging_table() -> str:
    """Exploitability by game, averaging and iterations: median and range over seeds."""
    groups: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in rows("../benchmarks/averaging.csv"):
        group = groups.setdefault((row["game"], row["averaging"]), {})
        group.setdefault(int(row["iterations"]), []).append(float(row["exploitability"]))
    points = sorted({n for group in groups.values() for n in group})
    lines = [
        [
            *key,
            *(
                f"{statistics.median(group[n]):.2g} ({min(group[n]):.2g}-{max(group[n]):.2g})"
                for n in points
            ),
        ]
        for key, group in groups.items()
    ]
    return table(["game", "averaging", *(f"{n:,} iterations" for n in points)], lines)


def egt_table() -> str:
    """Exploitability by game, method and iterations; seconds of all."""
    groups: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows("../benchmarks/egt.csv"):
        groups.setdefault((row["game"], row["method"]), {})[int(row["iterations"])] = row
    points = sorted({n for group in groups.values() for n in group})
    lines = [
        [
            *key,
            *(f"{float(group[n]['exploitability']):.2g}" for n in points),
            f"{float(group[points[-1]]['seconds']):.2g}",
        ]
        for key, group in groups.items()
    ]
    return table(["game", "method", *(f"T = {n:,}" for n in points), "seconds"], lines)


TABLES: dict[str, Callable[[], str]] = {
    "bands": bands_table,
    "models": models_table,
    "games": games_table,
    "race": race_table,
    "search": search_table,
    "family": family_table,
    "survivors": survivors_table,
    "weak": weak_table,
    "buckets": buckets_table,
    "averaging": averaging_table,
    "egt": egt_table,
}
