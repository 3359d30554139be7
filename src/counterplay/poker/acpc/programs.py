"""The players at our dealer: our own, other programs, or clients that connect by themselves."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
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

WAIT = "wait"  # for a client to connect
ADAPTIVE = "adaptive"
EXIT_SECONDS = 5.0  # for a program to end by itself
MOST_SHOWN = 2_000  # bytes of its error output, of which the last line is shown


@dataclass(frozen=True)
class AcpcSeat:
    """The player of a seat. `command` is started with host and port appended; None: a client
    connects by itself. `in_process`: player and seed, if the dealer's process may run it. `ours`:
    the command is `our_command`."""

    name: str
    command: tuple[str, ...] | None
    in_process: tuple[str, int] | None = None
    ours: bool = False


def acpc_seat(text: str, number: int, seed: int = 0) -> AcpcSeat:
    """The seat of a bot or saved strategy, of a program with its arguments, or of `wait`, a client
    that connects by itself. `seed`: of the random numbers of our players."""
    if text == WAIT:
        return AcpcSeat(f"player{number}", None)
    path, kind = Path(text), kind_of(text)
    if kind == "user-defined":
        return AcpcSeat(_clean(split_user_defined(text)[1]), our_command(text, seed), ours=True)
    if kind == "name" or (kind == "path" and not _runs(path)):
        name = _clean(path.stem if path.suffix else path.name)
        in_process = (text, seed) if _runs_in_process(text) else None
        return AcpcSeat(name, our_command(text, seed), in_process, ours=True)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadParameter(f"cannot read the command {text!r}: {error}") from None
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise unknown("player", text, [*BOTS, WAIT, "a program or a saved strategy"])
    named = Path(words[-1] if len(words) > 1 and os.path.exists(words[-1]) else program)
    return AcpcSeat(_clean(named.stem), (os.path.abspath(program), *words[1:]))


def our_command(player: str, seed: int = 0) -> tuple[str, ...]:
    """The command of one of our players; host and port are appended."""
    whole_number(seed, 0, None, "seed")
    if kind_of(player) != "name":
        player = os.path.abspath(player)
    start = (sys.executable, "-m", "counterplay.app.cli", "acpc", "play")
    return (*start, "--player", player, "--seed", str(seed))


def _runs_in_process(text: str) -> bool:
    """Whether a player runs only code of this package and responds fast, so that a dealer in the
    same process can keep time."""
    name = text.lower()
    return kind_of(text) != "name" or (name in BOTS.built_in() and name != ADAPTIVE)


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _clean(name: str) -> str:
    return "".join("_" if mark in ":|# " or not mark.isprintable() else mark for mark in name)


class Program:
    """A started program. Its error output is kept in the file `errors` if there is any; without
    `errors` until the program ends."""

    def __init__(
        self, seat: AcpcSeat, host: str, port: int, errors: Path | None = None, append: bool = False
    ) -> None:
        self.name = seat.name
        self._errors = errors
        self._how = self._words = ""  # how it ended
        assert seat.command is not None
        try:
            self._stderr: IO[bytes] = (
                tempfile.TemporaryFile()  # noqa: SIM115  closed by `_close`
                if errors is None
                else open(errors, "a+b" if append else "w+b")  # noqa: SIM115
            )
            self._process = subprocess.Popen(
                [*seat.command, host, str(port)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                start_new_session=True,  # Ctrl-C is for the dealer
            )
        except OSError as error:
            raise CounterplayError(f"cannot start {self.name}: {reason(error)}") from None

    def check(self) -> None:
        """Raises `CounterplayError` if the program has ended."""
        if self._process.poll() is not None:
            self.end()
            raise CounterplayError(f"{self.name} {self._how} before it connected{self._words}")

    def end(self, patience: float = EXIT_SECONDS) -> str:
        """Waits for the program to end, or ends it; how it ended, with its last words on stderr."""
        if not self._stderr.closed:
            try:
                self._how = f"ended with code {self._process.wait(patience)}"
            except subprocess.TimeoutExpired:
                self._how = "was ended by the dealer"
                self._signal("SIGTERM")
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(1.0)
                self._signal("SIGKILL")
                self._process.wait()
            self._close()
        return f"{self.name} {self._how}{self._words}"

    def _signal(self, name: str) -> None:
        """Sends a signal to the program and to the processes that it has started."""
        if os.name != "posix":
            self._process.kill()
            return
        with suppress(OSError):  # they have ended
            os.killpg(self._process.pid, getattr(signal, name))

    def _close(self) -> None:
        """Keeps the last line of the error output."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - MOST_SHOWN))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        self._words = ": " + lines[-1].removeprefix("error: ")[:200] if lines else ""
        self._stderr.close()
        if not size and self._errors is not None:
            self._errors.unlink(missing_ok=True)
