"""Logs and transcripts: opened and headed before anybody connects, written hand by hand."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from support.acpc import Lined, dealt, hosted

from counterplay.core.base.errors import CounterplayError
from counterplay.poker.acpc.dealer import Dealer, MatchAborted
from counterplay.poker.acpc.plan import DealerLimits, MatchPlan
from counterplay.poker.acpc.server import AcpcSeat, LocalPlayer, deal_acpc

NAMES = ("one", "two")
SEED = 5
full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def test_a_hand_is_in_the_log_before_its_end_is_sent(tmp_path: Path) -> None:
    log, found = tmp_path / "m.log", list[tuple[int, int]]()

    def folds(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        while line := seat.read().strip():
            _, position, hand, betting, _ = line.split(":")
            if betting == "f":
                found.append((int(hand) + 1, log.read_text().count("STATE:")))
            elif position == "1":
                seat.say(f"{line}:f")

    dealt(MatchPlan(NAMES, 20, SEED, log=log), folds, folds)
    assert len(found) == 40
    assert all(written in (hands, hands + 1) for hands, written in found)


def test_log_and_transcript_are_headed_before_anybody_connects(tmp_path: Path) -> None:
    log, account, limits = tmp_path / "m.log", tmp_path / "m.err", DealerLimits(start_ms=50)
    plan = MatchPlan(NAMES, 12, SEED, limits, log=log, transcript=account)
    nobody = (AcpcSeat("one", None), AcpcSeat("two", None))
    found: list[bool] = []

    def opened(ports: tuple[int, int]) -> None:
        for path in (plan.log, plan.transcript):
            assert path is not None
            found.append(path.read_text() == plan.header)

    with pytest.raises(MatchAborted, match="timed out"):
        deal_acpc(plan, nobody, opened=opened)
    assert found == [True, True]


@full_disk
@pytest.mark.parametrize("what", ["log", "transcript"])
def test_a_log_that_cannot_be_written_is_found_at_once(what: str, tmp_path: Path) -> None:
    """Before anybody is waited for; and the other file is as it was."""
    (tmp_path / "file").write_text("text\n")
    other = "transcript" if what == "log" else "log"
    for path in (Path("/dev/full"), tmp_path / "file" / "m.log", tmp_path):
        kept = tmp_path / "kept"
        kept.write_text("kept\n")
        plan = MatchPlan(NAMES, 5, **{what: path, other: kept})
        opened: list[object] = []
        with pytest.raises(CounterplayError, match=r"cannot write .*: "):
            deal_acpc(plan, (AcpcSeat("one", None), AcpcSeat("two", None)), opened=opened.append)
        assert opened == []
        assert what == "transcript" or kept.read_text() == "kept\n"


def test_files_are_checked_before_players_are_made(tmp_path: Path) -> None:
    """Tables of a player may take minutes. A player who cannot be made leaves no file."""
    seats = (AcpcSeat("x", (), ("no/such.npz", 0)), AcpcSeat("two", None))
    log = tmp_path / "m.log"
    for more, words in (
        ({"log": tmp_path}, "cannot write"),
        ({"log": log, "transcript": tmp_path}, "cannot write"),
        ({"log": log, "resume": True}, "no such file"),
        ({"log": log}, "no strategy at"),
    ):
        with pytest.raises(CounterplayError, match=words):
            deal_acpc(MatchPlan(NAMES, 5, **more), seats)
        assert not log.exists()
    log.write_text("kept\n")
    with pytest.raises(CounterplayError, match="no strategy at"):
        deal_acpc(MatchPlan(NAMES, 5, log=log), seats)
    assert log.read_text() == "kept\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_log_that_is_a_pipe_needs_a_reader(tmp_path: Path) -> None:
    """Without one, opening it would wait for ever; with one it is written."""
    pipe = tmp_path / "m.log"
    os.mkfifo(pipe)
    with pytest.raises(CounterplayError, match=r"cannot write .*m\.log: "):
        Dealer(MatchPlan(NAMES, 5, log=pipe))
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    plan = MatchPlan(NAMES, 5, log=pipe)
    Dealer(plan).close()
    assert os.read(reader, 1000).decode() == plan.header
    os.close(reader)


def test_a_transcript_of_its_own(tmp_path: Path) -> None:
    """Not the log, nor what is written beside it."""
    (tmp_path / "link.log").symlink_to(tmp_path / "m.log")
    for name in ("m.log", "x/../m.log", "link.log", "m.player1.err", "m.player2.err"):
        with pytest.raises(CounterplayError, match="give --transcript another name"):
            MatchPlan(NAMES, 5, log=tmp_path / "m.log", transcript=tmp_path / name)
    MatchPlan(NAMES, 5, log=tmp_path / "m.log", transcript=tmp_path / "m.err")
    MatchPlan(NAMES, 5, log=Path("/dev/null"), transcript=Path("/dev/null"))


def test_a_disk_that_fills_up_ends_the_match_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = MatchPlan(NAMES, 12, SEED, log=tmp_path / "m.log")
    dealer = Dealer(plan)
    assert dealer._log._file is not None
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    dealer._log._file.close()
    dealer._log._file = open("/dev/full", "ab")  # noqa: SIM115
    monkeypatch.setattr("support.acpc.Dealer", lambda *_: dealer)
    with pytest.raises(CounterplayError, match=r"cannot write .*m\.log: No space left"):
        hosted(plan, (LocalPlayer("uniform", 11), LocalPlayer("probe", 11)))


def test_appending_to_half_a_line_starts_a_new_one(tmp_path: Path) -> None:
    log = tmp_path / "m.log"
    for text in ("", "# a comment\n", "# half"):
        log.write_text(text)
        Dealer(MatchPlan(NAMES, 5, log=log, append=True)).close()
        head = text if not text or text.endswith("\n") else f"{text}\n"
        assert log.read_text() == head + MatchPlan(NAMES, 5).header
