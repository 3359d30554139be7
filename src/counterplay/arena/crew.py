"""Who plays the blocks of a match: threads for kernels, processes for bots that think in Python.

Processes are forked on Linux, which takes no time, and spawned elsewhere, where a fork is missing
or breaks what runs in threads.

Whoever asks to stop gets what was played until then.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any, TypeVar

from counterplay.base.errors import BadParameter, CounterplayError
from counterplay.base.stopping import ignore_signals

T = TypeVar("T")
Block = tuple[int, int]  # number, deals
Asked = Callable[[], bool]  # to stop
Play = Callable[[Block, Asked], T]
Remake = Callable[[], Play[T]]
Run = list[Block]  # blocks that follow each other, played in one go
PlayRun = Callable[[Run], list[T]]
FORK, SPAWN = "fork", "spawn"
LOOK_UP_SECONDS = 0.2  # whether somebody asked to stop
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


def start_method() -> str:
    """How processes start: `COUNTERPLAY_START`, or on Linux by fork, elsewhere by spawn."""
    asked = os.environ.get("COUNTERPLAY_START", "")
    known = multiprocessing.get_all_start_methods()
    if asked and asked not in (FORK, SPAWN):
        raise BadParameter(f"COUNTERPLAY_START is {FORK} or {SPAWN}, not {asked!r}")
    if asked == FORK and FORK not in known:
        raise BadParameter(f"COUNTERPLAY_START asks for {FORK}, which this system has not")
    return asked or (FORK if sys.platform == "linux" else SPAWN)


def in_processes(
    play: Play[T],
    work: list[Block],
    processes: int,
    stop: Asked,
    anew: Callable[[], Remake[T] | None] = lambda: None,
) -> Generator[T, None, None]:
    """Results as they come. A forked process has `play` as it is; one that is spawned makes it by
    what `anew` answers, which can be sent there. Where that is None, this process plays alone."""
    alone = processes == 1 or len(work) == 1
    method = FORK if alone else start_method()
    remake = anew() if method == SPAWN else None
    if alone or (method == SPAWN and remake is None):
        for block in work:
            if stop():
                return
            yield play(block, stop)
        return
    processes = min(processes, len(work))
    if method == SPAWN:
        yield from _from_crew(_Spawned(remake), work, processes, stop)
        return
    number, n = work[0]
    play((number, min(n, 2)), stop)  # before the fork: everything is compiled and loaded once
    yield from _from_crew(_Forked(play, stop), work, processes, stop)


class _Forked:
    """Processes that have all that this one has, the flag to stop included."""

    def __init__(self, play: Play[Any], stop: Asked) -> None:
        self._context: Any = multiprocessing.get_context(FORK)
        self._play, self._stop = play, stop

    def start(self, work: list[Block]) -> tuple[Connection, Any]:
        """Begin to play; where results come from, and the process."""
        receiving, sending = self._context.Pipe(duplex=False)
        arguments = (self._play, work, self._stop, sending)
        process = self._context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        sending.close()
        return receiving, process

    def tell_to_stop(self) -> None:
        """They see it themselves."""


class _Spawned:
    """Processes that start from nothing, and are told to stop."""

    def __init__(self, remake: Any) -> None:
        self._context: Any = multiprocessing.get_context(SPAWN)
        self._remake = remake
        self._flag = self._context.Event()

    def start(self, work: list[Block]) -> tuple[Connection, Any]:
        receiving, sending = self._context.Pipe(duplex=False)
        arguments = (self._remake, work, self._flag, sending)
        process = self._context.Process(target=_work_anew, args=arguments, daemon=True)
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # or the user's script would run again
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
        sending.close()
        return receiving, process

    def tell_to_stop(self) -> None:
        self._flag.set()


def _from_crew(
    starter: _Forked | _Spawned, work: list[Block], processes: int, stop: Asked
) -> Generator[Any, None, None]:
    crew: dict[Any, Any] = {}  # the process behind each connection
    try:
        for k in range(processes):
            receiving, process = starter.start(work[k::processes])
            crew[receiving] = process
        waiting = set(crew)
        while waiting:
            ready: Any = wait(list(waiting), timeout=LOOK_UP_SECONDS)
            if stop():
                starter.tell_to_stop()
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


def _work_anew(
    remake: Callable[[], Play[Any]], work: list[Block], flag: Any, sending: Connection
) -> None:
    """A spawned process."""
    try:
        play = remake()
    except Exception as error:
        _send_error(sending, error)
        return
    _work(play, work, flag.is_set, sending)


def _work(play: Play[Any], work: list[Block], stop: Asked, sending: Connection) -> None:
    """A process: plays its share, sends each result, an exception where one occurs, None at the
    end."""
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
