"""The command line on a game that is played without a tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command import one_sentence, typed

GAME = "goofspiel(3,tree=False)"


@pytest.mark.slow
def test_solved_shown_evaluated_and_played(tmp_path: Path) -> None:
    run = "run"
    done = typed(tmp_path, "solve", GAME, "-a", "mccfr", "-n", "500", "--out", run)
    assert "information sets were discovered, without a tree" in done.stdout
    facts = json.loads(typed(tmp_path, "solve", "--resume", run, "-n", "600", "--json").stdout)
    assert facts["information_sets_found"] > 10
    for name in ("player 2: start", "start", "st*"):
        assert "player 2  start" in typed(tmp_path, "show", run, "--infoset", name).stdout
    result = json.loads(typed(tmp_path, "evaluate", run, "--seconds", "0.1", "--json").stdout)
    assert result["exploitability_lower_bound"] > 0
    assert "at least: exploitability" in typed(tmp_path, "evaluate", run, "--seconds", "0.1").stdout
    typed(tmp_path, "respond", run, "-n", "200", "--player", "1", "--out", "answer")
    played = typed(tmp_path, "match", "answer", run, "--hands", "500", "--json")
    assert json.loads(played.stdout)["hands"] == 500
    assert "discovered while sampling" in typed(tmp_path, "games", GAME).stdout


def test_the_end_of_memory_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = "goofspiel(7,tree=False)"
    with monkeypatch.context() as little:
        little.setenv("COUNTERPLAY_MEMORY_GB", "0.002")
        done = typed(tmp_path, "solve", game, "-a", "mccfr", "-s", "60", "--out", "run")
    assert "memory is full" in done.stdout
    advice = done.stdout.replace("\n", " ").split("continue with: counterplay ")[1].split()[:3]
    again = json.loads(typed(tmp_path, *advice, "-n", "200000", "--json").stdout)
    assert (again["game"], again["stopped_by"]) == (game, "iterations")
    assert 0 < again["new_iterations"] < again["iterations"]


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    run = "run"
    typed(tmp_path, "solve", GAME, "-a", "mccfr", "-n", "100", "--out", run)
    for command in (
        ("solve", GAME, "-a", "cfr+", "-n", "10"),
        ("evaluate", run, "--method", "exact"),
        ("evaluate", run, "--method", "guess"),
        ("evaluate", run, "--flops", "3"),
        ("frontier", run),
        ("games", "kuhn(tree=2)"),
    ):
        done = typed(tmp_path, *command)
        assert one_sentence(done), (command, done)
