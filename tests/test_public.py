"""What `import counterplay as cp` promises."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import counterplay as cp


@pytest.mark.parametrize("name", cp.__all__)
def test_every_public_name_is_where_it_is_said_to_be(name: str) -> None:
    assert getattr(cp, name) is not None


def test_types_and_lazy_names_come_from_the_same_modules() -> None:
    """The imports that a type checker reads are those that `__getattr__` does."""
    seen = {}
    for node in ast.walk(ast.parse(Path(cp.__file__).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("counterplay."):
            for alias in node.names:
                as_name = alias.asname or alias.name
                other = f":{alias.name}" if alias.name != as_name else ""
                seen[as_name] = f"{str(node.module).removeprefix('counterplay.')}{other}"
    assert seen == cp._WHERE
