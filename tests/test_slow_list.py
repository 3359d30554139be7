"""The list of long tests names tests that there are, and every test is run by CI."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def test_every_long_test_is_there() -> None:
    head, *lines = (HERE / "slow.txt").read_text().splitlines()
    assert head.startswith("#")
    assert len(set(lines)) == len(lines)
    for line in lines:
        file, name = line.split("::")
        assert f"def {name.split('[')[0]}(" in (HERE.parent / file).read_text(), line


def test_ci_runs_every_test() -> None:
    """The targets of `.ci/run` select by markers that leave out no combination of them."""
    root = HERE.parent
    makefile = (root / "Makefile").read_text()
    targets = re.findall(r"^make ([\w-]+)$", (root / ".ci" / "run").read_text(), re.MULTILINE)
    assert targets == ["test", "test-ray", "test-slow"]
    selected = {
        name: re.findall(r'pytest .*-m (?:"([^"]+)"|(\w+))', recipe)
        for name, recipe in re.findall(r"^([\w-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    }
    assert selected["test"] == [("not slow and not cluster and not first", "")]
    assert selected["warm"] == [("first and not slow", "")]
    assert "warm" in makefile.split("\ntest:")[1].split("\n")[1]  # which `test` runs beforehand
    assert selected["test-slow"] == [("", "slow")]
    assert selected["test-ray"] == [("", "cluster")]
    clusters = [path for path in HERE.rglob("*.py") if "mark.cluster" in path.read_text()]
    ran = HERE / "core" / "cluster"  # the folder that `test-ray` names
    assert all(ran in path.parents or path == Path(__file__) for path in clusters)
    assert ".ci/run" in _workflow()


#: Packages by the names of their modules, where these differ.
PACKAGES = {"pyspiel": "open_spiel", "mkdocs": "mkdocs-material"}


def test_packages_that_tests_compare_with_are_installed() -> None:
    """A test may be skipped where a package is missing, but not everywhere. What `make test` does
    not install is compared with in slow tests, which CI runs with every package."""
    extras = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    quick, slow = (
        {re.split(r"[<>=\[]", one)[0] for name in names for one in extras[name]}
        for names in (("dev", "openspiel"), ("peers", "docs", "notebook", "ray"))
    )
    needed = set()
    for path in sorted(HERE.rglob("test_*.py")):
        text = path.read_text()
        mark = "".join(re.findall(r"^pytestmark = .*$", text, re.MULTILINE))
        for part in text.split("\n\n\n"):
            for name in re.findall(r'importorskip\("(\w+)', part):
                package = PACKAGES.get(name, name)
                needed.add(package)
                marked = re.search(r"mark\.(slow|cluster)", part + mark)
                assert marked or package in {*quick, "torch"}, (path.name, name)
    assert {"pygambit", "pokerkit", "latex2mathml", "open_spiel"} <= needed
    assert needed - quick - slow == {"torch"}  # two gigabytes: where somebody has it
    makefile = (HERE.parent / "Makefile").read_text()
    assert "$(VENV)/.peers: $(VENV)/.docs $(VENV)/.ray\n" in makefile
    assert '-e ".[peers,notebook]"' in makefile
    assert "NO_PACKAGE_MISSING=1" in makefile.split("\ntest-slow:")[1].split("\n")[1]


def test_other_systems_run_what_starts_processes_and_packages() -> None:
    """There processes are spawned. The workflow names every file that tests it."""
    named = set(re.findall(r"tests/[\w/.]+", _workflow()))
    assert [name for name in named if not (HERE.parent / name).exists()] == []
    spawning = [
        path.relative_to(HERE.parent)
        for path in HERE.rglob("test_*.py")
        if "COUNTERPLAY_START" in path.read_text() and path != Path(__file__)
    ]
    assert len(spawning) > 2
    assert all({path.as_posix(), path.parent.as_posix()} & named for path in spawning), spawning
    assert "tests/packaging" in named
    assert {"macos-latest", "windows-latest"} <= set(re.findall(r"\w+-latest", _workflow()))


def _workflow() -> str:
    return next((HERE.parent / ".github" / "workflows").glob("*.yml")).read_text()
