"""Code in README and docs runs, and prints what the docs say it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if "```python" in path.read_text()]
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)
MARK = "=== end of block ==="


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    script = "".join(f"{text}\nprint({MARK!r})\n" for kind, text in blocks if kind == "python")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.split(MARK + "\n"))
    output = ""
    for kind, text in blocks:
        if kind == "python":
            output = next(printed)
        else:
            assert output == text


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_complete_game_of_the_docs_is_short() -> None:
    text = (ROOT / "docs" / "how-to" / "own-game.md").read_text()
    code = next(block for kind, block in BLOCK.findall(text) if kind == "python")
    rules = code[: code.index("game = cp.Game")]
    assert len([line for line in rules.splitlines() if line.strip()]) < 40
