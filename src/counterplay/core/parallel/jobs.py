"""Jobs in order (`in_order`, `in_processes`, `in_threads`); jobs that depend on each other, in
processes or on a cluster, up to a deadline; jobs in threads that stop together; and stopping by
Ctrl-C and SIGTERM. Those of a server are in `background.py`.

A `Job` stores its result on disk and returns nothing, so finished jobs stay finished: after a stop,
or a kill, the same call does the missing ones.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress
from counterplay.core.parallel.background import BackgroundJob
from counterplay.core.parallel.processes import (
    DIED,
    DONE,
    FAILED,
    POLL_SECONDS,
    PROGRESS,
    SKIPPED,
    SPAWN,
    JobContext,
    JobPool,
    ProcessPool,
    Setup,
    Work,
    cores,
    never,
    start_method,
)

if TYPE_CHECKING:
    from counterplay.core.parallel.ray_cluster import Cluster

T = TypeVar("T")
U = TypeVar("U")
MOST_HELD = 100  # results that are held back for an earlier one
#: A second signal after so many seconds interrupts at once.
PATIENCE = 1.0
LOOK_SECONDS = 0.1  # between two looks of a `Stop`


class Stop:
    """A flag that a signal or `ask` sets; calling it returns whether to stop."""

    def __init__(self) -> None:
        self._flag = False
        self._asked = 0.0
        self._look: Callable[[], Any] | None = None
        self._looked = 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        if self._look is not None and not self._flag and now - self._looked > LOOK_SECONDS:
            self._looked = now
            try:
                self._look()
            except KeyboardInterrupt:
                self._flag = True
        return self._flag

    def look(self, callback: Callable[[], Any]) -> None:
        """Calls `callback` now and then when it is asked; its KeyboardInterrupt sets the flag."""
        self._look = callback

    def ask(self) -> None:
        self._flag = True

    def _on_signal(self, _number: int, _frame: Any) -> None:
        if not self._flag:
            self._asked = time.monotonic()
        elif time.monotonic() - self._asked > PATIENCE:
            raise KeyboardInterrupt
        self._flag = True


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Within this context SIGINT and SIGTERM set the flag instead of interrupting, in the main
    thread. Ignored signals stay ignored."""
    stop = Stop()
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        before = {n: old for n, old in handlers.items() if old not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, stop._on_signal)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Job(NamedTuple):
    """A job; its name identifies it. `seconds`: an estimate, with processors of its own."""

    name: str
    work: Callable[[ProgressCallback], Any]
    seconds: float = 1.0
    threads: int = 1
    after: tuple[str, ...] = ()  # names of jobs whose results it needs


def without_duplicates(jobs: Iterable[Job]) -> list[Job]:
    """Returns the first job of each name, in its place."""
    found: dict[str, Job] = {}
    for job in jobs:
        found.setdefault(job.name, job)
    return list(found.values())


def chain_seconds(jobs: Sequence[Job]) -> dict[str, float]:
    """Seconds from the start of each job to the end of the longest chain of jobs that need it."""
    needing: dict[str, list[Job]] = {job.name: [] for job in jobs}
    for job in jobs:
        for name in needing.keys() & set(job.after):
            needing[name].append(job)

    @cache
    def later(name: str) -> float:
        return max((job.seconds + later(job.name) for job in needing[name]), default=0.0)

    return {job.name: job.seconds + later(job.name) for job in jobs}


def run_jobs(
    jobs: Sequence[Job],
    processors: int,
    progress: ProgressCallback,
    deadline: float | None = None,
    remake: Callable[[], Sequence[Job]] | None = None,
    cluster: Cluster | None = None,
) -> dict[str, str]:
    """Runs the jobs in order, as many at a time as there are processors, here or in the cluster.
    A job whose own duration and that of the jobs that wait for it are as long as all other work
    comes before its turn, so that it does not run alone at the end.

    `deadline`, by the monotonic clock: jobs that still run then are stopped. `remake` returns the
    same jobs in another process; without it jobs are pickled. Returns, by name, why jobs were not
    done: the error, or "" for the deadline.
    """
    setup = partial(_work_by_name, remake or partial(list, jobs))
    pool: JobPool
    if cluster is None:
        pool = ProcessPool(setup, processors, interruptible=True)
    else:
        from counterplay.core.parallel.ray_cluster import RayPool  # only where there is a cluster

        pool = RayPool(cluster, setup, force=True)
    todo, names = list(jobs), {job.name for job in jobs}
    expected = {job.name: job.seconds for job in jobs}
    shares, done, failed = dict.fromkeys(names, 0.0), set[str](), dict[str, str]()
    chains = chain_seconds(jobs)

    def report(name: str, share: float, what: str) -> None:
        shares[name] = min(max(share, 0.0), 1.0)
        spent = sum(expected[name] * shares[name] for name in names)
        state = f"{len(done)} of {len(jobs)} pieces, {pool.busy} at work: {what}"
        progress(spent / (sum(expected.values()) or 1.0), state)

    def left() -> float | None:
        return None if deadline is None else deadline - time.monotonic()

    def next_job() -> Job | None:
        """Returns the next job, preferably one that ends before the deadline."""
        ended = done | set(failed)
        ready = [j for j in todo if not (names & set(j.after)) - ended and pool.room(j.threads)]
        limit = left()
        going = (j for j in jobs if j.name not in ended)
        rest = sum(j.seconds * j.threads * (1.0 - shares[j.name]) for j in going) / processors
        if ready and (limit is None or rest <= limit):
            longest = max(ready, key=lambda job: chains[job.name])
            if chains[longest.name] >= rest:
                return longest
        in_time = (job for job in ready if limit is None or job.seconds <= limit)
        return next(in_time, next(iter(ready), None))

    try:
        while todo or pool.busy:
            while (job := next_job()) is not None:
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
                    raise value  # machines with different versions
                elif kind != SKIPPED:
                    why = f"{type(value).__name__}: {value}"
                    failed[name] = why if kind == FAILED else "its process ended"
    finally:
        pool.close()
    return {job.name: failed.get(job.name, "") for job in jobs if job.name not in done}


