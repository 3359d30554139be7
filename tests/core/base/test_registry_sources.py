"""Names are read from the texts of the modules; a module is imported when its object is used."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from counterplay.core.base import registry
from counterplay.core.base.registry import Registry
from counterplay.core.forms.registry import GameSpec
from counterplay.core.solvers.algorithms import ALGORITHMS


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

UNUSED = ("pyarrow", "ray", "matplotlib", "pandas", "jinja2", "pyspiel", "pydantic")
UNUSED += ("scipy.linalg", "rich.progress")


def test_solving_kuhn_imports_kuhn_and_its_solver_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SOLVES], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["iterations"] == 5
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded & set(UNUSED) == set()
    packages = {".".join(m.split(".")[1:3]) for m in loaded if m.startswith("counterplay.")}
    assert not {name for name in packages if name.startswith("poker.")}
    assert not packages & {"app.reproduction", "app.web", "core.responses"}
    games = {module for module in loaded if module.startswith("counterplay.core.games.")}
    assert games == {"counterplay.core.games.kuhn", "counterplay.core.games.players"}
    others = {listing.module for listing in ALGORITHMS.listing().values()}
    assert loaded & others == {"counterplay.core.solvers.cfr"}
    assert not {m for m in loaded if "ray" in re.split(r"[._]", m) and m.startswith("counterplay.")}


def test_help_imports_nothing_that_computes() -> None:
    text = "import sys, counterplay.app.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert not {"numpy", "numba", "scipy"} & set(done.stdout.split())


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
