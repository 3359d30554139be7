"""Writes what the docs say in numbers from the files that experiments and searches left.

    python docs/make_results.py                 the tables of all pages, and docs/results/README.md
    python docs/make_results.py quick FOLDER    first take the results of that scale from FOLDER

A table between `<!-- numbers NAME -->` and `<!-- end -->` is the one that `TABLES[NAME]` makes.
`tests/docs/test_numbers.py` fails when a page differs from what this makes.
"""

from __future__ import annotations

import csv
import re
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from counterplay.experiments.harness.base import Claim, Outcome
from counterplay.experiments.harness.outcomes import changed_files, read_outcome
from counterplay.experiments.harness.registry import experiments

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS / "results"
SCALES = ("quick", "paper")
BLOCK = re.compile(r"(<!-- numbers ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
Row = dict[str, str]


def pages() -> list[Path]:
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def outcomes(scale: str) -> dict[str, Outcome]:
    """What was found at a scale, by name."""
    found = [RESULTS / scale / f"{name}.json" for name in experiments()]
    return {path.stem: read_outcome(path) for path in found if path.exists()}


def rows(file: str) -> list[Row]:
    """Of a CSV below docs/; none where it is not there."""
    path = DOCS / file
    return list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []


def best(name: str) -> tuple[str, list[Row]]:
    """The CSV of an experiment at the larger scale there is, and which that is."""
    for scale in reversed(SCALES):
        if found := rows(f"results/{scale}/{name}.csv"):
            return scale, found
    return SCALES[0], []


def table(header: list[str], lines: list[list[str]]) -> str:
    made = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    made += ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(made) + "\n"


def won(row: Row, places: int = 3) -> str:
    """sb/h with the 95% interval."""
    half = 1.96 * float(row["standard_error"])
    return f"{float(row['sb_per_hand']):+.{places}f} ± {half:.{places}f}"


# the claims


def _key(claim: Claim) -> str:
    return claim.text


def claims() -> Iterator[tuple[str, str, dict[str, Claim]]]:
    """Experiment, sentence, and the claim at each scale, in the order of the page."""
    found = {scale: outcomes(scale) for scale in SCALES}
    for name in experiments():
        seen: dict[str, dict[str, Claim]] = {}
        for scale in reversed(SCALES):
            for claim in found[scale][name].claims if name in found[scale] else []:
                seen.setdefault(_key(claim), {})[scale] = claim
        for text, by_scale in seen.items():
            yield name, text, by_scale


def word(claim: Claim | None) -> str:
    return "–" if claim is None else claim.verdict


def claims_table() -> str:
    """The verdict of every claim at both scales."""
    lines, last = [], ""
    for name, text, by_scale in claims():
        lines.append([name if name != last else "", text, *(word(by_scale.get(s)) for s in SCALES)])
        last = name
    return table(["", "claim", "quick scale", "paper scale"], lines)


def unfinished() -> str:
    """Which experiments are not there at paper scale."""
    lacking = [name for name in experiments() if name not in outcomes("paper")]
    if not lacking:
        return "At paper scale every figure and table was finished.\n"
    return f"Not finished at paper scale: {', '.join(lacking)}.\n"


def summary_table() -> str:
    lines = []
    for name, experiment in experiments().items():
        cells = []
        for scale in SCALES:
            one = outcomes(scale).get(name)
            cells.append("not finished" if one is None else f"{one.verdict}: {one.counts}")
        lines.append([f"`{name}`", experiment.title, *cells])
    return table(["", "", "quick scale", "paper scale"], lines)


INTRODUCTION = """\
What `counterplay reproduce all` (quick scale) and `counterplay reproduce all --scale paper` found. Every
number here comes from the JSON and CSV files in `quick/` and `paper/`, which these commands write; this page
is written by `python docs/make_results.py`. [How claims are judged](../explanation/verdicts.md).
"""  # noqa: E501


def results_page() -> str:
    """docs/results/README.md."""
    parts = [
        "# Results\n",
        INTRODUCTION,
        unfinished(),
        summary_table(),
    ]
    for name, experiment in experiments().items():
        parts.append(f"## {experiment.title}\n")
        parts.append(_made_by(name))
        if (RESULTS / "paper" / f"{name}.png").exists():
            parts.append(f"![{experiment.title}](paper/{name}.png)\n")
        parts += list(_details(name))
    return "\n".join(parts)


def _made_by(name: str) -> str:
    said = []
    for scale in SCALES:
        one = outcomes(scale).get(name)
        if one is not None:
            files = ", ".join(f"[{file}]({scale}/{file})" for file in one.files)
            said.append(f"{scale} scale: {files}, {one.seconds / 60:.1f} minutes of two processors")
    return "; ".join(said) + ".\n" if said else "Not run.\n"


def _details(wanted: str) -> Iterator[str]:
    """Each claim with its rule, its verdicts, what was measured, and other readings."""
    for name, text, by_scale in claims():
        if name != wanted:
            continue
        some = by_scale.get("paper") or by_scale["quick"]
        verdicts = ", ".join(f"{scale} **{word(by_scale.get(scale))}**" for scale in SCALES)
        lines = [f"- {text} {verdicts}.", f"  - Rule: {some.rule}."]
        for scale, claim in by_scale.items():
            lines.append(f"  - Measured, {scale} scale: {claim.measured}.")
            if claim.before is not None:
                lines.append(
                    f"  - By the rule used before ({claim.before.rule}), {scale} scale: "
                    f"{claim.before.verdict}."
                )
            for other in claim.also:
                rule = other.rule[0].upper() + other.rule[1:]
                lines.append(f"  - {rule}, {scale} scale: {other.verdict}.")
        yield "\n".join(lines) + "\n"


# tables of pages


def bands_table() -> str:
    scale, found = best("bots")
    lines = []
    for row in found:
        low, high = float(row["low"]), float(row["high"])
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
    """MCRNR10 against Poki with three models."""
    _, found = best("table2")
    lines = [
        [row["player"], row["engine"], f"{int(row['iterations']):,}", won(row)]
        for row in found
        if row["part"] == "table" and row["opponent"] == "poki" and "10" in row["player"]
        if row["engine"] == "outcome"
    ]
    return table(["player", "engine", "iterations a seat", "sb/h"], lines)


def games_table() -> str:
    """MCRNR10 against Poki by observed games."""
    _, found = best("table2")
    some = [row for row in found if row["part"] == "games"]
    games = sorted({int(row["observed_games"]) for row in some})
    cells = {(row["player"], int(row["observed_games"])): won(row) for row in some}
    players = dict.fromkeys(row["player"] for row in some)
    lines = [[player, *(cells[player, n] for n in games)] for player in players]
    return table(["player", *(f"{n:,} games" for n in games)], lines)


def race_table() -> str:
    """MCCFR and MCTS in hold'em by iterations, medians over seeds."""
    _, found = best("fig4-holdem")
    by: dict[tuple[str, float], list[float]] = {}
    for row in found:
        if row["algorithm"] == "mccfr" or (row["algorithm"], row["c"]) == ("mcts", "17.0"):
            key = row["algorithm"], float(row["iterations"])
            by.setdefault(key, []).append(float(row["sb_per_hand"]))
    points = sorted({t for name, t in by if name == "mccfr"})
    shown = [points[min(len(points) - 1, k)] for k in (0, 1, 3, 9, 19, 49) if k < len(points)]
    lines = [
        [f"{t / 1e6:,.0f} million", *(_spread(by.get((name, t), [])) for name in ("mccfr", "mcts"))]
        for t in dict.fromkeys([*shown, *points[-1:]])
    ]
    return table(["iterations", "MCCFR (outcome sampling, ε = 0.6)", "MCTS (C = 17)"], lines)


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):+.3f} ({min(values):+.3f} to {max(values):+.3f})"


