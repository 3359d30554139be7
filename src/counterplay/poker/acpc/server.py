"""A match at our dealer: ports are opened, players started and awaited, hands dealt.

A `LocalPlayer` is one of our players in the dealer's process. His connection is a real one over
loopback, with the same bytes on it; but both ends are served in turn by one thread, so that no
process wakes another. He answers when the dealer would wait for him. Whoever answers too late is
found out by the clock as in a process of his own, only not before he has answered.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import CounterplayError, one_line
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.match.result import MatchResult
from counterplay.poker.acpc.client import (
    MOST_IN_STATE,
    RECEIVED_AT_ONCE,
    VERSION_LINE,
    Arrives,
    LineBuffer,
    PlayerConnection,
    connect,
    quick,
    reply,
    waiter,
)
from counterplay.poker.acpc.dealer import Dealer, MatchAborted, MatchPlan
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.acpc.programs import Program, Sitter
from counterplay.poker.match.referee import bot_name

HOST = "127.0.0.1"
LOOK_EVERY = 0.1  # seconds, while nobody has come
MOST_UNREAD = 1 << 14  # bytes on their way to a local player, far below what a socket holds
Hear = Callable[[str], None]


class LocalPlayer:
    """One of our players in this process; `warn` hears why he went, if he did."""

    def __init__(
        self,
        player: Any,
        seed: int = 0,
        warn: Hear = lambda sentence: None,
        progress: ProgressCallback = no_progress,
    ) -> None:
        self.player = AcpcPlayer(player, seed, progress)
        self.player.warm_up()
        self._warn = warn
        self._buffer = LineBuffer(MOST_IN_STATE)
        self._connection: socket.socket | None = None
        self._unread = 0  # bytes that were sent to him

    def connect(self, listening: socket.socket, host: str) -> socket.socket:
        """Connects, and gives the dealer's end. Whoever else came to his port is sent away."""
        self._connection = quick(connect(host, listening.getsockname()[1]))
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
                for line in self._buffer.feed(data):
                    answers += reply(self.player, line)
            if answers:
                self._connection.sendall(answers)
        except OSError:  # the dealer has gone
            self.leave()
        except Exception as error:  # as a process of his own would end, and with it the connection
            self._warn(f"{bot_name(self.player.bot)} stopped: {one_line(error)}")
            self.leave()
        return True

    def leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._unread = None, 0


class LocalConnection(PlayerConnection):
    """A local player's."""

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
    sitters: tuple[Sitter, Sitter],
    *,
    host: str = HOST,
    ports: tuple[int, int] = (0, 0),
    opened: Callable[[tuple[int, int]], None] = lambda ports: None,
    warn: Hear = lambda sentence: None,
    scored: Hear = lambda line: None,
    progress: ProgressCallback = no_progress,
    own_processes: bool = False,
) -> MatchResult:
    """Deal a match of two-player limit hold'em to programs that speak the competition's protocol.

    `ports`: 0 for any that is free; `opened` hears which. `scored` hears the SCORE line. A player
    who is too late or goes away aborts the match with `MatchAborted`: no score. Built-in bots but
    `adaptive`, and saved strategies, sit in this process, which is quicker and gives the same
    match; `own_processes` starts one for each.
    """
    with ExitStack() as stack:
        listening = [stack.enter_context(_listen(host, number)) for number in ports]
        numbers = (listening[0].getsockname()[1], listening[1].getsockname()[1])
        local = HOST if host == "0.0.0.0" else host  # where our own players find the dealer
        players: list[Program | LocalPlayer | None] = [None, None]
        for seat, sitter in enumerate(sitters):
            if sitter.guest is not None and not own_processes:
                players[seat] = seated = LocalPlayer(*sitter.guest, warn, progress)
                stack.callback(seated.leave)
        opened(numbers)
        for seat, sitter in enumerate(sitters):
            if sitter.command is not None and players[seat] is None:
                players[seat] = program = Program(sitter, local, numbers[seat])
                stack.callback(program.end)
        for port in listening:
            stack.callback(port.close)  # before programs are waited for: whoever is queued leaves
        dealer = Dealer(plan, _connections(plan, listening, players, local, stack), warn, progress)
        result = dealer.play()
        scored(dealer.score)
        return result


def _listen(host: str, port: int) -> socket.socket:
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
    """One for each port, the first first."""
    limit = plan.limits.start_ms
    end = math.inf if limit is None else time.monotonic() + limit / 1000
    seats: list[PlayerConnection] = []
    for port, player in zip(listening, players, strict=True):
        if isinstance(player, LocalPlayer):
            seat: PlayerConnection = LocalConnection(player.connect(port, local), player)
        else:
            seat = PlayerConnection(_accept(port, player, end, len(seats) + 1))
        stack.callback(seat.close)
        port.close()
        seats.append(seat)
    return seats[0], seats[1]


def _accept(port: socket.socket, program: Program | None, end: float, seat: int) -> socket.socket:
    """Whoever connects. A program that dies is not waited for."""
    port.settimeout(LOOK_EVERY)
    while True:
        try:
            return port.accept()[0]
        except TimeoutError:
            if program is not None:
                program.check()
            if time.monotonic() > end:
                raise MatchAborted(f"ERROR: timed out waiting for seat {seat} to connect") from None
        except OSError:
            raise MatchAborted(f"ERROR: seat {seat} could not connect") from None
