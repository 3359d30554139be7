"""Who sits down at our dealer: one of our players, a program of somebody else's, or whoever
connects."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import BadParameter, CounterplayError, unknown, whole_number
from counterplay.core.base.registry import split_user_defined
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.players import kind_of

WAIT = "wait"  # for somebody to connect
ADAPTIVE = "adaptive"
LEAVING_SECONDS = 5.0  # for a program to end by itself


@dataclass(frozen=True)
class Sitter:
    """`command` is started with host and port behind it; None: somebody connects by himself.
    `guest`: player and seed, where the dealer's own process may do that as well."""

    name: str
    command: tuple[str, ...] | None
    guest: tuple[str, int] | None = None


def sitter(text: str, number: int, seed: int = 0) -> Sitter:
    """Who `text` is: a bot or saved strategy, a program with its arguments, or `wait`. `seed`: of
    the random numbers of our players."""
    if text == WAIT:
        return Sitter(f"player{number}", None)
    path, kind = Path(text), kind_of(text)
    if kind == "user-defined":
        return Sitter(_clean(split_user_defined(text)[1]), our_command(text, seed))
    if kind == "name" or (kind == "path" and not _runs(path)):
        name = _clean(path.stem if path.suffix else path.name)
        return Sitter(name, our_command(text, seed), (text, seed) if _may_be_guest(text) else None)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadParameter(f"cannot read the command {text!r}: {error}") from None
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise unknown("player", text, [*BOTS, WAIT, "a program or a saved strategy"])
    named = Path(words[-1] if len(words) > 1 and os.path.exists(words[-1]) else program)
    return Sitter(_clean(named.stem), (os.path.abspath(program), *words[1:]))


def our_command(player: str, seed: int = 0) -> tuple[str, ...]:
    """Plays one of ours when host and port are added."""
    whole_number(seed, 0, None, "seed")
    if kind_of(player) != "name":
        player = os.path.abspath(player)
    start = (sys.executable, "-m", "counterplay.app.cli", "acpc", "play")
    return (*start, "--player", player, "--seed", str(seed))


def _may_be_guest(text: str) -> bool:
    """Whether he runs no code but ours and never thinks for long, so that a dealer whose process
    he shares can keep time."""
    name = text.lower()
    return kind_of(text) != "name" or (name in BOTS.built_in() and name != ADAPTIVE)


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _clean(name: str) -> str:
    return "".join("_" if mark in ":|# " or not mark.isprintable() else mark for mark in name)


class Program:
    """A started program. What it says is kept until it ends."""

    def __init__(self, sitter: Sitter, host: str, port: int) -> None:
        self.name = sitter.name
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        assert sitter.command is not None
        try:
            self._process = subprocess.Popen(
                [*sitter.command, host, str(port)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # Ctrl-C is for the dealer
            )
        except OSError as error:
            self._said.close()
            raise CounterplayError(f"cannot start {self.name}: {reason(error)}") from None

    def check(self) -> None:
        """Refuse to wait for one that has ended."""
        code = self._process.poll()
        if code is not None:
            last = self._last_words()
            raise CounterplayError(
                f"{self.name} ended with code {code} before it connected{last and f': {last}'}"
            )

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read()[-2_000:].decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("error: ")[:200] if lines else ""

    def end(self, patience: float = LEAVING_SECONDS) -> None:
        """Wait for it to end, or end it."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            self._process.kill()
            self._process.wait()
        self._said.close()