CHOICES = ("buckets", "ratio", "weak", "outs", "tremble", "leaf_bets", "fourth")


def search_table() -> str:
    """The bot as it is, and the candidates nearest to the published bands."""
    found = rows("data/sparbot.csv")
    here = [row for row in found if row["ratio"] == "as it is" and row["tremble"] == "0.25"]
    here = [r for r in here if (r["fourth"], r["leaf_bets"]) == ("called", "0.0")]
    nearest = sorted(found, key=lambda row: float(row["misses"]))[:6]
    header = ["buckets", "ratio", "weak", "outs", "prior", "leaves", "fourth bet"]
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
    found = [row for row in rows("data/sparbot.csv") if row["mcrnr10"]]
    columns = ("cfr5", "cfr10", "cfr100", "mcrnr10", "best_response")
    header = ["candidate", "CFR5", "CFR10", "CFR100", "MCRNR10", "best response, 5 buckets"]
    lines = [
        [
            ", ".join(row[name] for name in CHOICES),
            *(f"{float(row[name]):+.3f}" for name in columns),
        ]
        for row in found
    ]
    return table(header, lines)


TABLES: dict[str, Callable[[], str]] = {
    "claims": claims_table,
    "unfinished": unfinished,
    "bands": bands_table,
    "models": models_table,
    "games": games_table,
    "race": race_table,
    "search": search_table,
    "family": family_table,
}


def filled(text: str) -> str:
    """A page with its tables made anew."""
    return BLOCK.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def take(scale: str, folder: Path) -> None:
    """Results of a scale from a folder of `reproduce`, those whose files are as it left them."""
    (RESULTS / scale).mkdir(parents=True, exist_ok=True)
    for name in experiments():
        path = folder / f"{name}.json"
        if not path.exists():
            continue
        outcome = read_outcome(path)
        if outcome.scale != scale or changed_files(outcome, folder):
            print(f"{path}: of another scale, or its files have changed; left out")
            continue
        kept = [file for file in outcome.files if scale == "paper" or file.endswith(".csv")]
        for file in [path.name, *kept]:
            shutil.copyfile(folder / file, RESULTS / scale / file)


def main() -> None:
    if len(sys.argv) == 3:
        take(sys.argv[1], Path(sys.argv[2]))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "README.md").write_text(results_page(), encoding="utf-8")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
