"""Commands that the program suggests work as they are printed, with fewer hands here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.command import Done, typed
from support.user_files import GAME

ABSTRACTION = """
from dataclasses import dataclass

import numpy as np

from counterplay.poker.abstraction.abstraction import AbstractionSpec, Buckets
from counterplay.poker.cards.canonical import SIZES
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.decks import FULL


@dataclass(frozen=True)
class Pairs:
    counts: tuple = (2, 1, 1, 1)
    arguments: str = "kind='view.py:VIEW'"
    key: str = "pairs"
    deck = FULL

    def buckets(self, progress=None):
        def one(cards):
            return np.broadcast_to(np.uint16(0), (SIZES[cards], N_HOLDINGS))

        pair = (HOLDING_CARDS[:, 0] // 4 == HOLDING_CARDS[:, 1] // 4).astype(np.uint16)
        return Buckets(pair, one(3), one(4), np.zeros(1, np.uint16), one(5))


VIEW = AbstractionSpec("pairs", lambda numbers, on_board: Pairs())
"""
OWN_VIEW = "holdem(kind='view.py:VIEW')"
#: A suggestion ends with the line, or with a full stop or semicolon before more text.
SUGGESTED = re.compile(r"counterplay (?:solve|respond|match|show|model|evaluate) [^\n;]*")
#: What makes a command cheap enough for a test.
CHEAP = {"match": ("-n", "400"), "respond": ("-n", "3"), "solve": ("-n", "40")}


def suggestions(done: Done) -> list[list[str]]:
    """The commands in what was printed."""
    found = []
    for text in SUGGESTED.findall(done.stdout + done.stderr):
        for part in re.split(r", then (?=counterplay )", text):
            found.append(shlex.split(part.strip().removesuffix("."))[1:])
    return found


def cheap(words: list[str]) -> list[str]:
    """The command with fewer hands or iterations."""
    if "-n" in words:
        at = words.index("-n")
        words = [*words[:at], *words[at + 2 :]]
    return [*words, *CHEAP.get(words[0], ())]


def follow(folder: Path, *words: str, least: int = 1) -> None:
    """Types a command and then everything that it suggests."""
    said = suggestions(typed(folder, *words))
    assert len(said) >= least, words
    for command in said:
        done = typed(folder, *cheap(command))
        assert done.code == 0, (command, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(GAME)
    (tmp_path / "view.py").write_text(ABSTRACTION)
    return tmp_path


def test_after_training_on_an_own_abstraction(folder: Path) -> None:
    follow(folder, "solve", OWN_VIEW, "-a", "mccfr-external", "-n", "30", "--out", "m169", least=2)
    follow(folder, "match", "m169", "--game", OWN_VIEW)
    follow(folder, "evaluate", "m169", "--against", "always-call", "--game", OWN_VIEW)
    answer = ("respond", "m169", "--game", OWN_VIEW, "-a", "mcrnr", "-n", "3", "--out", "answer")
    said = suggestions(typed(folder, *answer))
    assert said == [["respond", "--resume", "answer", "--game", OWN_VIEW, "--flops", "40"]]
    assert typed(folder, *said[0][:-2], "-n", "6").code == 0
    done = typed(folder, "solve", "--resume", "m169", "-n", "60")
    assert "(of solve: its argument)" in done.stderr
    assert typed(folder, "solve", OWN_VIEW, "--resume", "m169", "-n", "60").code == 0


def test_of_games_without_a_measure(folder: Path) -> None:
    name = "mine.py:Rps(tree=False)"
    follow(folder, "solve", name, "-a", "mccfr", "-n", "30", "--out", "one")
    follow(folder, "solve", "kuhn(tree=False)", "-n", "30", "--out", "two")
    follow(folder, "match", "two")
    follow(folder, "match", "one", "--game", name)
    follow(folder, "match", "uniform", "--game", "kuhn(players=3)")
    typed(folder, "solve", "kuhn", "-n", "5", "--out", "three")
    follow(folder, "match", "three")


def test_without_arguments(folder: Path) -> None:
    for words in (("solve",), ("respond",), ("match", "poki")):
        follow(folder, *words)


@pytest.mark.slow
def test_a_model_of_a_bot_that_is_no_table(folder: Path) -> None:
    follow(folder, "evaluate", "poki", least=2)
