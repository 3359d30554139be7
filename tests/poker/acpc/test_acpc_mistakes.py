"""Players who make mistakes, are late or go away: our dealer does what the competition's does."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.acpc import DATA, Lined, dealt, replay, without_times

from counterplay.core.base.errors import BadParameter
from counterplay.poker.acpc import client
from counterplay.poker.acpc.client import LineReader
from counterplay.poker.acpc.dealer import MatchAborted
from counterplay.poker.acpc.plan import DealerLimits, MatchPlan

NAMES = ("One", "Two")


def cases() -> dict[str, list[str]]:
    parts = (DATA / "mistakes.txt").read_text().split("=== ")[1:]
    return {name: lines for name, *lines in (part.splitlines() for part in parts)}


VERSIONS = {
    "v1": "VERSION:1.0.0",
    "v21": "VERSION:2.1.0",
    "v20x": "VERSION:2.0.7",
    "vbad": "hello",
    "vcomment": "# hi",
    "vshort": "VERSION:2.0",
}
#: Lines after which the first seat leaves, where the record goes on without it.
LEAVES = {"nonacting_close": 2, "nonacting_half": 2}


@pytest.mark.parametrize("name", cases())
def test_mistakes_get_what_they_get_from_the_competitions_dealer(name: str, tmp_path: Path) -> None:
    lines = cases()[name]
    hands = int(lines[0].split()[-2])
    talks: list[list[str]] = []
    for seat in (1, 2):
        version = VERSIONS.get(name, "VERSION:2.0.0") if seat == 1 else "VERSION:2.0.0"
        talk = [f"< {version}"]
        for line in lines:
            if line.startswith(f"TO {seat} "):
                talk.append(f"> {line[5:]}")
            if line.startswith(f"FROM {seat} "):
                talk.append(f"< {line[7:]}")
        talks.append(talk)
    account, log = tmp_path / "a.err", tmp_path / "a.log"
    plan = MatchPlan(NAMES, hands, 42, name=name, transcript=account, log=log)
    whole = "ERROR: could" in lines[-2] or "ERROR: invalid" in lines[-1]  # else it was cut
    one = replay(talks[0][: LEAVES.get(name)], "\n" if name == "lf_only" else "\r\n", False)
    finished = lines[-1].startswith("SCORE")
    ends = contextlib.nullcontext() if finished else pytest.raises(MatchAborted, match=r"^ERROR: ")
    with ends:
        dealt(plan, one, replay(talks[1], stay=whole))
    found = without_times(account.read_text()).splitlines()
    assert found[: len(lines)] == lines
    assert ("SCORE" in log.read_text()) == finished
    assert log.read_text().splitlines()[:4] == lines[:4]


def caller(pause: float = 0.0, mark: str = "") -> Callable[[socket.socket], None]:
    """Calls, after some time; `mark` is said before every answer."""

    def talk(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        while line := seat.read().strip():
            position, betting = int(line[11]), line.split(":")[3]
            if betting.endswith("cc/cc/cc/cc"):
                continue  # over
            first = 0 if "/" in betting else 1
            if position == (first + len(betting.rpartition("/")[2])) % 2:
                time.sleep(pause)
                seat.say(f"{mark}{line}:c")

    return talk


@pytest.mark.parametrize(
    ("limits", "pause", "words"),
    [
        ({"response_ms": 400}, 1.0, r"get action from seat 1\n0\.\d seconds .*; timeout 0\.4$"),
        ({"hand_ms": 400}, 0.12, "seat 1 ran out of time"),
        ({"per_hand_ms": 150}, 0.12, "seat 1 ran out of time"),
    ],
)
def test_limits_of_time(limits: dict[str, int], pause: float, words: str, tmp_path: Path) -> None:
    """Of one who takes his time for each of four answers in a hand; no score, and no hand beyond
    the limit."""
    log = tmp_path / "a.log"
    plan = MatchPlan(NAMES, 4, 42, DealerLimits(**limits), log=log)
    with pytest.raises(MatchAborted, match=words):
        dealt(plan, caller(pause), caller())
    assert log.read_text().count("STATE:") <= 4 * 150 / (4 * 120)
    assert "SCORE" not in log.read_text()


def test_a_carriage_return_ends_no_line() -> None:
    def talk(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        seat.read()
        state = seat.read().strip()
        seat.say(f"{state}:c", "\r")
        assert seat.read() == ""  # the end

    plan = MatchPlan(NAMES, 2, 42, DealerLimits(response_ms=400))
    with pytest.raises(MatchAborted, match="could not get action from seat 1"):
        dealt(plan, talk, caller())


def test_a_long_line_is_two(tmp_path: Path) -> None:
    """Of a comment of 5,000 characters the rest is no comment."""
    account, warned = tmp_path / "a.err", list[str]()
    plan = MatchPlan(NAMES, 1, 42, transcript=account)
    dealt(plan, caller(mark=f"#{4999 * 'x'}\r\n"), caller(), warned)
    text = account.read_text()
    assert f"#{4094 * 'x'}FROM 1" in text
    assert f" {905 * 'x'}" in text
    assert len(warned) == 4
    assert warned[0] == "WARNING: bad state format in response (seat 1, hand 0)"


def test_one_who_goes_away_between_hands_ends_the_match(tmp_path: Path) -> None:
    """The other gets the end too, and what was played is in the log."""

    def leave(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        while "MATCHSTATE:0:0:f" not in seat.read():
            pass

    def folder(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        first = seat.read().strip()
        seat.say(f"{first}:f")
        while seat.read():
            pass

    log = tmp_path / "a.log"
    with pytest.raises(MatchAborted, match=r"could not (get action from|send state to) seat 1"):
        dealt(MatchPlan(NAMES, 50, 42, log=log), leave, folder)
    assert [line[:9] for line in log.read_text().splitlines()[4:]] == ["STATE:0:f"]


def test_nobody_says_a_version() -> None:
    def leave(connection: socket.socket) -> None:
        pass

    with pytest.raises(MatchAborted, match="could not read version string from seat 2"):
        dealt(MatchPlan(NAMES, 2), caller(), leave)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ("a:b", "c")}, "no colon"),
        ({"names": ("", "c")}, "no colon"),
        ({"name": "a b"}, "no colon"),
        ({"hands": 0}, "hands must be"),
        ({"hands": True}, "hands must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_plans_that_make_no_sense(change: dict[str, object], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        MatchPlan(**{"names": NAMES, **change})
    with pytest.raises(BadParameter, match="milliseconds above 0"):
        DealerLimits(hand_ms=0)


WAYS = {
    "sleeps at once": {"cores": lambda: 2},
    "looks first": {"cores": lambda: 8},
    "without MSG_DONTWAIT": {"DONT_WAIT": 0},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_line_is_waited_for_so_long(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes late is read, what does not come ends the wait, and the other work is done
    once."""
    for name, value in WAYS[way].items():
        monkeypatch.setattr(client, name, value)
    done: list[int] = []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = LineReader(ours, 100)
        before = time.monotonic()
        assert reader.read(0.05, lambda: done.append(1)) == b""
        assert 0.04 < time.monotonic() - before < 5.0
        later = threading.Timer(0.03, theirs.sendall, [b"late\n"])

        def other_work() -> None:  # before it nothing is sent, however slow the machine is
            done.append(2)
            later.start()

        assert reader.read(20.0, other_work) == b"late\n"
        later.join()
        assert reader.read(0.0) == b""
        theirs.close()
        assert reader.read(20.0) == b""
    assert done == [1, 2]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cut", [1, 2, 3, 7, 1000])
def test_lines_however_they_are_cut(cut: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than allowed comes in pieces; the end of the connection ends the last one."""
    for name, value in WAYS[way].items():
        monkeypatch.setattr(client, name, value)
    data = b"one\r\n\ntwo\rthree\n" + 25 * b"x" + b"\n" + 10 * b"y" + b"\nrest"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        reader = LineReader(ours, 10)
        found = []
        for k in range(0, len(data), cut):
            theirs.sendall(data[k : k + cut])
            while line := reader.read(0.002):
                found.append(line)
        theirs.close()
        assert (reader.read(1.0), reader.read(1.0)) == (b"rest", b"")
    xs = [10 * b"x", 10 * b"x", 5 * b"x" + b"\n"]
    assert found == [b"one\r\n", b"\n", b"two\rthree\n", *xs, 10 * b"y", b"\n"]
