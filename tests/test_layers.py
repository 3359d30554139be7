"""The layer table: a file imports only from its own row and the rows above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "counterplay"

#: The rooms and their packages, from the bottom up: the table in docs/explanation/design.md. A
#: package imports only from itself and from those before it.
ROOMS = {
    "core": "base kernels forms parallel games evaluation solvers responses match",
    "poker": "cards betting abstraction holdem vector spots histories bots models players match "
    "adaptive acpc exam",
    "app": "reproduction web cli",
}
ROWS = [f"{room}.{name}" for room, names in ROOMS.items() for name in names.split()]
RANK = {name: k for k, name in enumerate(ROWS)}
FILES = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).as_posix()
    not in ("__init__.py", *(f"{room}/__init__.py" for room in ROOMS))
)


def _row(path: Path) -> str:
    relative = path.relative_to(SOURCE).with_suffix("")
    return ".".join(relative.parts[:2])


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
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {
            ".".join(name.split(".")[1:3]) for name in names if name.startswith("counterplay.")
        }
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_only_from_its_own_row_and_the_rows_above(path: Path) -> None:
    row = _row(path)
    assert row in RANK, f"{row} is in no layer; add it to the table"
    for imported in _imported_rows(path):
        assert RANK[imported] <= RANK[row], (
            f"{path.name} ({row}) imports {imported}, which is above it"
        )


CORE = [path for path in FILES if _row(path).startswith("core.")]


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_the_core_knows_nothing_of_poker(path: Path) -> None:
    """It names no module of it, not even as text, but in the table of packages; and it asks for
    nothing that only poker has."""
    name = path.relative_to(SOURCE).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and name != "core/base/registry.py":
            assert not str(node.value).startswith(("counterplay.poker", "counterplay.app"))
        asks = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "can"
        assert not asks, f"{name}: line {getattr(node, 'lineno', 0)} asks for something of poker"


def test_the_table_in_the_docs_is_this_one() -> None:
    text = (SOURCE.parent.parent / "docs" / "explanation" / "design.md").read_text()
    listed = [
        line.split("`")[1].strip("/").replace("/", ".").removesuffix(".py")
        for line in text.splitlines()
        if line.startswith(tuple(f"| `{room}/" for room in ROOMS))
    ]
    assert listed == ROWS


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
