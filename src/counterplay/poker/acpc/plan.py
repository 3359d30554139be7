"""The parameters of a match at our dealer, and an interrupted match, read from its log and its
transcript to be resumed.

The log holds whole hands, so that a match is resumed from it at the hand that was interrupted. The
transcript holds every state that was sent and when: with it a match is resumed within that hand,
and the time that the players have used counts on.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter, CounterplayError, whole_number
from counterplay.poker.acpc.protocol import (
    STATE,
    check_acpc_seed,
    deals_of,
    parse_state,
    states_until,
)
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.histories.acpc import CHIPS, LoggedHand, parse_line
from counterplay.poker.histories.records import MAX_BYTES, cards_text, final_state, settle_deal

MOST_HANDS = 10**8
GAME_FILE = "holdem.limit.2p.reverse_blinds.game"
MATCH = "# name/game/hands/seed"


@dataclass(frozen=True)
class DealerLimits:
    """Limits in milliseconds, with the defaults of the competition's dealer."""

    response_ms: int = 600_000
    hand_ms: int = 600_000
    per_hand_ms: int = 7_000  # times the hands is the budget of the match
    start_ms: int | None = None  # for both to connect; None: no limit

    def __post_init__(self) -> None:
        for value in (self.response_ms, self.hand_ms, self.per_hand_ms, self.start_ms):
            if value is not None and (isinstance(value, bool) or value <= 0):
                raise BadParameter(f"limits of time are milliseconds above 0, not {value!r}")


@dataclass(frozen=True)
class MatchPlan:
    """The parameters of a match."""

    names: tuple[str, str]  # by seat; the first has the big blind in the first hand
    hands: int = 3_000
    seed: int = 0
    limits: DealerLimits = field(default_factory=DealerLimits)
    fixed_seats: bool = False
    name: str = "match"
    log: Path | None = None
    append: bool = False  # to the log
    transcript: Path | None = None  # of all messages
    resume: bool = False  # the interrupted match of the log, in mid-hand with its transcript

    def __post_init__(self) -> None:
        whole_number(self.hands, 1, MOST_HANDS, "hands")
        check_names(self.names)
        check_names((self.name, self.name))
        check_acpc_seed(self.seed)
        if self.resume and self.log is None:
            raise BadParameter("a match is resumed from its log: --log FILE")
        if self.resume and self.append:
            raise BadParameter("a resumed match continues its log; leave out --append")
        for path in (self.log, self.error_file(0), self.error_file(1)):
            if path is not None and self.transcript is not None and _same(path, self.transcript):
                raise BadParameter(
                    f"{self.transcript} is written by the log of the match; give --transcript "
                    "another name"
                )

    def error_file(self, seat: int) -> Path | None:
        """The file beside the log for what the program of a seat writes to stderr; none beside a
        device."""
        if self.log is None or (self.log.exists() and not self.log.is_file()):
            return None
        return self.log.with_name(f"{self.log.stem}.player{seat + 1}.err")

    @property
    def header(self) -> str:
        """The first four lines of log and transcript."""
        return (
            f"{MATCH} {self.name} {GAME_FILE} {self.hands} {self.seed}\n"
            f"#--t_response {self.limits.response_ms}\n"
            f"#--t_hand {self.limits.hand_ms}\n"
            f"#--t_per_hand {self.limits.per_hand_ms}\n"
        )

    def first(self, hand: int) -> int:
        """The seat in position 0, the big blind, in a hand."""
        return 0 if self.fixed_seats else hand & 1


def _same(one: Path, two: Path) -> bool:
    """Whether two paths are one file; a device may be given twice."""
    one, two = Path(os.path.realpath(one)), Path(os.path.realpath(two))
    return one == two and (one.is_file() or not one.exists())


def check_names(names: tuple[str, str]) -> None:
    for name in names:
        if not name or not name.isprintable() or any(mark in name for mark in ":|# "):
            raise BadParameter(
                f"a player's name has no colon, bar, space or #, not {name!r}; give --names A,B"
            )


_HEADER = MATCH.encode()
_SENT = re.compile(rf"TO ([12]) at (\d+\.\d+) ({STATE}:\d+:(\d{{1,9}}):.*?)\r?".encode())
_RECEIVED = re.compile(rb"FROM ([12]) at (\d+\.\d+) [^#;]")


class LoggedMatch(NamedTuple):
    """The last match of a log."""

    header: bytes  # its first line
    hands: list[LoggedHand]
    finished: bool  # it has a SCORE
    size: int  # bytes of the whole lines of the file


def logged_match(path: Path) -> LoggedMatch:
    """Reads the last match of a dealer's log. Its hands are numbered from 0, also across the
    headers that resuming it has written; half a line at the end is left out."""
    lines, size = _whole_lines(path)
    header, hands, finished = b"", list[LoggedHand](), False
    for number, raw in enumerate(lines, start=1):
        if raw.startswith(_HEADER):
            if finished or raw != header:
                header, hands, finished = raw, [], False
        elif raw.strip() and raw.lstrip()[:1] not in b"#;":
            try:
                line = parse_line(raw)
            except CounterplayError as error:
                raise BadFile(f"{path}:{number}: {error}") from None
            if not isinstance(line, LoggedHand):
                finished = True
                continue
            if line.number == 0:
                hands = []
            if line.number != len(hands) or finished:
                raise BadFile(f"{path}:{number}: hand {line.number} after {len(hands)} hands")
            hands.append(line)
    return LoggedMatch(header, hands, finished, size)


