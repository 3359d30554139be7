"""The command `exam`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import Inside


def test_a_text_player_in_kuhn(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "mine.py").write_text("def says(text):\n    return 'bet'\n")
    name = f"text:{tmp_path / 'mine.py'}:says"
    done = inside(tmp_path, "exam", name, "--game", "kuhn", "--out", "out")
    assert "lost to the equilibrium" in done.stdout
    assert "0 of 12" in done.stdout
    facts = json.loads((tmp_path / "out" / "exam.json").read_text())
    assert f"{facts['exploitability']:.6g}" in done.stdout
    assert "K pb" in (tmp_path / "out" / "exam.html").read_text()
    done = inside(tmp_path, "exam", "uniform", "--game", "kuhn", "--out", "new", "--json")
    assert json.loads(done.stdout)["exploitability"] == pytest.approx(11 / 12)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["uniform", "--game", "kuhn", "-n", "5"], "leave out --hands"),
        (["uniform", "--times", "2"], "add --game kuhn"),
        (["text:cat"], "text players play small games"),
        (["nobody"], "unknown player"),
        (["uniform", "--against", "nobody"], "unknown player"),
        (["uniform", "--margin", "0"], "margin"),
        (["uniform", "--game", "khun"], "did you mean 'kuhn'"),
        (["uniform", "--game", "kuhn(players=3)"], "two players"),
    ],
)
def test_mistakes_get_a_sentence(
    tmp_path: Path, inside: Inside, words: list[str], says: str
) -> None:
    done = inside(tmp_path, "exam", *words, "--out", "out")
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "out").exists()


def test_names_are_printed_as_they_are(tmp_path: Path, inside: Inside) -> None:
    """`:ok:` is an emoji to the library that prints."""
    (tmp_path / "mine.py").write_text("ok = 1\n")
    assert "mine.py:ok:" in inside(tmp_path, "exam", "mine.py:ok").stderr
