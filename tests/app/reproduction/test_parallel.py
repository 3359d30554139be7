"""Jobs of an experiment side by side: order, progress, and that all of them stop when one fails
or the user says so."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from counterplay.app.reproduction.harness.base import ProgressCallback
from counterplay.core.parallel.jobs import in_parallel


def test_results_come_in_order_and_progress_never_falls() -> None:
    told: list[float] = []

    def job(k: int, progress: ProgressCallback) -> int:
        for share in (0.5, 0.2, 1.0):
            progress(share, "working")
        return k

    jobs = [lambda progress, k=k: job(k, progress) for k in range(5)]
    assert in_parallel(jobs, lambda share, what: told.append(share)) == list(range(5))
    assert max(told) == pytest.approx(1.0)
    assert min(told) >= 0.0


def _endless(ended: list[str], progress: ProgressCallback) -> None:
    try:
        while True:
            progress(0.5, "working")
            time.sleep(0.005)
    finally:
        ended.append("ended")


def _fails(progress: ProgressCallback) -> None:
    raise ValueError("no luck")


def test_when_one_fails_the_others_stop() -> None:
    ended: list[str] = []
    jobs = [
        lambda progress: _endless(ended, progress),
        _fails,
        lambda progress: _endless(ended, progress),
    ]
    with pytest.raises(ValueError, match="no luck"):
        in_parallel(jobs, lambda share, what: None)
    assert len(ended) <= 2  # what had not begun does not begin


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_stops_all_of_them_soon() -> None:
    ended: list[str] = []
    alarm = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    alarm.start()
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        in_parallel([lambda progress: _endless(ended, progress)] * 6, lambda share, what: None)
    assert ended
    assert time.monotonic() - before < 20
