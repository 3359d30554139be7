"""A match at our dealer: ports are opened, players started and awaited, hands dealt."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

from counterplay.arena.acpc.dealer import Dealer, MatchAborted, MatchPlan
from counterplay.arena.acpc.programs import Program, Sitter
from counterplay.arena.result import MatchResult
from counterplay.base.disk import reason
from counterplay.base.errors import CounterplayError
from counterplay.base.progress import Tell, untold

HOST = "127.0.0.1"
LOOK_EVERY = 0.1  # seconds, while nobody has come
Hear = Callable[[str], None]


def deal_acpc(
    plan: MatchPlan,
    sitters: tuple[Sitter, Sitter],
    *,
    host: str = HOST,
    ports: tuple[int, int] = (0, 0),
    opened: Callable[[tuple[int, int]], None] = lambda ports: None,
    warn: Hear = lambda sentence: None,
    scored: Hear = lambda line: None,
    tell: Tell = untold,
) -> MatchResult:
    """Deal a match of two-player limit hold'em to programs that speak the competition's protocol.

    `ports`: 0 for any that is free; `opened` hears which. `scored` hears the SCORE line. A player
    who is too late or goes away aborts the match with `MatchAborted`: no score.
    """
    with ExitStack() as stack:
        listening = [stack.enter_context(_listen(host, port)) for port in ports]
        numbers = (listening[0].getsockname()[1], listening[1].getsockname()[1])
        opened(numbers)
        programs: list[Program | None] = [None, None]
        for seat, sitter in enumerate(sitters):
            if sitter.command is not None:
                program = Program(sitter, HOST if host == "0.0.0.0" else host, numbers[seat])
                stack.callback(program.end)
                programs[seat] = program
        for place in listening:
            stack.callback(place.close)  # before programs are waited for: whoever is queued leaves
        connections = _accept(plan, listening, programs, stack)
        dealer = Dealer(plan, connections, warn, tell)
        result = dealer.play()
        scored(dealer.score)
        return result


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        raise CounterplayError(f"cannot listen at {host}:{port}: {reason(error)}") from None


def _accept(
    plan: MatchPlan,
    listening: list[socket.socket],
    programs: list[Program | None],
    stack: ExitStack,
) -> tuple[socket.socket, socket.socket]:
    """One connection for each port, the first seat first. A program that dies is not waited for."""
    limit = plan.limits.start_ms
    end = None if limit is None else time.monotonic() + limit / 1000
    found = []
    for seat, (place, program) in enumerate(zip(listening, programs, strict=True)):
        place.settimeout(LOOK_EVERY)
        while True:
            try:
                connection, _ = place.accept()
            except TimeoutError:
                if program is not None:
                    program.check()
                if end is not None and time.monotonic() > end:
                    raise MatchAborted(
                        f"ERROR: timed out waiting for seat {seat + 1} to connect"
                    ) from None
                continue
            break
        place.close()
        connection.settimeout(None)
        found.append(stack.enter_context(connection))
    return found[0], found[1]
