"""Compiled kernels on disk: one file per function and signature, named after both, with a checksum
at its end.

Numba's own cache numbers its files in an index and does not check them, and two processes that
compile one function for two signatures at the same time can leave the index pointing at the wrong
code. Here a damaged, incomplete, unreadable file, or one that other users can write, is compiled
again, and where nothing can be written nothing is cached.

Cached code is executed, and a checksum is no signature. A cache folder is therefore only used if no
other user can write to it (`untrusted_because`).
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import stat
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numba.core import caching

from counterplay.core.base.disk import write_bytes
from counterplay.core.base.errors import CounterplayError
from counterplay.core.kernels.inner import KernelCacheImpl

_caching: Any = caching  # not typed
FunctionCache: Any = _caching.FunctionCache
IndexDataCacheFile: Any = _caching.IndexDataCacheFile
DIGEST = hashlib.sha256().digest_size
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class KernelFile(IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of one function; the checksum follows the pickle stream."""

    def save(self, key: Any, data: Any) -> None:
        write_bytes(Path(self._data_path(self._name_of(key))), self._dump(data))

    def load(self, key: Any) -> Any:
        name = self._name_of(key)
        with open(self._data_path(name), "rb") as file:
            if not is_private(os.fstat(file.fileno())):
                return None
            content = file.read()
        if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
            return None
        return _caching.pickle.loads(content)

    def _name_of(self, key: Any) -> str:
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()
        return f"{Path(self._index_name).stem}.{digest[:32]}.nbc"

    def _dump(self, data: Any) -> bytes:
        content: bytes = super()._dump(data)
        return content + hashlib.sha256(content).digest()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache with `KernelFile`s; one that cannot be read or written does not exist."""

    _impl_class = KernelCacheImpl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = KernelFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, context: Any) -> Any:
        import_array_functions()
        with suppress(OSError):
            return super().load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError, CounterplayError):
            super().save_overload(signature, data)


def import_array_functions() -> None:
    """Imports Numba's array functions without `scipy.linalg`, a third of the time of a start.
    Numba imports it only to see whether there is a BLAS; a kernel that calls it imports it then."""
    if "numba.np.arraymath" in sys.modules or find_spec("scipy") is None:
        return
    linalg: Any = importlib.import_module("numba.np.linalg")
    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


class RulesCache(KernelCache):
    """The cache of a function compiled from rules. The functions that it calls are no part of its
    own code, so `digest` identifies the rules."""

    def __init__(self, function: Any, digest: str) -> None:
        super().__init__(function)
        self._digest = digest

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return signature, codegen.magic_tuple(), self._digest


def untrusted_because(folder: Path, root: Path) -> str | None:
    """Why code in `folder` cannot be trusted, or None: the folder, its subfolders and its parents
    up to `root` must be writable by this user only.

    Above `root` it is enough that other users cannot rename entries, as in /tmp.
    """
    if os.name == "nt":  # access lists protect the folders of a user
        return None
    top = Path(os.path.realpath(root))
    target = Path(os.path.realpath(folder))
    inside = [path for path in (target, *target.parents) if path == top or top in path.parents]
    for path in [*inside, *(sub for sub in target.iterdir() if sub.is_dir())]:
        if not is_private(path.stat()):
            return f"others can write {path}"
    for path in top.parents:
        mode = path.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"everybody can write {path}"
    return None


def is_private(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user or to root, and no other user can write it."""
    if os.name == "nt":
        return True
    return status.st_uid in (0, os.getuid()) and not status.st_mode & OTHERS_WRITE


def make_private(folder: Path) -> None:
    """Creates a folder, and its missing parents, for this user only."""
    for path in [*reversed(folder.parents), folder]:
        if not path.is_dir():
            try:
                path.mkdir(mode=0o700)
            except FileExistsError:  # created meanwhile by another process
                if not path.is_dir():
                    reason = os.strerror(errno.ENOTDIR)
                    raise NotADirectoryError(errno.ENOTDIR, reason, str(path)) from None
