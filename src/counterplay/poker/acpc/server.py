"""`deal_acpc`: opens the ports, starts the players and deals a match. The players are our own,
other programs, or clients that connect by themselves.

A `LocalPlayer` is one of our players in the dealer's process. Its connection is a real one over
loopback, with the same bytes; but one thread serves both ends in turn, so that no process wakes
another. It responds when the dealer would wait for it. The clock applies as in a process of its
own, except that a late response is noticed only after it is given.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import (
    BadParameter,
    CounterplayError,
    one_line,
    unknown,
    whole_number,
)
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.registry import split_user_defined
from counterplay.core.match.result import MatchResult
from counterplay.poker.acpc.client import (
    MOST_IN_STATE,
    RECEIVE_SIZE,
    VERSION_LINE,
    Arrives,
    LineBuffer,
    PlayerConnection,
    connect,
    reply,
    waiter,
    without_delay,
)
from counterplay.poker.acpc.dealer import Dealer, MatchAborted, check_files
from counterplay.poker.acpc.plan import MatchPlan, past_states
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.match.referee import bot_name
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
    runs = path.is_file() and os.access(path, os.X_OK)
    if kind == "name" or (kind == "path" and not runs):
        name = _clean(path.stem if path.suffix else path.name)
        # only code of this package that responds fast, so that a dealer beside it can keep time
        fast = kind == "path" or (text.lower() in BOTS.built_in() and text.lower() != ADAPTIVE)
        in_process = (text, seed) if fast else None
        return AcpcSeat(name, our_command(text, seed), in_process, ours=True)
    command = program_command(text)
    if command is None:
        raise unknown("player", text, [*BOTS, WAIT, "a program or a saved strategy"])
    named = command[-1] if os.path.exists(command[-1]) else command[0]
    return AcpcSeat(_clean(Path(named).stem), command)


def program_command(text: str) -> tuple[str, ...] | None:
    """The words of a command, with the path of its program; None if there is no such program."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadParameter(f"cannot read the command {text!r}: {error}") from None
    program = shutil.which(words[0]) if words else None
    return None if program is None else (os.path.abspath(program), *words[1:])


def our_command(player: str, seed: int = 0) -> tuple[str, ...]:
    """The command of one of our players; host and port are appended."""
    whole_number(seed, 0, None, "seed")
    if kind_of(player) != "name":
        player = os.path.abspath(player)
    start = (sys.executable, "-m", "counterplay.app.cli", "acpc", "play")
    return (*start, "--player", player, "--seed", str(seed))


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


HOST = "127.0.0.1"
CHECK_EVERY = 0.1  # seconds, while waiting for a connection
MOST_UNREAD = 1 << 14  # bytes sent to a local player, far below the buffer of a socket
OnMessage = Callable[[str], None]


class LocalPlayer:
    """One of our players in this process; `warn` is called with the reason if it fails."""

    def __init__(
        self,
        player: Any,
        seed: int = 0,
        warn: OnMessage = lambda sentence: None,
        progress: ProgressCallback = no_progress,
    ) -> None:
        self.player = AcpcPlayer(player, seed, progress)
        self.player.warm_up()
        self._warn = warn
        self._buffer = LineBuffer(MOST_IN_STATE)
        self._connection: socket.socket | None = None
        self._unread = 0  # bytes sent to the player

    def connect(self, listening: socket.socket, host: str) -> socket.socket:
        """Connects, and returns the dealer's end; other connections to the port are closed."""
        self._connection = without_delay(connect(host, listening.getsockname()[1]))
        own = self._connection.getsockname()
        listening.settimeout(None)
        while True:
            connection, other = listening.accept()
            if other == own:
                break
            connection.close()
        self._connection.sendall(VERSION_LINE)
        return connection

    def expect(self, size: int) -> None:
        """Announces `size` bytes; the player reads earlier ones first if there are many."""
        if self._unread + size > MOST_UNREAD:
            self.serve()
        self._unread += size

    def serve(self) -> bool:
        """Reads the bytes sent to the player and responds; whether there were any."""
        if self._connection is None or not self._unread:
            return False
        responses = b""
        try:
            while self._unread:
                data = self._connection.recv(RECEIVE_SIZE)
                if not data:
                    raise ConnectionResetError
                self._unread -= len(data)
                for line in self._buffer.feed(data):
                    responses += reply(self.player, line)
            if responses:
                self._connection.sendall(responses)
        except OSError:  # the dealer has closed the connection
            self.leave()
        except Exception as error:  # a process of its own would end here
            self._warn(f"{bot_name(self.player.bot)} stopped: {one_line(error)}")
            self.leave()
        return True

    def leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._unread = None, 0


class LocalConnection(PlayerConnection):
    """The dealer's end of the connection to a local player."""

    def __init__(self, connection: socket.socket, player: LocalPlayer) -> None:
        self._player = player
        super().__init__(connection)

    def _arrives(self) -> Arrives:
        comes = waiter(self._connection)

        def arrives(seconds: float | None) -> bool:
            before = time.monotonic()
            if self._player.serve() and seconds is not None:
                seconds -= time.monotonic() - before
                return seconds > 0 and comes(seconds)
            return comes(seconds)

        return arrives

    def _send(self, data: bytes) -> None:
        for k in range(0, len(data), MOST_UNREAD):
            piece = data[k : k + MOST_UNREAD]
            self._player.expect(len(piece))
            self._connection.sendall(piece)


