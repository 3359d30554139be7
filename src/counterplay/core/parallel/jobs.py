"""Jobs that wait for each other, in processes or on a cluster, until there is no time left; jobs in
threads that stop together; and jobs in the background of this process.

A `Job` keeps what it makes on disk and gives nothing back, so what is done stays done: after a
stop, or a kill, the same call makes what is missing.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from counterplay.core.base.errors import BadParameter, CounterplayError, Interrupted
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.processes import (
    DONE,
    FAILED,
    PROGRESS,
    SKIPPED,
    JobContext,
    JobPool,
    ProcessPool,
    Work,
    cores,
)
from counterplay.core.parallel.ray_cluster import Cluster, RayPool

T = TypeVar("T")


class Job(NamedTuple):
    """Jobs of one name are the same job. `seconds`: about, with its processors to itself."""

    name: str
    work: Callable[[ProgressCallback], Any]
    seconds: float = 1.0
    threads: int = 1
    after: tuple[str, ...] = ()  # names of jobs whose results it needs


def without_duplicates(jobs: Iterable[Job]) -> list[Job]:
    """The first of each name."""
    return list({job.name: job for job in reversed(list(jobs))}.values())[::-1]


def run_jobs(
    jobs: Sequence[Job],
    processors: int,
    progress: ProgressCallback,
    deadline: float | None = None,
    remake: Callable[[], Sequence[Job]] | None = None,
    cluster: Cluster | None = None,
) -> dict[str, str]:
    """Do the jobs, the first first, as many at a time as there are processors, or a cluster has.

    `deadline`, by the monotonic clock: jobs that still run then are told to stop. `remake` gives
    the same jobs in another process; without it they are sent there as they are. Returns why jobs
    were not done, by name: what went wrong, or nothing but that time was over.
    """
    setup = partial(_work_by_name, remake or partial(list, jobs))
    pool: JobPool = (
        ProcessPool(setup, processors, interruptible=True)
        if cluster is None
        else RayPool(cluster, setup, force=True)
    )
    todo, names = list(jobs), {job.name for job in jobs}
    expected = {job.name: job.seconds for job in jobs}
    shares, done, failed = dict.fromkeys(names, 0.0), set[str](), dict[str, str]()

    def report(name: str, share: float, what: str) -> None:
        shares[name] = min(max(share, 0.0), 1.0)
        over = sum(expected[name] * shares[name] for name in names)
        progress(
            over / (sum(expected.values()) or 1.0),
            f"{len(done)} of {len(jobs)} pieces, {pool.busy} at work: {what}",
        )

    def left() -> float | None:
        return None if deadline is None else deadline - time.monotonic()

    def following() -> Job | None:
        """The next job: one that will end in time if there is any."""
        able = [
            job
            for job in todo
            if not (names & set(job.after)) - done - set(failed) and pool.room(job.threads)
        ]
        limit = left()
        in_time = (job for job in able if limit is None or job.seconds <= limit)
        return next(in_time, next(iter(able), None))

    try:
        while todo or pool.busy:
            while (job := following()) is not None:
                todo.remove(job)
                pool.submit(job.name, job.name, job.threads)
            rest = left()
            if rest is not None and rest <= 0:
                break
            for name, kind, value in pool.wait(rest):
                if kind == PROGRESS:
                    report(name, value[0], f"{name}: {value[1]}")
                elif kind == DONE:
                    done.add(name)
                    report(name, 1.0, name)
                elif isinstance(value, BadParameter) and cluster is not None:
                    raise value  # machines that are not alike
                elif kind != SKIPPED:
                    why = f"{type(value).__name__}: {value}"
                    failed[name] = why if kind == FAILED else "its process ended"
    finally:
        pool.close()
    return {job.name: failed.get(job.name, "") for job in jobs if job.name not in done}


def _work_by_name(remake: Callable[[], Sequence[Job]]) -> Work:
    """In a process of the pool."""
    jobs = {job.name: job for job in remake()}

    def work(name: str, context: JobContext) -> None:
        jobs[name].work(context.progress)

    return work


def in_parallel(
    jobs: Sequence[Callable[[ProgressCallback], T]], progress: ProgressCallback
) -> list[T]:
    """What each job gives, in order, by threads; a job reports its own progress.

    After Ctrl-C, or when a job fails, the others end at their next report, which raises
    KeyboardInterrupt.
    """
    running = [BackgroundJob("", "") for _ in jobs]

    def work(job: Callable[[ProgressCallback], T], state: BackgroundJob) -> T:
        def report(share: float, what: str) -> None:
            state.progress(max(state.share, min(max(share, 0.0), 1.0)), what)
            progress(sum(one.share for one in running) / len(jobs), what)

        return job(report)

    with ThreadPoolExecutor(cores()) as pool:
        futures = [pool.submit(work, *one) for one in zip(jobs, running, strict=True)]
        try:
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()  # raises what it raised
            return [future.result() for future in futures]
        except BaseException:
            for state, future in zip(running, futures, strict=True):
                state.stop()
                future.cancel()
            raise


@dataclass
class BackgroundJob:
    """A job in a thread: how far it is, what came out, and stopping it."""

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

    def progress(self, share: float, what: str) -> None:
        """Progress of the job; raises KeyboardInterrupt when somebody pressed stop."""
        self.check()
        self.share, self.what = share, what

    def check(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt

    def stop(self) -> None:
        self._stop.set()

    def facts(self) -> dict[str, Any]:
        names = ("key", "title", "share", "what", "state", "problem")
        running = self.state == "running"
        spent = time.monotonic() - self.started if running else self.seconds
        return {**{name: getattr(self, name) for name in names}, "seconds": spent}

    def run(self, work: Callable[[BackgroundJob], Any]) -> None:
        try:
            self.result = work(self)
            self.share, self.what, state = 1.0, "done", "done"
        except KeyboardInterrupt as stop:
            self.result = stop.result if isinstance(stop, Interrupted) else None
            self.what, state = "stopped", "stopped"
        except CounterplayError as error:
            self.problem, state = str(error), "failed"
        except Exception as error:
            self.problem, state = f"{type(error).__name__}: {error}", "failed"
        self.seconds = time.monotonic() - self.started
        self.state = state


class BackgroundJobs:
    """Few run at a time; the oldest that has ended makes room for a new one."""

    MOST_RUNNING, MOST_LISTED = 2, 20

    def __init__(self) -> None:
        self._jobs: dict[str, BackgroundJob] = {}

    def start(self, title: str, work: Callable[[BackgroundJob], Any]) -> BackgroundJob:
        """Begin; `work` gives the result, also as that of `Interrupted` when it is stopped."""
        ended = [key for key, job in self._jobs.items() if job.state != "running"]
        if len(self._jobs) - len(ended) >= self.MOST_RUNNING:
            raise BadParameter(
                f"{self.MOST_RUNNING} pieces of work are going on already; stop one or wait"
            )
        for key in ended[: max(len(self._jobs) + 1 - self.MOST_LISTED, 0)]:
            del self._jobs[key]
        job = BackgroundJob(secrets.token_hex(8), title)
        self._jobs[job.key] = job
        threading.Thread(target=job.run, args=(work,), daemon=True).start()
        return job

    def get(self, key: str) -> BackgroundJob | None:
        return self._jobs.get(key)
