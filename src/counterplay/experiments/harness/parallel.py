"""Jobs side by side that stop when somebody wants them to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from counterplay.base.machine import cores
from counterplay.base.progress import Tell

T = TypeVar("T")


def in_parallel(jobs: Sequence[Callable[[Tell], T]], tell: Tell) -> list[T]:
    """What each job gives, in order; a job gets a `tell` for its own share.

    After Ctrl-C, or when a job fails, the others end at their next word: their `tell` raises
    KeyboardInterrupt.
    """
    stop = Event()
    shares = [0.0] * len(jobs)

    def own(k: int) -> Tell:
        def told(share: float, what: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            shares[k] = max(shares[k], min(max(share, 0.0), 1.0))
            tell(sum(shares) / len(jobs), what)

        return told

    with ThreadPoolExecutor(cores()) as pool:
        futures = [pool.submit(job, own(k)) for k, job in enumerate(jobs)]
        try:
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()  # raises what it raised
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