def _whole_lines(path: Path) -> tuple[list[bytes], int]:
    """The whole lines of a file, and their bytes."""
    data = read_bytes(path, MAX_BYTES)
    size = data.rfind(b"\n") + 1
    return data[:size].split(b"\n")[:-1], size


def past_states(path: Path, name: str) -> list[str]:
    """The states that the player `name` saw in the last match of a log."""
    lines: list[str] = []
    for hand in logged_match(path).hands:
        if name not in hand.names:
            raise BadParameter(f"{path}: {name!r} is neither of {' and '.join(hand.names)}")
        position = hand.names.index(name)
        if hand.holes[position] is None:
            raise BadFile(f"{path}: the cards of {name!r} in hand {hand.number} are missing")
        showdown = final_state(hand.betting).folded == NO_FOLD
        holes = [
            cards_text(hole or ()) if showdown or k == position else ""
            for k, hole in enumerate(hand.holes)
        ]
        board = cards_text(hand.board)
        streets = [street for street in (board[:6], board[6:8], board[8:]) if street]
        cards = "/".join(["|".join(holes), *streets])
        lines += states_until(position, hand.number, hand.betting, cards)
    return lines


class MatchSoFar(NamedTuple):
    """A match up to where it was interrupted; seconds are by seat."""

    won: list[float]  # small bets, by the dealer of each finished hand
    history: str = ""  # the betting of the interrupted hand
    used: tuple[float, float] = (0.0, 0.0)  # seconds in the match
    used_in_hand: tuple[float, float] = (0.0, 0.0)
    log_size: int = 0  # bytes of whole lines
    transcript_size: int = 0


def read_match(plan: MatchPlan) -> MatchSoFar:
    """The match of the plan's log and transcript; `BadFile` if they are of another match, or if the
    match is over."""
    assert plan.log is not None
    match = logged_match(plan.log)
    _check_header(plan, plan.log, match.header)
    if match.finished:
        raise BadFile(f"{plan.log}: the match is over: it has a SCORE")
    if len(match.hands) > plan.hands:
        raise BadFile(f"{plan.log}: {len(match.hands)} hands; the match has {plan.hands}")
    won = list[float]()
    for hand, cards in zip(match.hands, deals_of(plan.seed, plan.hands), strict=False):
        end, first = final_state(hand.betting), plan.first(hand.number)
        won.append(settle_deal(end, cards))
        board = tuple(cards[4 : 4 + end.on_board])
        for what, logged, expected in (
            ("players", hand.names, (plan.names[first], plan.names[1 - first])),
            ("cards", (*hand.holes, hand.board), (tuple(cards[2:4]), tuple(cards[:2]), board)),
            ("winnings", hand.values[1], won[-1] * CHIPS),
        ):
            if logged != expected:
                raise BadFile(f"{plan.log}: hand {hand.number} has other {what} than in this match")
    so_far = MatchSoFar(won, log_size=match.size)
    path = plan.transcript
    if path is not None and path.is_file() and path.stat().st_size > 0:
        return _read_transcript(plan, path, so_far)
    return so_far


def _check_header(plan: MatchPlan, path: Path, header: bytes) -> None:
    words = header.decode(errors="replace").split()[2:]
    if len(words) != 4 or Path(words[1]).name != GAME_FILE:
        raise BadFile(f"{path}: no match of {GAME_FILE} to resume")
    name, _, hands, seed = words
    if (name, hands, seed) != (plan.name, str(plan.hands), str(plan.seed)):
        raise BadFile(
            f"{path}: a match with --name {name} --hands {hands} --seed {seed}, not with --name "
            f"{plan.name} --hands {plan.hands} --seed {plan.seed}"
        )


def _read_transcript(plan: MatchPlan, path: Path, so_far: MatchSoFar) -> MatchSoFar:
    """Adds the betting of the interrupted hand, and the seconds used."""
    lines, size = _whole_lines(path)
    header, last, hand, done = b"", b"", -1, len(so_far.won)
    used, in_hand, sent = [0.0, 0.0], [0.0, 0.0], [math.inf, math.inf]
    for raw in lines:
        if state := _SENT.fullmatch(raw):
            sent[int(state[1]) - 1], last = float(state[2]), state[3]
            if int(state[4]) != hand:
                hand, in_hand = int(state[4]), [0.0, 0.0]
        elif response := _RECEIVED.match(raw):
            seat = int(response[1]) - 1
            seconds = max(0.0, float(response[2]) - sent[seat])
            used[seat] += seconds
            in_hand[seat] += seconds
        elif raw.startswith(_HEADER):
            header = raw
    _check_header(plan, path, header)
    if hand > done:
        raise BadFile(f"{path}: goes on to hand {hand}, but the log has {done} hands")
    so_far = so_far._replace(used=(used[0], used[1]), transcript_size=size)
    if hand < done:
        return so_far
    in_mid = so_far._replace(used_in_hand=(in_hand[0], in_hand[1]))
    return in_mid._replace(history=_betting(plan, path, hand, last))


def _betting(plan: MatchPlan, path: Path, hand: int, line: bytes) -> str:
    """The betting of the last state of a hand, whose cards must be those of the match."""
    try:
        state = parse_state(line.decode(errors="replace"))
    except CounterplayError as error:
        raise BadFile(f"{path}: {error}") from None
    *_, cards = deals_of(plan.seed, hand + 1)
    own = tuple(cards[2:4] if state.position == 0 else cards[:2])
    if (state.cards[state.position], state.board) != (own, tuple(cards[4 : 4 + len(state.board)])):
        raise BadFile(f"{path}: hand {hand} has other cards than in this match")
    return state.betting.history
