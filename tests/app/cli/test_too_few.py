"""Commands say that there were too few iterations, and where a run stopped by itself."""

from __future__ import annotations

import json
from pathlib import Path

from support.command import typed

FEW = ("frontier", "uniform", "--game", "leduc", "-a", "mcrnr", "-n", "20", "--ps", "0,1")


def test_a_run_of_too_few_iterations(tmp_path: Path) -> None:
    run = ("solve", "leduc", "-a", "mccfr", "-n", "20")
    assert "too few iterations" in typed(tmp_path, *run).stdout
    facts = json.loads(typed(tmp_path, *run, "--json").stdout)
    assert facts["too_few_iterations"] is True
    assert 0.0 < facts["visits"] < 10.0
    answer = ("respond", "uniform", "--game", "leduc", "-a", "mcrnr", "-n", "20")
    assert "too few iterations" in typed(tmp_path, *answer).stdout


def test_a_frontier_of_too_few_iterations(tmp_path: Path) -> None:
    said = typed(tmp_path, *FEW, "--max-exploitability", "10").stdout
    assert "p = 0, 1: too few iterations" in said
    assert "No p is recommended" in said
    facts = json.loads(typed(tmp_path, *FEW, "--max-exploitability", "10", "--json").stdout)
    assert facts["recommended_p"] is None
    assert "too few iterations" in facts["note"]


def test_the_default_stop_is_said(tmp_path: Path) -> None:
    said = typed(tmp_path, "solve", "kuhn").stdout
    assert "stopped at 0.0004, 0.0001 of the payoff range" in said
    assert json.loads(typed(tmp_path, "solve", "kuhn", "--json").stdout)["target"] == 0.0004


def test_nothing_found_is_no_negative_number(tmp_path: Path) -> None:
    typed(tmp_path, "solve", "kuhn", "-a", "lp", "--out", "run")
    ask = ("evaluate", "run", "--method", "play", "--seconds", "0.2")
    facts = json.loads(typed(tmp_path, *ask, "--json").stdout)
    assert facts["exploitability_lower_bound"] >= 0.0
    assert len(facts["over_time"]) == 3
    assert "nothing else" in typed(tmp_path, *ask, "--ray", "--json").stderr


FORGETFUL = """
import counterplay as cp


class Rules:
    n_players = 2

    def root(self):
        return State("")


class State:
    def __init__(self, done):
        self.done = done

    def player(self):
        return (0, 0, 1, cp.TERMINAL)[len(self.done)]

    def actions(self):
        return ["a", "b"]

    def child(self, action):
        return State(self.done + action)

    def infoset(self):
        return "same"

    def chance(self):
        return []

    def payoffs(self):
        return [1.0, -1.0] if self.done[0] == self.done[2] else [-1.0, 1.0]
"""


def test_what_is_not_measured_is_not_printed(tmp_path: Path) -> None:
    """Without perfect recall there is a warning with the label, and no number."""
    (tmp_path / "mine.py").write_text(FORGETFUL)
    done = typed(tmp_path, "solve", "mine.py:Rules", "-a", "mccfr", "-n", "200")
    assert "without perfect recall, at information set 'same' of player 1" in done.stderr
    assert "value to player 1 = " in done.stdout
    assert "nan" not in done.stdout
