"""Background jobs of this process: their progress, the time left, and a way to stop them."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted

LEAST_SHARE = 0.02  # of a job, from which on the time left is estimated


@dataclass
class BackgroundJob:
    """A job in a thread: its progress, its result, and a way to stop it. `asked`: what it was asked
    for, for those who follow it. `patience`: seconds after which a job that was told to stop counts
    as stopped while its thread is still in a step, such as compiling; None: it is waited for."""

    key: str
    title: str
    asked: Any = None
    patience: float | None = None
    share: float = 0.0
    what: str = "starting"
    state: str = "running"  # running, done, stopped or failed
    problem: str = ""
    result: Any = None
    started: float = field(default_factory=time.monotonic)
    reported: float = 0.0  # when it told of its progress last
    seconds: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def progress(self, share: float, what: str) -> None:
        """Reports progress; raises KeyboardInterrupt after `stop`."""
        self.check()
        self.share, self.what, self.reported = share, what, time.monotonic()

    def check(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt

    def stop(self) -> None:
        self._stop.set()
        if self.patience is not None:
            timer = threading.Timer(self.patience, self._ended, ["stopped", "stopped"])
            timer.daemon = True
            timer.start()

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop, for work that ends itself."""
        return self._stop.is_set()

    def facts(self) -> dict[str, Any]:
        """With the seconds so far, and those that are left where they are known."""
        names = ("key", "title", "asked", "share", "what", "state", "problem")
        now, running = time.monotonic(), self.state == "running"
        spent = now - self.started if running else self.seconds
        left = self._left(now) if running else None
        return {**{name: getattr(self, name) for name in names}, "seconds": spent, "left": left}

    def _left(self, now: float) -> float | None:
        """The seconds left if it goes on as fast; None where it has told nothing for longer than
        until then, since a share that was done before takes no time."""
        if self.share < LEAST_SHARE or now - self.reported > self.reported - self.started:
            return None
        return (now - self.started) * (1.0 / self.share - 1.0)

    def run(self, work: Callable[[BackgroundJob], Any]) -> None:
        try:
            self.result = work(self)
            self.share = 1.0
            self._ended("done", "done")
        except KeyboardInterrupt as stop:
            self.result = stop.result if isinstance(stop, Interrupted) else None
            self._ended("stopped", "stopped")
        except CounterplayError as error:
            self._ended("failed", self.what, str(error))
        except BaseException as error:  # a user's code may call sys.exit
            self._ended("failed", self.what, f"{type(error).__name__}: {error}")

    def _ended(self, state: str, what: str, problem: str = "") -> None:
        if self.state == "running":
            self.what, self.problem = what, problem
            self.seconds = time.monotonic() - self.started
            self.state = state


class BackgroundJobs:
    """A bounded list of background jobs, few of which run; the oldest ended is removed."""

    MOST_RUNNING, MOST_LISTED = 2, 20

    def __init__(self) -> None:
        self._jobs: dict[str, BackgroundJob] = {}

    def start(
        self,
        title: str,
        work: Callable[[BackgroundJob], Any],
        asked: Any = None,
        patience: float | None = None,
    ) -> BackgroundJob:
        """Starts a job; `work` returns the result, or raises `Interrupted` with it if stopped."""
        ended = [key for key, job in self._jobs.items() if job.state != "running"]
        if len(self._jobs) - len(ended) >= self.MOST_RUNNING:
            raise BadParameter(
                f"{self.MOST_RUNNING} pieces of work are going on already; stop one or wait"
            )
        for key in ended[: max(len(self._jobs) + 1 - self.MOST_LISTED, 0)]:
            del self._jobs[key]
        job = BackgroundJob(secrets.token_hex(8), title, asked, patience)
        self._jobs[job.key] = job
        threading.Thread(target=job.run, args=(work,), daemon=True).start()
        return job

    def get(self, key: str) -> BackgroundJob | None:
        return self._jobs.get(key)

    def running(self) -> list[BackgroundJob]:
        """Those that go on, the newest first."""
        return [job for job in reversed(self._jobs.values()) if job.state == "running"]