def deal_acpc(
    plan: MatchPlan,
    seats: tuple[AcpcSeat, AcpcSeat],
    *,
    host: str = HOST,
    ports: tuple[int, int] = (0, 0),
    opened: Callable[[tuple[int, int]], None] = lambda ports: None,
    warn: OnMessage = lambda sentence: None,
    scored: OnMessage = lambda line: None,
    progress: ProgressCallback = no_progress,
    own_processes: bool = False,
) -> MatchResult:
    """Deals a match of two-player limit hold'em to programs with the competition's protocol.

    `ports`: 0 for any free one; `opened` is called with them, `scored` with the SCORE line. A
    player that is late or disconnects aborts the match with `MatchAborted`, without a score; such a
    match, or one that was killed, is resumed with the same plan and `resume=True`. What a program
    writes to stderr is kept beside the log, in `.player1.err` and `.player2.err`.
    Built-in bots other than `adaptive`, and saved strategies, run in this process, which is faster
    and gives the same match; `own_processes` starts one for each.
    """
    check_files(plan)
    with ExitStack() as stack:
        listening = [stack.enter_context(listen(host, number)) for number in ports]
        numbers = (listening[0].getsockname()[1], listening[1].getsockname()[1])
        local = HOST if host == "0.0.0.0" else host  # for our own players
        players: list[Program | LocalPlayer | None] = [None, None]
        for k, seat in enumerate(seats):
            if seat.in_process is not None and not own_processes:
                players[k] = player = LocalPlayer(*seat.in_process, warn, progress)
                stack.callback(player.leave)
        dealer = Dealer(plan, warn, progress)
        stack.callback(dealer.close)
        if plan.resume and plan.log is not None and dealer.hands < plan.hands:
            for name, local_player in zip(plan.names, players, strict=True):
                if isinstance(local_player, LocalPlayer):  # a program does so itself
                    local_player.player.replay(past_states(plan.log, name))
        opened(numbers)
        if dealer.hands < plan.hands:
            _start_programs(plan, seats, players, local, numbers, stack)
            for port in listening:
                stack.callback(port.close)  # before programs are waited for: queued clients end
            try:
                result = dealer.play(_connections(plan, listening, players, local, stack))
            except MatchAborted as error:
                for port in listening:
                    port.close()
                at_fault = players[error.seat]
                if isinstance(at_fault, Program):
                    warn(at_fault.end())
                raise
        else:  # only the SCORE was missing
            result = dealer.play(())
        scored(dealer.score)
        return result


def _start_programs(
    plan: MatchPlan,
    seats: tuple[AcpcSeat, AcpcSeat],
    players: list[Program | LocalPlayer | None],
    host: str,
    ports: tuple[int, int],
    stack: ExitStack,
) -> None:
    """Starts the programs of seats without a local player. In a resumed match our own players read
    the hands that were played."""
    for k, seat in enumerate(seats):
        if seat.command is None or players[k] is not None:
            continue
        if plan.resume and seat.ours:
            past = ("--resume", str(plan.log), "--name", plan.names[k])
            seat = replace(seat, command=(*seat.command, *past))
        keep = plan.append or plan.resume
        players[k] = program = Program(seat, host, ports[k], plan.error_file(k), keep)
        stack.callback(program.end)


def listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        raise CounterplayError(f"cannot listen at {host}:{port}: {reason(error)}") from None


def _connections(
    plan: MatchPlan,
    listening: list[socket.socket],
    players: list[Program | LocalPlayer | None],
    local: str,
    stack: ExitStack,
) -> tuple[PlayerConnection, PlayerConnection]:
    """The connections of both seats, in order."""
    limit = plan.limits.start_ms
    end = math.inf if limit is None else time.monotonic() + limit / 1000
    seats: list[PlayerConnection] = []
    for port, player in zip(listening, players, strict=True):
        if isinstance(player, LocalPlayer):
            seat: PlayerConnection = LocalConnection(player.connect(port, local), player)
        else:
            seat = PlayerConnection(wait_for(port, player, end, len(seats)))
        stack.callback(seat.close)
        port.close()
        seats.append(seat)
    return seats[0], seats[1]


def wait_for(port: socket.socket, program: Program | None, end: float, seat: int) -> socket.socket:
    """The next connection; an error if the program of the seat has ended."""
    port.settimeout(CHECK_EVERY)
    while True:
        try:
            return port.accept()[0]
        except TimeoutError:
            if program is not None:
                program.check()
            if time.monotonic() > end:
                message = f"ERROR: timed out waiting for seat {seat + 1} to connect"
                raise MatchAborted(message, seat) from None
        except OSError:
            raise MatchAborted(f"ERROR: seat {seat + 1} could not connect", seat) from None