def _work_by_name(remake: Callable[[], Sequence[Job]]) -> Work:
    """Returns what runs jobs in a process of the pool."""
    jobs = {job.name: job for job in remake()}

    def work(name: str, context: JobContext) -> None:
        jobs[name].work(context.progress)

    return work


def in_order(
    pool: JobPool, jobs: Iterable[Any], stop: Callable[[], bool] = never
) -> Generator[Any, None, None]:
    """Yields results in the order of the jobs. After `stop()` no job begins, and the results so far
    are yielded. Raises the first exception of a job. Closes the pool."""
    todo, results, given = deque(enumerate(jobs)), dict[int, Any](), 0
    try:
        while todo or pool.busy:
            while todo and pool.room() and len(results) < MOST_HELD:
                pool.submit(*todo.popleft())
            for report in pool.wait(POLL_SECONDS):
                if report.kind == FAILED:
                    raise report.value
                if report.kind == DIED:
                    raise CounterplayError(
                        f"a worker process ended early (exit code {report.value}); try processes=1"
                    )
                if report.kind == DONE:
                    results[report.key] = report.value
            if stop():
                pool.stop()
                todo.clear()
            while given in results:
                yield results.pop(given)
                given += 1
        yield from (results[key] for key in sorted(results))
    finally:
        pool.close()


def in_processes(
    work: Work,
    jobs: Sequence[Any],
    processes: int,
    stop: Callable[[], bool] = never,
    remake: Callable[[], Setup | None] = lambda: None,
    warm: Any = None,
) -> Generator[Any, None, None]:
    """Yields results in the order of the jobs, from several processes, or from this one if one is
    enough. Forked processes use `work`, after the job `warm` was done here, so that everything is
    compiled and loaded once. Spawned ones use `remake()`; if that is None, this process does all
    jobs."""
    processes = min(processes, len(jobs))
    setup: Setup | None = lambda: work  # noqa: E731
    if processes > 1 and start_method() == SPAWN:
        setup = remake()
    elif processes > 1 and warm is not None:
        work(warm, JobContext(stopped=stop))
    if processes > 1 and setup is not None:
        yield from in_order(ProcessPool(setup, processes), jobs, stop)
        return
    for job in jobs:
        if stop():
            return
        yield work(job, JobContext(stopped=stop))


def in_threads(
    work: Callable[[T], U],
    items: Iterable[T],
    threads: int,
    waiting: int,
    stop: Callable[[], bool] = never,
    at_end: Callable[[], None] = lambda: None,
) -> Generator[U, None, None]:
    """Yields `work(item)` in order, by threads, at most `waiting` ahead. `at_end` is called before
    waiting for the last threads, so that it can make them stop."""
    running: deque[Future[U]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                if stop():
                    break
                running.append(pool.submit(work, item))
                if len(running) > waiting:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            at_end()
            for future in running:
                future.cancel()


def map_in_threads(
    work: Callable[[T], U],
    items: Sequence[T],
    threads: int,
    progress: ShareCallback = no_progress,
) -> list[U]:
    """Returns `work(item)` of all items in order, by threads. After an exception, such as one that
    `progress` raises to stop, no other item begins."""
    results: list[U] = []
    with closing(in_threads(work, items, threads, 2 * threads)) as stream:
        for result in stream:
            results.append(result)
            progress(len(results) / len(items))
    return results


def in_parallel(
    jobs: Sequence[Callable[[ProgressCallback], T]], progress: ProgressCallback
) -> list[T]:
    """Runs jobs in threads and returns their results in order. `progress` gets the mean share.

    After Ctrl-C or the failure of a job the others end at their next progress report, which raises
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
                future.result()  # raises the job's exception
            return [future.result() for future in futures]
        except BaseException:
            for state, future in zip(running, futures, strict=True):
                state.stop()
                future.cancel()
            raise
