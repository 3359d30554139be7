"""Work that a reply has to wait for once: tables, kernels, an equilibrium. It runs as a background
job, so that the page shows a bar and can stop it; what is quick is done before the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from counterplay.app.web import http
from counterplay.core.base.errors import BadParameter
from counterplay.core.parallel.background import BackgroundJob, BackgroundJobs

POLLS, POLL_SECONDS = 10, 0.05  # before the reply is a job
PATIENCE = 1.0  # seconds that a step, such as compiling, may take after a stop
ACCEPTED = 202


class Waits(BackgroundJobs):
    """Those of several pages at once."""

    MOST_RUNNING = 6


class Preparations:
    """What was prepared, and the jobs that prepare; two requests for the same share one."""

    def __init__(self) -> None:
        self.jobs = Waits()
        self._done: set[str] = set()
        self._running: dict[str, BackgroundJob] = {}

    def start(self, key: str, work: Callable[[BackgroundJob], Any]) -> BackgroundJob | None:
        """The job that prepares `key`; None if that is done."""
        if key in self._done:
            return None
        job = self._running.get(key)
        if job is None or job.state in ("stopped", "failed"):
            job = self._running[key] = self.jobs.start(f"preparing {key}", work, None, PATIENCE)
        return job

    async def wait(self, key: str, work: Callable[[BackgroundJob], Any]) -> Response | None:
        """Prepares `key`. Returns None when that is done, after half a second the job as a reply;
        the page follows it and asks again."""
        job = self.start(key, work)
        for _ in range(POLLS):
            if job is None or job.state != "running":
                break
            await asyncio.sleep(POLL_SECONDS)
        if job is not None and job.state == "running":
            return http.json_reply({"job": job.key}, ACCEPTED)
        self._running.pop(key, None)
        if job is not None and job.state != "done":
            raise BadParameter(job.problem or "stopped; nothing was kept")
        self._done.add(key)
        return None
