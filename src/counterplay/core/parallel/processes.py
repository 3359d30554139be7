"""Jobs in other processes, which are forked or spawned.

`setup()` is called once in each process and returns `work(job, context)`. A forked process has a
copy of this one. A spawned one starts empty, so `setup` and the jobs are pickled; the user's script
is not run again there. Both give the same results. Linux forks; elsewhere fork is missing or unsafe
with threads, and processes are spawned. `COUNTERPLAY_START` overrides that.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.progress import ProgressCallback, no_progress

FORK, SPAWN = "fork", "spawn"
PROGRESS, DONE, FAILED, DIED, SKIPPED = "progress", "done", "failed", "died", "skipped"
POLL_SECONDS = 0.2  # between two checks whether to stop
PROGRESS_SECONDS = 1.0  # between two reports of a job's progress
GRACE_SECONDS = 25.0  # for an interrupted job to write a draft
QUEUED = 2  # jobs per process: the one that runs and the next
MOST_AHEAD = 1 << 12  # bytes of a job that is sent to a process that runs another
#: The open pipes of this process. A forked process has copies of them.
_PIPES: set[Connection] = set()
_STARTING = threading.Lock()
_GRANTED: list[int] = []  # number of processors, if a process cannot be bound to them
_INITIAL: list[int] = []  # processors of this process before it was bound


def cores() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return _GRANTED[-1] if _GRANTED else os.cpu_count() or 1


def initial_cores() -> int:
    """The processors that this process could use before a job was bound to some of them."""
    return len(_INITIAL) or (_GRANTED and os.cpu_count()) or cores()


def start_method() -> str:
    """Returns how processes start: `COUNTERPLAY_START`, or fork on Linux and spawn elsewhere."""
    method = os.environ.get("COUNTERPLAY_START", "")
    if method and method not in (FORK, SPAWN):
        raise BadParameter(f"COUNTERPLAY_START is {FORK} or {SPAWN}, not {method!r}")
    if method == FORK and FORK not in multiprocessing.get_all_start_methods():
        raise BadParameter(f"COUNTERPLAY_START asks for {FORK}, which this system has not")
    return method or (FORK if sys.platform == "linux" else SPAWN)


def never() -> bool:
    """A stop condition that is never true."""
    return False


class JobContext(NamedTuple):
    """The second argument of a job. `progress` raises KeyboardInterrupt after a stop."""

    progress: ProgressCallback = no_progress
    stopped: Callable[[], bool] = never


Work = Callable[[Any, JobContext], Any]
Setup = Callable[[], Work]


class Report(NamedTuple):
    """The progress or the end of a job."""

    key: Any
    kind: str  # PROGRESS, DONE, FAILED, DIED or SKIPPED
    value: Any = None  # (share, what), the result, the exception, the exit code


class JobPool(Protocol):
    """Where jobs run: `ProcessPool`, or `RayPool` of a cluster."""

    @property
    def busy(self) -> int: ...
    def room(self, threads: int = 0) -> bool: ...
    def submit(self, key: Any, job: Any, threads: int = 0) -> None: ...
    def wait(self, timeout: float | None) -> list[Report]: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...


class WorkerProcess:
    """A process, our end of its pipe, and its jobs: keys and processors, the running one first."""

    process: Any

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.jobs: deque[tuple[Any, list[int]]] = deque()
        self._unsent: deque[Any] = deque()  # the last of the jobs, pickled
        _PIPES.add(pipe)

    def submit(self, key: Any, processors: list[int], message: Any) -> None:
        self.jobs.append((key, processors))
        self._unsent.append(message)
        self._send()

    def end_job(self) -> list[int]:
        """Removes the running job and sends the next; returns its processors."""
        _, processors = self.jobs.popleft()
        self._send()
        return processors

    def _send(self) -> None:
        """Sends the jobs that the process reads at once, or that are small. While the process sends
        a large result it reads nothing, and this one would wait for it."""
        while self._unsent:
            message, running = self._unsent[0], len(self.jobs) > len(self._unsent)
            if running and len(message) > MOST_AHEAD:
                return
            self._unsent.popleft()
            with suppress(OSError):  # it has died, which `ProcessPool.wait` reports
                self.pipe.send_bytes(message)

    def close(self) -> None:
        _PIPES.discard(self.pipe)
        self.pipe.close()


def close_inherited(pipe: Connection) -> None:
    """In a new process: closes the copies of its parent's pipes, without which neither end would
    see that the other has ended. `pipe` is its own."""
    for inherited in _PIPES:
        inherited.close()
    _PIPES.clear()
    _PIPES.add(pipe)


class ProcessPool:
    """At most `processes`, started on demand. A job of n `threads` has n processors for itself;
    with 0 the system schedules it.

    `interruptible`: jobs are long, may start processes of their own, and are interrupted when the
    pool is closed. Other jobs are asked to stop (`context.stopped`) and then killed.
    """

    def __init__(
        self, setup: Setup, processes: int, *, interruptible: bool = False, method: str = ""
    ) -> None:
        self._setup, self._processes, self._interruptible = setup, processes, interruptible
        self._method = method or start_method()
        self._context: Any = multiprocessing.get_context(self._method)
        self._flag = self._context.RawValue("b", 0)
        self._workers: list[WorkerProcess] = []
        self._free = list(range(processes))

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def busy(self) -> int:
        """The number of submitted jobs that have not ended."""
        return sum(len(worker.jobs) for worker in self._workers)

    def room(self, threads: int = 0) -> bool:
        """Whether one more job can be submitted."""
        if threads:
            return min(threads, self._processes) <= len(self._free)
        return self.busy < QUEUED * self._processes

    def submit(self, key: Any, job: Any, threads: int = 0) -> None:
        idle = [worker for worker in self._workers if not worker.jobs]
        if not idle and len(self._workers) < self._processes:
            idle = [self._start()]
        worker = idle[0] if idle else min(self._workers, key=lambda one: len(one.jobs))
        processors = self._free[:threads]
        message = ForkingPickler.dumps((job, processors))
        self._free = self._free[threads:]
        worker.submit(key, processors, message)

    def _start(self) -> WorkerProcess:
        spawned = self._method == SPAWN
        with _STARTING:  # else a process that another thread forks would keep the pipe open
            ours, theirs = self._context.Pipe()
            worker = WorkerProcess(ours)
            arguments = (self._setup, theirs, self._flag, os.getpid(), self._interruptible, spawned)
            # a daemon may not start processes, which matches inside a job need
            worker.process = self._context.Process(
                target=_serve, args=arguments, daemon=not self._interruptible
            )
            try:
                _spawn(worker.process) if spawned else worker.process.start()
            except BaseException:
                worker.close()
                raise
            finally:
                theirs.close()
        self._workers.append(worker)
        return self._workers[-1]

    def wait(self, timeout: float | None) -> list[Report]:
        """Returns reports as soon as there are some; none after `timeout` seconds."""
        by_pipe = {worker.pipe: worker for worker in self._workers}
        reports: list[Report] = []
        for pipe in wait(list(by_pipe), timeout):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                kind, value = worker.pipe.recv()
            except (EOFError, OSError):  # the process has ended
                self._workers.remove(worker)
                worker.close()
                worker.process.join()
                end, code = SKIPPED if self._flag.value else DIED, worker.process.exitcode
                self._free = sorted(self._free + [k for _, mine in worker.jobs for k in mine])
                reports += [Report(key, end, code) for key, _ in worker.jobs]
                continue
            reports.append(Report(worker.jobs[0][0], kind, value))
            if kind != PROGRESS:
                self._free = sorted(self._free + worker.end_job())
        return reports

    def stop(self) -> None:
        """Starts no further job and asks the running ones to end."""
        self._flag.value = 1

    def close(self) -> None:
        """Ends all processes."""
        self.stop()
        for worker in self._workers:
            if not self._interruptible:
                worker.process.kill()
            elif os.name == "posix":  # elsewhere this would kill
                worker.process.terminate()
            worker.close()
        until = time.monotonic() + GRACE_SECONDS
        for worker in self._workers:
            worker.process.join(max(until - time.monotonic(), 0.1))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers = []


def _spawn(process: Any) -> None:
    """Starts a process that does not run the user's script and ignores Ctrl-C from the start."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")  # else the user's script would run
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    try:
        process.start()
    except OSError:
        raise
    except Exception as error:
        raise CounterplayError(f"this work cannot be sent to another process: {error}") from error
    finally:
        sys.modules["__main__"] = main
        if in_main:
            signal.signal(signal.SIGINT, handler)


