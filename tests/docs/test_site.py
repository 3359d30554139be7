"""The site: what is made of pages and notebooks, and that no link leads nowhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def make_site() -> Any:
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "tools" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_menu() -> None:
    menu = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    pages |= {
        path.relative_to(docs).with_suffix(".md").as_posix() for path in docs.rglob("*.ipynb")
    }
    assert menu == pages


def test_a_notebook_becomes_a_page(make_site: Any) -> None:
    outputs = [{"data": {"text/plain": ["2"]}}, {"text": ["said\n"]}]
    outputs += [{"data": {"text/html": ["<b>x</b>"], "text/plain": ["x"]}}]
    book = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
            {"cell_type": "code", "source": ["1 + 1"], "outputs": outputs},
        ]
    }
    page = make_site.notebook_page(book)
    assert page.split("\n\n") == [
        "# Title\ntext",
        "```python\n1 + 1\n```",
        "```text\n2\n```",
        "```text\nsaid\n```",
        "<b>x</b>\n",
    ]


def test_broken_links_are_found(make_site: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a id="here" href="b.html#there">x</a> <a href="b.html#gone">x</a> <a href="c.html">x</a>'
        '<a href="https://example.org/x">x</a> <a href="#here">x</a> <img src="data:x">'
    )
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    problems = make_site.broken_links(tmp_path)
    assert len(problems) == 2
    assert "b.html#gone leads to no place" in problems[0]
    assert "c.html leads to no file" in problems[1]


def test_money_and_code_are_no_equations(make_site: Any) -> None:
    text = "It costs $5 and $6. `$x$` and\n```sh\n$ make test $HOME\n```\n"
    assert make_site.with_equations(text) == text


@pytest.mark.slow  # `make test-slow` installs latex2mathml
def test_equations_are_set(make_site: Any) -> None:
    pytest.importorskip("latex2mathml")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = make_site.with_equations(path.read_text())
        assert "$$" not in make_site.CODE.sub("", page), path.name
    page = make_site.with_equations("$$\\frac{a}{b}$$ and $p$")
    assert page.count("<math") == 2
    assert "<mfrac>" in page


@pytest.mark.slow
def test_the_site_is_built(make_site: Any) -> None:
    pytest.importorskip("mkdocs", reason="pip install 'counterplay[docs]' for this")
    command = [sys.executable, ROOT / "tools" / "make_site.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "no broken link" in done.stdout
    home = (ROOT / "build" / "site" / "index.html").read_text()
    assert not re.findall(r'(?:src|href)="https?://[^"]+\.(?:js|css|woff2?)', home)
