"""One file adds a game, a solver, a card abstraction, a bot, an experiment or a page.

Each file lies in a temporary folder and is named on the command line. The files are the smallest
ones of their kind; CONTRIBUTING.md says where each goes when it becomes part of the project.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.web import ask
from typer.testing import CliRunner

from counterplay.app.cli import app
from counterplay.app.web.app import make_app
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.forms.registry import recorded_game
from counterplay.core.solvers.algorithms import find_solver
from counterplay.core.solvers.folder import read_config

GAME = """
import counterplay as cp


class State:
    def __init__(self, chosen=()):
        self.chosen = chosen

    def player(self):
        return len(self.chosen) if len(self.chosen) < 2 else cp.TERMINAL

    def actions(self):
        return ["heads", "tails"]

    def child(self, action):
        return State((*self.chosen, action))

    def infoset(self):
        return f"player {len(self.chosen) + 1}"

    def chance(self):
        return []

    def payoffs(self):
        return [1, -1] if self.chosen[0] == self.chosen[1] else [-1, 1]


class Pennies:
    n_players = 2

    def root(self):
        return State()
"""
SOLVER = """
import numpy as np

from counterplay.core.solvers.base import Solver


class Uniform(Solver):
    name = "uniform-play"
    summary = "every action with the same probability"

    def __init__(self, problem, seed, scale=1.0):
        super().__init__(problem, seed, scale=scale)

    def _run(self, n):
        return n

    def tables(self):
        return {}

    def weights(self):
        return np.ones(self.game.n_slots)
"""
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
    arguments: str = "kind='my_abstraction.py:ABSTRACTION'"
    key: str = "pairs"
    deck = FULL

    def buckets(self, progress=None):
        def one(cards):
            return np.broadcast_to(np.uint16(0), (SIZES[cards], N_HOLDINGS))

        pair = (HOLDING_CARDS[:, 0] // 4 == HOLDING_CARDS[:, 1] // 4).astype(np.uint16)
        return Buckets(pair, one(3), one(4), np.zeros(1, np.uint16), one(5))


ABSTRACTION = AbstractionSpec("pairs", lambda numbers, on_board: Pairs())
"""
BOT = """
class Caller:
    name = "caller"

    def act(self, view):
        return "call"
"""
EXPERIMENT = """
import counterplay as cp
from counterplay.app.reproduction.harness.base import Experiment
from counterplay.app.reproduction.harness.judge import Claim, Verdict


def run(scale, store, progress):
    value = cp.game_value("kuhn")
    verdict = Verdict.HOLDS if abs(value + 1 / 18) < 1e-9 else Verdict.FAILS
    claim = Claim(0, "The value of Kuhn poker is -1/18.", f"{value}", verdict, "to 1e-9")
    return EXPERIMENT.outcome(scale, store.folder, [claim], {}, "value", [[value]])


EXPERIMENT = Experiment("kuhn-value", "The value of Kuhn poker", run, {"quick": 1.0, "paper": 1.0})
"""
PAGE = """
import { h, show } from "/static/dom.js";

export const page = { title: "My page", order: 9 };

export function open(place) {
  show(place, h("h1", {}, "Hello"));
}
"""
FILES = {
    "my_game.py": GAME,
    "my_solver.py": SOLVER,
    "my_abstraction.py": ABSTRACTION,
    "my_bot.py": BOT,
    "my_experiment.py": EXPERIMENT,
    "my-page.js": PAGE,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.lstrip())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output + repr(done.exception)
    return json.loads(done.stdout)


def test_a_game_and_a_solver(folder: Path) -> None:
    game = "my_game.py:Pennies"
    solved = typed("solve", game, "-a", "my_solver.py:Uniform", "-n", "3", "--out", "run")
    assert solved["exploitability"] == pytest.approx(0.0, abs=1e-12)
    assert solved["algorithm"] == "uniform-play"


def test_a_card_abstraction(folder: Path) -> None:
    game = "holdem(kind='my_abstraction.py:ABSTRACTION')"
    solved = typed("solve", game, "-a", "mccfr-external", "-n", "50", "--out", "mine")
    assert solved["game"] == game
    assert solved["iterations"] == 50


def test_a_bot(folder: Path) -> None:
    played = typed("match", "my_bot.py:Caller", "always-call", "-n", "20")
    assert played["mean"] == 0.0  # both call, in both seats of each deal


def test_an_experiment(folder: Path) -> None:
    outcome = typed("reproduce", "my_experiment.py:EXPERIMENT")
    assert outcome["name"] == "kuhn-value"
    assert [claim["verdict"] for claim in outcome["claims"]] == ["holds"]
    assert "The value of Kuhn poker" in (folder / "results" / "report.html").read_text()


def test_a_page(folder: Path) -> None:
    site = make_app([folder / "my-page.js"], folder / "tables")[0]
    document = ask(site, "/my-page")
    assert document.status == 200
    link = b'<a href="/my-page" data-script="/pages/my-page.js">My page</a>'
    assert link in document.body
    script = ask(site, "/pages/my-page.js")
    assert script.body.decode() == PAGE.lstrip()
    assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["play.js", "api.js", "My Page.js"])
def test_a_page_needs_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PAGE)
    with pytest.raises(BadParameter, match="a name of its own"):
        make_app([tmp_path / name], tmp_path / "tables")


def test_a_script_without_a_header_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "lost.js").write_text("export function open() {}\n")
    with pytest.raises(BadParameter, match="no page; it needs a line such as"):
        make_app([tmp_path / "lost.js"], tmp_path / "tables")


def test_what_is_of_another_kind_or_has_a_taken_name_is_refused(folder: Path) -> None:
    with pytest.raises(BadParameter, match="no solver with a name"):
        find_solver("my_bot.py:Caller")
    (folder / "taken.py").write_text(SOLVER.replace("uniform-play", "cfr+"))
    with pytest.raises(BadParameter, match=r"called 'cfr\+', as a built-in solver is"):
        find_solver("taken.py:Uniform")


def test_no_code_is_run_because_a_file_names_it(folder: Path) -> None:
    (folder / "trap.py").write_text("open('ran', 'w').close()\n" + SOLVER)
    with pytest.raises(CounterplayError, match="is not run because another file names it"):
        recorded_game("holdem(kind='trap.py:Uniform')", "strategy.npz")
    typed("solve", "kuhn", "-a", "cfr+", "-n", "3", "--out", "run")
    config = json.loads((folder / "run" / "config.json").read_text())
    config.pop("file_checksum", None)
    (folder / "run" / "config.json").write_text(
        json.dumps({**config, "algorithm": "trap.py:Uniform"})
    )
    with pytest.raises(CounterplayError, match="no code is run because a file names it"):
        read_config(folder / "run")
    assert not (folder / "ran").exists()
