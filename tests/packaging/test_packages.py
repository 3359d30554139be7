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


def _environment(place: Path, *packages: str) -> Path:
    """The interpreter of a new environment with these packages, installed by pip."""
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    _install(python, *packages)
    return python


def _install(python: Path, *words: str) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    done = subprocess.run([*pip, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def _run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""},
    )


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel and what it depends on, and no extra."""
    wheel = next(built.glob("*.whl"))
    return _environment(tmp_path_factory.mktemp("new") / "env", str(wheel))


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
        "counterplay/poker/bots/strategies/index.json",
        "counterplay/poker/bots/strategies/safe.npz",
    } <= names
    assert not [name for name in names if name.startswith(("tests", "docs", "benchmarks"))]
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/counterplay/py.typed"} <= inside
    assert "src/counterplay/poker/bots/strategies/safe.npz" in inside


COMMAND = ("-m", "counterplay.app.cli")


def _try_out(python: Path, folder: Path) -> None:
    """The first commands of the README work in an environment."""

    def run(*words: str) -> str:
        done = _run(python, folder, *words)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    where = run("-c", "import counterplay; print(counterplay.__file__)")
    assert str(ROOT) not in where
    assert run(*COMMAND, "--version") == f"counterplay {PROJECT['version']}\n"
    assert "exploitability" in run(*COMMAND, "solve", "kuhn", "-n", "100")
    assert "fig6" in run(*COMMAND, "reproduce")


@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment(installed: Path, tmp_path: Path) -> None:
    _try_out(installed, tmp_path)


@pytest.mark.slow
def test_the_source_archive_runs_in_a_clean_environment(
    built: Path, installed: Path, tmp_path: Path
) -> None:
    archive = next(built.glob("*.tar.gz"))
    python = _environment(tmp_path / "env", "--no-deps", str(archive))
    paths = [
        _run(one, tmp_path, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")
        for one in (python, installed)
    ]
    own, other = (Path(done.stdout.strip()) for done in paths)
    (own / "dependencies.pth").write_text(str(other))  # its own package comes first
    where = _run(python, tmp_path, "-c", "import counterplay; print(counterplay.__file__)").stdout
    assert str(tmp_path) in where
    _try_out(python, tmp_path)


#: Of each extra that a user may lack: what needs it, and what the error then names.
NEEDS = {
    "openspiel": ("import counterplay as cp; cp.load('open_spiel:kuhn_poker')", "[openspiel]"),
    "frames": (
        "import counterplay as cp; cp.Strategy.uniform('kuhn').to_frame('pandas')",
        "pandas",
    ),
    "ray": ("import counterplay as cp; cp.solve('kuhn', 'mccfr', pool='ray')", "[ray]"),
    "web": ("from counterplay.app.web.serve import serve; serve(*[None] * 5)", "[web]"),
}
WORKS = {
    "openspiel": NEEDS["openspiel"][0],
    "frames": NEEDS["frames"][0],
    "ray": "import ray, counterplay.core.parallel.ray_cluster",
    "web": "import counterplay.app.web.app",
    "gambit": "import pygambit",
    "notebook": "import nbclient, ipykernel",
    "docs": "import mkdocs, latex2mathml",
    "peers": "import pygambit, pandas, polars, pokerkit",
}


@pytest.mark.slow
def test_each_extra_is_named_where_it_is_missing_and_works_where_it_is_installed(
    built: Path, installed: Path, tmp_path: Path
) -> None:
    extras = set(PROJECT["optional-dependencies"])
    assert set(WORKS) | {"all", "dev", "gpu"} == extras
    for code, named in NEEDS.values():
        done = _run(installed, tmp_path, "-c", code)
        assert done.returncode != 0, code
        assert named in done.stderr.splitlines()[-1], done.stderr[-500:]
    wheel = next(built.glob("*.whl"))
    for extra, code in WORKS.items():
        _install(installed, f"{wheel}[{extra}]")
        done = _run(installed, tmp_path, "-c", code)
        assert done.returncode == 0, (extra, done.stderr[-500:])
    _try_out(installed, tmp_path)


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
