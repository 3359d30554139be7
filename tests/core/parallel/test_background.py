"""Background jobs: whatever ends one, it has ended."""

from __future__ import annotations

import threading
import time

import pytest

from counterplay.core.base.errors import CounterplayError, Interrupted
from counterplay.core.parallel.background import BackgroundJob, BackgroundJobs
from counterplay.core.parallel.jobs import Stop, map_in_threads, stop_signals


@pytest.mark.parametrize(
    ("error", "state", "problem"),
    [
        (CounterplayError("a reason"), "failed", "a reason"),
        (ZeroDivisionError("by 0"), "failed", "ZeroDivisionError: by 0"),
        (SystemExit(3), "failed", "SystemExit: 3"),  # of a user's code
        (Interrupted("half"), "stopped", ""),
    ],
)
def test_the_end_of_a_background_job(error: BaseException, state: str, problem: str) -> None:
    def work(job: BackgroundJob) -> None:
        raise error

    jobs = BackgroundJobs()
    for _ in range(BackgroundJobs.MOST_RUNNING + 1):  # else no other could start
        job, until = jobs.start("a job", work), time.monotonic() + 20
        while job.state == "running" and time.monotonic() < until:
            time.sleep(0.005)
        assert (job.state, job.problem) == (state, problem)


def _wait(job: BackgroundJob, seconds: float) -> None:
    until = time.monotonic() + seconds
    while job.state == "running" and time.monotonic() < until:
        time.sleep(0.005)


def test_a_long_step_does_not_keep_a_stopped_job() -> None:
    """Compiling cannot be interrupted: the job has ended for all who wait, its thread later."""
    step = threading.Event()

    def work(job: BackgroundJob) -> str:
        job.progress(0.5, "compiling")
        step.wait(60)
        job.check()
        return "nobody gets it"

    jobs = BackgroundJobs()
    job = jobs.start("a job", work, None, 0.05)
    while job.what != "compiling":
        time.sleep(0.005)
    job.stop()
    _wait(job, 20)
    assert (job.state, job.what, jobs.running()) == ("stopped", "stopped", [])
    step.set()
    time.sleep(0.05)
    assert (job.state, job.result) == ("stopped", None)
    patient = jobs.start("a job", lambda job: time.sleep(0.3) or "all of it")
    patient.stop()  # its result is waited for
    _wait(patient, 20)
    assert (patient.state, patient.result) == ("done", "all of it")


def test_after_a_stop_no_other_item_begins() -> None:
    begun: list[int] = []

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(begun.append, range(1_000), 2, stop)
    assert len(begun) < 20
    shares: list[float] = []
    assert map_in_threads(abs, range(-5, 0), 2, shares.append) == [5, 4, 3, 2, 1]
    assert shares == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_who_asks_a_stop_makes_it_look() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with stop_signals() as stop:
        assert isinstance(stop, Stop)
        looked: list[None] = []
        stop.look(lambda: looked.append(None))
        assert not stop()
        assert looked == [None]
        stop.look(interrupted)
        time.sleep(0.15)
        assert stop()