def _serve(
    setup: Setup, pipe: Connection, flag: Any, parent: int, interruptible: bool, spawned: bool
) -> None:
    """Runs jobs in a worker process until it is stopped or its parent has ended."""
    global _STARTING
    _STARTING = threading.Lock()  # a forked process has a copy of it that is held
    close_inherited(pipe)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, signal.default_int_handler if interruptible else signal.SIG_IGN)
    if spawned:  # in a forked process a thread would make further forks unsafe
        threading.Thread(target=_end_with, args=(parent, interruptible), daemon=True).start()
    reported = 0.0

    def stopped() -> bool:
        return flag.value != 0 or _orphaned(parent)

    def progress(share: float, what: str) -> None:
        nonlocal reported
        if stopped():
            raise KeyboardInterrupt
        if time.monotonic() - reported > PROGRESS_SECONDS:
            reported = time.monotonic()
            pipe.send((PROGRESS, (share, what)))

    work: Work | None = None
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            while not pipe.poll(POLL_SECONDS):
                if stopped():
                    raise KeyboardInterrupt
            job, processors = pipe.recv()
            if stopped():
                break
            _bind(processors)
            try:
                work = work or setup()
                pipe.send((DONE, work(job, JobContext(progress, stopped))))
            except Exception as error:
                pipe.send((FAILED, _sendable(error)))
    os._exit(0)  # without the exit handlers of the parent


def _orphaned(parent: int) -> bool:
    if os.name == "posix":
        return os.getppid() != parent
    starter = multiprocessing.parent_process()
    return starter is not None and not starter.is_alive()


def _end_with(parent: int, interruptible: bool) -> None:
    """Ends this process after its parent has ended."""
    while not _orphaned(parent):
        time.sleep(POLL_SECONDS)
    if interruptible:
        time.sleep(GRACE_SECONDS)  # `progress` interrupts the job
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return CounterplayError(f"{type(error).__name__}: {error}")
    return error


def _bind(processors: Sequence[int]) -> None:
    """Binds this process to processors, given by their index among its initial ones."""
    if not processors:
        return
    if not hasattr(os, "sched_setaffinity"):
        _GRANTED.append(len(processors))
        return
    if not _INITIAL:
        _INITIAL.extend(sorted(os.sched_getaffinity(0)))
    with suppress(OSError):  # where that is not permitted
        os.sched_setaffinity(0, {_INITIAL[k % len(_INITIAL)] for k in processors})
