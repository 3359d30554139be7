"""Compiled kernels on disk: one file per function and signature, named after both, with a checksum
at its end.

Numba's own cache numbers its files in an index. It trusts whatever bytes it finds there, and two
processes that compile one function for two signatures at once can leave the index pointing at the
other's code. Here a file that is damaged, half written, not readable or writable by others is
compiled again, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import caching

from counterplay.core.base.disk import write_bytes
from counterplay.core.base.errors import CounterplayError
from counterplay.core.kernels.private import only_mine

_caching: Any = caching  # not typed
FunctionCache: Any = _caching.FunctionCache
IndexDataCacheFile: Any = _caching.IndexDataCacheFile
DIGEST = hashlib.sha256().digest_size


class KernelFile(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one function. Numba reads a stream up to its end mark, so the checksum may
    follow."""

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name_of(key), data)

    def load(self, key: Any) -> Any:
        name = self._name_of(key)
        with open(self._data_path(name), "rb") as file:
            if not only_mine(os.fstat(file.fileno())):
                return None
            content = file.read()
        if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
            return None
        return _caching.pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        write_bytes(Path(self._data_path(name)), self._dump(data))

    def _name_of(self, key: Any) -> str:
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()
        return f"{Path(self._index_name).stem}.{digest[:32]}.nbc"

    def _dump(self, data: Any) -> bytes:
        content: bytes = super()._dump(data)
        return content + hashlib.sha256(content).digest()


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function with those files; without them it compiles."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file: Any = KernelFile(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, context: Any) -> Any:
        with suppress(OSError):
            return super().load_overload(signature, context)

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError, CounterplayError):
            super().save_overload(signature, data)


class RulesCache(KernelCache):
    """The same for a function made from rules, which are known by `digest`: what it calls is no
    part of its own code."""

    def __init__(self, function: Any, digest: str) -> None:
        super().__init__(function)
        self._digest = digest

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        return signature, codegen.magic_tuple(), self._digest
