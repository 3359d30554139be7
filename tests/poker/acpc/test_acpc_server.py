"""Our players in the dealer's process: the match is that of players in processes of their own, in
errors too."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.acpc import TIMEOUT, Lined, between, hosted, without_times
from support.arena import Caller, Counter, Says, strategy

import counterplay as cp
from counterplay.core.base.errors import Interrupted
from counterplay.poker.acpc import server
from counterplay.poker.acpc.client import play_acpc
from counterplay.poker.acpc.dealer import MatchAborted
from counterplay.poker.acpc.plan import DealerLimits, MatchPlan
from counterplay.poker.acpc.server import (
    MOST_UNREAD,
    WAIT,
    AcpcSeat,
    LocalPlayer,
    acpc_seat,
    deal_acpc,
)
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.registry import BOTS, BotSpec
from counterplay.poker.bots.table import strategy_bot

NAMES = ("one", "two")
SEED = 7
NOBODY = AcpcSeat("nobody", None)


class Slow(Caller):
    """Takes his time for every answer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def act(self, view: View) -> str:
        time.sleep(self._seconds)
        return "call"


class Leaver(Bot):
    """Calls, and ends with an error at the end of a hand."""

    def __init__(self, error: type[BaseException], hand: int) -> None:
        self._error, self._left = error, hand

    def act(self, view: View) -> str:
        return "call"

    def end_hand(self, ending: Ending) -> None:
        self._left -= 1
        if not self._left:
            raise self._error("enough")


class Written:
    """A plan that writes, and what was written, without times."""

    def __init__(self, folder: Path, name: str, hands: int, **more: Any) -> None:
        self._files = folder / f"{name}.log", folder / f"{name}.err"
        log, transcript = self._files
        self.plan = MatchPlan(NAMES, hands, 5, log=log, transcript=transcript, **more)

    def text(self) -> list[str]:
        return [without_times(path.read_text()) for path in self._files]


@pytest.mark.parametrize(
    ("one", "two", "hands"),
    [
        ("uniform", "probe", 200),
        (lambda: strategy_bot(strategy(1), "a"), lambda: strategy_bot(strategy(2), "b"), 100),
        (Counter, "always-raise", 60),  # remembers
    ],
    ids=["random", "strategies", "memory"],
)
def test_guests_play_the_match_of_far_players(
    one: Any, two: Any, hands: int, tmp_path: Path
) -> None:
    """Every byte of the log and every message in its order; the same result."""

    def made(player: Any) -> Any:
        return player() if callable(player) else player

    far, near = (Written(tmp_path, name, hands) for name in ("far", "near"))
    result = between(far.plan, made(one), made(two), 11)
    guests = (LocalPlayer(made(one), 11), LocalPlayer(made(two), 11))
    again = hosted(near.plan, guests)
    assert near.text() == far.text()
    assert (again.mean, again.standard_error) == (result.mean, result.standard_error)
    assert len(set(far.text()[0].splitlines())) > hands


def with_one_who_comes(plan: MatchPlan, seat: int, player: str, other: AcpcSeat) -> None:
    """By himself, to one who is a guest."""
    comes: list[threading.Thread] = []

    def opened(ports: tuple[int, int]) -> None:
        where = ("127.0.0.1", ports[seat], player, SEED)
        comes.append(threading.Thread(target=play_acpc, args=where, daemon=True))
        comes[0].start()

    waits = acpc_seat(WAIT, seat + 1)
    deal_acpc(plan, (waits, other) if seat == 0 else (other, waits), opened=opened)
    comes[0].join(TIMEOUT)


def test_all_ways_to_sit_down_are_one_match(tmp_path: Path) -> None:
    """Both in the dealer's process, both in their own, and one who comes by himself."""
    names = ("uniform", "probe")
    ours = (acpc_seat(names[0], 1, SEED), acpc_seat(names[1], 2, SEED))
    guests, processes, first, second = (Written(tmp_path, str(k), 50) for k in range(4))
    assert " sb/h (95%) over 50 hands" in repr(deal_acpc(guests.plan, ours))
    deal_acpc(processes.plan, ours, own_processes=True)
    with_one_who_comes(first.plan, 0, names[0], ours[1])
    with_one_who_comes(second.plan, 1, names[1], ours[0])
    for written in (processes, first, second):
        assert written.text() == guests.text()


@pytest.mark.parametrize(
    ("limits", "pause", "words"),
    [
        ({"response_ms": 200}, 0.3, r"get action from seat 2\n\d\.\d seconds .*; timeout 0\.2$"),
        ({"hand_ms": 400}, 0.12, "seat 2 ran out of time"),
        ({"per_hand_ms": 110}, 0.12, "seat 2 ran out of time"),
    ],
)
def test_a_guest_who_is_late(limits: dict[str, int], pause: float, words: str) -> None:
    """As whoever is late, though nobody could look at the clock while he thought."""
    plan = MatchPlan(NAMES, 4, 42, DealerLimits(**limits))
    with pytest.raises(MatchAborted, match=words):
        hosted(plan, (LocalPlayer(Caller()), LocalPlayer(Slow(pause))))


