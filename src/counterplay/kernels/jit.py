"""The one jit decorator of the project, and where compiled code is kept.

Numba's on-disk cache looks only at the file of the function it compiles, not at the files of the functions that one
calls. The cache folder is therefore named after a hash of every source file of the package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

#: How many versions of the compiled code are kept on disk.
KEPT_VERSIONS = 4


def cache_root() -> Path:
    """The user's cache folder for Counterplay: $COUNTERPLAY_CACHE, $XDG_CACHE_HOME/counterplay or ~/.cache/counterplay."""
    explicit = os.environ.get("COUNTERPLAY_CACHE")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "counterplay"


def _source_hash() -> str:
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable_cache() -> str | None:
    folder = cache_root() / "kernels" / _source_hash()
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old_versions(folder.parent)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return None  # compile in memory; slower to start, otherwise the same


def _forget_old_versions(parent: Path) -> None:
    folders = sorted((p for p in parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True)
    for folder in folders[KEPT_VERSIONS:]:
        shutil.rmtree(folder, ignore_errors=True)


_CACHE = None if config.DISABLE_JIT else _writable_cache()


def jit(function: F) -> F:
    """Compile with Numba: no interpreter, no lock, IEEE division, cached on disk."""
    before = config.CACHE_DIR
    if _CACHE is not None:
        config.CACHE_DIR = _CACHE
    try:
        compiled: F = numba.njit(nogil=True, error_model="numpy", cache=_CACHE is not None)(function)
    finally:
        config.CACHE_DIR = before
    return compiled
