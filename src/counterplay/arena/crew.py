"""Who plays the blocks of a match: threads for kernels, forked processes for bots that think in
Python.

Whoever asks to stop gets what was played until then.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from counterplay.base.errors import CounterplayError
from counterplay.base.stopping import ignore_signals

T = TypeVar("T")
Block = tuple[int, int]  # number, deals
Asked = Callable[[], bool]  # to stop
Play = Callable[[Block, Asked], T]
Run = list[Block]  # blocks that follow each other, played in one go
PlayRun = Callable[[Run], list[T]]
_WAITING = 4  # runs per thread
MOST_BLOCKS = 16  # in a run: all that Python does is done once for so many
_SHARES = 4  # runs of each thread, at least


def in_threads(
    play: PlayRun[T], work: list[Block], threads: int, together: int, stop: Asked
) -> Generator[T, None, None]:
    """Results in order; `together`: the most blocks of a run."""
    size = max(1, min(together, len(work) // (_SHARES * threads)))
    running: deque[Any] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for k in range(0, len(work), size):
            if stop():
                break
            running.append(pool.submit(play, work[k : k + size]))
            if len(running) > _WAITING * threads:
                yield from running.popleft().result()
        while running:
            yield from running.popleft().result()


def in_processes(
    play: Play[T], work: list[Block], processes: int, stop: Asked
) -> Generator[T, None, None]:
    """Results as they come. Workers are forked, so that nothing need be pickled but results;
    without fork one process plays."""
    if processes == 1 or len(work) == 1 or "fork" not in multiprocessing.get_all_start_methods():
        for block in work:
            if stop():
                return
            yield play(block, stop)
        return
    number, n = work[0]
    play((number, min(n, 2)), stop)  # before the fork: everything is compiled and loaded once
    yield from _from_crew(play, work, min(processes, len(work)), stop)


def _from_crew(
    play: Play[T], work: list[Block], processes: int, stop: Asked
) -> Generator[T, None, None]:
    context = multiprocessing.get_context("fork")
    crew: dict[Any, Any] = {}  # the process behind each connection
    try:
        for k in range(processes):
            receiving, sending = context.Pipe(duplex=False)
            arguments = (play, work[k::processes], stop, sending)
            crew[receiving] = context.Process(target=_work, args=arguments, daemon=True)
            crew[receiving].start()
            sending.close()
        waiting = set(crew)
        while waiting:
            ready: Any = wait(list(waiting))
            for receiving in ready:
                try:
                    found = receiving.recv()
                except EOFError:
                    crew[receiving].join()
                    code = crew[receiving].exitcode
                    raise CounterplayError(
                        f"a process that played hands ended early (exit code {code}); try "
                        f"processes=1"
                    ) from None
                if isinstance(found, Exception):
                    raise found
                if found is None:
                    waiting.discard(receiving)
                else:
                    yield found
    finally:
        for receiving, process in crew.items():
            receiving.close()
            process.kill()
            process.join()


def _work(play: Play[Any], work: list[Block], stop: Asked, sending: Connection) -> None:
    """A forked process: plays its share, sends each result, an exception where one occurs, None
    at the end."""
    ignore_signals()
    parent = os.getppid()

    def leave() -> bool:
        return stop() or os.getppid() != parent

    try:
        for block in work:
            if leave():
                break
            sending.send(play(block, leave))
        sending.send(None)
    except OSError:  # nobody listens any more
        return
    except Exception as error:
        _send_error(sending, error)


def _send_error(sending: Connection, error: Exception) -> None:
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # one that does not survive the journey
        error = CounterplayError(f"{type(error).__name__}: {error}")
    with suppress(OSError):
        sending.send(error)
