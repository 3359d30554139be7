"""Connections: whole lines from a socket, the dealer's end of one, and the client, who connects a
player to a dealer and plays until that goes away."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.parallel.processes import cores
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.acpc.protocol import VERSION

RECEIVED_AT_ONCE = 1 << 16  # bytes
MOMENT = 0.001  # seconds
LOOKING = 0.0002  # seconds, where dealer and both players have a processor each
AT_ONCE: int = getattr(socket, "MSG_DONTWAIT", 0)  # not on Windows
Arrives = Callable[[float | None], bool]
_let_others: Callable[[], None] = getattr(os, "sched_yield", lambda: None)
PATIENCE = 10.0  # seconds
BETWEEN_TRIES = 0.1  # seconds
VERSION_LINE = f"{VERSION}\r\n".encode()
MOST_IN_STATE = 10_000  # bytes of a line of the dealer; a state has less than a hundred
MOST_IN_ANSWER = 4_095  # bytes of a line of a player; what is longer is read in pieces


class LineBuffer:
    """Bytes in, whole lines with their ends out. A line that is longer than `most` bytes comes in
    pieces, as the competition's dealer reads it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        if not self._rest and len(data) <= self._most and data[-1:] == b"\n":  # nearly always
            return [part + b"\n" for part in data[:-1].split(b"\n")]
        lines, line = [], b""
        for line in _split(self._rest + data):
            while len(line) > self._most or (len(line) == self._most and line[-1:] != b"\n"):
                lines.append(line[: self._most])
                line = line[self._most :]
            if line[-1:] == b"\n":
                lines.append(line)
        self._rest = b"" if line[-1:] == b"\n" else line
        return lines


class LineReader:
    """Lines of a connection, each of at most so many bytes. `arrives` tells whether something
    comes within so many seconds; without it the system is asked."""

    def __init__(
        self, connection: socket.socket, most: int, arrives: Arrives | None = None
    ) -> None:
        self._connection = connection
        self._buffer = LineBuffer(most)
        self._lines: deque[bytes] = deque()
        connection.settimeout(None)
        self._arrives = waiter(connection) if arrives is None else arrives
        self._looks = arrives is None and bool(AT_ONCE) and cores() > 2

    def read(self, seconds: float | None = None, idle: Callable[[], None] | None = None) -> bytes:
        """The next line; nothing where the other side has gone, or no whole line comes in time.
        `idle`: what to do when nothing comes within a moment."""
        if self._lines:
            return self._lines.popleft()
        end = None if seconds is None else time.monotonic() + seconds
        wait = seconds
        if idle is not None:
            wait = MOMENT if seconds is None else min(MOMENT, seconds)
        while True:
            data = self._receive(wait)
            if data is None and idle is not None:
                idle()
                idle = None
            elif not data:
                return b""
            elif lines := self._buffer.feed(data):
                if len(lines) > 1:
                    self._lines.extend(lines[1:])
                return lines[0]
            wait = None if end is None else end - time.monotonic()
            if wait is not None and wait <= 0:
                return b""

    def _receive(self, seconds: float | None) -> bytes | None:
        """What has come; None: nothing in time."""
        try:
            data = self._look() if self._looks else None
            if data is None and self._arrives(seconds):
                return self._connection.recv(RECEIVED_AT_ONCE)
            return data
        except OSError:  # reset
            return b""

    def _look(self) -> bytes | None:
        """For a moment, where there are processors enough: to be woken takes longer than an
        answer."""
        end = time.monotonic() + LOOKING
        while True:
            try:
                return self._connection.recv(RECEIVED_AT_ONCE, AT_ONCE)
            except BlockingIOError:
                pass
            if time.monotonic() >= end:
                return None
            _let_others()


def waiter(connection: socket.socket) -> Arrives:
    """By the system. Without a limit nothing is asked: whoever reads is blocked."""
    if not hasattr(select, "poll"):
        return lambda seconds: (
            seconds is None or bool(select.select([connection], [], [], seconds)[0])
        )
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return lambda seconds: seconds is None or bool(poll.poll(1000 * seconds))


