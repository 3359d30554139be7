"""Modules that pages name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "counterplay"
MODULE = re.compile(r"`(?:src/counterplay/)?((?:core|poker|app)/[\w/]*(?:\.py)?)`")
FILE = re.compile(r"`((?:tests|tools|benchmarks)/[\w/]+\.(?:py|csv|md))`")
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    modules = [path for path in MODULE.findall(text) if "NAME" not in path]
    missing = [path for path in modules if not (SOURCE / path).exists()]
    missing += [path for path in FILE.findall(text) if not (ROOT / path).exists()]
    assert missing == []


def test_every_concept_of_the_glossary_has_a_module() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    rows = [row for row in rows if row != ["word", "meaning", "where"]]
    assert len(rows) > 50
    for word, meaning, where in rows:
        assert MODULE.fullmatch(where), word
        assert meaning
    words = [row[0] for row in rows]
    assert len(words) == len(set(words))
