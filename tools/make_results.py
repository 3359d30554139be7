"""Writes the numbers in README and docs from committed files of experiments and benchmarks.

    python tools/make_results.py                 the tables of all pages, and docs/results/README.md
    python tools/make_results.py quick FOLDER    first take the results of that scale from FOLDER

It also writes the verdicts of paper scale into the package, for the quick scale to show.

A table between `<!-- numbers NAME -->` and `<!-- end -->` is the one that `TABLES[NAME]` makes, a
number between `<!-- n KEY -->` and `<!-- /n -->` that of `CELLS[KEY]`. `tests/docs/test_numbers.py`
fails when a page differs from what this makes, `tests/docs/test_prose.py` when a measured number
is typed by hand.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import number_tables
from holdem_tables import HOLDEM
from ladder_tables import LADDER
from large_tables import LARGE
from number_cells import CELLS
from number_tables import DOCS, SCALES, table
from play_tables import PLAY
from scale_tables import SCALE
from speed_tables import SPEED
from standing_tables import STANDING

from counterplay.app.reproduction.harness.base import (
    COMMITTED,
    Outcome,
    changed_files,
    committed_text,
    duration,
    headline,
    read_outcome,
    summary,
)
from counterplay.app.reproduction.harness.judge import Verdict
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.reproduce import experiments
from counterplay.app.reproduction.harness.store import HERE

RESULTS = DOCS / "results"
BLOCK = re.compile(r"(<!-- numbers ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- n ([\w-]+) -->).*?(<!-- /n -->)", re.DOTALL)


PICTURE = re.compile(r"(results/)(?:quick|paper)/([\w-]+)\.png")


def pages() -> list[Path]:
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


@cache
def outcomes(scale: str) -> dict[str, Outcome]:
    """The committed outcomes of a scale, by name."""
    paths = [RESULTS / scale / f"{name}.json" for name in experiments()]
    return {path.stem: read_outcome(path) for path in paths if path.exists()}


def larger() -> dict[str, Outcome]:
    """The committed outcomes, each at the larger scale that was run."""
    return {**outcomes("quick"), **outcomes("paper")}


# the claims


def claims_table(results: str) -> str:
    """The 27 claims, each at the larger scale that was run, with a link to its picture in
    `results`."""
    rows = summary(larger().values())
    judged = dict.fromkeys(row.experiment for row in rows)
    lacking = [name for name in judged if name not in outcomes("paper")]
    scales = "quick scale" if len(lacking) == len(judged) else "paper scale"
    if 0 < len(lacking) < len(judged):
        scales += f"; {', '.join(lacking)}: quick scale"
    lines = [
        [
            str(row.claim.number),
            f"[{row.figure}]({results}/{larger()[row.experiment].scale}/{row.experiment}.png)"
            if row.experiment in larger()
            else row.figure,
            row.claim.text,
            row.claim.measured,
            f"**{row.claim.verdict}**",
        ]
        for row in rows
    ]
    header = ["", "figure", "the article says", "we measured (95% intervals)", "verdict"]
    return f"**{headline(rows)}** ({scales}).\n\n{table(header, lines)}"


def readme_claims() -> str:
    return claims_table("docs/results")


INTRODUCTION = """\
Outcomes of `counterplay reproduce all` at the quick scale and, where it was run with this code, at `--scale paper`. Every number comes from
the JSON and CSV files in the folder of its scale, which these commands write; `python tools/make_results.py` writes this page. `report.html`
there has all pictures and what each means on one page. [How claims are judged](../explanation/verdicts.md).
"""  # noqa: E501


def results_page() -> str:
    """docs/results/README.md."""
    parts = ["# Results\n", INTRODUCTION, claims_table(".")]
    parts += ["## The quick scale\n", quick_lines(), "## How and where it was made\n", made_table()]
    return "\n".join(parts)


def quick_lines() -> str:
    """What the quick scale leaves open, and where it says something else."""
    rows = {scale: summary(outcomes(scale).values()) for scale in SCALES}
    other = [
        f"{quick.claim.number} ({quick.claim.verdict})"
        for quick, paper in zip(rows["quick"], rows["paper"], strict=True)
        if paper.experiment in outcomes("paper") and quick.claim.verdict != paper.claim.verdict
    ]
    differs = f" It differs from the paper scale in {', '.join(other)}." if other else ""
    left = [str(row.claim.number) for row in rows["quick"] if row.claim.verdict is Verdict.OPEN]
    needs = f" Open there: {', '.join(left)}." if left else ""
    return f"`make reproduce`: {headline(rows['quick'])}.{needs}{differs}\n"


def made_table() -> str:
    """Files, version, date, machine and time of every outcome."""
    lines = []
    for name, experiment in experiments().items():
        for scale in SCALES:
            one = outcomes(scale).get(name)
            if one is None:
                lines.append([experiment.title, scale, "not finished", "", ""])
                continue
            kept = [file for file in one.files if (RESULTS / scale / file).exists()]
            files = ", ".join(
                f"[{Path(file).suffix[1:]}]({scale}/{file})" for file in [*kept, f"{name}.json"]
            )
            made = f"{one.version}, {one.date}, {one.machine}"
            lines.append([experiment.title, scale, duration(one.seconds), files, made])
    return table(["", "scale", "time of two cores", "files", "version, date, machine"], lines)


TABLES: dict[str, Callable[[], str]] = {
    "claims": readme_claims,
    **number_tables.TABLES,
    **HOLDEM,
    **LADDER,
    **LARGE,
    **PLAY,
    **SCALE,
    **SPEED,
    **STANDING,
}


def filled(text: str) -> str:
    """A page with its tables and numbers made anew."""
    text = BLOCK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)
    text = PICTURE.sub(lambda match: f"{match[1]}{larger()[match[2]].scale}/{match[2]}.png", text)
    return INLINE.sub(lambda match: match[1] + CELLS[match[2]]() + match[3], text)


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
        for file in [path.name, *outcome.files]:
            shutil.copyfile(folder / file, RESULTS / scale / file)


def main() -> None:
    if len(sys.argv) == 3:
        take(sys.argv[1], Path(sys.argv[2]))
    RESULTS.mkdir(exist_ok=True)
    scale = "paper" if outcomes("paper") else "quick"
    write_report(RESULTS / scale, list(experiments().values()), compare=False)
    committed = committed_text(outcomes("paper").values())
    (HERE / "harness" / COMMITTED).write_text(committed, encoding="utf-8")
    (RESULTS / "README.md").write_text(results_page(), encoding="utf-8")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
