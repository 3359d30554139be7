"""Processes by fork and by spawn: the same results in the same order, and the same ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import jobs
from support.jobs import do

from counterplay.core.base.errors import CounterplayError
from counterplay.core.parallel.jobs import in_order, in_processes, in_threads
from counterplay.core.parallel.processes import (
    DIED,
    DONE,
    FORK,
    SPAWN,
    ProcessPool,
    never,
)


@pytest.fixture(params=[FORK, SPAWN], autouse=True)
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == FORK and sys.platform != "linux":
        pytest.skip("forks on Linux only")
    monkeypatch.setenv("COUNTERPLAY_START", request.param)
    return str(request.param)


def _by_two(work: list[Any], stop: Callable[[], bool] = never) -> list[Any]:
    return list(in_processes(do, work, 2, stop, lambda: jobs.setup))


def test_results_come_in_order_from_two_processes(tmp_path: Path) -> None:
    work = [("square", k) for k in range(20)]
    assert _by_two(work) == [k * k for k in range(20)]
    here = _by_two([("other", tmp_path)] * 2)
    assert len({os.getpid(), *here}) == 3


def test_errors_and_deaths_are_said() -> None:
    for job, message in (("fail", "unhappy"), ("die", r"ended early \(exit code 9\)")):
        with pytest.raises(CounterplayError, match=message):
            _by_two([("square", 1), (job, 0), ("square", 2)])
    with pytest.raises(ValueError, match="cannot begin"):
        list(in_order(ProcessPool(jobs.broken_setup, 2), [("square", 1)] * 2))


def test_stopping_gives_what_there_is(tmp_path: Path) -> None:
    """Results that wait for an earlier one included. Two jobs are never begun: one stands behind
    the first, which takes until the stop, and one comes after it."""
    work = [("wait", tmp_path), ("square", 3), ("square", 4), ("wait", tmp_path), ("square", 5)]

    def stop() -> bool:
        return len(list(tmp_path.glob("*.waiting"))) == 2

    assert _by_two(work, stop) == ["so far", 9, "so far"]


def test_leaving_ends_all_processes(tmp_path: Path) -> None:
    pool = ProcessPool(jobs.setup, 2)
    coming = in_order(pool, [("square", 3), ("wait", tmp_path), ("wait", tmp_path)])
    assert next(coming) == 9
    processes = [worker.process for worker in pool._workers]
    coming.close()
    assert not any(process.is_alive() for process in processes)
    assert pool.busy == 0


def test_work_that_cannot_be_sent_is_done_here(start: str) -> None:
    """By `in_processes`; a pool of spawned processes refuses it."""
    work = [("here", None)] * 2

    def here(job: Any, context: Any) -> int:
        return os.getpid()

    alone = list(in_processes(here, work, 2)) == [os.getpid()] * 2
    assert alone == (start == SPAWN)
    if start == SPAWN:
        with pytest.raises(CounterplayError, match="cannot be sent to another process"):
            list(in_order(ProcessPool(lambda: here, 2), work))


SCRIPT = """
from pathlib import Path
from support.jobs import setup
from counterplay.core.parallel.jobs import in_order
from counterplay.core.parallel.processes import ProcessPool
print("started", flush=True)
try:
    print(list(in_order(ProcessPool(setup, 2), [("wait", Path("."))] * 2)))
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, 9])
def test_workers_end_with_the_script_that_started_them(number: int, tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group, and workers leave it to the script; no process is left, even
    when the script is killed. A spawned process does not run the script again."""
    process = started(SCRIPT, tmp_path)
    until = time.monotonic() + 300
    while len(list(tmp_path.glob("*.waiting"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    out, error = process.communicate(timeout=300)
    said = "started\nstopped\n" if number == signal.SIGINT else "started\n"
    assert (out, error) == (said, "")
    all_end(process.pid)


def started(script: str, folder: Path) -> subprocess.Popen[str]:
    """A script in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def all_end(group: int) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("a process was left behind")


LARGE_JOBS = """
from support.jobs import LARGE, setup
from counterplay.core.parallel.jobs import in_order
from counterplay.core.parallel.processes import ProcessPool
jobs = [("large", bytes([k]) * LARGE) for k in range(6)]
print([job[0] for job in in_order(ProcessPool(setup, 2), jobs)])
"""


@pytest.mark.skipif(os.name != "posix", reason="ends a group of processes")
def test_large_jobs_with_large_results(tmp_path: Path) -> None:
    """Neither end waits for the other to read."""
    process = started(LARGE_JOBS, tmp_path)
    try:
        out, error = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert (out, error) == ("[0, 1, 2, 3, 4, 5]\n", "")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_result_that_nobody_reads_keeps_no_process(tmp_path: Path) -> None:
    """The script is killed while both jobs run; their results are more than a pipe holds."""
    process = started(SCRIPT.replace('"wait"', '"late"'), tmp_path)
    until = time.monotonic() + 300
    while len(list(tmp_path.glob("*.waiting"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    all_end(process.pid)


def test_a_job_has_processes_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with ProcessPool(jobs.setup, 1, interruptible=True) as pool:
        pool.submit("a", ("starts", tmp_path))
        (report,) = pool.wait(60.0)
    assert (report.key, report.kind) == ("a", DONE)
    assert list(map(len, report.value)) == 2 * [jobs.LARGE]
    assert len(list(tmp_path.glob("*.waiting"))) == 2


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_process_is_missed_though_its_own_go_on(tmp_path: Path, start: str) -> None:
    """They do not hold its end of the pipe."""
    if start == SPAWN:
        pytest.skip("spawned processes inherit nothing")
    with ProcessPool(jobs.setup, 1, interruptible=True) as pool:
        pool.submit("a", ("starts", tmp_path))
        until = time.monotonic() + 30
        while len(list(tmp_path.glob("*.waiting"))) < 2:
            assert time.monotonic() < until
            time.sleep(0.02)
        os.kill(int((tmp_path / "starter").read_text()), signal.SIGKILL)
        reports = pool.wait(10.0)
        (tmp_path / "go").touch()
        assert [(report.key, report.kind) for report in reports] == [("a", DIED)]


def test_threads_in_order_are_hurried_at_the_end() -> None:
    hurried: list[int] = []

    def work(k: int) -> int:
        until = time.monotonic() + 30
        while k > 1 and not hurried and time.monotonic() < until:
            time.sleep(0.005)
        return k

    before = time.monotonic()
    coming = in_threads(work, range(10), 2, 3, at_end=lambda: hurried.append(1))
    assert next(coming) == 0
    coming.close()
    assert hurried == [1]
    assert time.monotonic() - before < 20
