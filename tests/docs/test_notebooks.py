"""The notebooks run from the first cell to the last, and show what they show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
#: Runs cells as a notebook does, without one: what stands last is shown.
DRIVER = """
import ast, json, sys
import counterplay
space = {"__name__": "__notebook__"}
sys.modules["__notebook__"] = type(sys)("__notebook__")
for k, source in enumerate(json.load(sys.stdin)):
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {k}", "exec"), space)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), f"cell {k}", "eval"), space)
        for way in ("_repr_html_", "_repr_png_"):
            page = getattr(shown, way)() if hasattr(shown, way) else None
            assert page is None or len(page) > 200
        print(f"{k}: {type(shown).__name__}")
"""


def cells(book: Path) -> list[str]:
    found = json.loads(book.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def test_there_are_three_with_what_they_showed_and_no_place_of_a_machine() -> None:
    assert len(BOOKS) == 3
    for book in BOOKS:
        data = json.loads(book.read_text())
        shown = [cell for cell in data["cells"] if cell.get("outputs")]
        assert len(shown) >= 4
        for word in ("/tmp/", "/home/", "/root/", "Traceback"):
            assert word not in book.read_text()
        for cell in data["cells"]:
            assert not any(output["output_type"] == "error" for output in cell.get("outputs", ()))


@pytest.mark.slow
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_it_runs(book: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(cells(book)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kinds = {line.split(": ")[1] for line in done.stdout.splitlines() if ": " in line}
    assert kinds & {"Frontier", "Response", "MatchResult"}