def _split(data: bytes) -> list[bytes]:
    """At line feeds only: a carriage return alone ends no line."""
    parts = [part + b"\n" for part in data.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def quick(connection: socket.socket) -> socket.socket:
    """Small messages go out at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class PlayerConnection:
    """The dealer's end: lines to a player, sent together, and lines of his."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = quick(connection)
        self._waiting = ""
        self._reader = LineReader(connection, MOST_IN_ANSWER, self._arrives())

    def _arrives(self) -> Arrives | None:
        """Tells whether something comes in time; None: the system does."""
        return None

    def read(self, seconds: float | None = None, idle: Callable[[], None] | None = None) -> bytes:
        """As `LineReader.read`."""
        return self._reader.read(seconds, idle)

    def put(self, line: str) -> None:
        """Goes out with the next `flush`."""
        self._waiting += f"{line}\r\n"

    def flush(self) -> None:
        if self._waiting:
            text, self._waiting = self._waiting, ""
            self._send(text.encode())

    def _send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def close(self) -> None:
        self._connection.close()


class AcpcResult(NamedTuple):
    """What a player did in a match that somebody else deals."""

    hands: int  # finished
    won: float  # in small bets, by our own count: the dealer says nothing
    seconds: float


def play_acpc(
    host: str,
    port: int,
    player: Any,
    seed: int = 0,
    *,
    patience: float = PATIENCE,
    progress: ProgressCallback = no_progress,
) -> AcpcResult:
    """Play for a dealer of the Annual Computer Poker Competition until it closes the connection.

    `player`: whatever `cp.bot` takes. `patience`: seconds to wait for a dealer that does not listen
    yet. Ctrl-C raises a `KeyboardInterrupt` whose `result` is that of the hands played so far.
    """
    check_port(port)
    seated = player if isinstance(player, AcpcPlayer) else AcpcPlayer(player, seed, progress)
    seated.warm_up()
    with quick(connect(host, port, patience)) as connection:
        before = time.monotonic()

        def result() -> AcpcResult:
            return AcpcResult(seated.hands, seated.won, time.monotonic() - before)

        try:
            _play(connection, seated)
        except KeyboardInterrupt:
            raise Interrupted(result()) from None
        if seated.hand is not None or not seated.hands:
            where = "before a hand was dealt"
            if seated.hand is not None:
                where = f"in the middle of hand {seated.hand}"
            raise CounterplayError(
                f"the dealer at {host}:{port} closed the connection {where}; {seated.hands:,} "
                f"hands were finished, {seated.won:+g} small bets won"
            )
        return result()


def _play(connection: socket.socket, player: AcpcPlayer) -> None:
    reader = LineReader(connection, MOST_IN_STATE)
    try:
        connection.sendall(VERSION_LINE)
        while line := reader.read():
            answer = reply(player, line)
            if answer:
                connection.sendall(answer)
    except OSError:  # gone while we spoke
        return


def reply(player: AcpcPlayer, line: bytes) -> bytes:
    """What goes back for a line; nothing where it asks nothing."""
    answer = player.hear(line.decode("ascii", "replace"))
    return b"" if answer is None else f"{answer}\r\n".encode()


def check_port(port: int) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 2**16:
        raise BadParameter(f"a port is a whole number from 1 to {2**16 - 1}, not {port!r}")


def connect(host: str, port: int, patience: float = PATIENCE) -> socket.socket:
    """To a dealer, who may not listen yet."""
    end = time.monotonic() + patience
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=max(patience, 1.0))
            connection.settimeout(None)
            return connection
        except socket.gaierror as error:
            raise CounterplayError(f"no host {host!r}: {error.strerror}") from None
        except (OSError, UnicodeError) as error:
            if isinstance(error, UnicodeError) or time.monotonic() > end:
                why = getattr(error, "strerror", None) or error
                raise CounterplayError(f"no dealer at {host}:{port}: {why}") from None
        time.sleep(BETWEEN_TRIES)
