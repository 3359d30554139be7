"""Bytes on disk: files that are whole or absent, and reads that neither block nor overflow.

A file is written under a temporary name beside it, flushed and renamed. The temporary name
identifies the writing process, so that the next writer removes the files of killed processes only.
`file_lock` lets one process at a time make a file.
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
from typing import BinaryIO

from counterplay.core.base.errors import BadFile, CounterplayError

try:
    import fcntl
except ImportError:  # a system without file locks: the same work may be done twice
    fcntl = None  # type: ignore[assignment]

#: A temporary file of another machine, whose processes cannot be inspected, is abandoned when it
#: has not changed for this long.
ABANDONED_SECONDS = 3600.0
#: Characters of a file's name in its temporary name, so that every legal name can be written.
NAME_PREFIX = 40
_TEMPORARY = re.compile(
    r"\..+?\.(?P<machine>[0-9a-f]{8})\.(?P<process>\d{1,9})-\d+\.tmp", re.DOTALL
)


def open_regular(path: Path) -> BinaryIO:
    """A file opened for reading, or `BadFile`, also for a folder, a device or a pipe."""
    try:
        number = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except FileNotFoundError:
        raise BadFile(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        if os.path.isdir(path):  # some systems do not open folders
            raise BadFile(f"{path}: is a folder, not a file") from None
        raise BadFile(f"{path}: cannot be read ({reason(error)})") from None
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(number, "rb")
    os.close(number)
    what = "is a folder, not a file" if stat.S_ISDIR(mode) else "is a device or a pipe, not a file"
    raise BadFile(f"{path}: {what}")


def read_bytes(path: Path, most: int) -> bytes:
    """The whole file, or `BadFile` where it has more than `most` bytes or cannot be read."""
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
    """Writes `data` so that a kill at any moment leaves either the old file or the new one."""
    write_pieces(path, [data])


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview], new: bool = False) -> None:
    """`write_bytes` of the concatenated pieces. `new`: refuse to overwrite a file."""
    if not path.name:
        raise CounterplayError(f"cannot write {str(path)!r}: not a file name")
    writer = f"{_machine()}.{os.getpid()}-{threading.get_ident()}"  # machine, process and thread
    temporary = path.with_name(f".{path.name[:NAME_PREFIX]}.{writer}.tmp")
    try:
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):  # a rename would fail late
                raise IsADirectoryError(None, "Is a directory")
            if not stat.S_ISREG(mode):  # a rename would replace it
                raise OSError(None, "it is a device or a pipe, not a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent)
        with open(temporary, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if new:
            _rename_new(temporary, path)
        else:
            os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError, ValueError):
            temporary.unlink()
        if isinstance(error, OSError | ValueError):
            raise CounterplayError(f"cannot write {path}: {reason(error)}") from error
        raise


def _rename_new(temporary: Path, path: Path) -> None:
    """Renames a file to `path`, which must be new, so that a kill leaves no empty file."""
    try:
        os.link(temporary, path)
    except FileExistsError:  # the second of two writers
        raise
    except OSError:  # a file system without links
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        os.replace(temporary, path)
    else:
        temporary.unlink()


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def reason(error: Exception) -> str:
    """The system's message without the name of the file."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def remove_abandoned(folder: Path) -> None:
    """Removes the temporary files of killed writers from a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                with suppress(OSError):
                    if _abandoned(entry.name, entry.stat(follow_symlinks=False).st_mtime):
                        os.unlink(entry.path)


def _abandoned(name: str, changed: float) -> bool:
    parts = _TEMPORARY.fullmatch(name)
    if parts is None:
        return False  # not a temporary file of Counterplay
    if parts["machine"] != _machine():
        return time.time() - changed > ABANDONED_SECONDS
    return not _lives(int(parts["process"]))


def _lives(process: int) -> bool:
    if os.name == "nt":  # there os.kill(…, 0) ends the process
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # else it is of another user
    return True


@cache
def _machine() -> str:
    """Eight characters for the name space of process numbers: host, boot and container."""
    parts = [os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


@contextmanager
def file_lock(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Holds a lock on `path`, a file beside it; `waiting` is called if another process has it. The
    system releases it when a process dies. File systems without locks are not locked."""
    lock = path.with_name(f"{path.name}.lock")
    holder = threading.get_ident(), lock
    if holder in _HELD:  # it would wait for itself
        raise CounterplayError(f"{path.name} is needed to make {path.name}")
    number = _locked(lock, waiting)
    _HELD.add(holder)
    try:
        yield
    finally:
        _HELD.discard(holder)
        if number is not None:
            with suppress(OSError):
                lock.unlink()  # one that waits for it notices
            with suppress(OSError):
                fcntl.flock(number, fcntl.LOCK_UN)  # a forked process may have it open as well
            os.close(number)


#: Threads and the locks that they hold.
_HELD: set[tuple[int, Path]] = set()
_MOST_TRIES = 100


def _locked(lock: Path, waiting: Callable[[], None] | None) -> int | None:
    """The number of the locked file; None where there can be none. A link is not followed."""
    with suppress(OSError):
        lock.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(_MOST_TRIES if fcntl is not None else 0):
            number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            try:
                with suppress(OSError):  # a file system without locks
                    try:
                        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        if waiting is not None:
                            waiting()
                        fcntl.flock(number, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(number), os.stat(lock)):
                        return number
            except BaseException:
                os.close(number)
                raise
            os.close(number)  # whoever had it has removed it, and another may have a new one
    return None
