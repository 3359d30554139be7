"""`AcpcProgram`: a program of the competition as a bot, so that it plays wherever a bot plays.

The program is started with host and port as for a dealer, at the start of every session, and gets
the states of its hands as the dealer sends them. Its answers are judged as the dealer judges them:
an illegal action is a call, and counted in `illegal`; one that is late ends the match.

A program answers about one state at a time and may remember what it has seen, so that it has no
table of probabilities. What `match --log` and `model` learn from its hands is a model: its
exploitability is that of the model, neither a lower nor an upper bound of the program's.
"""

from __future__ import annotations

import os
import socket
import time
import weakref
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError, positive
from counterplay.poker.acpc.client import PlayerConnection
from counterplay.poker.acpc.dealer import MatchAborted
from counterplay.poker.acpc.protocol import (
    VERSION,
    Request,
    judge,
    states_until,
)
from counterplay.poker.acpc.server import HOST, AcpcSeat, Program, acpc_seat, listen, wait_for
from counterplay.poker.betting.betting import LETTER
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.histories.records import cards_text

PREFIX = "acpc:"
PATIENCE = 1.0  # seconds for the program to end by itself
SECONDS = 60.0  # for an answer, and for the program to connect


class AcpcProgram(Bot):
    """A program that plays by the protocol, as `acpc deal` starts it. `command`: the program with
    its arguments. `seconds`: the most for an answer."""

    def __init__(self, command: str, seconds: float = SECONDS) -> None:
        seat = acpc_seat(command, 1)
        if seat.ours or seat.command is None:
            raise BadParameter(f"{command} is no program; give the bot without {PREFIX}")
        self._given, self._seconds = (command, seconds), positive(seconds, "seconds")
        self._seat: AcpcSeat = seat
        self.name = seat.name
        self.illegal = 0  # answers that were changed to a call
        self._connection: PlayerConnection | None = None
        self._process = 0  # that started the program
        self._finalizer: Any = None
        self._hand, self._position, self._sent = -1, 0, 0

    def __reduce__(self) -> tuple[Any, ...]:
        return AcpcProgram, self._given

    def start(self, seed: int) -> None:
        """Starts the program anew, without memory."""
        self.close()
        with listen(HOST, 0) as port:
            program = Program(self._seat, HOST, port.getsockname()[1])
            try:
                connection = wait_for(port, program, time.monotonic() + self._seconds, 0)
            except MatchAborted:  # whose words are those of a dealer
                program.end(0.0)
                raise CounterplayError(
                    f"{self.name} did not connect within {self._seconds:g} seconds"
                ) from None
            except BaseException:
                program.end(0.0)
                raise
        self._process, self._hand = os.getpid(), -1
        self._finalizer = weakref.finalize(self, _end, program, connection, self._process)
        self._connection = PlayerConnection(connection)
        version = self._connection.read(self._seconds)
        if not version.startswith(VERSION.partition(":")[0].encode()):
            self.close()
            raise CounterplayError(f"{self.name} sent no version line, but {version[:40]!r}")

    def close(self) -> None:
        """Ends the program."""
        if self._finalizer is not None:
            self._finalizer()
        self._connection = self._finalizer = None

    def new_hand(self, seat: int) -> None:
        self._hand, self._position, self._sent = self._hand + 1, 1 - seat, 0

    def act(self, view: View) -> str:
        assert self._connection is not None, "start comes first"
        shown = self._cards(view.cards, view.board)
        line = self._send(view.betting.history, shown)
        request = Request(line.encode(), self._position, self._hand, view.node, shown)
        end = time.monotonic() + self._seconds
        while True:
            left = end - time.monotonic()  # also of a program that writes without end
            answer = self._connection.read(left) if left > 0.0 else b""
            if not answer:
                ended = time.monotonic() < end
                why = "before it ended" if ended else f"within {self._seconds:g} seconds"
                raise CounterplayError(f"{self.name} gave no answer to {line} {why}")
            if answer[0] in b"#;":
                continue
            judged = judge(answer, request)
            if judged.letter is not None:
                self.illegal += judged.warning is not None
                return LETTER[judged.letter]

    def end_hand(self, ending: Ending) -> None:
        other = "" if ending.shown is None else cards_text(ending.shown)
        self._send(ending.betting.history, self._cards(ending.cards, ending.board, other))

    def _cards(self, own: Any, board: Any, other: str = "") -> str:
        holes = [cards_text(own), other]
        text = cards_text(board)
        streets = [part for part in (text[:6], text[6:8], text[8:10]) if part]
        return "/".join(["|".join(holes if self._position == 0 else holes[::-1]), *streets])

    def _send(self, history: str, cards: str) -> str:
        """Sends the states up to this one that were not sent yet; returns the last."""
        lines = states_until(self._position, self._hand, history, cards)
        assert self._connection is not None
        for line in lines[self._sent :]:
            self._connection.put(line)
        self._sent = len(lines)
        try:
            self._connection.flush()
        except OSError:
            raise CounterplayError(f"{self.name} has closed the connection") from None
        return lines[-1]


def _end(program: Program, connection: socket.socket, process: int) -> None:
    connection.close()
    if os.getpid() == process:  # a forked process leaves it to the one that started it
        program.end(PATIENCE)


def player_or_program(word: Any) -> Any:
    """The program of a word such as `acpc:./their_bot`; any other player as it is."""
    if isinstance(word, str) and word.startswith(PREFIX):
        return AcpcProgram(word.removeprefix(PREFIX))
    return word
