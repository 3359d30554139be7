"""Writes the numbers in README and docs from committed files of experiments and benchmarks.

    python tools/make_results.py                 the tables of all pages, and docs/results/README.md
    python tools/make_results.py quick FOLDER    first take the results of that scale from FOLDER

A table between `<!-- numbers NAME -->` and `<!-- end -->` is the one that `TABLES[NAME]` makes, a
number between `<!-- n KEY -->` and `<!-- /n -->` that of `CELLS[KEY]`. `tests/docs/test_numbers.py`
fails when a page differs from what this makes, `tests/docs/test_prose.py` when a measured number
is typed by hand.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import number_tables
from holdem_tables import HOLDEM
from large_tables import LARGE
from number_cells import CELLS
from number_tables import DOCS, SCALES, table
from play_tables import PLAY
from scale_tables import SCALE
from speed_tables import SPEED

from counterplay.app.reproduction.harness.base import Claim, Outcome, changed_files, read_outcome
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.reproduce import experiments

RESULTS = DOCS / "results"
VERDICTS = [("holds", "hold"), ("fails", "fail"), ("undecided", "are undecided")]
BLOCK = re.compile(r"(<!-- numbers ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
INLINE = re.compile(r"(<!-- n ([\w-]+) -->).*?(<!-- /n -->)", re.DOTALL)


def pages() -> list[Path]:
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def outcomes(scale: str) -> dict[str, Outcome]:
    """The committed outcomes of a scale, by name."""
    paths = [RESULTS / scale / f"{name}.json" for name in experiments()]
    return {path.stem: read_outcome(path) for path in paths if path.exists()}


# the claims


def claims() -> Iterator[tuple[str, str, dict[str, Claim]]]:
    """Experiment, sentence, and the claim at each scale, in the order of the page."""
    committed = {scale: outcomes(scale) for scale in SCALES}
    for name in experiments():
        seen: dict[str, dict[str, Claim]] = {}
        for scale in reversed(SCALES):
            for claim in committed[scale][name].claims if name in committed[scale] else []:
                seen.setdefault(claim.text, {})[scale] = claim
        for text, by_scale in seen.items():
            yield name, text, by_scale


def word(claim: Claim | None) -> str:
    return "–" if claim is None else claim.verdict


def unfinished() -> str:
    """The experiments without an outcome at paper scale."""
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
Outcomes of `counterplay reproduce all` (quick scale) and of `counterplay reproduce all --scale paper`. Every number
comes from the JSON and CSV files in `quick/` and `paper/`, which these commands write; `python tools/make_results.py`
writes this page. [How claims are judged](../explanation/verdicts.md). `paper/report.html` has all pictures on one page.
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
            kept = [file for file in one.files if (RESULTS / scale / file).exists()]
            files = ", ".join(f"[{file}]({scale}/{file})" for file in kept)
            said.append(f"{scale} scale: {files}, [{name}.json]({scale}/{name}.json)")
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


def counted() -> str:
    """The numbers of claims by verdict, for README."""
    parts = []
    for scale in SCALES:
        verdicts = [claim.verdict for one in outcomes(scale).values() for claim in one.claims]
        words = ", ".join(f"{verdicts.count(verdict)} {many}" for verdict, many in VERDICTS)
        done = len(outcomes(scale))
        unfinished = "" if done == len(experiments()) else f", {done} of {len(experiments())} done"
        parts.append(f"at {scale} scale{unfinished}: {words}")
    return f"Of the paper's claims, {'; '.join(parts)}. [Every claim](docs/results/README.md).\n"


TABLES: dict[str, Callable[[], str]] = {
    "counted": counted,
    **number_tables.TABLES,
    **HOLDEM,
    **LARGE,
    **PLAY,
    **SCALE,
    **SPEED,
}


def filled(text: str) -> str:
    """A page with its tables and numbers made anew."""
    text = BLOCK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)
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
        kept = [file for file in outcome.files if scale == "paper" or file.endswith(".csv")]
        for file in [path.name, *kept]:
            shutil.copyfile(folder / file, RESULTS / scale / file)


def main() -> None:
    if len(sys.argv) == 3:
        take(sys.argv[1], Path(sys.argv[2]))
    RESULTS.mkdir(exist_ok=True)
    if outcomes("paper"):
        write_report(RESULTS / "paper", list(experiments().values()), compare=False)
    (RESULTS / "README.md").write_text(results_page(), encoding="utf-8")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
