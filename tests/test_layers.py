"""The layer table: a file imports only from its own row and the rows above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "counterplay"

# Rows of the table in docs/explanation/design.md, from the bottom layer up. `base` holds errors,
# files and limits.
ROWS = [
    "base",
    "kernels",
    "parallel",
    "forms",
    "parallel",
    "games",
    "holdem",
    "evaluation",
    "solvers",
    "responses",
    "match",
    "opponents",
    "holdem_match",
    "adaptive",
    "acpc",
    "experiments",
    "web",
    "cli",
]
RANK = {name: k for k, name in enumerate(ROWS)}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def _row(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py")


def _imported_rows(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide layers"
            names = [node.module or ""]
            if node.module == "counterplay":
                names = [f"counterplay.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("counterplay.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_only_from_its_own_row_and_the_rows_above(path: Path) -> None:
    row = _row(path)
    assert row in RANK, f"{row} is in no layer; add it to the table"
    for imported in _imported_rows(path):
        assert RANK[imported] <= RANK[row], (
            f"{path.name} ({row}) imports {imported}, which is above it"
        )


CORE = (
    "base",
    "kernels",
    "parallel",
    "forms",
    "games",
    "evaluation",
    "solvers",
    "responses",
    "match",
)
POKER = {"holdem", "opponents", "holdem_match", "adaptive", "acpc"}
#: What is of poker though it stands in a package of the core.
TRAVERSAL = (
    "solvers/public",
    "solvers/device_",
    "evaluation/boards",
    "evaluation/pairs",
    "evaluation/flop_store",
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_the_core_knows_nothing_of_poker(path: Path) -> None:
    """It imports none, lazily or not, and names no module of it but in the table of packages."""
    name = path.relative_to(SOURCE).as_posix()
    if not name.startswith(CORE) or name.startswith(TRAVERSAL):
        return
    assert not _imported_rows(path) & POKER
    traversal = [name.replace("/", ".") for name in TRAVERSAL]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").removeprefix("counterplay.")
            assert not module.startswith(tuple(traversal)), module
        if isinstance(node, ast.Constant) and name != "base/registry.py":
            text = str(node.value)
            assert not text.startswith(tuple(f"counterplay.{room}" for room in POKER)), text
        asks = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "can"
        assert not asks, f"{name}: line {getattr(node, 'lineno', 0)} asks for something of poker"


def test_the_table_in_the_docs_is_this_one() -> None:
    text = (SOURCE.parent.parent / "docs" / "explanation" / "design.md").read_text()
    listed = [
        line.split("`")[1]
        for line in text.splitlines()
        if line.startswith("| ") and "`counterplay/" in line
    ]
    names = [
        name.removeprefix("counterplay/").removesuffix("/").removesuffix(".py") for name in listed
    ]
    present = {_row(path) for path in FILES}
    assert [name for name in names if name in present] == [name for name in RANK if name in present]


def test_no_wildcard_imports_and_no_pickle() -> None:
    for path in FILES:
        text = path.read_text()
        assert "import *" not in text
        assert "import pickle" not in text
        assert "allow_pickle=True" not in text


def test_no_test_module_imports_another() -> None:
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                last = (node.module or "").split(".")[-1]
                assert not last.startswith("test_"), f"{path.name} imports {node.module}"
