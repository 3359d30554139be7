"""A process of a pool as its parent sees it: the pipe to it, and its jobs."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

MOST_AHEAD = 1 << 12  # bytes of a job that is sent to a process that runs another
#: The open pipes of this process. A forked process has copies of them.
_PIPES: set[Connection] = set()


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
