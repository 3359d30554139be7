"""The dealer: sends states to both seats, judges their responses, and writes a log.

It behaves as the competition's dealer, also for faulty players; results are not sent. Its messages
are that dealer's: as recorded, and in cases without a record (a state that cannot be sent, a player
that does not connect) as in its published source.

Deviations: a state for the player that need not act waits a millisecond for the response of the
other and is sent with the next one, which saves half of all messages; if a state cannot be sent,
the match ends with a message instead of a signal; there is no transaction log, so that a match
cannot be resumed within a hand.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.match.result import MatchResult, estimate
from counterplay.core.match.tally import tally
from counterplay.poker.acpc.client import PlayerConnection
from counterplay.poker.acpc.protocol import (
    STATE,
    Request,
    check_acpc_seed,
    deals_of,
    hand_texts,
    judge,
    public_states,
)
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.cards.deal import compare, new_deal
from counterplay.poker.histories.acpc import CHIPS, chips_text
from counterplay.poker.match.referee import settle_deal

MOST_HANDS = 10**8
PROGRESS_EVERY = 100  # hands
SECONDS_EVERY = 100  # hands, in the transcript
_VERSION = re.compile(rb"VERSION:\s*[+-]?\d+\.\s*[+-]?\d+\.\s*[+-]?\d+")
_SUPPORTED = re.compile(rb"VERSION:\s*\+?2\.\s*\+?0\.")
GAME_FILE = "holdem.limit.2p.reverse_blinds.game"


class MatchAborted(CounterplayError):
    """A player was late or disconnected: no score, as with the competition's dealer."""


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


class Clock:
    """The time that each seat has used, in seconds."""

    def __init__(self, limits: DealerLimits, hands: int) -> None:
        self.response = limits.response_ms / 1000
        self._hand = limits.hand_ms / 1000
        self._match = limits.per_hand_ms * hands / 1000
        self.used = [0.0, 0.0]
        self._in_hand = [0.0, 0.0]

    def new_hand(self) -> None:
        self._in_hand = [0.0, 0.0]

    def charge(self, seat: int, seconds: float) -> bool:
        """Adds the seconds of a seat; whether it is within all limits."""
        self.used[seat] += seconds
        self._in_hand[seat] += seconds
        return (
            seconds <= self.response
            and self._in_hand[seat] <= self._hand
            and self.used[seat] <= self._match
        )


def header(name: str, hands: int, seed: int, limits: DealerLimits) -> str:
    """The first four lines of log and transcript."""
    return (
        f"# name/game/hands/seed {name} {GAME_FILE} {hands} {seed}\n"
        f"#--t_response {limits.response_ms}\n"
        f"#--t_hand {limits.hand_ms}\n"
        f"#--t_per_hand {limits.per_hand_ms}\n"
    )


def state_line(
    hand: int, history: str, cards: str, dealer_won: float, names: tuple[str, str]
) -> str:
    """The log line of a finished hand; `names` by position."""
    won = chips_text(dealer_won * CHIPS)
    lost = chips_text(-dealer_won * CHIPS)
    return f"STATE:{hand}:{history}:{cards}:{lost}|{won}:{names[0]}|{names[1]}\n"


def score_line(totals: tuple[float, float], names: tuple[str, str]) -> str:
    """The last line of the log; `totals` in small bets, by seat as `names`."""
    one, two = (chips_text(total * CHIPS) for total in totals)
    return f"SCORE:{one}|{two}:{names[0]}|{names[1]}\n"


def check_names(names: tuple[str, str]) -> None:
    for name in names:
        if not name or not name.isprintable() or any(mark in name for mark in ":|# "):
            raise BadParameter(
                f"a player's name has no colon, bar, space or #, not {name!r}; give --names A,B"
            )


