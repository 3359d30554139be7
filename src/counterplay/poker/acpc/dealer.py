"""The dealer: sends states to both seats, judges their responses, and writes log and transcript,
line by line.

It behaves as the competition's dealer, also for faulty players; results are not sent. Its messages
are that dealer's: as recorded, and in cases without a record (a state that cannot be sent, a player
that does not connect) as in its published source.

Deviations: a state for the player that need not act waits a millisecond for the response of the
other and is sent with the next one, which saves half of all messages; if a state cannot be sent,
the match ends with a message instead of a signal; a match is resumed from log and transcript
(`read_match`) instead of a transaction log.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from counterplay.core.base.disk import reason
from counterplay.core.base.errors import CounterplayError, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.match.kernels import tally
from counterplay.core.match.result import MatchResult, estimate
from counterplay.poker.acpc.client import PlayerConnection
from counterplay.poker.acpc.plan import DealerLimits, MatchPlan, MatchSoFar, read_match
from counterplay.poker.acpc.protocol import (
    STATE,
    Request,
    deals_of,
    hand_texts,
    judge,
    public_states,
)
from counterplay.poker.betting.betting import LIMIT, UNIT, betting_tree
from counterplay.poker.bots.bot import nodes_by_history
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.histories.acpc import CHIPS, chips_text
from counterplay.poker.histories.records import settle_deal


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file; a pipe that nobody reads is an error instead of a wait."""
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(number, True)
    return number


class LogWriter:
    """A file in which every text is when `write` returns; without a path nothing is written."""

    def __init__(self, path: Path | None) -> None:
        self._path, self.idle = path, path is None
        self._file: IO[bytes] | None = None
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = open(path, "ab", opener=_open_at_once)  # noqa: SIM115  see `close`
            except OSError as error:
                raise self._failed(error) from None

    def start(self, text: str, keep: int | None = 0) -> None:
        """Writes `text` behind the first `keep` bytes of the file; None: behind all of them, on a
        new line."""
        if self._file is not None and self._path is not None:
            try:
                size = os.fstat(self._file.fileno()).st_size
                if keep is None and size:
                    with open(self._path, "rb") as written:
                        written.seek(-1, os.SEEK_END)
                        text = text if written.read() == b"\n" else f"\n{text}"
                elif keep is not None and keep < size:
                    self._file.truncate(keep)
            except OSError as error:
                raise self._failed(error) from None
        self.write(text.encode())

    def write(self, text: bytes) -> None:
        if self._file is not None:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                raise self._failed(error) from None

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # of what `write` has already failed to write
                self._file.close()

    def _failed(self, error: OSError) -> CounterplayError:
        return CounterplayError(f"cannot write {self._path}: {reason(error)}")


def check_files(plan: MatchPlan) -> None:
    """An error if log or transcript cannot be written, or the match cannot be resumed from them:
    before players are made, which may take minutes. It changes no file and leaves no new one."""
    for path in (plan.log, plan.transcript):
        if path is not None and not path.is_fifo():  # a reader of a pipe would leave
            new = not path.exists()
            LogWriter(path).close()
            if new:
                path.unlink()
    if plan.resume:
        read_match(plan)


PROGRESS_EVERY = 100  # hands
SECONDS_EVERY = 100  # hands, in the transcript
_NUMBER = rb"\s*([+-]?\d+)"
_VERSION = re.compile(rb"VERSION:%b\.%b\.%b" % (_NUMBER, _NUMBER, _NUMBER))


class MatchAborted(CounterplayError):
    """A player was late or disconnected: no score, as with the competition's dealer."""

    def __init__(self, message: str, seat: int) -> None:
        super().__init__(message)
        self.seat = seat  # of that player


class Clock:
    """The time that each seat has used, in seconds."""

    def __init__(self, limits: DealerLimits, hands: int, so_far: MatchSoFar) -> None:
        self.response = limits.response_ms / 1000
        self._hand = limits.hand_ms / 1000
        self._match = limits.per_hand_ms * hands / 1000
        self.used = list(so_far.used)
        self._in_hand = list(so_far.used_in_hand)

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


def now() -> str:
    """The current time as the dealer writes it."""
    return f"{time.time():.6f}"


