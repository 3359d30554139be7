"""Shell completion, asked for as the shells do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command import COMMAND, run

COMMANDS = {
    "games",
    "exam",
    "spot",
    "solve",
    "evaluate",
    "reproduce",
    "match",
    "model",
    "show",
    "respond",
    "frontier",
    "holdem",
    "acpc",
    "serve",
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_to_install(shell: str, tmp_path: Path) -> None:
    done = run(tmp_path, _COUNTERPLAY_COMPLETE=f"source_{shell}")
    assert done.returncode == 0, done.stderr
    assert f"_COUNTERPLAY_COMPLETE=complete_{shell}" in done.stdout


def _bash(tmp_path: Path, *lines: tuple[str, ...]) -> list[set[str]]:
    """What bash offers after the words of each line, the last of them unfinished: the real script
    in a real bash, which reads it once."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    asked = "".join(
        f"""
        COMP_WORDS=({" ".join(words)!s}{" ''" if words[-1] == "" else ""})
        COMP_CWORD={len(words) - 1}
        COMPREPLY=()
        _counterplay_completion counterplay
        echo "${{COMPREPLY[@]}}"
        """
        for words in lines
    )
    script = f"source <(_COUNTERPLAY_COMPLETE=source_bash counterplay)\n{asked}"
    environment = {**os.environ, "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [set(line.split()) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_bash_offers_the_commands(tmp_path: Path) -> None:
    every, some, prepare, options = _bash(
        tmp_path,
        ("counterplay", ""),
        ("counterplay", "s"),
        ("counterplay", "holdem", "p"),
        ("counterplay", "solve", "--"),
    )
    assert every == COMMANDS
    assert some == {"solve", "show", "serve", "spot"}
    assert prepare == {"prepare"}
    assert {"--algorithm", "--iterations", "--resume"} <= options


def test_zsh_and_fish_are_told_the_commands_and_what_they_do(tmp_path: Path) -> None:
    zsh = run(
        tmp_path, _COUNTERPLAY_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="counterplay "
    ).stdout
    fish = run(
        tmp_path,
        _COUNTERPLAY_COMPLETE="complete_fish",
        _TYPER_COMPLETE_ARGS="counterplay ",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    ).stdout
    for name in COMMANDS:
        assert f'"{name}":' in zsh
        assert f"{name}\t" in fish
    assert "Compute an equilibrium" in zsh


def test_show_completion(tmp_path: Path) -> None:
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("no bash here")
    command = f"{COMMAND} --show-completion; true"
    done = subprocess.run(
        [shell, "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert "complete -o default -F _counterplay_completion counterplay" in done.stdout, done.stderr
