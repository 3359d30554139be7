"""Bytes on disk: files that are whole or absent, and reading that neither waits nor overflows.

A file is written to a temporary name beside it, flushed and renamed. The temporary name says which
process writes it, so that what a killed one left is removed by the next writer, and what a living
one writes is left alone. `alone` has one process at a time make a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, TextIO

from counterplay.core.base.errors import BadFile, CounterplayError

try:
    import fcntl
except ImportError:  # a system without such locks: the same work may be done twice
    fcntl = None  # type: ignore[assignment]

#: A temporary file of another machine, whose processes cannot be asked for, is abandoned when it
#: has not grown for so long.
ABANDONED_SECONDS = 3600.0
# characters of a file's name in that of its temporary file, so that every legal name can be written
KEPT_OF_NAME = 40
_TEMPORARY = re.compile(  # those of earlier versions do not say the machine
    r"\..+?(?:\.(?P<machine>[0-9a-f]{8}))?\.(?P<process>\d{1,9})(?:-\d+)?\.tmp", re.DOTALL
)


def open_regular(path: Path) -> BinaryIO:
    """A file to read, or `BadFile`: also for a folder, a device or a pipe, on which reading
    could wait for ever."""
    try:
        number = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        if os.path.isdir(path):  # which some systems do not open
            raise BadFile(f"{path}: is a folder, not a file") from None
        raise BadFile(f"{path}: cannot be read ({reason(error)})") from None
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(number, "rb")
    os.close(number)
    what = "is a folder, not a file" if stat.S_ISDIR(mode) else "is a device or a pipe, not a file"
    raise BadFile(f"{path}: {what}")


def read_bytes(path: Path, most: int) -> bytes:
    """The whole file, or `BadFile`; its size is looked at first."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise BadFile(
                f"{path}: has {size / 1e6:,.0f} MB; such a file has at most {most / 1e6:,.0f}"
            )
        try:
            return file.read(size)
        except OSError as error:
            raise BadFile(f"{path}: cannot be read ({reason(error)})") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` so that a kill at any moment leaves either the old file or the new one."""
    write_pieces(path, [data])


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview], new: bool = False) -> None:
    """`write_bytes` of what need not be copied into one piece first. `new`: refuse to write over
    a file."""
    if not path.name:
        raise CounterplayError(f"cannot write {str(path)!r}: not a file name")
    temporary = path.with_name(_temporary_name(path.name))
    try:
        _check_target(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent)
        with open(temporary, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))  # of two writers, one
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError, ValueError):
            temporary.unlink()
        if isinstance(error, OSError | ValueError):
            raise CounterplayError(f"cannot write {path}: {reason(error)}") from error
        raise


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def _check_target(path: Path) -> None:
    """A rename would put a file in the place of a device, and fails late on a folder."""
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(None, "Is a directory")
        if not stat.S_ISREG(mode):
            raise OSError(None, "it is a device or a pipe, not a file")


def reason(error: Exception) -> str:
    """What the system says, without the name of the file."""
    return (
        (error.strerror if isinstance(error, OSError) else None)
        or str(error)
        or type(error).__name__
    )


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of killed writers from a folder, never one that a process may
    still be writing."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                with suppress(OSError):
                    if _abandoned(entry.name, entry.stat(follow_symlinks=False).st_mtime):
                        os.unlink(entry.path)


def _temporary_name(name: str) -> str:
    """Two writers, two names."""
    return f".{name[:KEPT_OF_NAME]}.{_machine()}.{os.getpid()}-{threading.get_ident()}.tmp"


def _abandoned(name: str, changed: float) -> bool:
    parts = _TEMPORARY.fullmatch(name)
    if parts is None:
        return False  # not ours
    if parts["machine"] != _machine():
        return time.time() - changed > ABANDONED_SECONDS
    return not _lives(int(parts["process"]))


def _lives(process: int) -> bool:
    if os.name == "nt":  # there os.kill(…, 0) ends the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # of another user
    return True


@cache
def _machine() -> str:
    """Eight letters that differ where process numbers mean something else: another host, start
    or container."""
    parts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


@contextmanager
def alone(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock of `path`, a file beside it; `waiting` is called where another process has it.
    The system lets go of it when a process dies. Where no lock can be had there is none."""
    lock = path.with_name(f"{path.name}.lock")
    file = None
    with suppress(OSError):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w") if fcntl is not None else None
    if file is None:
        yield
        return
    with file:
        _take_lock(file, waiting)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # who waits for this very file still gets its turn
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # also where a forked process has it open


def _take_lock(file: TextIO, waiting: Callable[[], None] | None) -> None:
    with suppress(OSError):  # a file system that has none
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
