"""Ctrl-C and SIGTERM: whoever stops a match gets what was played, with its interval, and the log
of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.arena import Caller, Seeded, from_nothing, holdem, strategy

import counterplay as cp
from counterplay.core.base.errors import Interrupted
from counterplay.core.match import play as match_module
from counterplay.core.match.play import blocks
from counterplay.core.parallel.jobs import stop_signals
from counterplay.poker.bots.bot import View
from counterplay.poker.histories.parquet import read_parquet

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def after(share: float, number: int = signal.SIGINT) -> Any:
    """A listener who stops the match once so much of it is played."""

    def progress(done: float, what: str) -> None:
        if done >= share:
            signal.raise_signal(number)

    return progress


def stopped(*arguments: Any, **options: Any) -> cp.MatchResult:
    handlers = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(KeyboardInterrupt) as stop:
        cp.play_match(*arguments, **options)
    assert [signal.getsignal(number) for number in SIGNALS] == handlers
    assert isinstance(stop.value, Interrupted)
    assert isinstance(stop.value.result, cp.MatchResult)
    assert stop.value.result.stopped
    return stop.value.result


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))


@pytest.mark.parametrize(
    ("duplicate", "number"),
    [
        (True, signal.SIGINT),
        (False, signal.SIGTERM),
        pytest.param(True, signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(False, signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_match_of_tables_stops_with_what_was_played(number: int, duplicate: bool) -> None:
    """Whole blocks, the first ones: a match of so many hands is the same match."""
    result = stopped(
        holdem(),
        "always-raise",
        "uniform",
        10**9,
        seed=2,
        duplicate=duplicate,
        progress=after(0.0, number),
    )
    assert 0 < result.hands < 10**7
    straight = cp.play_match(
        holdem(), "always-raise", "uniform", result.hands, seed=2, duplicate=duplicate
    )
    assert straight.mean == result.mean
    assert straight.interval == result.interval
    assert not straight.stopped


def test_a_match_of_another_game_stops_too() -> None:
    kuhn = cp.load("kuhn")
    result = stopped(
        kuhn, cp.Strategy.random(kuhn, 1), cp.Strategy.random(kuhn, 2), 10**9, progress=after(0.0)
    )
    assert 0 < result.hands < 10**8


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_match_of_bots_stops_with_its_log(
    processes: int, small_blocks: None, tmp_path: Path
) -> None:
    log = tmp_path / "hands.parquet"
    options: dict[str, Any] = {"processes": processes, "log": log, "progress": after(0.1)}
    result = stopped(holdem(), Seeded(strategy(1)), Caller(), 40_000, **options)
    assert result.duplicate
    assert 80 <= result.hands < 40_000
    hands = read_parquet(log).hands
    assert result.hands <= len(hands) < 40_000


class Stopper(Caller):
    """Stops the match itself, in the middle of a hand."""

    def __init__(self, at: int, end: Any) -> None:
        self.at, self.end, self.asked = at, end, 0

    def act(self, view: View) -> str:
        self.asked += 1
        if self.asked == self.at:
            self.end()
        return super().act(view)


@pytest.mark.parametrize(("at", "twice"), [(300, False), (600, True)])
def test_stopping_within_a_block(at: int, twice: bool) -> None:
    """In the first session no deal has been played twice: then the single plays count. Later
    only those played twice do."""
    stopper = Stopper(at, lambda: signal.raise_signal(signal.SIGINT))
    result = stopped(
        holdem(), stopper, "always-call", 200, processes=1
    )  # 100 deals, four calls each
    assert result.duplicate == twice
    assert 2 <= result.hands < 200
    assert result.hands % 2 == 0 or not twice


def test_stopping_before_both_seats_were_seen_gives_nothing() -> None:
    with pytest.raises(Interrupted) as stop:
        cp.play_match(
            holdem(),
            Stopper(1, lambda: signal.raise_signal(signal.SIGINT)),
            "probe",
            200,
            processes=1,
        )
    assert stop.value.result is None


def test_an_interrupt_without_a_signal_counts_as_one() -> None:
    """Such as one that a bot or a notebook raises: never a partial result that looks like a
    whole one."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        cp.play_match(holdem(), Stopper(100, interrupt), "probe", 200, processes=1)


