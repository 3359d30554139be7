"""Third-party packages, installed by pip, add games, solvers and bots by entry points; broken ones
disturb nobody."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import warnings
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from support.command import run, run_python

from counterplay.core.base import registry
from counterplay.core.base.errors import UnknownName
from counterplay.core.base.registry import PackageEntry, Registry
from counterplay.core.forms.registry import GAMES, GameSpec
from counterplay.core.solvers.algorithms import ALGORITHMS
from counterplay.poker.bots.registry import BOTS

TINY = """
import numpy as np

import counterplay as cp
from counterplay.core.forms.registry import GameSpec
from counterplay.poker.bots.registry import BotSpec
from counterplay.core.solvers.base import Solver


class State:
    def __init__(self, done=()):
        self.done = done

    def player(self):
        return len(self.done) if len(self.done) < 2 else cp.TERMINAL

    def actions(self):
        return ["heads", "tails"]

    def child(self, action):
        return State((*self.done, action))

    def infoset(self):
        return len(self.done)

    def chance(self):
        return []

    def payoffs(self):
        return [1, -1] if self.done[0] == self.done[1] else [-1, 1]


class Pennies:
    n_players = 2

    def root(self):
        return State()


class Even(Solver):
    name = "tinysolver"
    summary = "every action as often"

    def __init__(self, problem, seed, scale=1.0):
        super().__init__(problem, seed, scale=scale)

    def _run(self, n):
        return n

    def tables(self):
        return {}

    def weights(self):
        return np.ones(self.game.n_slots)


class Caller:
    name = "tinybot"

    def act(self, view):
        return "call"


class Fails(Caller):
    name = "failing"

    def act(self, view):
        raise RuntimeError("no idea\\nwhat to do")


GAME = GameSpec("tiny", Pennies, "matching pennies", ("tiny",))
BOT = BotSpec("tinybot", Caller, "calls")
FAILING = BotSpec("failing", Fails, "fails in its first hand")
"""

ENTRIES = """
[counterplay.games]
tiny = tiny_package:GAME
[counterplay.solvers]
tinysolver = tiny_package:Even
[counterplay.bots]
tinybot = tiny_package:BOT
failing = tiny_package:FAILING
"""


def describe(name: str, entries: str) -> dict[str, str]:
    """The files that say what a package is and what it offers."""
    about = f"{name}-1.0.dist-info"
    return {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/entry_points.txt": entries,
    }


def wheel(folder: Path, name: str, module: str, entries: str) -> Path:
    """A package as one hands it to others."""
    about = f"{name}-1.0.dist-info"
    files = {f"{name}.py": module, **describe(name, entries)}
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{path},{recorded(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,"])
    made = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made


def recorded(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def pip_install(package: Path, folder: Path) -> None:
    """With the pip of this interpreter and nothing from elsewhere."""
    options = ["--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(package)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed a package that adds one of each."""
    folder = tmp_path_factory.mktemp("packages")
    made = wheel(tmp_path_factory.mktemp("wheel"), "tiny_package", TINY, ENTRIES)
    pip_install(made, folder)
    return folder


def beside(*folders: Path) -> str:
    """These folders before those in which Python looks here."""
    return os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])


def typed(packages: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, *arguments, PYTHONPATH=beside(packages))


ADDED = """
import contextlib, io, json, sys
from counterplay.app.cli import main

said = []
for words in (
    "games --json",
    "solve tiny -a tinysolver -n 3 --json",
    "match tinybot always-call -n 20 --json",
):
    sys.argv, out = ["counterplay", *words.split()], io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            main()
    except SystemExit as stop:
        assert not stop.code, words
    said.append(json.loads(out.getvalue()))
print(json.dumps(said))
"""


def test_a_package_adds_a_game_a_solver_and_a_bot(packages: Path, tmp_path: Path) -> None:
    """Three commands in one process in which the package is installed."""
    done = run_python(tmp_path, ADDED, PYTHONPATH=beside(packages))
    assert done.returncode == 0, done.stderr
    games, solved, match = json.loads(done.stdout)
    assert [row["name"] for row in games].count("tiny") == 1
    assert solved["exploitability"] == pytest.approx(0.0, abs=1e-12)
    assert match["mean"] == 0.0  # both call, in both seats of each deal


