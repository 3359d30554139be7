"""One meaning per name: a class that other files import is the only one of its name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "counterplay"
#: Arrays that belong to one kernel; each file calls its own so.
WORKSPACES = {"Scratch"}


def test_a_class_that_is_imported_has_its_name_alone() -> None:
    defined, imported = defaultdict(set), set()
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                defined[node.name].add(path.relative_to(SOURCE).as_posix())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterplay"):
                imported |= {alias.name for alias in node.names}
    shared = {
        name: sorted(files)
        for name, files in defined.items()
        if len(files) > 1 and name in imported - WORKSPACES
    }
    assert shared == {}
