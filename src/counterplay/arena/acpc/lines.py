"""Lines from a socket: whole ones, however they were cut on the way."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable

from counterplay.base.processors import cores

RECEIVED_AT_ONCE = 1 << 16  # bytes
MOMENT = 0.001  # seconds
LOOKING = 0.0002  # seconds, where dealer and both players have a processor each
AT_ONCE: int = getattr(socket, "MSG_DONTWAIT", 0)  # not on Windows
_let_others: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class LineReader:
    """Lines with their ends. One that is longer than `most` bytes comes in pieces, as the
    competition's dealer reads it."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        self._connection, self._most = connection, most
        self._lines: deque[bytes] = deque()
        self._rest = b""
        connection.settimeout(None)
        self._arrives = _waiter(connection)
        self._looks = bool(AT_ONCE) and cores() > 2

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
            elif not self._rest and data.find(b"\n") == len(data) - 1 < self._most:
                return data  # one line, nearly always
            else:
                self._cut(self._rest + data)
                if self._lines:
                    return self._lines.popleft()
            wait = None if end is None else end - time.monotonic()
            if wait is not None and wait <= 0:
                return b""

    def _receive(self, seconds: float | None) -> bytes | None:
        """What has come; None: nothing in time. Where there are processors enough it looks for a
        moment before it sleeps: to be woken takes longer than an answer."""
        end = time.monotonic() + LOOKING if self._looks else 0.0
        slept = False
        while True:
            try:
                if AT_ONCE or slept:
                    return self._connection.recv(RECEIVED_AT_ONCE, AT_ONCE)
            except BlockingIOError:
                pass
            except OSError:  # reset
                return b""
            if slept:
                return None
            if time.monotonic() < end:
                _let_others()
            elif self._arrives(seconds):
                slept = True
            else:
                return None

    def _cut(self, data: bytes) -> None:
        line = b""
        for line in _split(data):
            while len(line) > self._most or (len(line) == self._most and line[-1:] != b"\n"):
                self._lines.append(line[: self._most])
                line = line[self._most :]
            if line[-1:] == b"\n":
                self._lines.append(line)
        self._rest = b"" if line[-1:] == b"\n" else line


def _waiter(connection: socket.socket) -> Callable[[float | None], bool]:
    """Tells whether something comes within so many seconds."""
    if not hasattr(select, "poll"):
        return lambda seconds: bool(select.select([connection], [], [], seconds)[0])
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return lambda seconds: bool(poll.poll(None if seconds is None else 1000 * seconds))


def _split(data: bytes) -> list[bytes]:
    """At line feeds only: a carriage return alone ends no line."""
    parts = [part + b"\n" for part in data.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def quick(connection: socket.socket) -> socket.socket:
    """Small messages go out at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