class Dealer:
    """Deals one match to two seats; log and transcript are opened at once. `warn` is called for
    mistakes of players."""

    def __init__(
        self,
        plan: MatchPlan,
        warn: Callable[[str], None] = lambda message: None,
        progress: ProgressCallback = no_progress,
    ) -> None:
        self._plan, self._warn, self._progress = plan, warn, progress
        so_far = read_match(plan) if plan.resume else MatchSoFar([])
        self._seats: tuple[PlayerConnection, ...] = ()
        self._clock = Clock(plan.limits, plan.hands, so_far)
        self._states, self._ends = public_states(), betting_tree(LIMIT).states
        strength([0, 1, 2, 3, 4, 5, 6])  # compiles the kernel before the match
        self._flush_to = (partial(self._flush, 0), partial(self._flush, 1))
        self._totals = 0.0, 0.0
        self.won = np.full((plan.hands, 2), np.nan)  # by the first seat, as dealer and as big blind
        self.hands = 0  # finished
        for hand, won in enumerate(so_far.won):
            self._count(hand, won)
        self._node = nodes_by_history()[so_far.history]  # where the next hand starts
        self._log, self._transcript = LogWriter(None), LogWriter(None)
        try:
            self._log, self._transcript = LogWriter(plan.log), LogWriter(plan.transcript)
            self._log.start(plan.header, None if plan.append else so_far.log_size)
            self._transcript.start(plan.header, so_far.transcript_size)
        except CounterplayError:
            self.close()
            raise

    def close(self) -> None:
        """Closes log and transcript."""
        self._log.close()
        self._transcript.close()

    def play(self, seats: tuple[PlayerConnection, ...]) -> MatchResult:
        """Plays all hands with two seats (none if all hands were played); raises `MatchAborted` if
        a player is late or disconnects. Ctrl-C raises `Interrupted` with the result so far."""
        self._seats, plan = seats, self._plan
        before = time.perf_counter()
        try:
            self._check_versions()
            before = time.perf_counter()
            self._record(f"STARTED at {now()}\n")
            for hand, cards in islice(enumerate(deals_of(plan.seed, plan.hands)), self.hands, None):
                self._play_hand(hand, cards)
            for seat in range(len(seats)):
                self._flush(seat)
            self._record(f"FINISHED at {now()}\n")
            totals = "|".join(chips_text(total * CHIPS) for total in self._totals)
            self.score = f"SCORE:{totals}:{'|'.join(plan.names)}\n"
            self._record(self.score)
            self._log.write(self.score.encode())
        except KeyboardInterrupt:
            raise Interrupted(self._result(time.perf_counter() - before, True)) from None
        finally:
            self.close()
            for connection in seats:
                with suppress(OSError):
                    connection.flush()  # states that were due before the match was aborted
                connection.close()
        result = self._result(time.perf_counter() - before, False)
        assert result is not None
        return result

    def _play_hand(self, hand: int, cards: list[int]) -> None:
        first, texts = self._plan.first(hand), hand_texts(cards)
        node, self._node = self._node, 0
        while True:
            public = self._states[node]
            position = public.position
            views = texts.by_position if not public.showdown else (texts.all, texts.all)
            lines = [
                f"{STATE}:{position}:{hand}:{public.history}:{views[position][public.street]}"
                for position in (0, 1)
            ]
            if position < 0:
                self._settle(hand, cards, node, texts.all[public.street])
            self._put(lines[first], lines[1 - first])
            if position < 0:
                break
            line, shown = lines[position].encode(), views[position][public.street]
            request = Request(line, position, hand, node, shown)
            node = public.after[self._ask(position ^ first, request)]
        self._clock.new_hand()
        for seat in (0, 1) if hand % SECONDS_EVERY == 0 else ():
            used = int(self._clock.used[seat])
            self._record(f"Seconds cumulatively spent in match for seat {seat}: {used}\n")
        if self.hands % PROGRESS_EVERY == 0:
            self._progress(self.hands / self._plan.hands, f"{self.hands:,} hands")

    def _settle(self, hand: int, cards: list[int], node: int, shown: str) -> None:
        """Counts a finished hand and writes it to the log, before the players see its end."""
        state, names, first = self._ends[node], self._plan.names, self._plan.first(hand)
        won = settle_deal(state, cards)
        values = "|".join(chips_text(amount * CHIPS) for amount in (-won, won))
        by_position = f"{names[first]}|{names[1 - first]}"
        line = f"STATE:{hand}:{state.history}:{shown}:{values}:{by_position}\n"
        self._log.write(line.encode())
        self._count(hand, won)

    def _count(self, hand: int, dealer_won: float) -> None:
        first = self._plan.first(hand)
        won = dealer_won if first == 1 else -dealer_won
        self.won[hand, 1 - first] = won
        self._totals = self._totals[0] + won, self._totals[1] - won
        self.hands = hand + 1

    def _ask(self, seat: int, request: Request) -> str:
        """The letter of the action of a seat."""
        self._flush(seat)
        before = sent = time.monotonic()
        while True:
            line = self._seats[seat].read(self._clock.response, self._flush_to[1 - seat])
            after = time.monotonic()
            if not line:
                waited = f"{after - before:.1f} seconds spent waiting"
                limit = f"timeout {self._clock.response:.1f}"
                message = f"ERROR: could not get action from seat {seat + 1}\n{waited}; {limit}"
                raise self._abort(message, seat)
            if not self._transcript.idle:
                said = line.partition(b"\0")[0]  # that dealer prints it as a string of C
                self._transcript.write(f"FROM {seat + 1} at {now()} ".encode() + said)
            if line[0] in b"#;":
                before = after
                continue
            if not self._clock.charge(seat, after - sent):
                raise self._abort(f"ERROR: seat {seat + 1} ran out of time", seat)
            judged = judge(line, request)
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
            at = now()
            self._record("".join(f"TO {k} at {at} {line}\r\n" for k, line in enumerate(lines, 1)))

    def _flush(self, seat: int) -> None:
        try:
            self._seats[seat].flush()
        except OSError:
            message = f"ERROR: could not send state to seat {seat + 1}"
            raise self._abort(message, seat) from None

    def _check_versions(self) -> None:
        """Reads the version line of both seats, without a time limit."""
        for seat, end in enumerate(self._seats):
            line = end.read()
            if not line:
                message = f"ERROR: could not read version string from seat {seat + 1}"
                raise self._abort(message, seat)
            version = _VERSION.match(line)
            if version is None:
                said = line.decode("latin-1").partition("\0")[0].rstrip("\r\n")
                raise self._abort(f"ERROR: invalid version string {said}", seat)
            if [int(part) % 2**32 for part in version.groups()[:2]] != [2, 0]:
                message = "ERROR: this server is currently using version 2.0.0"
                self._record(f"{message}\n")
                self._warn(f"{message} (seat {seat + 1})")

    def _abort(self, message: str, seat: int) -> MatchAborted:
        self._record(f"{message}\n")
        return MatchAborted(message, seat)

    def _record(self, text: str) -> None:
        self._transcript.write(text.encode())

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
        about = {"seconds": seconds, "stopped": stopped, "seat": seat, "unit": UNIT[-1]}
        return MatchResult.of("holdem", plan.names, whole, plan.seed, **about)
