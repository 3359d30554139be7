"""Numbers in README and docs are those of committed files, each written by a command that the page
names: `tools/make_results.py` makes the tables, and what it would make is what is there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterplay.app.reproduction.harness.base import COMMITTED, changed_files, read_outcome
from counterplay.app.reproduction.harness.judge import ARTICLE
from counterplay.app.reproduction.harness.reproduce import experiments
from counterplay.app.reproduction.harness.store import HERE

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "tools" / "make_results.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN = ROOT / "docs" / "results" / "README.md"  # by the script, as a whole
COMMITTED_FILE = HERE / "harness" / COMMITTED
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
    assert WRITTEN.read_text(encoding="utf-8") == script.results_page()


@pytest.mark.parametrize("page", [page for page in PAGES if page != WRITTEN], ids=_name)
def test_no_table_has_intervals_that_come_from_nowhere(page: Path, script: Any) -> None:
    """A row of a table with ± or a signed number of three places is one that a script writes."""
    text = script.BLOCK.sub("", page.read_text(encoding="utf-8"))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    measured = re.compile(r"[+-]?\d\.\d+ ± \d|\| [+-]\d\.\d{3} ")
    assert [row for row in rows if measured.search(row)] == []


@pytest.mark.parametrize("path", RESULTS, ids=_name)
def test_committed_results_are_whole(path: Path) -> None:
    """The verdicts belong to the very CSV and picture beside them."""
    outcome = read_outcome(path)
    assert outcome.scale == path.parent.name
    numbers = [claim.number for claim in outcome.claims]
    assert len(numbers) == len(set(numbers))
    assert {ARTICLE[number].experiment for number in numbers} <= {outcome.name}
    assert changed_files(outcome, path.parent) == []


def test_results_and_readme_have_the_27_claims() -> None:
    """The same lines on both pages; what is not finished is named."""
    page = (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    outcomes = [read_outcome(path) for path in RESULTS]
    larger = {one.name: one for one in sorted(outcomes, key=lambda one: one.scale, reverse=True)}
    claims = {c.number: c for one in larger.values() for c in one.claims}
    for text in (page, readme):
        lines = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
        assert [int(number) for number, _ in lines] == list(ARTICLE)
        for number, line in lines:
            claim = claims.get(int(number))
            said = (claim.measured, claim.verdict) if claim else ("Not run.", "open")
            assert line.endswith(" | ".join((ARTICLE[int(number)].text, said[0], f"**{said[1]}**")))
    assert len(page.splitlines()) <= 100
    assert len(readme.splitlines()) <= 130
    done = {(one.name, one.scale) for one in outcomes}
    lacking = [(name, scale) for name in experiments() for scale in ("quick", "paper")]
    assert page.count("not finished") == len([one for one in lacking if one not in done])


def test_every_committed_outcome_says_where_it_comes_from() -> None:
    for path in RESULTS:
        outcome = read_outcome(path)
        assert all((outcome.version, outcome.date, outcome.machine)), path.name
        assert outcome.version != "unknown", path.name


def test_the_package_has_the_verdicts_of_paper_scale(script: Any) -> None:
    assert COMMITTED_FILE.read_text(encoding="utf-8") == script.committed_text(
        script.outcomes("paper").values()
    )


def test_the_rules_fit_one_screen() -> None:
    text = (ROOT / "docs" / "explanation" / "verdicts.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 45


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


def test_winnings_have_the_interval_of_their_file(script: Any) -> None:
    """Which is Student's t where sessions are few; z where there is only a standard error."""
    row = {"sb_per_hand": "0.1", "standard_error": "0.01"}
    assert script.number_tables.won(row) == "+0.100 ± 0.020"
    assert script.number_tables.won({**row, "low": "0.05", "high": "0.15"}) == "+0.100 ± 0.050"


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
