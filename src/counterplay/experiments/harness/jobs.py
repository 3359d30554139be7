"""Pieces of experiments made side by side, each by a process of its own, until there is no time
left.

An experiment may name its pieces as jobs. A job fills the store and gives nothing back, so what is
done stays done: after a stop, or a kill, the same call makes what is missing. The experiment itself
then finds all its pieces there. A job gets as many processors as it has threads.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from counterplay.arena.crew import FORK, start_method
from counterplay.base.progress import Tell

GRACE = 25.0  # seconds for a job that is told to stop: it writes a draft
SAY_EVERY = 1.0  # seconds between two words of a job


class Job(NamedTuple):
    """Jobs of one name are the same job. `seconds`: about, with its processors to itself."""

    name: str
    work: Callable[[Tell], Any]
    seconds: float = 1.0
    threads: int = 1
    after: tuple[str, ...] = ()  # names of jobs whose pieces it needs


def one_each(jobs: Iterable[Job]) -> list[Job]:
    """Without those that have come before."""
    return list({job.name: job for job in reversed(list(jobs))}.values())[::-1]


def can_fork() -> bool:
    """Whether processes start by fork here; elsewhere one process does all jobs."""
    return start_method() == FORK


class Crew:
    """Forked processes that do jobs, and which processors are free."""

    def __init__(self, jobs: Sequence[Job], processors: int) -> None:
        self.jobs = jobs
        self.free = list(range(processors))
        self.idle: list[Connection] = []
        self.busy: dict[Connection, tuple[int, list[int]]] = {}  # number of the job, processors
        self.process: dict[Connection, Any] = {}

    def start(self, number: int) -> None:
        """Give a job to an idle process, or to a new one."""
        if not self.idle:
            self._hire()
        worker = self.idle.pop()
        mine = [self.free.pop(0) for _ in range(min(self.jobs[number].threads, len(self.free)))]
        self.busy[worker] = number, mine
        worker.send((number, mine))

    def _hire(self) -> None:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        # daemons may have no children, and matches against bots are played by children
        process = context.Process(target=_serve, args=(self.jobs, theirs))
        process.start()
        theirs.close()
        self.process[ours] = process
        self.idle.append(ours)

    def release(self, worker: Connection, gone: bool = False) -> int:
        """A job has ended; `gone`: and so has its process."""
        number, mine = self.busy.pop(worker)
        self.free = sorted(self.free + mine)
        if gone:
            self.process.pop(worker).join()
            worker.close()
        else:
            self.idle.append(worker)
        return number

    def dismiss(self) -> None:
        """Everybody leaves: at once who is idle, with a draft who is busy, by force who stays."""
        for worker, process in self.process.items():
            process.terminate()  # closing alone would not do: later ones hold copies of its end
            worker.close()
        until = time.monotonic() + GRACE
        for process in self.process.values():
            process.join(max(until - time.monotonic(), 0.1))
            if process.is_alive():
                process.kill()
                process.join()
        self.process, self.busy, self.idle = {}, {}, []


def run_jobs(
    jobs: Sequence[Job], processors: int, tell: Tell, deadline: float | None = None
) -> dict[str, str]:
    """Do the jobs, the first first, as many at a time as there are processors.

    `deadline`, by the monotonic clock: who still works then is told to stop. Returns why jobs were
    not done, by name: what went wrong, or nothing but that time was over.
    """
    todo = list(range(len(jobs)))
    names = {job.name for job in jobs}
    shares, done, failed = dict.fromkeys(names, 0.0), set[str](), dict[str, str]()
    total = sum(job.seconds for job in jobs) or 1.0
    crew = Crew(jobs, processors)

    def say(number: int, share: float, what: str) -> None:
        shares[jobs[number].name] = min(max(share, 0.0), 1.0)
        over = sum(job.seconds * shares[job.name] for job in jobs)
        tell(over / total, f"{len(done)} of {len(jobs)} pieces, {len(crew.busy)} at work: {what}")

    def ready(number: int) -> bool:
        job = jobs[number]
        waits = (names & set(job.after)) - done - set(failed)
        return not waits and min(job.threads, processors) <= len(crew.free)

    def following() -> int | None:
        """The next job: one that will end in time if there is any."""
        able = [number for number in todo if ready(number)]
        left = float("inf") if deadline is None else deadline - time.monotonic()
        return next((n for n in able if jobs[n].seconds <= left), next(iter(able), None))

    try:
        while todo or crew.busy:
            while (number := following()) is not None:
                todo.remove(number)
                crew.start(number)
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            for worker in wait(list(crew.busy), left):
                _hear(crew, worker, done, failed, say)
    finally:
        crew.dismiss()
    return {job.name: failed.get(job.name, "") for job in jobs if job.name not in done}


def _hear(
    crew: Crew,
    worker: Any,
    done: set[str],
    failed: dict[str, str],
    say: Callable[[int, float, str], None],
) -> None:
    """What a process says: a share of its job, or how it ended."""
    number = crew.busy[worker][0]
    name = crew.jobs[number].name
    try:
        share, what = worker.recv()
    except (EOFError, OSError):
        failed[name] = "its process ended"
        crew.release(worker, gone=True)
        return
    if share is not None:
        say(number, share, f"{name}: {what}")
        return
    crew.release(worker)
    if what:
        failed[name] = what
    else:
        done.add(name)
        say(number, 1.0, name)


def _serve(jobs: Sequence[Job], asks: Connection) -> None:
    """A forked process: does one job after another until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to whoever forked it
    signal.signal(signal.SIGTERM, _stop)
    parent, said = os.getppid(), 0.0

    def tell(share: float, what: str) -> None:
        nonlocal said
        if os.getppid() != parent:
            raise KeyboardInterrupt
        if time.monotonic() - said > SAY_EVERY:
            said = time.monotonic()
            asks.send((share, what))

    try:
        while True:
            number, processors = asks.recv()
            _bind(processors)
            try:
                jobs[number].work(tell)
                asks.send((None, ""))
            except Exception as error:
                if isinstance(error, OSError) and os.getppid() != parent:
                    return
                asks.send((None, f"{type(error).__name__}: {error}"))
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)  # nothing to put away, and no handlers of whoever forked it


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def _bind(processors: Iterable[int]) -> None:
    """Use these processors, by their place among those there are."""
    if not hasattr(os, "sched_setaffinity"):
        return
    known = _known_processors()
    with suppress(OSError):  # not everywhere one may
        os.sched_setaffinity(0, {known[k % len(known)] for k in processors})


_KNOWN: list[int] = []


def _known_processors() -> list[int]:
    """Those this process was born with."""
    if not _KNOWN:
        _KNOWN.extend(sorted(os.sched_getaffinity(0)))
    return _KNOWN
