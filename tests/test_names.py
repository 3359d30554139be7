"""One meaning per name: every class of the package has its name alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "counterplay"


def test_no_two_modules_define_a_class_of_the_same_name() -> None:
    modules = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(path.relative_to(SOURCE).as_posix())
    assert {name: sorted(paths) for name, paths in modules.items() if len(paths) > 1} == {}
