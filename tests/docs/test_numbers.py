"""Numbers in README and docs are those of committed files, each written by a command that the page
names: `tools/make_results.py` makes the tables, and what it would make is what is there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterplay.app.reproduction.harness.base import changed_files, read_outcome
from counterplay.app.reproduction.harness.reproduce import experiments

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "tools" / "make_results.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RESULTS = sorted((ROOT / "docs" / "results").glob("*/*.json"))


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        yield importlib.import_module("make_results")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_tables_have_the_numbers_of_their_files(page: Path, script: Any) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == script.filled(text), "out of date: run python tools/make_results.py"


def test_the_page_of_results_is_up_to_date(script: Any) -> None:
    page = ROOT / "docs" / "results" / "README.md"
    assert page.read_text(encoding="utf-8") == script.results_page()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_no_table_has_intervals_that_come_from_nowhere(page: Path, script: Any) -> None:
    """A row of a table with ± or a signed number of three places is one that a script writes."""
    text = script.BLOCK.sub("", page.read_text(encoding="utf-8"))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    measured = re.compile(r"[+-]?\d\.\d+ ± \d|\| [+-]\d\.\d{3} ")
    assert [row for row in rows if measured.search(row)] == []


@pytest.mark.parametrize("path", RESULTS, ids=_name)
def test_committed_results_are_whole(path: Path) -> None:
    """The verdicts belong to the very CSV beside them, and to the pictures at paper scale."""
    outcome = read_outcome(path)
    assert outcome.scale == path.parent.name
    texts = [claim.text for claim in outcome.claims]
    assert len(texts) == len(set(texts))  # a sentence is judged once
    changed = changed_files(outcome, path.parent)
    assert [file for file in changed if outcome.scale == "paper" or file.endswith(".csv")] == []


def test_the_results_have_every_claim_and_name_what_is_not_finished() -> None:
    page = (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    outcomes = [read_outcome(path) for path in RESULTS]
    assert {one.name for one in outcomes if one.scale == "quick"} == set(experiments())
    for outcome in outcomes:
        for claim in outcome.claims:
            assert f"- {claim.text} quick **" in page
    done = {one.name for one in outcomes if one.scale == "paper"}
    lacking = [name for name in experiments() if name not in done]
    listed = re.search(r"Not finished at paper scale: ([\w, -]+)\.", page)
    assert (listed[1].split(", ") if listed else []) == lacking


def test_readme_counts_every_verdict() -> None:
    """The sentence of README adds up to all claims of each scale."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 130
    for scale in ("quick", "paper"):
        outcomes = [read_outcome(path) for path in RESULTS if path.parent.name == scale]
        numbers = re.search(
            rf"at {scale} scale: (\d+) hold, (\d+) fail, (\d+) are undecided", readme
        )
        assert numbers is not None
        assert sum(map(int, numbers.groups())) == sum(len(one.claims) for one in outcomes)


def test_every_file_of_numbers_is_used_and_its_command_named(script: Any) -> None:
    source = SCRIPT.with_name("number_tables.py").read_text(encoding="utf-8")
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for path in (ROOT / "docs" / "data").glob("*.csv"):
        assert f'"data/{path.name}"' in source
        assert f"docs/data/{path.name}" in pages  # beside the command that writes it
    for name in script.TABLES:
        assert f"<!-- numbers {name} -->" in pages
    for name in script.CELLS:
        assert f"<!-- n {name} -->" in pages


def test_a_table_follows_its_file(script: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """A changed number is noticed."""
    tables = script.number_tables
    monkeypatch.setattr(tables, "DOCS", tmp_path)
    (tmp_path / "data").mkdir()
    header = ",".join((*tables.CHOICES, "always-call", "always-raise", "poki", "misses", "mcrnr10"))
    row = "6,as it is,2,7,0.25,0.0,called,False,0.5,{},0.1,9.0,"
    made = []
    for number in ("0.9", "1.1"):
        (tmp_path / "data" / "sparbot.csv").write_text(f"{header}\n{row.format(number)}\n")
        made.append(script.filled("<!-- numbers search -->\nold\n<!-- end -->"))
    assert "+0.900" in made[0]
    assert "+1.100" in made[1]


def test_a_number_in_a_sentence_follows_its_file(
    script: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """A changed number is noticed, and a row that is gone or there twice is no number."""
    monkeypatch.setattr(script.number_tables, "DOCS", tmp_path / "docs")
    for name in ("docs", "benchmarks"):
        (tmp_path / name).mkdir()
    said = "It is <!-- n always-call -->1<!-- /n --> mb/g."
    file, header = tmp_path / "benchmarks" / "exact.csv", "strategy,mb_per_game\n"
    for number in ("1163.4757", "7"):
        file.write_text(f"{header}always-fold,750\nalways-call,{number}\n")
        assert script.filled(said) == said.replace("1<", f"{float(number):.2f}<")
    for rows in ("", "always-call,1\nalways-call,2\n"):
        file.write_text(header + rows)
        with pytest.raises(ValueError, match=r"rows of exact\.csv"):
            script.filled(said)
