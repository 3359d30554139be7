"""What commands say to machines, and how numbers and names may be typed."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import one_sentence, typed
from support.report import claim, outcome

import counterplay as cp
from counterplay.app.cli.reproduce import outcome_facts

KEY = re.compile(r"[a-z][a-z0-9_]*")
#: Below these keys names are data: actions, settings, files.
DATA = {"probabilities", "sums", "options"}


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    result = set(value)
    return result.union(*(keys(part) for name, part in value.items() if name not in DATA))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("machines")
    cp.solve("kuhn", "cfr+", iterations=50, folder=place / "kuhn")
    cp.Strategy.random(cp.load("holdem(buckets=2)"), 1).save(place / "holdem.npz")
    return place


COMMANDS = [
    "games",
    "games leduc",
    "solve kuhn -n 1e2 -a CFR+",
    "evaluate kuhn --against uniform",
    "respond uniform --game kuhn -n 10 -a RNR",
    "respond uniform --game kuhn -n 10 --player 2 --engine CFR",
    "match kuhn kuhn -n 1e1",
    "match always-call uniform -n 10",
    "show kuhn",
    "show holdem.npz --cards AhKd --board Qs7d2c --betting rc/",
    "reproduce",
]


LONGER = [
    "solve kuhn(players=3) -n 1_0 -a mccfr",
    "frontier uniform --game kuhn -n 10 --ps 0,1 --max-exploitability 9",
    "show holdem.npz --betting r",
]


@pytest.mark.parametrize(
    "line", [*COMMANDS, *(pytest.param(line, marks=pytest.mark.slow) for line in LONGER)]
)
def test_keys_are_snake_case_and_numbers_are_numbers(line: str, folder: Path) -> None:
    done = typed(folder, *line.split(), "--json")
    assert done.code == 0, done.stderr
    result = json.loads(done.stdout, parse_constant=pytest.fail)
    assert [key for key in keys(result) if not KEY.fullmatch(key)] == []


def test_settings_of_an_experiment_have_keys_too() -> None:
    made = outcome("good", [claim(True)])
    made.setting.update({"measured every": 3, "MCCFR10, external": "1 s"})
    result = outcome_facts(made)
    assert {"measured_every", "mccfr10_external"} < set(result["setting"])
    assert [key for key in keys(result) if not KEY.fullmatch(key)] == []


def test_the_version(folder: Path) -> None:
    assert typed(folder, "--version").stdout == f"counterplay {cp.version()}\n"


@pytest.mark.parametrize("text", ["1.5", "1e", "1e40", "x", "nan"])
def test_what_is_no_whole_number(text: str, folder: Path) -> None:
    done = typed(folder, "solve", "kuhn", "-n", text)
    assert done.code == 2
    assert "is not a whole number, such as 1000000 or 1e6" in " ".join(done.stderr.split())


def test_show_filters_and_writes_csv(folder: Path) -> None:
    done = typed(folder, "show", "kuhn", "--player", "2", "--infoset", "K *")
    assert [line[:12].split() for line in done.stdout.splitlines()] == [["player", "2", "K"]] * 2
    typed(folder, "show", "kuhn", "--csv", "kuhn.csv")
    rows = list(csv.DictReader((folder / "kuhn.csv").read_text().splitlines()))
    strategy = cp.Strategy.load(folder / "kuhn")
    assert len(rows) == strategy.game.n_slots
    assert [float(row["probability"]) for row in rows] == strategy.probabilities.tolist()
    done = typed(folder, "show", "holdem.npz", "--street", "turn", "--player", "1", "--json")
    turn = json.loads(done.stdout)["rows"]
    assert {row["infoset"].count("/") for row in turn} == {2}
    for words, said in (
        (["kuhn", "--street", "flop"], "is not hold'em"),
        (["kuhn", "--player", "3"], "from 1 to 2"),
        (["kuhn", "--infoset", "nothing"], "no information set"),
        (["holdem.npz", "--board", "AhKdQc"], "--board goes with --cards"),
        (["holdem.npz", "--cards", "AhKd", "--betting", "rc/"], "the board has 3 cards"),
        (["holdem.npz", "--street", "showdown"], "unknown street"),
    ):
        done = typed(folder, "show", *words)
        assert one_sentence(done), done.stderr
        assert said in done.stderr


def test_show_answers_with_the_probabilities_that_are_played(folder: Path) -> None:
    """Beside the information set with the bucket of the cards."""
    words = ["--cards", "7h7c", "--board", "7d7s2c", "--betting", "rc/r", "--json"]
    result = json.loads(typed(folder, "show", "holdem.npz", *words).stdout)
    strategy = cp.Strategy.load(folder / "holdem.npz")
    rows = [row for row in strategy.table() if row.infoset == "rc/r bucket 1"]
    assert result["probabilities"] == pytest.approx(rows[0].probabilities)
    assert result["player"] == rows[0].player + 1 == 1


def test_evaluation_takes_a_name() -> None:
    strategy = cp.Strategy.uniform("kuhn")
    game = cp.load("kuhn")
    assert cp.exploitability("kuhn", strategy) == cp.exploitability(game, strategy)
    assert np.array_equal(cp.expected_value("kuhn", strategy), cp.expected_value(game, strategy))
    assert cp.best_response("kuhn", strategy, 0).game is strategy.game
    assert cp.game_value("kuhn") == pytest.approx(-1 / 18)
    with pytest.raises(cp.CounterplayError, match="leduc"):
        cp.exploitability("leduc", strategy)


def test_players_count_alike() -> None:
    for row in cp.Strategy.uniform("kuhn").table():
        assert row.infoset in ("J", "Q", "K", "J pb", "Q pb", "K pb") or row.player == 1
        assert str(row).startswith(f"player {row.player + 1} ")


@pytest.mark.parametrize("name", ["kuhn(players=3)", "open_spiel:matrix_pd"])
def test_no_guarantee_is_said(name: str) -> None:
    if name.startswith("open_spiel"):
        pytest.importorskip("pyspiel")
    with pytest.warns(UserWarning, match="convergence to an equilibrium is not guaranteed"):
        cp.solve(name, "mccfr", iterations=5)