def test_help_and_errors_name_what_a_package_adds(packages: Path, tmp_path: Path) -> None:
    assert "tinybot" in typed(packages, tmp_path, "match", "--help").stdout
    wrong = typed(packages, tmp_path, "solve", "tiny", "-a", "tinysolve")
    assert wrong.returncode == 2
    assert "did you mean 'tinysolver'?" in wrong.stderr


def test_an_error_inside_a_package_is_one_sentence(packages: Path, tmp_path: Path) -> None:
    done = typed(packages, tmp_path, "match", "failing", "always-call", "-n", "20")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "no idea what to do" in " ".join(done.stderr.split())


BROKEN = {
    "kuhn = tiny_spec:GAME": "built-in",
    "lost = nowhere_at_all:GAME": "ModuleNotFoundError",
    "lost = tiny_spec:NOTHING": "AttributeError",
    "lost = tiny_spec:NUMBER": "no game of that name",
    "other = tiny_spec:GAME": "no game of that name",
    "lost = tiny_quits:GAME": "SystemExit",
    "tiny = tiny_spec:GAME": "another package",
    "lost": "cannot be read",
}

LOOK = """
import json, warnings
from counterplay.core.forms.registry import GAMES
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    names = [list(GAMES) for _ in range(2)][1]
said = [str(warning.message) for warning in seen]
print(json.dumps({"said": said, "names": names, "kuhn": GAMES["kuhn"].summary}))
"""


def test_broken_packages_give_a_warning_each_and_hide_nothing(
    packages: Path, tmp_path: Path
) -> None:
    module = "from counterplay.core.forms.registry import GameSpec\nNUMBER = 3\n"
    (tmp_path / "tiny_spec.py").write_text(
        f"{module}GAME = GameSpec('kuhn', lambda: 1, 'mine', ('kuhn',))\n"
    )
    (tmp_path / "tiny_quits.py").write_text("raise SystemExit('I quit')")
    for k, line in enumerate(BROKEN):  # one of them pip would refuse
        for path, text in describe(f"tiny_broken{k}", f"[counterplay.games]\n{line}\n").items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": beside(packages, tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert sorted(result["names"]) == sorted([*GAMES.built_in(), "tiny"])
    assert result["kuhn"] == GAMES["kuhn"].summary
    assert len(result["said"]) == len(BROKEN)  # once, though the list was shown twice
    for k, why in enumerate(BROKEN.values()):
        (sentence,) = (text for text in result["said"] if f"tiny_broken{k}" in text)
        assert why in sentence
        assert sentence.endswith("left out")


def offer(name: str, package: str = "a") -> PackageEntry:
    return PackageEntry(package, EntryPoint(name, "tiny:GAME", "counterplay.games"))


def small(
    monkeypatch: pytest.MonkeyPatch, *offered: PackageEntry
) -> tuple[Registry[GameSpec], list[str]]:
    """Games, and which entry points were loaded."""
    loaded: list[str] = []

    def load(entry: EntryPoint) -> Any:
        loaded.append(entry.name)
        return GameSpec(entry.name, lambda: None, "", ())

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "package_entries", lambda: {"counterplay.games": list(offered)})
    return Registry("game", lambda spec: isinstance(spec, GameSpec)), loaded


def test_packages_are_asked_only_for_names_that_are_not_built_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    games, loaded = small(monkeypatch, offer("one"), offer("two"))
    assert "kuhn" in games
    assert loaded == []
    assert games["two"].name == "two"
    assert loaded == ["two"]
    assert [*games][-2:] == ["two", "one"]
    assert loaded == ["two", "one"]


def test_of_two_packages_with_one_name_the_first_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    games, loaded = small(monkeypatch, offer("one"), offer("one", "b"))
    with pytest.warns(UserWarning, match="the package b offers the game 'one', but another"):
        assert [*games].count("one") == 1
    assert loaded == ["one"]


@pytest.mark.parametrize("name", [None, 3, "", "registry", "spec", "..", "counterplay", "a.b"])
def test_what_is_no_name_is_unknown(name: Any) -> None:
    for known in (GAMES, ALGORITHMS, BOTS):
        with pytest.raises(UnknownName, match="Known"):
            known.find(name)


@pytest.mark.parametrize("known", [GAMES, ALGORITHMS, BOTS], ids=["games", "solvers", "bots"])
def test_specs_say_who_they_are(known: Registry[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(known) == len(set(known)) == len(list(known))
    for name, spec in known.built_in().items():
        assert spec.name == name
        assert spec.summary
        assert known.find(name) is spec
