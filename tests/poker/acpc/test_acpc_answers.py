"""Answers in unusual spellings: our dealer reads them as the competition's parser does."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest
from reference.acpc_parser import BAD_ACTION, BAD_STATE, INVALID, OTHER, judged
from support.acpc import DATA, Lined, dealt

from counterplay.poker.acpc.dealer import MatchAborted
from counterplay.poker.acpc.plan import MatchPlan
from counterplay.poker.acpc.protocol import (
    ILLEGAL,
    NO_ACTION,
    NOT_REQUESTED,
    UNREADABLE,
    Request,
    judge,
    public_states,
)
from counterplay.poker.betting.betting import LIMIT, betting_tree

NAMES = ("One", "Two")
BYTES = b"frckbFRCKB/|:0123456789cdhsTJQKA-+ \t\r\0\xe9;#MATCHSTATE"
WARNINGS = {BAD_STATE: UNREADABLE, OTHER: NOT_REQUESTED, BAD_ACTION: NO_ACTION, INVALID: ILLEGAL}
NODES = {public.history: node for node, public in enumerate(public_states())}


def asked(position: int, history: str, cards: str, hand: int = 0) -> Request:
    line = f"MATCHSTATE:{position}:{hand}:{history}:{cards}".encode()
    return Request(line, position, hand, NODES[history], cards)


BLIND = asked(0, "c", "7d3d|")
DEALER = asked(1, "r", "|2hAc", 3)
FLOP = asked(0, "cc/", "7d3d|/5sKs7s")
TURN = asked(0, "cc/cc/", "7d3d|/5sKs7s/9s")


@pytest.mark.parametrize(
    ("request_", "line", "letter", "warning"),
    [
        (BLIND, b"MATCHSTATE:0:0:c:7d3d:r\r\n", "r", None),  # without the bar
        (FLOP, b"MATCHSTATE:0:0:cc/:7d3d/5sKs7s:c\n", "c", None),
        (TURN, b"MATCHSTATE:0:0:cccc:7d3d|5sKs7s9s:r\n", "c", UNREADABLE),  # 5sKs: the other's
        (TURN, b"MATCHSTATE:0:0:cccc:7d3d|/5sKs7s9s:r\n", "r", None),
        (TURN, b"MATCHSTATE:0:0:cc/cc/:7d3d|/5sKs7s/9s/6h:r\n", "c", NO_ACTION),  # one too many
        (BLIND, b"MATCHSTATE:0:0:c:7d3d||:r\n", "c", NO_ACTION),
        (DEALER, b"MATCHSTATE:1:3:r:2hAc:c\n", None, NOT_REQUESTED),  # the other's cards
        (DEALER, b"MATCHSTATE:1:3:r:7d|2hAc:c\n", None, UNREADABLE),
        (DEALER, b"MATCHSTATE:1:3:r:9c9d|2hAc:f\n", "f", None),
        (BLIND, b"MATCHSTATE:0:0:c:7d3d|:r", "r", None),  # no end
        (BLIND, b"MATCHSTATE:0:0:c:7d3d|:r\0junk\n", "r", None),
        (BLIND, b"MATCHSTATE:0:0:c:7d3d|:\0r\n", "c", ILLEGAL),
        (BLIND, b"MATCHSTATE:0:0:c:7d3d|\0:r\n", "c", NO_ACTION),
        (BLIND, b"MATCHSTATE:0:0:c\0:7d3d|:r\n", None, NOT_REQUESTED),
        (BLIND, b"\0MATCHSTATE:0:0:c:7d3d|:r\n", None, UNREADABLE),
        (BLIND, b"MATCHSTATE:0:0:c:7d3d|:\xe9\n", "c", ILLEGAL),
        (BLIND, b"MATCHSTATE:\xa00:0:c:7d3d|:r\n", None, UNREADABLE),  # no space in C
        (BLIND, b"MATCHSTATE:\x1f0:0:c:7d3d|:r\n", None, UNREADABLE),
        (BLIND, b"MATCHSTATE:\x0b0: +0:C:7D3D|:R\n", "r", None),
        (BLIND, b"MATCHSTATE:256:4294967296:c:7d3d|:r\n", "r", None),
        (DEALER, b"MATCHSTATE:-255:3:r:|2hAc:r\n", "r", None),
        (BLIND, b"MATCHSTATE:2:0:c:7d3d|:r\n", None, UNREADABLE),
        (BLIND, b"MATCHSTATE:0:99999999999999999999999:c:7d3d|:r\n", None, NOT_REQUESTED),
        (BLIND, b"MATCHSTATE:0:0:c\r:7d3d|:r\n", None, UNREADABLE),
        (FLOP, b"MATCHSTATE:0:0:cc/:7d3d|/5sKs:c\n", None, UNREADABLE),
    ],
)
def test_answers_as_the_competitions_parser_reads_them(
    request_: Request, line: bytes, letter: str | None, warning: str | None
) -> None:
    expected = (None, warning) if warning == UNREADABLE else (letter, warning)
    assert judge(line, request_) == expected


def mutated(line: bytes, rng: random.Random) -> bytes:
    """A line with one to three bytes changed, left out, put in, repeated or swapped."""
    changed = bytearray(line)
    for _ in range(rng.choice((1, 1, 2, 3))):
        k, other = rng.randrange(len(changed)), rng.randrange(len(changed))
        change = rng.randrange(5)
        if change == 0:
            changed[k] = rng.choice(BYTES)
        elif change == 1:
            del changed[k]
        elif change == 2:
            changed.insert(k, rng.choice(BYTES))
        elif change == 3:
            changed[k:k] = changed[k : k + rng.randrange(1, 5)]
        else:
            changed[k], changed[other] = changed[other], changed[k]
    return bytes(changed)


def test_mutated_answers_of_a_match_as_the_published_code_reads_them() -> None:
    """The recorded answers of a seat, changed at random: every one is judged as the reference
    does, and every judgement occurs."""
    recorded = (DATA / "seed42-seat1.txt").read_text().splitlines()
    lines = [line[2:].removesuffix("\\r\\n") for line in recorded if line.startswith("< MATCH")]
    rng, found = random.Random(5), set[tuple[str | None, str | None]]()
    for k in range(20_000):
        line = lines[k % len(lines)]
        _, position, hand, history, shown, _ = line.split(":")
        request = asked(int(position), history, shown, int(hand))
        own = shown.partition("/")[0].split("|")[int(position)]
        board = shown.partition("/")[2].replace("/", "")
        text = mutated(f"{line}\r\n".encode(), rng)
        state = betting_tree(LIMIT).states[request.node]
        letter, warning = judged(text, state, (int(position), int(hand), history, own, board))
        assert judge(text, request) == (letter, WARNINGS.get(warning)), text
        found.add((letter, warning))
    assert found == {
        *((letter, None) for letter in "fcr"),
        *((None, warning) for warning in (BAD_STATE, OTHER)),
        *(("c", warning) for warning in (BAD_ACTION, INVALID)),
    }


def test_the_transcript_has_the_bytes_that_were_sent(tmp_path: Path) -> None:
    """Carriage returns, bytes that are no text, and an answer up to its NUL."""

    def talk(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        seat.read()
        seat.read()
        connection.sendall(b"\xe9\x80\r\n")
        connection.sendall(b"MATCHSTATE:0:0:c:7d3d:r\0 and so on\r\n")
        while seat.read():
            pass

    def other(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        first = seat.read().strip()
        seat.say(f"{first}:c")
        seat.read()
        raised = seat.read().strip()
        seat.say(f"{raised}:f")
        while seat.read():
            pass

    account = tmp_path / "a.err"
    dealt(MatchPlan(NAMES, 1, 42, transcript=account), talk, other)
    lines = [line.split(b" ", 4) for line in account.read_bytes().split(b"\n")]
    said = [line[4] for line in lines if line[:2] == [b"FROM", b"1"]]
    assert said[0] == b"\xe9\x80\r"
    assert said[1].startswith(b"MATCHSTATE:0:0:c:7d3d:rTO 1 at ")  # a NUL hides the end of the line
    sent = [line[4] for line in lines if line[0] == b"TO"]
    assert sent[0] == b"MATCHSTATE:0:0::7d3d|\r"
    assert {line[-1:] for line in sent} == {b"\r"}


def test_a_last_answer_without_an_end_counts() -> None:
    """Then the match ends, as the player has gone; its opponent has seen the answer."""
    heard: list[str] = []

    def leaves(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        seat.read()
        state = seat.read().strip()
        seat.say(f"{state}:r", "")

    def stays(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        first = seat.read().strip()
        seat.say(f"{first}:c")
        while line := seat.read().strip():
            heard.append(line)
            if line.endswith(":cr:|2hAc"):
                seat.say(f"{line}:c")

    with pytest.raises(MatchAborted, match=r"could not (get action from|send state to) seat 1"):
        dealt(MatchPlan(NAMES, 1, 42), leaves, stays)
    assert heard[:2] == ["MATCHSTATE:1:0:c:|2hAc", "MATCHSTATE:1:0:cr:|2hAc"]


def test_states_that_are_due_are_sent_before_a_match_is_aborted() -> None:
    """A player that answered sees the end of the hand, though the other has gone."""
    heard: list[str] = []

    def gone(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        connection.shutdown(socket.SHUT_WR)
        while seat.read():
            pass

    def folds(connection: socket.socket) -> None:
        seat = Lined(connection)
        seat.say("VERSION:2.0.0")
        first = seat.read().strip()
        seat.say(f"{first}:f")
        while line := seat.read().strip():
            heard.append(line)

    with pytest.raises(MatchAborted, match="could not get action from seat 1"):
        dealt(MatchPlan(NAMES, 5, 42), gone, folds)
    assert heard == ["MATCHSTATE:1:0:f:|2hAc", "MATCHSTATE:0:1::9h6s|"]


def test_a_version_without_an_end_counts() -> None:
    def short(connection: socket.socket) -> None:
        connection.sendall(b"VERSION: 02.0.0")

    warned: list[str] = []
    with pytest.raises(MatchAborted, match="could not get action from seat 2"):
        dealt(MatchPlan(NAMES, 1, 42), short, short, warned)
    assert warned == []
