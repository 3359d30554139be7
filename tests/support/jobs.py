"""Jobs that spawned processes can import, without Numba: each of them imports this again."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job, in_processes
from counterplay.core.parallel.processes import JobContext, Work

LARGE = 1 << 22  # bytes, more than a pipe holds


def note(folder: Path, name: str, progress: ProgressCallback, seconds: float = 0.0) -> None:
    """Write its name behind those of the jobs before it."""
    progress(0.0, name)
    time.sleep(seconds)
    with (folder / "order").open("a") as file:
        file.write(f"{name}\n")


def noting(folder: Path, names: str, after: dict[str, str] | None = None) -> list[Job]:
    return [
        Job(n, partial(note, folder, n, seconds=0.02), after=tuple((after or {}).get(n, "")))
        for n in names
    ]


def write_processors(file: Path, progress: ProgressCallback) -> None:
    file.write_text(" ".join(map(str, os.sched_getaffinity(0))))


def write_machine(file: Path, progress: ProgressCallback) -> None:
    from counterplay.app.reproduction.harness.base import machine

    file.write_text(machine())


def fails(progress: ProgressCallback) -> None:
    raise ValueError("no luck")


def dies(progress: ProgressCallback) -> None:
    os._exit(3)


def endless(folder: Path, progress: ProgressCallback) -> None:
    """Until it is interrupted; then it writes a draft."""
    mark = folder / f"{os.getpid()}.running"
    try:
        mark.touch()
        while True:
            progress(0.5, "working")
            time.sleep(0.01)
    except KeyboardInterrupt:
        (folder / "draft").write_text("so far")
        raise
    finally:
        mark.unlink()


def asleep(folder: Path, progress: ProgressCallback) -> None:
    """The same without a word."""
    (folder / "asleep").touch()
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        (folder / "draft").write_text("so far")
        raise


def setup() -> Work:
    """What `ProcessPool` runs in the tests."""
    return do


def broken_setup() -> Work:
    raise ValueError("cannot begin")


def do(job: tuple[Any, ...], context: JobContext) -> Any:
    kind, value = job
    if kind == "fail":
        raise Unhappy(1, 2)
    if kind == "die":
        os._exit(9)
    if kind == "wait":  # results so far, when it is asked to stop
        (value / f"{os.getpid()}.waiting").touch()
        while not context.stopped():
            time.sleep(0.01)
        return "so far"
    if kind == "other":  # until another process has come here
        folder, me = value, os.getpid()
        (folder / f"{me}.here").touch()
        while len(list(folder.glob("*.here"))) < 2:
            time.sleep(0.01)
        return me
    if kind == "large":  # as large as the job, behind the next one
        time.sleep(0.02)
        return value
    if kind == "late":  # a large result, when it is asked for
        (value / f"{os.getpid()}.waiting").touch()
        while not (value / "go").exists():
            time.sleep(0.01)
        return bytes(LARGE)
    if kind == "starts":  # processes of its own
        (value / "starter").write_text(str(os.getpid()))
        return list(in_processes(do, [("late", value)] * 2, 2, remake=lambda: setup))
    return value * value


class Unhappy(Exception):
    """One that cannot be pickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("unhappy")