def test_a_job_stops_a_match_in_the_middle_of_a_block() -> None:
    """A block of a program takes minutes; its progress is asked for meanwhile, and may stop it."""
    asked = threading.Event()

    def progress(share: float, what: str) -> None:
        if asked.is_set():
            raise KeyboardInterrupt

    stopper = Stopper(100, asked.set)
    with pytest.raises(Interrupted) as stop:
        cp.play_match(holdem(), stopper, "probe", 200_000, processes=1, progress=progress)
    assert stop.value.result is None or stop.value.result.hands < 20_000


def test_who_asks_twice_does_not_wait() -> None:
    with stop_signals() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # the same key press, seen twice
        assert stop()
        stop._asked -= 10.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_what_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stop_signals() as stop:
            signal.raise_signal(signal.SIGINT)
            assert not stop()
    finally:
        signal.signal(signal.SIGINT, before)


class Dies(Caller):
    """A bot whose process is killed, as for want of memory."""

    def __init__(self) -> None:
        self.here = os.getpid()

    def act(self, view: View) -> str:
        if os.getpid() != self.here:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(view)


def test_a_worker_that_dies_ends_the_match_with_a_sentence(small_blocks: None) -> None:
    with pytest.raises(cp.CounterplayError, match="ended early"):
        cp.play_match(holdem(), Dies(), "probe", 400, processes=2)


class Unhappy(Exception):
    """One that cannot be pickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("unhappy")


class Raises(Dies):
    def act(self, view: View) -> str:
        if os.getpid() != self.here:
            raise Unhappy(1, 2)
        return "call"


def test_any_exception_of_a_worker_arrives(small_blocks: None) -> None:
    with pytest.raises(Exception, match="unhappy"):
        cp.play_match(holdem(), Raises(), "probe", 400, processes=2)


# --- learning while playing


@pytest.mark.parametrize("where", ["playing", "thinking"])
def test_learning_stops_with_a_block_and_a_log(where: str, tmp_path: Path) -> None:
    log = tmp_path / "hands.parquet"
    stopper = Stopper(700 if where == "playing" else -1, lambda: signal.raise_signal(signal.SIGINT))
    found = []
    match = from_nothing(
        stopper,
        1_000,
        every=100,
        iterations=10**9 if where == "thinking" else 10,
        kind="frequency",
        log=log,
    )
    with pytest.raises(KeyboardInterrupt) as stop:  # noqa: PT012
        for block in match:
            found.append(block)
            if where == "thinking":
                signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
                signal.setitimer(signal.ITIMER_REAL, 0.5)
    assert isinstance(stop.value, Interrupted)
    assert stop.value.result is found[-1]
    assert len(read_parquet(log).hands) == found[-1].hands
    assert found[-1].hands == 100 if where == "thinking" else 100 < found[-1].hands < 1_000
    low, high = found[-1].interval
    assert low < found[-1].mean < high


# --- processes of their own

BOTS = """
import json, sys, time
import counterplay as cp
from counterplay.core.match import play

play.blocks = lambda deals, size=40: [(k, size) for k in range(deals // size)]

class Slow:
    hands = 0

    def act(self, view):
        return "call"

    def end_hand(self, ending):
        time.sleep(0.002)
        Slow.hands += 1
        if Slow.hands == 100:
            print("playing", flush=True)

try:
    cp.play_match("holdem(buckets=1)", Slow(), "probe", 80_000, processes=2, log="hands.parquet")
except KeyboardInterrupt as stop:
    print(json.dumps({"hands": stop.result.hands, "interval": stop.result.interval}))
    sys.exit(130)
"""


def _start(folder: Path, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize(
    ("whole_group", "number"),
    [(True, signal.SIGINT), pytest.param(False, signal.SIGTERM, marks=pytest.mark.slow)],
)
def test_workers_end_quietly(whole_group: bool, number: int, tmp_path: Path) -> None:
    """Ctrl-C at a terminal reaches every process of the group; `kill` one. No process is left,
    and none says a word."""
    process = _start(tmp_path, "-c", BOTS)
    assert process.stdout is not None
    assert process.stdout.readline() == "playing\n"
    (os.killpg if whole_group else os.kill)(process.pid, number)
    out, error = _end(process)
    assert (process.returncode, error) == (130, "")
    result = json.loads(out.splitlines()[-1])
    assert 80 <= result["hands"] < 80_000
    assert len(read_parquet(tmp_path / "hands.parquet").hands) >= result["hands"]
    until = time.monotonic() + 30
    while _is_there(process.pid):
        assert time.monotonic() < until, "a process was left behind"
        time.sleep(0.02)
