"""Lines from a socket: whole ones, however they were cut on the way."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Callable

RECEIVED_AT_ONCE = 1 << 16  # bytes
MOMENT = 0.001  # seconds


class LineReader:
    """Lines with their ends. One that is longer than `most` bytes comes in pieces, as the
    competition's dealer reads it."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        self._connection, self._most = connection, most
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._limit: float | None = connection.gettimeout()

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
            else:
                self._cut(self._rest + data)
                if self._lines:
                    return self._lines.popleft()
            wait = None if end is None else end - time.monotonic()
            if wait is not None and wait <= 0:
                return b""

    def _receive(self, seconds: float | None) -> bytes | None:
        """What has come; None: nothing in time."""
        if seconds != self._limit:
            self._connection.settimeout(seconds)
            self._limit = seconds
        try:
            return self._connection.recv(RECEIVED_AT_ONCE)
        except TimeoutError:
            return None
        except OSError:  # reset
            return b""

    def _cut(self, data: bytes) -> None:
        line = b""
        for line in _split(data):
            while len(line) > self._most or (len(line) == self._most and line[-1:] != b"\n"):
                self._lines.append(line[: self._most])
                line = line[self._most :]
            if line[-1:] == b"\n":
                self._lines.append(line)
        self._rest = b"" if line[-1:] == b"\n" else line


def _split(data: bytes) -> list[bytes]:
    """At line feeds only: a carriage return alone ends no line."""
    parts = [part + b"\n" for part in data.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def quick(connection: socket.socket) -> socket.socket:
    """Small messages go out at once."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection
