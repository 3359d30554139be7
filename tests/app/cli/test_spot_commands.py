"""The command `spot`, and the commands that take a strategy of a spot."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import counterplay as cp
from counterplay.poker import players
from counterplay.poker.spots import positions
from counterplay.poker.spots.positions import HoldemPosition
from tests.support.command import one_sentence, typed

SPOT = ("spot", "QsJh2c5d8s", "--pot", "20", "--stacks", "45", "-1", "22+,AKs", "-2", "QQ,KTs,66")
OTHER = ("spot", "QsJh2c5d8s", "--pot", "20")
LOCKS = '[[lock]]\nat = "bet 10"\nfrequency = {fold = 0.8}\n'


def test_a_spot_is_solved_shown_evaluated_and_resumed(tmp_path: Path) -> None:
    done = typed(tmp_path, *SPOT, "--out", "run", "--at", "check", "-t", "1")
    assert done.code == 0, done.stderr
    assert "about" in done.stderr
    assert "% of the pot" in done.stdout
    assert "after check on QsJh2c5d8s, player 2 (in position) acts:" in done.stdout
    shown = typed(tmp_path, "show", "run", "--betting", "check-bet 10", "--json")
    facts = json.loads(shown.stdout)
    assert (facts["player"], facts["history"]) == (1, "check-bet 10")
    assert sum(facts["frequency"].values()) == pytest.approx(1.0)
    one = typed(tmp_path, "show", "run", "--cards", "AhKh", "--csv", "rows.csv")
    assert "check" in one.stdout
    assert (tmp_path / "rows.csv").read_text().startswith("holding,reach,check,bet 10")
    assert "percent of the pot" in typed(tmp_path, "evaluate", "run").stdout
    more = typed(tmp_path, "spot", "--resume", "run", "-t", "0.2", "--json")
    assert json.loads(more.stdout)["exploitability_percent_of_pot"] <= 0.2


def test_a_raked_spot_is_measured_by_gains(tmp_path: Path) -> None:
    typed(tmp_path, *SPOT, "--rake", "0.05", "--out", "run", "-n", "20")
    measured = typed(tmp_path, "evaluate", "run")
    assert measured.code == 0, measured.stderr
    assert "sum of gains by deviating" in measured.stdout
    assert "percent of the pot" in measured.stdout


def test_locks_are_answered(tmp_path: Path) -> None:
    (tmp_path / "locks.toml").write_text(LOCKS)
    asked = (*SPOT, "--lock", "locks.toml", "--max-risk", "2", "--out", "careful", "--json")
    facts = json.loads(typed(tmp_path, *asked).stdout)
    assert facts["player"] == 1
    assert facts["responses"][0]["risk"] <= 0.02 * 20
    assert "meant for" in typed(tmp_path, "evaluate", "careful").stdout
    several = typed(tmp_path, *SPOT, "--lock", "locks.toml", "--frontier", "-t", "0.5")
    assert len(several.stdout.splitlines()) == 8
    some = typed(tmp_path, *SPOT, "--lock", "bet 10 call 1 with QQ", "--at", "bet 10")
    queens = next(line for line in some.stdout.splitlines() if line.startswith("QQ"))
    assert queens.split()[2:4] == ["0.0%", "100.0%"]  # folds, calls


def test_stacks_caps_and_suits_are_as_asked(tmp_path: Path) -> None:
    words = ["spot", "QsJs2s5s8s", "--pot", "20", "--stacks", "300,45", "-1", "KK", "-2", "99"]
    words += ["--cap", "none", "--suits-apart"]
    done = typed(tmp_path, *words, "-n", "5", "--out", "run", "--json")
    assert done.code == 0, done.stderr
    name = json.loads(done.stdout)["game"]
    assert "stacks=45.0" in name
    assert "cap=None" in name
    assert "symmetric=False" in name


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("spot",), "which position?"),
        (("spot", "QsJh", "--pot", "2", "--stacks", "5"), "board: 'QsJh' has 2 cards"),
        ((*SPOT, "--at", "bet 7"), "no decision after 'bet 7'"),
        ((*OTHER, "--stacks", "90;50"), "--stacks: chips, as 90 or 90,50, not '90;50'"),
        ((*OTHER, "--stacks", "1,2,3"), "stacks: give one number, or one for each player"),
        ((*OTHER, "--stacks", "90,0"), "stacks: player 2 must be above 0"),
        ((*SPOT, "--cap", "few"), "--cap: a whole number, or none, not 'few'"),
        ((*OTHER, "--stacks", "9", "-1", ""), "ranges: player 1: the range is empty"),
        ((*SPOT, "-t", "0"), "--target is percent of the pot"),
        ((*SPOT, "-s", "0"), "seconds must be above 0"),
        ((*SPOT, "-n", "0"), "iterations must be a whole number of at least 1"),
        ((*SPOT, "-a", "lp"), "lp does not solve spots"),
        ((*SPOT, "-a", "cfrr"), "unknown algorithm"),
        ((*SPOT, "--trust", "1"), "they go with --lock"),
        ((*SPOT, "--lock", "none.toml"), "none.toml"),
        ((*SPOT, "--lock", "bet 10 fold 1", "--lock", "bet 10 fold 0"), "'bet 10' on"),
        ((*SPOT, "--lock", "bet 10 fold 1", "-o", "trust=1"), "-o trust: with --lock options are"),
        ((*SPOT, "--lock", "bet 10 fold 1", "--max-risk", "-1"), "--max-risk is percent of"),
        ((*SPOT, "--resume", "run"), "--resume takes everything but the limits"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, words: tuple[str, ...], problem: str) -> None:
    done = typed(tmp_path, *words)
    assert done.code == 2
    assert problem in done.stderr
    assert one_sentence(done)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("by_rows", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_position_is_solved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_rows: bool
) -> None:
    """With files of strategies, or with tables where they would be too large, as on flops."""
    game = cp.spot("Qs8s2c5d", 8, ranges=("AK,QTs", "AQ,88"), bets=2, limit=True, cap=1)
    blueprint = cp.solve(game, iterations=5).strategy
    position = HoldemPosition(game, "rc/rc/", blueprint, (1.0, 1.0), by_rows)
    monkeypatch.setattr(players, "find_strategy", lambda name: name)
    monkeypatch.setattr(positions, "hold_position", lambda *_: position)
    words = ["spot", "Qs8s2c5d", "--from", "safe", "--betting", "rc/rc/", "-n", "20", "-t", "2"]
    done = typed(tmp_path, *words, "--only", "safe", "--only", "unsafe", "--out", "again")
    assert done.code == 0, done.stderr
    assert "max-margin" not in done.stdout
    ends = "csv" if by_rows else "npz"
    safe = f"{'safe' if by_rows else 'strategy'}.{ends}"
    assert f"saved in again: blueprint.npz, unsafe.{ends}, {safe}" in done.stdout
    assert (tmp_path / "again" / safe).exists()
    if by_rows:
        with (tmp_path / "again" / safe).open() as file:
            rows = list(csv.DictReader(file))
        assert {row["history"] for row in rows} == {
            name for name in game.rules.nodes() if "/" not in name
        }
        for row in rows:
            total = sum(float(row[action]) for action in ("fold", "call", "raise"))
            assert total == pytest.approx(1.0)
    facts = json.loads(typed(tmp_path, *words, "--only", "unsafe", "--json").stdout)
    assert facts["exploitability"]["unsafe"] <= 0.02 * 8


def test_what_goes_with_a_position_is_refused_without_one(tmp_path: Path) -> None:
    words = ("spot", "Qs8s2c5d", "--from", "safe", "--betting", "rc/rc/", "--only", "unsave")
    for wrong, said in (
        ((*SPOT, "--only", "safe"), "it goes with --from"),
        (words, "--only must be one of unsafe, safe, max-margin, not 'unsave'"),
    ):
        done = typed(tmp_path, *wrong)
        assert one_sentence(done)
        assert said in done.stderr
