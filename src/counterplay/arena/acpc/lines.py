"""Lines from a socket: whole ones, however they were cut on the way."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable

from counterplay.parallel.processes import cores

RECEIVED_AT_ONCE = 1 << 16  # bytes
MOMENT = 0.001  # seconds
LOOKING = 0.0002  # seconds, where dealer and both players have a processor each
AT_ONCE: int = getattr(socket, "MSG_DONTWAIT", 0)  # not on Windows
Arrives = Callable[[float | None], bool]
_let_others: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class Cutter:
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
        self._cutter = Cutter(most)
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
            elif found := self._cutter.feed(data):
                if len(found) > 1:
                    self._lines.extend(found[1:])
                return found[0]
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
