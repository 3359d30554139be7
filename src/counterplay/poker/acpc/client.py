"""Connections: whole lines from a socket, the dealer's end of one, and the client, which connects a
player to a dealer and plays until the dealer closes the connection."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from counterplay.core.base.errors import CounterplayError, Interrupted, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.parallel.processes import cores
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.acpc.protocol import VERSION

LAST_PORT = 2**16 - 1
RECEIVE_SIZE = 1 << 16  # bytes
IDLE_AFTER = 0.001  # seconds
POLLING = 0.0002  # seconds, where dealer and both players have a core each
DONT_WAIT: int = getattr(socket, "MSG_DONTWAIT", 0)  # not on Windows
Arrives = Callable[[float | None], bool]
_yield_core: Callable[[], None] = getattr(os, "sched_yield", lambda: None)
PATIENCE = 10.0  # seconds
RETRY_EVERY = 0.1  # seconds
SILENT_AFTER = 20.0  # seconds of the first hand
SILENT = (
    f"nothing from the dealer for {SILENT_AFTER:g} seconds in the first hand: the opponent is "
    "computing, or the dealer waits for this player because its game has no reverse blinds"
)
VERSION_LINE = f"{VERSION}\r\n".encode()
MOST_IN_STATE = 10_000  # bytes of a line of the dealer; a state has fewer than a hundred
MOST_IN_RESPONSE = 4_095  # bytes of a line of a player; a longer one is read in pieces


class LineBuffer:
    """Splits bytes into whole lines with their ends. A line longer than `most` bytes comes in
    pieces, as the competition's dealer reads it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        if not self._rest and len(data) <= self._most and data[-1:] == b"\n":  # the usual case
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

    def end(self) -> bytes:
        """What came after the last whole line."""
        rest, self._rest = self._rest, b""
        return rest


class LineReader:
    """Lines of a connection, each of at most `most` bytes. `arrives(seconds)`: whether data comes
    within that time; by default from the system."""

    def __init__(
        self, connection: socket.socket, most: int, arrives: Arrives | None = None
    ) -> None:
        self._connection = connection
        self._buffer = LineBuffer(most)
        self._lines: deque[bytes] = deque()
        connection.settimeout(None)
        self._arrives = waiter(connection) if arrives is None else arrives
        self._polls = arrives is None and bool(DONT_WAIT) and cores() > 2

    def read(
        self,
        seconds: float | None = None,
        idle: Callable[[], None] | None = None,
        idle_after: float = IDLE_AFTER,
    ) -> bytes:
        """The next line, which has no end if the connection was closed before it; empty if nothing
        is left or no whole line comes in time. `idle` is called if nothing comes so long."""
        if self._lines:
            return self._lines.popleft()
        end = None if seconds is None else time.monotonic() + seconds
        wait = seconds
        if idle is not None:
            wait = idle_after if seconds is None else min(idle_after, seconds)
        while True:
            data = self._receive(wait)
            if data is None and idle is not None:
                idle()
                idle = None
            elif not data:
                return b"" if data is None else self._buffer.end()
            elif lines := self._buffer.feed(data):
                if len(lines) > 1:
                    self._lines.extend(lines[1:])
                return lines[0]
            wait = None if end is None else end - time.monotonic()
            if wait is not None and wait <= 0:
                return b""

    def _receive(self, seconds: float | None) -> bytes | None:
        """The bytes received; None: nothing in time."""
        try:
            data = self._poll() if self._polls else None
            if data is None and self._arrives(seconds):
                return self._connection.recv(RECEIVE_SIZE)
            return data
        except OSError:  # reset
            self._buffer.end()
            return b""

    def _poll(self) -> bytes | None:
        """Polls for a moment, if there are enough cores: waking a process takes longer than a
        response."""
        end = time.monotonic() + POLLING
        while True:
            try:
                return self._connection.recv(RECEIVE_SIZE, DONT_WAIT)
            except BlockingIOError:
                pass
            if time.monotonic() >= end:
                return None
            _yield_core()


def waiter(connection: socket.socket) -> Arrives:
    """Waits by the system. Without a limit it returns at once, and the read blocks."""
    if not hasattr(select, "poll"):
        return lambda seconds: (
            seconds is None or bool(select.select([connection], [], [], seconds)[0])
        )
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return lambda seconds: seconds is None or bool(poll.poll(1000 * seconds))


def _split(data: bytes) -> list[bytes]:
    """Splits at line feeds only; a carriage return alone ends no line."""
    parts = [part + b"\n" for part in data.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def without_delay(connection: socket.socket) -> socket.socket:
    """Sends small messages at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


class PlayerConnection:
    """The dealer's end of a connection to a player; lines to the player are buffered."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = without_delay(connection)
        self._unsent = ""
        self._reader = LineReader(connection, MOST_IN_RESPONSE, self._arrives())

    def _arrives(self) -> Arrives | None:
        """The `arrives` of the reader; None: by the system."""
        return None

    def read(self, seconds: float | None = None, idle: Callable[[], None] | None = None) -> bytes:
        """As `LineReader.read`."""
        return self._reader.read(seconds, idle)

    def put(self, line: str) -> None:
        """Buffers a line for the next `flush`."""
        self._unsent += f"{line}\r\n"

    def flush(self) -> None:
        if self._unsent:
            text, self._unsent = self._unsent, ""
            self._send(text.encode())

    def _send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def close(self) -> None:
        self._connection.close()


class AcpcResult(NamedTuple):
    """The result of a player in a match of another dealer."""

    hands: int  # finished
    won: float  # in small bets, by our own count: the dealer sends no results
    seconds: float


class MatchCut(CounterplayError):
    """A match of another dealer ended early; `result` is that of the hands so far."""

    def __init__(self, message: str, result: AcpcResult) -> None:
        super().__init__(message)
        self.result = result


def play_acpc(
    host: str,
    port: int,
    player: Any,
    seed: int = 0,
    *,
    patience: float = PATIENCE,
    warn: Callable[[str], None] = lambda sentence: None,
    progress: ProgressCallback = no_progress,
) -> AcpcResult:
    """Plays for a dealer of the Annual Computer Poker Competition until it closes the connection.

    `player`: any argument of `cp.bot`. `patience`: seconds to wait for a dealer that does not
    listen yet. A dealer that leaves in mid-hand, and one that deals another game, raise a
    `CounterplayError` whose `result` is that of the hands so far, Ctrl-C a `KeyboardInterrupt`
    that has one too.
    """
    whole_number(port, 1, LAST_PORT, "a port")
    acpc_player = player if isinstance(player, AcpcPlayer) else AcpcPlayer(player, seed, progress)
    acpc_player.warm_up()
    with without_delay(connect(host, port, patience)) as connection:
        before = time.monotonic()

        def result() -> AcpcResult:
            return AcpcResult(acpc_player.hands, acpc_player.won, time.monotonic() - before)

        try:
            _play(connection, acpc_player, warn)
        except KeyboardInterrupt:
            raise Interrupted(result()) from None
        except CounterplayError as error:
            raise MatchCut(str(error), result()) from error
        if acpc_player.hand is not None or not acpc_player.hands:
            hand = acpc_player.hand
            where = "before a hand was dealt" if hand is None else f"in the middle of hand {hand}"
            message = (
                f"the dealer at {host}:{port} closed the connection {where}; {acpc_player.hands:,} "
                f"hands were finished, {acpc_player.won:+g} small bets won"
            )
            raise MatchCut(message, result())
        return result()


def _play(connection: socket.socket, player: AcpcPlayer, warn: Callable[[str], None]) -> None:
    reader = LineReader(connection, MOST_IN_STATE)
    silent: Callable[[], None] | None = partial(warn, SILENT)
    try:
        connection.sendall(VERSION_LINE)
        while line := reader.read(None, silent, SILENT_AFTER):
            if line[-1:] != b"\n" and len(line) < MOST_IN_STATE:
                return  # half a state before the end
            answer = reply(player, line)
            if answer:
                connection.sendall(answer)
            if player.hands:
                silent = None
    except OSError:  # the dealer has closed the connection
        return


def reply(player: AcpcPlayer, line: bytes) -> bytes:
    """The bytes sent back for a line; empty if it needs no response."""
    answer = player.respond(line.decode("ascii", "replace"))
    return b"" if answer is None else f"{answer}\r\n".encode()


def connect(host: str, port: int, patience: float = PATIENCE) -> socket.socket:
    """Connects to a dealer, which may not listen yet."""
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
        time.sleep(RETRY_EVERY)