def test_a_guest_who_takes_more_than_a_moment_is_waited_for() -> None:
    result = hosted(MatchPlan(NAMES, 2, 42), (LocalPlayer(Caller()), LocalPlayer(Slow(0.002))))
    assert (result.hands, result.stopped) == (2, False)


@pytest.mark.parametrize(
    ("make", "words", "hands"),
    [
        (lambda: Says("sing"), "parrot stopped: .*answered 'sing'", 0),
        (lambda: Leaver(ValueError, 3), "bot stopped: ValueError: enough", 3),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_guest_who_fails_has_gone(
    make: Callable[[], Bot], words: str, hands: int, seat: int, tmp_path: Path
) -> None:
    """The match ends as it does when a process ends, and its reason is told; what was played is in
    the log."""
    warned: list[str] = []
    guests = [LocalPlayer(Caller()), LocalPlayer(Caller())]
    guests[seat] = LocalPlayer(make(), 0, warned.append)
    plan = MatchPlan(NAMES, 50, 42, log=tmp_path / "a.log")
    error = rf"^ERROR: could not (get action from|send state to) seat {seat + 1}"
    with pytest.raises(MatchAborted, match=error):
        hosted(plan, (guests[0], guests[1]))
    log = (tmp_path / "a.log").read_text()
    assert hands <= log.count("STATE:") <= hands + 1
    assert "SCORE" not in log
    assert [re.match(words, sentence) is not None for sentence in warned] == [True]


def test_stopping_while_a_guest_thinks_gives_what_there_is() -> None:
    with pytest.raises(Interrupted) as stop:
        hosted(
            MatchPlan(NAMES, 50, 42),
            (LocalPlayer(Caller()), LocalPlayer(Leaver(KeyboardInterrupt, 3))),
        )
    assert stop.value.result.stopped
    assert 2 <= stop.value.result.hands <= 3


def test_a_guest_who_is_never_asked_reads_on() -> None:
    """Else his connection would fill and the dealer, who is the same thread, would wait for
    ever."""
    hands = 4 * MOST_UNREAD // 60
    asked, folds = LocalPlayer(Counter()), LocalPlayer(Says("fold"))
    hosted(MatchPlan(NAMES, hands, 42, fixed_seats=True), (asked, folds))
    assert asked.player.bot.views == []
    assert asked.player.hands > hands / 2


def test_nobody_takes_the_place_of_a_guest() -> None:
    with socket.create_server(("127.0.0.1", 0)) as place:
        stranger = socket.create_connection(place.getsockname())
        guest = LocalPlayer(Caller())
        with stranger, guest.connect(place, "127.0.0.1") as connection:
            seat = Lined(connection)
            assert seat.read() == "VERSION:2.0.0\r\n"
            assert Lined(stranger).read() == ""
        guest.leave()


def test_who_may_be_a_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs no code but ours and does not learn."""
    monkeypatch.setitem(BOTS._installed, "theirs", BotSpec("theirs", Caller, "of a package"))
    own = tmp_path / "mine.py"
    own.write_text("class Mine:\n    def act(self, view):\n        return 'call'\n")
    saved = tmp_path / "saved"
    cp.Strategy.uniform(cp.load("kuhn")).save(saved)
    guests = {
        name: acpc_seat(name, 1, 3).in_process
        for name in [*BOTS.built_in(), "theirs", f"{own}:Mine", str(saved), "true", WAIT]
    }
    fast = {name for name in BOTS.built_in() if name != "adaptive"} | {str(saved)}
    assert guests == {name: (name, 3) if name in fast else None for name in guests}


def test_a_player_who_cannot_be_made_is_refused_before_the_ports_are_said() -> None:
    said: list[Any] = []
    with pytest.raises(cp.CounterplayError, match="no strategy at"):
        deal_acpc(
            MatchPlan(NAMES, 5), (AcpcSeat("x", (), ("no/such.npz", 0)), NOBODY), opened=said.append
        )
    assert said == []


def test_a_guest_does_not_wait_for_ever_either() -> None:
    plan = MatchPlan(NAMES, 5, limits=DealerLimits(start_ms=50))
    with pytest.raises(MatchAborted, match="timed out waiting for seat 2 to connect"):
        deal_acpc(plan, (acpc_seat("always-call", 1), NOBODY))


def test_a_connection_that_breaks_before_it_is_taken() -> None:
    class Broken:
        def settimeout(self, seconds: float | None) -> None:
            pass

        def accept(self) -> None:
            raise ConnectionAbortedError

    with pytest.raises(MatchAborted, match=r"^ERROR: seat 2 could not connect$"):
        server.wait_for(Broken(), None, 0.0, 1)
