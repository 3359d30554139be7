"""A match at our dealer: ports are opened, players started and awaited, hands dealt."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

from counterplay.arena.acpc.dealer import Dealer, MatchAborted, MatchPlan
from counterplay.arena.acpc.programs import Program, Sitter
from counterplay.arena.acpc.seats import DealerEnd, Guest, HostedEnd
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
    own_processes: bool = False,
) -> MatchResult:
    """Deal a match of two-player limit hold'em to programs that speak the competition's protocol.

    `ports`: 0 for any that is free; `opened` hears which. `scored` hears the SCORE line. A player
    who is too late or goes away aborts the match with `MatchAborted`: no score. Built-in bots but
    `adaptive`, and saved strategies, sit in this process, which is quicker and gives the same
    match; `own_processes` starts one for each.
    """
    with ExitStack() as stack:
        listening = [stack.enter_context(_listen(host, port)) for port in ports]
        numbers = (listening[0].getsockname()[1], listening[1].getsockname()[1])
        near = HOST if host == "0.0.0.0" else host  # where our own players find the dealer
        players: list[Program | Guest | None] = [None, None]
        for seat, sitter in enumerate(sitters):
            if sitter.guest is not None and not own_processes:
                players[seat] = guest = Guest(*sitter.guest, warn, tell)
                stack.callback(guest.leave)
        opened(numbers)
        for seat, sitter in enumerate(sitters):
            if sitter.command is not None and players[seat] is None:
                players[seat] = program = Program(sitter, near, numbers[seat])
                stack.callback(program.end)
        for place in listening:
            stack.callback(place.close)  # before programs are waited for: whoever is queued leaves
        dealer = Dealer(plan, _seats(plan, listening, players, near, stack), warn, tell)
        result = dealer.play()
        scored(dealer.score)
        return result


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=1)
    except (OSError, OverflowError) as error:
        raise CounterplayError(f"cannot listen at {host}:{port}: {reason(error)}") from None


def _seats(
    plan: MatchPlan,
    listening: list[socket.socket],
    players: list[Program | Guest | None],
    near: str,
    stack: ExitStack,
) -> tuple[DealerEnd, DealerEnd]:
    """One for each port, the first first."""
    limit = plan.limits.start_ms
    end = math.inf if limit is None else time.monotonic() + limit / 1000
    found: list[DealerEnd] = []
    for place, player in zip(listening, players, strict=True):
        if isinstance(player, Guest):
            seat: DealerEnd = HostedEnd(player.sit_down(place, near), player)
        else:
            seat = DealerEnd(_accept(place, player, end, len(found) + 1))
        stack.callback(seat.close)
        place.close()
        found.append(seat)
    return found[0], found[1]


def _accept(place: socket.socket, program: Program | None, end: float, seat: int) -> socket.socket:
    """Whoever connects. A program that dies is not waited for."""
    place.settimeout(LOOK_EVERY)
    while True:
        try:
            return place.accept()[0]
        except TimeoutError:
            if program is not None:
                program.check()
            if time.monotonic() > end:
                raise MatchAborted(f"ERROR: timed out waiting for seat {seat} to connect") from None
        except OSError:
            raise MatchAborted(f"ERROR: seat {seat} could not connect") from None
