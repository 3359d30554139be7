"""The wheel and the source archive hold what they must, and run outside of the clone; types are
there for others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import counterplay as cp

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSUMER = """
import counterplay as cp

game: cp.Game = cp.load("kuhn")
run = cp.solve(game, "cfr+", iterations=10)
share: dict[str, float] = run.strategy.at("Q b")
value: float = cp.exploitability("kuhn", run.strategy)
answer: cp.Response = cp.respond(game, run.strategy, player=0, iterations=5)
risk: float = answer.exploitability
rows = [(row.player + 1, row.infoset) for row in run.strategy.table()]
result: cp.MatchResult = cp.play_match(game, run.strategy, run.strategy, hands=10)


class Caller(cp.Bot):
    def act(self, view: cp.View) -> str:
        return "call" if view.seat == 0 else view.betting.actions()[0]
"""


def test_extras_python_and_version_are_those_of_the_project() -> None:
    extras = PROJECT["optional-dependencies"]
    assert {"all", "docs", "frames", "gambit", "gpu", "notebook", "openspiel"} <= set(extras)
    inside = set(re.findall(r"\w+", extras["all"][0].split("[")[1].split("]")[0]))
    assert inside <= set(extras)
    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {PROJECT['version']}" in text
    assert cp.version() == PROJECT["version"]
    tried = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if ":: 3." in line]
    assert tried == ["3.11", "3.12", "3.13"]


def test_contributing_names_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = re.findall(
        r"^\$ make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
    )
    assert len(commands) == 3
    assert set(commands) <= targets


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and source archive of a copy of the sources."""
    pytest.importorskip("setuptools", "77", reason="older ones do not read the project's file")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    known = subprocess.run(
        [
            "git",
            "ls-files",
            "-co",
            "--exclude-standard",
            "src",
            "*.md",
            "LICENSE",
            "pyproject.toml",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    if not known:
        pytest.skip("no clone: nothing says which files belong to it")
    for name in known:
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    code = (
        "from setuptools import build_meta as b; "
        f"b.build_wheel({str(target)!r}); b.build_sdist({str(target)!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return target


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and, from this one, only what it depends on."""
    place = tmp_path_factory.mktemp("new")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "env"], check=True)
    python = place / "env" / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(where)
    others = [path for path in sys.path if path.endswith("site-packages")]
    (Path(where) / "dependencies.pth").write_text("\n".join(others))  # theirs are not followed
    return python


@pytest.mark.slow
def test_what_is_in_them(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        entry = wheel.read("counterplay-0.1.0.dist-info/entry_points.txt").decode()
    assert "counterplay = counterplay.app.cli:main" in entry
    packages = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert packages <= names
    assert {
        "counterplay/py.typed",
        "counterplay/app/reproduction/harness/paper_scale.json",
        "counterplay/app/reproduction/harness/templates/report.html",
    } <= names
    assert not [name for name in names if name.startswith(("tests", "docs", "benchmarks"))]
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/counterplay/py.typed"} <= inside


@pytest.mark.slow
def test_it_runs_outside_of_the_clone(installed: Path, tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [installed, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": ""},
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    where = run("-c", "import counterplay; print(counterplay.__file__)")
    assert str(ROOT) not in where
    assert run("-m", "counterplay.app.cli", "--version") == f"counterplay {PROJECT['version']}\n"
    assert "exploitability" in run("-m", "counterplay.app.cli", "solve", "kuhn", "-n", "100")
    assert "fig6" in run("-m", "counterplay.app.cli", "reproduce")


@pytest.mark.slow
def test_types_are_there_for_others(installed: Path, tmp_path: Path) -> None:
    """A project that uses it, checked by mypy in its own environment."""
    (tmp_path / "consumer.py").write_text(CONSUMER)
    (tmp_path / "wrong.py").write_text(CONSUMER + "\nvalue.nothing\nmissing: str = run.seconds\n")
    check = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(installed)]
    good, bad = (
        subprocess.run([*check, name], cwd=tmp_path, capture_output=True, text=True)
        for name in ("consumer.py", "wrong.py")
    )
    assert good.returncode == 0, good.stdout
    assert '"float" has no attribute "nothing"' in bad.stdout
    assert "Incompatible types in assignment" in bad.stdout
