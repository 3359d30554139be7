"""A game and a bot of one's own on the command line, as `file.py:Class`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.user_files import BOTS, GAME

import counterplay as cp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(GAME)
    (tmp_path / "bots.py").write_text(BOTS)
    return tmp_path


def test_a_game_is_solved_resumed_shown_and_answered(folder: Path) -> None:
    made = json.loads(
        typed(folder, "solve", "mine.py:Rps", "-n", "200", "--out", "run", "--json").stdout
    )
    assert made["game"] == "mine.py:Rps"
    assert typed(folder, "solve", "mine.py:Rps", "--resume", "run", "-n", "400").code == 0
    rows = json.loads(typed(folder, "show", "run", "--game", "mine.py:Rps", "--json").stdout)[
        "rows"
    ]
    assert rows[0]["probabilities"]["paper"] == pytest.approx(0.5, abs=0.05)  # rock counts double
    words = ("respond", "uniform", "--game", "mine.py:Rps(double=3)", "--player", "1", "-n", "50")
    assert json.loads(typed(folder, *words, "--json").stdout)["payoff"] > 0.1
    assert cp.load(f"{folder}/mine.py:Rps").n_infosets == 2


def test_a_file_that_names_a_game_does_not_run_it(folder: Path) -> None:
    typed(folder, "solve", "mine.py:Rps", "-n", "5", "--out", "run")
    (folder / "mine.py").write_text("raise SystemExit('ran')")
    for words in (["show", "run"], ["solve", "--resume", "run", "-n", "9"]):
        done = typed(folder, *words)
        assert one_sentence(done)
        assert "not run" in done.stderr
        assert "--game" in done.stderr


def test_a_bot_plays(folder: Path) -> None:
    words = ("match", "bots.py:Caller", "always-call", "-n", "20", "--json")
    facts = json.loads(typed(folder, *words).stdout)
    assert (facts["hands"], facts["mean"], facts["a"]) == (20, 0.0, "bots.py:Caller")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["solve", "none.py:Rps"], "no file none.py"),
        (["solve", "mine.py:Rsp"], "no game Rsp in mine.py; it has State, Rps"),
        (["solve", "mine.py:Rps(1,2,3)"], "Rps.__init__"),
        (["solve", "mine.py:NoPayoffs"], r"the state Bare() has no method payoffs()"),
        (["solve", "mine.py:Fails"], "child() failed in the state"),
        (["solve", "mine.py:Fails"], "KeyError: 'rock' (line "),
        (["match", "bots.py:Nobody", "always-call"], "a bot has a method act(view)"),
        (["match", "bots.py:Broken", "always-call", "-n", "2"], "no attribute 'nothing' (line "),
        (["match", "empty", "always-call"], "empty: a folder without a strategy"),
        (["match", "runs/mine", "always-call"], "no strategy at runs/mine"),
        (["match", "mine", "always-call"], "no run folder or file 'mine' here"),
        (["solve", "kuhn", "-a", "mcrnr"], "counterplay respond MODEL -a mcrnr"),
    ],
)
def test_mistakes_are_said_in_one_sentence(folder: Path, words: list[str], said: str) -> None:
    (folder / "empty").mkdir()
    done = typed(folder, *words)
    assert one_sentence(done), done.stderr
    assert said in done.stderr


def test_a_changed_file_is_read_again(folder: Path) -> None:
    name = f"{folder}/mine.py:Rps"
    assert cp.load(name).tree.payoff.max() == 2
    (folder / "mine.py").write_text(GAME.replace("double=2", "double=7"))
    assert cp.load(name).tree.payoff.max() == 7
    assert np.all(cp.Strategy.uniform(name).probabilities == 1 / 3)
