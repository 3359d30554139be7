"""A dealer and players in threads, over sockets of this machine, on ports that are free."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from counterplay.core.match.result import MatchResult
from counterplay.poker.acpc.client import PlayerConnection, play_acpc
from counterplay.poker.acpc.dealer import Dealer
from counterplay.poker.acpc.plan import MatchPlan
from counterplay.poker.acpc.server import AcpcSeat, LocalConnection, LocalPlayer, deal_acpc

TIMEOUT = 20.0  # seconds, after which a test has failed
DATA = Path(__file__).parent.parent / "data" / "acpc"
Talk = Callable[[socket.socket], None]
ANYBODY = (AcpcSeat("one", None), AcpcSeat("two", None))


def _pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as place:
        one = socket.create_connection(place.getsockname())
        return one, place.accept()[0]


@contextmanager
def _threads(*work: Callable[[], Any]) -> Iterator[list[BaseException]]:
    """Side by side; what goes wrong in them is raised at the end."""
    wrong: list[BaseException] = []

    def run(job: Callable[[], Any]) -> None:
        try:
            job()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in work]
    for thread in threads:
        thread.start()
    try:
        yield wrong
    finally:  # what they heard is complete, also of a match that was aborted
        for thread in threads:
            thread.join(TIMEOUT)
    assert not any(thread.is_alive() for thread in threads)
    if wrong:
        raise wrong[0]


def dealt(plan: MatchPlan, one: Talk, two: Talk, warned: list[str] | None = None) -> MatchResult:
    """A match between two who talk to a dealer."""
    ours, theirs = _pair(), _pair()
    heard = [] if warned is None else warned

    def talk(talker: Talk, connection: socket.socket) -> None:
        with connection:
            talker(connection)

    jobs = [lambda: talk(one, ours[0]), lambda: talk(two, theirs[0])]
    with _threads(*jobs):
        seats = PlayerConnection(ours[1]), PlayerConnection(theirs[1])
        return Dealer(plan, heard.append).play(seats)


def between(plan: MatchPlan, one: Any, two: Any, seed: int = 0) -> MatchResult:
    """A match between two of our players, by the client."""
    ports: list[int] = []
    ready = threading.Event()

    def opened(numbers: tuple[int, int]) -> None:
        ports.extend(numbers)
        ready.set()

    def client(k: int, player: Any) -> None:
        ready.wait(20)
        play_acpc("127.0.0.1", ports[k], player, seed)

    with _threads(lambda: client(0, one), lambda: client(1, two)):
        return deal_acpc(plan, ANYBODY, opened=opened)


def hosted(
    plan: MatchPlan, guests: tuple[LocalPlayer, LocalPlayer], warned: list[str] | None = None
) -> MatchResult:
    """A match between two who sit in the dealer's process."""
    seats = []
    for guest in guests:
        with socket.create_server(("127.0.0.1", 0)) as place:
            seats.append(LocalConnection(guest.connect(place, "127.0.0.1"), guest))
    heard = [] if warned is None else warned
    try:
        return Dealer(plan, heard.append).play((seats[0], seats[1]))
    finally:
        for guest in guests:
            guest.leave()


def served(talk: Talk, play: Callable[[int], Any]) -> Any:
    """What `play(port)` gives at a table where somebody else deals."""
    with socket.create_server(("127.0.0.1", 0)) as place:

        def deal() -> None:
            connection, _ = place.accept()
            with connection:
                talk(connection)

        with _threads(deal):
            return play(place.getsockname()[1])


def without_times(text: str) -> str:
    return re.sub(r"(TO \d|FROM \d|STARTED|FINISHED) at \d+\.\d+", r"\1", text).replace("\r", "")


class Lined:
    """The other end of a connection, line by line."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(TIMEOUT)
        self._file = connection.makefile("rwb")

    def read(self) -> str:
        return self._file.readline().decode()

    def say(self, text: str, end: str = "\r\n") -> None:
        self._file.write(f"{text}{end}".encode())
        self._file.flush()


def replay(lines: list[str], ends: str = "\r\n", stay: bool = True) -> Talk:
    """A seat of a transcript ("> " from the dealer, "< " to it), which then leaves, or stays until
    the dealer has gone."""

    def talk(connection: socket.socket) -> None:
        seat = Lined(connection)
        for line in lines:
            if line[0] == "<":
                seat.say(line[2:], ends)
            else:
                said = seat.read()
                assert said == f"{line[2:]}\r\n"
        while stay and seat.read():
            pass

    return talk
