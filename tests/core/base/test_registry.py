"""Third-party packages, installed by pip, add games, solvers and bots by entry points; broken ones
disturb nobody."""

from __future__ import annotations

import base64
import hashlib
import importlib
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
from support.command import run

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

    def __init__(self, game, seed, form, scale=1.0):
        super().__init__(game, seed, scale=scale)

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


def test_a_package_adds_a_game_a_solver_and_a_bot(packages: Path, tmp_path: Path) -> None:
    listed = typed(packages, tmp_path, "games", "--json")
    assert listed.returncode == 0, listed.stderr
    assert [row["name"] for row in json.loads(listed.stdout)].count("tiny") == 1

    solved = typed(packages, tmp_path, "solve", "tiny", "-a", "tinysolver", "-n", "3", "--json")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["exploitability"] == pytest.approx(0.0, abs=1e-12)

    match = typed(packages, tmp_path, "match", "tinybot", "always-call", "-n", "20", "--json")
    assert match.returncode == 0, match.stderr
    assert json.loads(match.stdout)["mean"] == 0.0  # both call, in both seats of each deal


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
    found = json.loads(done.stdout)
    assert sorted(found["names"]) == sorted([*GAMES.built_in(), "tiny"])
    assert found["kuhn"] == GAMES["kuhn"].summary
    assert len(found["said"]) == len(BROKEN)  # once, though the list was shown twice
    for k, why in enumerate(BROKEN.values()):
        (sentence,) = (text for text in found["said"] if f"tiny_broken{k}" in text)
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


def shown_to_the_registry(
    monkeypatch: pytest.MonkeyPatch, folder: Path, files: dict[str, str]
) -> None:
    """A package with these files is the one in which games are looked for."""
    package = f"tiny_{folder.name.replace('-', '_')}"
    (folder / package).mkdir()
    for name, text in {"__init__": "", **files}.items():
        (folder / package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setitem(registry.PACKAGES, "game", (package,))
    monkeypatch.setattr(registry, "built_in_objects", registry.built_in_objects.__wrapped__)


NAMED = "from counterplay.core.forms.registry import GameSpec\n"
ONE = f"{NAMED}GAME = GameSpec('one', int, 'a', ('one',))\n"


def test_a_name_in_two_files_is_a_mistake_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown_to_the_registry(monkeypatch, tmp_path, {"first": ONE, "second": ONE})
    with pytest.raises(AssertionError, match=r"second: one is in .*first too"):
        Registry("game").listing()


def test_a_new_file_is_found_and_no_other_is_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = f"raise RuntimeError('imported')\n{NAMED}GAME = (\n    GameSpec('two', int),\n)\n"
    shown_to_the_registry(monkeypatch, tmp_path, {"first": ONE, "second": other})
    games: Registry[GameSpec] = Registry("game")
    assert list(games.listing()) == ["one", "two"]
    assert "two" in games
    assert games["one"].summary == "a"
    with pytest.raises(RuntimeError, match="imported"):
        games["two"]


def test_a_name_that_is_no_literal_is_a_mistake_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hidden = ONE.replace("'one', int", "str('one'), int")
    shown_to_the_registry(monkeypatch, tmp_path, {"first": hidden})
    with pytest.raises(AssertionError, match="no literal name"):
        Registry("game").listing()


def test_what_the_texts_say_is_so() -> None:
    for word in registry.PACKAGES:
        known: Registry[Any] = Registry(word)
        assert known.listing(), word
        for name, spec in known.built_in().items():
            assert spec.name == name
            for fact, value in known.listing()[name].facts.items():
                assert getattr(spec, fact) == value
            assert known.fact(name, "sampled", True) == getattr(spec, "sampled", True) or (
                word == "response"
            )


SOLVES = """
import sys
sys.argv = ["counterplay", "solve", "kuhn", "-n", "5", "--json"]
from counterplay.app.cli.commands import app
try:
    app()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
UNUSED = ("pyarrow", "ray", "matplotlib", "pandas", "jinja2", "pyspiel", "pydantic", "scipy.linalg")


def test_solving_kuhn_imports_kuhn_and_its_solver_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SOLVES], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["iterations"] == 5
    loaded = set(done.stderr.splitlines()[-1].split())
    assert not loaded & set(UNUSED)
    packages = {".".join(m.split(".")[1:3]) for m in loaded if m.startswith("counterplay.")}
    assert not {name for name in packages if name.startswith("poker.")}
    assert not packages & {"app.reproduction", "app.web", "core.responses"}
    games = {module for module in loaded if module.startswith("counterplay.core.games.")}
    assert games == {"counterplay.core.games.kuhn", "counterplay.core.games.players"}
    others = {listing.module for listing in ALGORITHMS.listing().values()}
    assert loaded & others == {"counterplay.core.solvers.cfr"}
    assert not {m for m in loaded if "ray" in m.split(".")[-1] and m.startswith("counterplay.")}


GONE = (
    ("counterplay.core.forms.game", "SAMPLERS"),
    ("counterplay.core.solvers.algorithms", "ELSEWHERE"),
    ("counterplay.core.forms.registry", "ELSEWHERE"),
    ("counterplay.core.forms.strategy", "set_game_finder"),
    ("counterplay.core.forms.registry", "set_openspiel"),
)


@pytest.mark.parametrize(("module", "hook"), GONE)
def test_no_module_is_told_by_another_what_to_do(module: str, hook: str) -> None:
    assert not hasattr(importlib.import_module(module), hook)


ALONE = {
    "a strategy knows games": "Strategy.uniform('kuhn'); print('all is well')",
    "errors name who samples": (
        "from counterplay.core.forms.registry import load\n"
        "from counterplay.core.base.errors import BadGame\n"
        "try: load('goofspiel(4,tree=False)').tree\n"
        "except BadGame as e: assert 'mccfr-external, mcts, mcrnr, mcdbr' in str(e), e\n"
        "print('all is well')"
    ),
    "a solver's error knows responses": (
        "from counterplay.core.solvers.algorithms import find_solver\n"
        "from counterplay.core.base.errors import UnknownName\n"
        "try: find_solver('RNR')\n"
        "except UnknownName as error: assert 'respond MODEL -a rnr' in str(error), error\n"
        "print('all is well')"
    ),
    "strategies go to other libraries": (
        "from counterplay.core.forms.registry import EXCHANGES\n"
        "assert callable(EXCHANGES['openspiel'].write); print('all is well')"
    ),
}


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE)
def test_no_import_is_needed_for_its_side_effect(body: str, tmp_path: Path) -> None:
    start = "from counterplay.core.forms.strategy import Strategy\n"
    done = subprocess.run(
        [sys.executable, "-c", start + body], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "all is well\n", done.stderr
