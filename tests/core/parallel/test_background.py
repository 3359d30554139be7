"""Background jobs: whatever ends one, it has ended."""

from __future__ import annotations

import time

import pytest

from counterplay.core.base.errors import CounterplayError, Interrupted
from counterplay.core.parallel.jobs import BackgroundJob, BackgroundJobs


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
