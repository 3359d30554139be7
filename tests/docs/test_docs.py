"""Code in README and docs runs, and prints what the docs say it prints.

`python` and `sh` blocks of a page run one after the other in an empty folder; a `text` block is
what the one before it prints. `console` blocks are commands to try: their options are checked, and
those of README with output are run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from support.command import run_python

from counterplay.app.cli import app

ROOT = Path(__file__).parent.parent.parent
ALL_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [path for path in ALL_PAGES if "```python" in path.read_text()]
BLOCK = re.compile(r"```(python|sh|text)\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
LONG = (
    "adapt",
    "hand-histories",
    "holdem",
    "large-games",
    "large-runs",
    "other-tools",
    "own-bot",
    "runs",
)  # run with make test-slow
MARK = "=== end of block ==="
SHELL = """
def _shell(commands):
    import subprocess
    pipe = subprocess.PIPE
    print(subprocess.run(commands, shell=True, check=True, stdout=pipe, text=True).stdout, end="")
"""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] if page.stem in LONG else []) for page in PAGES],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    pieces = [
        (f"_shell({'set -e; ' + text!r})" if kind == "sh" else text)
        for kind, text in blocks
        if kind != "text"
    ]
    script = SHELL + "".join(f"{piece}\nprint({MARK!r})\n" for piece in pieces)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = run_python(tmp_path, script, PATH=path)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.split(MARK + "\n"))
    output = ""
    for kind, text in blocks:
        if kind != "text":
            output = next(printed)
        else:
            assert output == text


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in ALL_PAGES:
        for block in CONSOLE.findall(page.read_text()):
            lines = [line.removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines()]
            found += [
                (page.relative_to(ROOT).as_posix(), line)
                for line in lines
                if line.startswith("counterplay")
            ]
    return found


@pytest.mark.parametrize(("page", "line"), _commands())
def test_commands_can_be_typed(page: str, line: str) -> None:
    """The command exists and takes these arguments; it is not run."""
    command: Any = typer.main.get_command(app)
    words = shlex.split(line, comments=True)[1:]
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    if not hasattr(command, "commands"):
        command.make_context("counterplay", words)


def _outputs() -> list[tuple[str, list[str]]]:
    """Commands of README with the lines that they print; `...` stands for lines left out."""
    commands: list[tuple[str, list[str]]] = []
    for block in CONSOLE.findall((ROOT / "README.md").read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line.removeprefix("$ "), []))
            else:
                commands[-1][1].append(line)
    return [(command, lines) for command, lines in commands if lines]


@pytest.mark.parametrize(
    ("command", "lines"), _outputs(), ids=lambda one: one if isinstance(one, str) else ""
)
def test_commands_of_readme_print_what_it_says(
    command: str, lines: list[str], tmp_path: Path
) -> None:
    program = [sys.executable, "-m", "counterplay.app.cli", *shlex.split(command)[1:]]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in lines)
    assert re.fullmatch(pattern, done.stdout), done.stdout


def test_targets_of_make_exist_and_the_first_block_gives_both() -> None:
    """A reader's first screen has the commands for the results and for the tests."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ALL_PAGES:
        for block in CONSOLE.findall(page.read_text()):
            assert set(re.findall(r"^\$ make ([a-z-]+)", block, re.MULTILINE)) <= targets, page.name
    first = CONSOLE.findall((ROOT / "README.md").read_text())[0]
    assert {"reproduce", "test"} <= set(re.findall(r"^\$ make ([a-z-]+)", first, re.MULTILINE))


def test_links_lead_somewhere() -> None:
    for page in ALL_PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_complete_game_of_the_docs_is_short() -> None:
    text = (ROOT / "docs" / "how-to" / "own-game.md").read_text()
    code = next(block for kind, block in BLOCK.findall(text) if kind == "python")
    rules = code[: code.index("game = cp.Game")]
    assert len([line for line in rules.splitlines() if line.strip()]) < 40


def test_the_complete_compiled_game_of_the_docs_is_short() -> None:
    text = (ROOT / "docs" / "how-to" / "large-games.md").read_text()
    code = next(block for kind, block in BLOCK.findall(text) if kind == "python")
    assert "cp.CompiledRules" in code
    assert len(code.splitlines()) <= 60
