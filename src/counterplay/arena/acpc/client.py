"""The client: connects a player to a dealer and plays until that goes away."""

from __future__ import annotations

import socket
import time
from typing import Any, NamedTuple

from counterplay.arena.acpc.lines import LineReader, quick
from counterplay.arena.acpc.player import AcpcPlayer
from counterplay.arena.acpc.protocol import VERSION
from counterplay.base.errors import CounterplayError, Interrupted, whole_number
from counterplay.base.progress import Tell, untold

PATIENCE = 10.0  # seconds
BETWEEN_TRIES = 0.1  # seconds
VERSION_LINE = f"{VERSION}\r\n".encode()
MOST_IN_LINE = 10_000  # bytes; a state has less than a hundred


class PlayedForDealer(NamedTuple):
    """What a player did at somebody else's table."""

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
    tell: Tell = untold,
) -> PlayedForDealer:
    """Play for a dealer of the Annual Computer Poker Competition until it closes the connection.

    `player`: whatever `cp.bot` takes. `patience`: seconds to wait for a dealer that does not listen
    yet. Ctrl-C raises a `KeyboardInterrupt` whose `result` is that of the hands played so far.
    """
    check_port(port)
    table = player if isinstance(player, AcpcPlayer) else AcpcPlayer(player, seed, tell)
    table.warm_up()
    with quick(connect(host, port, patience)) as connection:
        before = time.monotonic()

        def result() -> PlayedForDealer:
            return PlayedForDealer(table.hands, table.won, time.monotonic() - before)

        try:
            _play(connection, table)
        except KeyboardInterrupt:
            raise Interrupted(result()) from None
        if table.hand is not None or not table.hands:
            where = "before a hand was dealt"
            if table.hand is not None:
                where = f"in the middle of hand {table.hand}"
            raise CounterplayError(
                f"the dealer at {host}:{port} closed the connection {where}; {table.hands:,} hands "
                f"were finished, {table.won:+g} small bets won"
            )
        return result()


def _play(connection: socket.socket, table: AcpcPlayer) -> None:
    reader = LineReader(connection, MOST_IN_LINE)
    try:
        connection.sendall(VERSION_LINE)
        while line := reader.read():
            answer = reply(table, line)
            if answer:
                connection.sendall(answer)
    except OSError:  # gone while we spoke
        return


def reply(table: AcpcPlayer, line: bytes) -> bytes:
    """What goes back for a line; nothing where it asks nothing."""
    answer = table.hear(line.decode("ascii", "replace"))
    return b"" if answer is None else f"{answer}\r\n".encode()


def check_port(port: int) -> None:
    whole_number(port, 1, 2**16 - 1, "a port")


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
