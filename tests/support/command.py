"""The command line: in a process of its own, or inside this one."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
import typer.main

from counterplay.app.cli import main

# The commands are the same at every call: one process puts them together once.
typer.main.get_command = functools.cache(typer.main.get_command)

COMMAND = Path(sys.executable).with_name("counterplay")


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return _run([COMMAND, *arguments], folder, environment)


def run_python(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script in a new process."""
    return _run([sys.executable, "-c", code], folder, environment)


def _run(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **environment}
    pipes: dict[str, Any] = {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=folder, timeout=300, env=environment, **pipes)
    done.stderr = _without_compiling(done.stderr)
    return done


def _without_compiling(text: str) -> str:
    """What was said but that kernels are compiled, which depends on what ran before."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("compiling; "))


def ok(folder: Path, *arguments: str) -> str:
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Done(NamedTuple):
    code: int
    stdout: str
    stderr: str


def typed(folder: Path, *arguments: str) -> Done:
    """A command inside this process; an exception that reaches the user comes out of here too."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["counterplay", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Done(code, out.getvalue(), _without_compiling(err.getvalue()))


def one_sentence(done: Done) -> bool:
    return (
        done.code == 2
        and done.stderr.startswith("error: ")
        and len(done.stderr.strip().splitlines()) == 1
    )


Inside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    """A command inside this process, which saves the two seconds in which a new one starts."""

    def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["counterplay", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        code = int(stop.value.code or 0)
        heard = _without_compiling(said.err)
        return subprocess.CompletedProcess(arguments, code, said.out, heard)

    return command


def facts_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
