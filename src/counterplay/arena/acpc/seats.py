"""The dealer's end of a connection: somebody far away, or a guest of the dealer's own process.

A guest is one of our players who sits in the dealer's process. His connection is a real one over
loopback, with the same bytes on it; but both ends are served in turn by one thread, so that no
process wakes another. He answers when the dealer would wait for him. Whoever answers too late is
found out by the clock as in a process of his own, only not before he has answered.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from counterplay.arena.acpc.client import MOST_IN_LINE as MOST_OF_DEALER
from counterplay.arena.acpc.client import VERSION_LINE, connect, reply
from counterplay.arena.acpc.lines import (
    RECEIVED_AT_ONCE,
    Arrives,
    Cutter,
    LineReader,
    quick,
    waiter,
)
from counterplay.arena.acpc.player import AcpcPlayer
from counterplay.arena.referee import bot_name
from counterplay.base.progress import Tell, untold
from counterplay.base.registry import one_line

MOST_IN_LINE = 4_095  # bytes; what is longer is read in pieces
MOST_UNREAD = 1 << 14  # bytes on their way to a guest, far below what a socket holds
Hear = Callable[[str], None]


class DealerEnd:
    """Lines to a player, sent together, and lines of his."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = quick(connection)
        self._waiting = ""
        self._reader = LineReader(connection, MOST_IN_LINE, self._arrives())

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


class Guest:
    """One of our players in this process; `warn` hears why he went, if he did."""

    def __init__(
        self,
        player: Any,
        seed: int = 0,
        warn: Hear = lambda sentence: None,
        tell: Tell = untold,
    ) -> None:
        self.table = AcpcPlayer(player, seed, tell)
        self.table.warm_up()
        self._warn = warn
        self._cutter = Cutter(MOST_OF_DEALER)
        self._connection: socket.socket | None = None
        self._unread = 0  # bytes that were sent to him

    def sit_down(self, place: socket.socket, host: str) -> socket.socket:
        """Connects, and gives the dealer's end. Whoever else came to his port is sent away."""
        self._connection = quick(connect(host, place.getsockname()[1]))
        own = self._connection.getsockname()
        place.settimeout(None)
        while True:
            connection, other = place.accept()
            if other == own:
                break
            connection.close()
        self._connection.sendall(VERSION_LINE)
        return connection

    def expect(self, size: int) -> None:
        """So many bytes are on their way; he makes room for them first."""
        if self._unread + size > MOST_UNREAD:
            self.serve()
        self._unread += size

    def serve(self) -> bool:
        """Reads what was sent to him and answers; whether there was anything."""
        if self._connection is None or not self._unread:
            return False
        answers = b""
        try:
            while self._unread:
                data = self._connection.recv(RECEIVED_AT_ONCE)
                if not data:
                    raise ConnectionResetError
                self._unread -= len(data)
                for line in self._cutter.feed(data):
                    answers += reply(self.table, line)
            if answers:
                self._connection.sendall(answers)
        except OSError:  # the dealer has gone
            self.leave()
        except Exception as error:  # as a process of his own would end, and with it the connection
            self._warn(f"{bot_name(self.table.bot)} stopped: {one_line(error)}")
            self.leave()
        return True

    def leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._unread = None, 0


class HostedEnd(DealerEnd):
    """A guest's."""

    def __init__(self, connection: socket.socket, guest: Guest) -> None:
        self._guest = guest
        super().__init__(connection)

    def _arrives(self) -> Arrives:
        comes = waiter(self._connection)

        def arrives(seconds: float | None) -> bool:
            before = time.monotonic()
            if self._guest.serve() and seconds is not None:
                seconds -= time.monotonic() - before
                return seconds > 0 and comes(seconds)
            return comes(seconds)

        return arrives

    def _send(self, data: bytes) -> None:
        for k in range(0, len(data), MOST_UNREAD):
            piece = data[k : k + MOST_UNREAD]
            self._guest.expect(len(piece))
            self._connection.sendall(piece)