class LogWriter:
    """A file that is written line by line; without a path nothing is written."""

    def __init__(self, path: Path | None, append: bool = False) -> None:
        self._file: IO[str] | None = None
        self.idle = path is None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(  # noqa: SIM115  closed by `close`
                    path, "a" if append else "w", encoding="utf-8", newline="\n"
                )
            except OSError as error:
                raise CounterplayError(f"cannot write {path}: {reason(error)}") from None

    def write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def now() -> str:
    """The current time as the dealer writes it."""
    return f"{time.time():.6f}"


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

    def __post_init__(self) -> None:
        whole_number(self.hands, 1, MOST_HANDS, "hands")
        check_names(self.names)
        check_names((self.name, self.name))
        check_acpc_seed(self.seed)


class Dealer:
    """Deals one match to two seats. `warn` is called for mistakes of players."""

    def __init__(
        self,
        plan: MatchPlan,
        seats: tuple[PlayerConnection, PlayerConnection],
        warn: Callable[[str], None] = lambda message: None,
        progress: ProgressCallback = no_progress,
    ) -> None:
        self._plan, self._warn, self._progress = plan, warn, progress
        self._seats = seats
        self._clock = Clock(plan.limits, plan.hands)
        self._states, self._ends = public_states(), betting_tree(LIMIT).states
        self._chance = new_deal()
        compare(self._chance)  # compiles the kernel before the match
        self._log, self._transcript = LogWriter(None), LogWriter(None)
        self._flush_to = (partial(self._flush, 0), partial(self._flush, 1))
        self._pending: Callable[[], None] | None = None  # settles the last hand
        self._totals = 0.0, 0.0
        self.won = np.full((plan.hands, 2), np.nan)  # by the first seat, as dealer and as big blind
        self.hands = 0  # finished

    def play(self) -> MatchResult:
        """Plays all hands; raises `MatchAborted` if a player is late or disconnects. Ctrl-C raises
        `Interrupted` with the result so far."""
        plan = self._plan
        before = time.perf_counter()
        try:
            self._log = LogWriter(plan.log, plan.append)
            self._transcript = LogWriter(plan.transcript)
            for writer in (self._log, self._transcript):
                writer.write(header(plan.name, plan.hands, plan.seed, plan.limits))
            self._check_versions()
            before = time.perf_counter()
            self._record(f"STARTED at {now()}\n")
            for hand, cards in enumerate(deals_of(plan.seed, plan.hands)):
                self._play_hand(hand, cards)
            for seat in (0, 1):
                self._flush(seat)
            self._settle_pending()
            self._record(f"FINISHED at {now()}\n")
            self.score = score_line(self._totals, plan.names)
            self._record(self.score)
            self._log.write(self.score)
        except KeyboardInterrupt:
            self._settle_pending()
            raise Interrupted(self._result(time.perf_counter() - before, True)) from None
        finally:
            self._log.close()
            self._transcript.close()
            for connection in self._seats:
                connection.close()
        result = self._result(time.perf_counter() - before, False)
        assert result is not None
        return result

    def _play_hand(self, hand: int, cards: list[int]) -> None:
        """Plays a hand; it is settled later."""
        first = 0 if self._plan.fixed_seats else hand & 1  # the seat in position 0
        texts, node = hand_texts(cards), 0
        self._clock.new_hand()
        while True:
            public = self._states[node]
            views = texts.by_position if not public.showdown else (texts.all, texts.all)
            lines = [
                f"{STATE}:{position}:{hand}:{public.history}:{views[position][public.street]}"
                for position in (0, 1)
            ]
            self._put(lines[first], lines[1 - first])
            position = public.position
            if position < 0:
                break
            request = Request(lines[position], position, hand, node, views[position][public.street])
            node = public.after[self._ask(position ^ first, request)]
        self._pending = partial(self._settle, hand, cards, first, node, texts.all[public.street])
        if not self._transcript.idle:
            self._settle_pending()

    def _settle_pending(self) -> None:
        """Settles the last hand, while the first player to act in the next one computes."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending()

    def _settle(self, hand: int, cards: list[int], first: int, node: int, shown: str) -> None:
        state, names = self._ends[node], self._plan.names
        dealer_won = settle_deal(state, cards, self._chance)
        positions = (names[first], names[1 - first])
        self._log.write(state_line(hand, state.history, shown, dealer_won, positions))
        won = dealer_won if first == 1 else -dealer_won
        self.won[hand, 1 - first] = won
        self._totals = self._totals[0] + won, self._totals[1] - won
        self.hands = hand + 1
        for k in (0, 1) if hand % SECONDS_EVERY == 0 else ():
            used = int(self._clock.used[k])
            self._record(f"Seconds cumulatively spent in match for seat {k}: {used}\n")
        if self.hands % PROGRESS_EVERY == 0:
            self._progress(self.hands / self._plan.hands, f"{self.hands:,} hands")

    def _ask(self, seat: int, request: Request) -> str:
        """The letter of the action of a seat."""
        self._flush(seat)
        before = sent = time.monotonic()
        self._settle_pending()
        while True:
            data = self._seats[seat].read(self._clock.response, self._flush_to[1 - seat])
            after = time.monotonic()
            if not data:
                waited = f"{after - before:.1f} seconds spent waiting"
                limit = f"timeout {self._clock.response:.1f}"
                raise self._abort(
                    f"ERROR: could not get action from seat {seat + 1}\n{waited}; {limit}"
                )
            line = data.decode("latin-1")
            if not self._transcript.idle:
                self._record(f"FROM {seat + 1} at {now()} {line}")
            if line[0] in "#;":
                before = after
                continue
            if not self._clock.charge(seat, after - sent):
                raise self._abort(f"ERROR: seat {seat + 1} ran out of time")
            judged = judge(line.rstrip("\n").rstrip("\r"), request)
            if judged.warning is not None:
                self._record(f"{judged.warning}\n")
                self._warn(f"{judged.warning} (seat {seat + 1}, hand {request.hand})")
            if judged.letter is not None:
                return judged.letter
            before = after

    def _put(self, *lines: str) -> None:
        """Buffers a line for each seat until the next `_flush`."""
        for seat, line in zip(self._seats, lines, strict=True):
            seat.put(line)
        if not self._transcript.idle:
            for number, line in enumerate(lines, 1):
                self._record(f"TO {number} at {now()} {line}\n")

    def _flush(self, seat: int) -> None:
        try:
            self._seats[seat].flush()
        except OSError:
            raise self._abort(f"ERROR: could not send state to seat {seat + 1}") from None

    def _check_versions(self) -> None:
        """Reads the version line of both seats, without a time limit."""
        for seat, end in enumerate(self._seats):
            line = end.read()
            if not line:
                raise self._abort(f"ERROR: could not read version string from seat {seat + 1}")
            if not _VERSION.match(line):
                version = line.decode("latin-1").rstrip("\r\n")
                raise self._abort(f"ERROR: invalid version string {version}")
            if not _SUPPORTED.match(line):
                message = "ERROR: this server is currently using version 2.0.0"
                self._record(f"{message}\n")
                self._warn(f"{message} (seat {seat + 1})")

    def _abort(self, message: str) -> MatchAborted:
        self._settle_pending()
        self._record(f"{message}\n")
        return MatchAborted(message)

    def _record(self, text: str) -> None:
        self._transcript.write(text)

    def _result(self, seconds: float, stopped: bool) -> MatchResult | None:
        """The result so far; None before the first hand."""
        won = self.won[: self.hands]
        if not self.hands:
            return None
        played = [k for k in (0, 1) if not np.isnan(won[:, k]).all()]
        seat = played[0] if len(played) == 1 else None
        whole = estimate([tally(won)], seat=seat)
        assert whole is not None
        plan = self._plan
        return MatchResult.of(
            "holdem", plan.names, whole, plan.seed, seconds=seconds, stopped=stopped, seat=seat
        )
