"""Long work in the background: how far it is, what came out, and stopping it."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from counterplay.base.errors import BadParameter, CounterplayError, Interrupted
from counterplay.web.library import NotThere

MOST_KEPT = 20
MOST_AT_ONCE = 2


class Cancelled(KeyboardInterrupt):
    """Somebody pressed stop; handled as Ctrl-C is."""


@dataclass
class PageJob:
    """One piece of work."""

    key: str
    title: str
    share: float = 0.0
    what: str = "starting"
    state: str = "running"  # running, done, stopped or failed
    problem: str = ""
    result: Any = None
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def tell(self, share: float, what: str) -> None:
        """Heard while it works; raises when somebody pressed stop."""
        self.check()
        self.share, self.what = share, what

    def check(self) -> None:
        if self._stop.is_set():
            raise Cancelled

    def stop(self) -> None:
        self._stop.set()

    def facts(self) -> dict[str, Any]:
        spent = time.monotonic() - self.started if self.state == "running" else self.seconds
        return {
            "key": self.key,
            "title": self.title,
            "share": self.share,
            "what": self.what,
            "state": self.state,
            "problem": self.problem,
            "seconds": spent,
        }


class Jobs:
    """All work of this server; the oldest finished piece makes room for a new one."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, PageJob] = OrderedDict()

    def start(self, title: str, work: Callable[[PageJob], Any]) -> PageJob:
        """Begin; `work` gives the result, also as that of `Interrupted` when it is stopped."""
        running = [job for job in self._jobs.values() if job.state == "running"]
        if len(running) >= MOST_AT_ONCE:
            raise BadParameter(
                f"{MOST_AT_ONCE} pieces of work are going on already; stop one or wait"
            )
        job = PageJob(secrets.token_hex(8), title)
        self._jobs[job.key] = job
        for key in [k for k, old in self._jobs.items() if old.state != "running"]:
            if len(self._jobs) <= MOST_KEPT:
                break
            del self._jobs[key]
        threading.Thread(target=_run, args=(job, work), daemon=True).start()
        return job

    def find(self, key: str) -> PageJob:
        if key not in self._jobs:
            raise NotThere("that work is not known here any more")
        return self._jobs[key]

    def all(self) -> list[PageJob]:
        return list(self._jobs.values())


def _run(job: PageJob, work: Callable[[PageJob], Any]) -> None:
    try:
        job.result = work(job)
        job.share, job.what, state = 1.0, "done", "done"
    except KeyboardInterrupt as stop:
        job.result = stop.result if isinstance(stop, Interrupted) else None
        job.what, state = "stopped", "stopped"
    except CounterplayError as error:
        job.problem, state = str(error), "failed"
    except Exception as error:
        job.problem, state = f"{type(error).__name__}: {error}", "failed"
    job.seconds = time.monotonic() - job.started
    job.state = state
