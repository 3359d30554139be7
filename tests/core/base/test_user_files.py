"""Files of the user that are named as `file.py:Name`: whatever is in them, one sentence."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.core.base.errors import LONGEST_REASON, CounterplayError
from counterplay.core.games.players import players_of

ITSELF = """
import counterplay as cp
GAME = cp.load("itself.py:Game")
"""
EXITS = """
import sys
class Leaves:
    def __init__(self):
        sys.exit(3)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "word", "words"),
    [
        (ITSELF, "Game", "itself.py names itself while it is loaded"),
        (EXITS, "Leaves", r"^itself.py:Leaves: SystemExit: 3 \(line 5 of itself.py\)$"),
        ("raise SystemExit(3)", "Game", "cannot be loaded: SystemExit: 3"),
        ("class A(:", "A", "cannot be loaded: SyntaxError: invalid syntax"),
        ("x = 1\0", "A", "cannot be loaded: .*null bytes"),
        ("def A():\n    return A()", "A", "itself.py:A: RecursionError: "),
        ("raise RecursionError('deep')", "A", "cannot be loaded: RecursionError: deep"),
        ("", "A", "no (game|player) A in itself.py; it has no class"),
    ],
)
def test_files_that_cannot_be_used(text: str, word: str, words: str, here: Path) -> None:
    (here / "itself.py").write_text(text)
    known = set(sys.modules)
    for load in (cp.load, cp.bot):
        with pytest.raises(CounterplayError, match=words):
            load(f"itself.py:{word}")
    kept = {name for name in set(sys.modules) - known if name.startswith("counterplay_own_")}
    assert not kept or "cannot be loaded" not in words
    (here / "itself.py").write_text("class Fine:\n    def act(self, view):\n        return 'call'")
    assert callable(cp.bot("itself.py:Fine").act)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
def test_a_name_that_is_no_text(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    Path(name).write_text("class Fine:\n    def act(self, view):\n        return 'call'\n")
    assert cp.bot(f"{name}:Fine").act(None) == "call"


def test_arguments_that_would_be_ignored_are_refused(here: Path) -> None:
    (here / "mine.py").write_text("class Mine:\n    def act(self, view):\n        return 'call'\n")
    with pytest.raises(CounterplayError, match=r"a player takes no arguments; write mine\.py:Mine"):
        cp.bot("mine.py:Mine(3)")
    with pytest.raises(CounterplayError, match=r"a solver takes no arguments; write mine\.py:Mine"):
        cp.solve("kuhn", "mine.py:Mine(3)", iterations=1)


def test_two_threads_load_one_file(here: Path) -> None:
    (here / "slow.py").write_text(
        "import time\ntime.sleep(0.2)\n"
        "class Fine:\n    def act(self, view):\n        return 'call'\n"
    )
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.append(cp.bot("slow.py:Fine").act(None)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert made == ["call", "call"]


@pytest.mark.parametrize("word", [100_000 * "x", "folder/" + 100_000 * "x"])
def test_a_long_word_is_not_repeated(word: str) -> None:
    for look_up in (cp.bot, players_of(cp.load("kuhn")).find):
        with pytest.raises(CounterplayError, match=r"100,00\d characters") as error:
            look_up(word)
        assert len(str(error.value)) < 3 * LONGEST_REASON


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_link_to_nothing_is_not_suggested_for_itself(here: Path) -> None:
    (here / "loop.npz").symlink_to("loop.npz")
    with pytest.raises(CounterplayError, match=r"no strategy at loop\.npz: no such") as error:
        cp.bot("loop.npz")
    assert "did you mean" not in str(error.value)
