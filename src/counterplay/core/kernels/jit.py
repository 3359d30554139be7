"""The one jit decorator of the project, and where compiled code is kept.

Numba's on-disk cache looks only at the file of the function it compiles, not at the files of the
functions that one calls. The cache folder is therefore named after a hash of every source file that
a kernel can depend on: those that use this package, and whatever they import. The command line and
the experiments are none of them.

Two habits make the kernels fast. They are compiled without Numba's reference counting
(`_nrt=False`), which would otherwise touch a counter of every array of a form at every step, and so
they cannot allocate. And they index with `index(...)`, an unsigned integer: a signed one is tested
for Python's negative indexing at every use. Never mix the two in arithmetic: Numba would make a
float of it.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numba
import numpy as np
from numba.core import ccallback
from numba.core import config as _config

from counterplay.core.base.disk import remove_abandoned
from counterplay.core.base.store import cache_root
from counterplay.core.base.version import imported_files, named_imports
from counterplay.core.kernels.cache import KernelCache, RulesCache
from counterplay.core.kernels.pause import pause_collector
from counterplay.core.kernels.private import make_private, who_else_writes

config: Any = _config  # its settings are not declared
njit: Any = numba.njit  # `_nrt` is not declared
CFunc: Any = ccallback.CFunc

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:  # to a reader an index is an int

    def index(value: Any) -> int:
        """An unsigned integer, for indexing."""
        raise NotImplementedError

else:
    index = np.uint64

ZERO, ONE = index(0), index(1)

#: How many versions of the compiled code are kept on disk.
KEPT_VERSIONS = 4


def _source_hash() -> str:
    package = Path(__file__).resolve().parents[2]
    sources = {path: path.read_bytes() for path in sorted(package.rglob("*.py"))}
    digest = hashlib.sha256(numba.__version__.encode())
    for path in kernel_sources(package, sources):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(sources[path])
    return digest.hexdigest()[:16]


def kernel_sources(package: Path, sources: Mapping[Path, bytes]) -> list[Path]:
    """The files that compiled code can depend on: those that import from `core/kernels/`, and all
    that these import."""
    imports = {path: named_imports(package, text) for path, text in sources.items()}
    kernels = package / "core" / "kernels"
    roots = [path for path, names in imports.items() if kernels in {*path.parents, *names}]
    return imported_files(package, roots, imports)


def _writable_cache() -> str | None:
    """The folder for compiled code; None, with a warning, where none can be written or trusted."""
    folder = cache_root() / "kernels" / _source_hash()
    try:
        if not folder.is_dir():
            make_private(folder)
            _forget_old_versions(folder.parent)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for place in folder.iterdir():
            remove_abandoned(place)
        problem = who_else_writes(folder, cache_root())
        advice = "take that right from them (chmod go-w)"
    except OSError as error:
        problem = error.strerror or str(error)
        advice = "set COUNTERPLAY_CACHE to a folder that can be written"
    if problem is None:
        return str(folder)
    warnings.warn(  # compile in memory; slower to start, otherwise the same
        f"compiled code cannot be kept in {folder} ({problem}), so every start takes seconds "
        f"longer; {advice}",
        stacklevel=2,
    )
    return None


def _forget_old_versions(parent: Path) -> None:
    folders = sorted(
        (p for p in parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True
    )
    for folder in folders[KEPT_VERSIONS:]:
        shutil.rmtree(folder, ignore_errors=True)


_CACHE = None if config.DISABLE_JIT else _writable_cache()
pause_collector()


@overload
def jit(function: F) -> F: ...
@overload
def jit(*, inline: bool = False, inner: bool = False) -> Callable[[F], F]: ...
def jit(
    function: F | None = None, *, inline: bool = False, inner: bool = False
) -> F | Callable[[F], F]:
    """Compile with Numba: no interpreter lock, no allocation, IEEE division, cached on disk.

    `inline` pastes the function into its callers, for large pieces of a hot loop that LLVM would
    leave as calls, and for what has one caller: it is compiled once instead of twice. `inner`: only
    kernels call it, so it needs no door for Python. With arguments of many arrays that door takes
    longer to compile than what is behind it.
    """
    if function is None:
        return lambda decorated: _compile(decorated, inline, inner)
    return _compile(function, inline, inner)


def _compile(function: F, inline: bool, inner: bool) -> F:
    before = config.CACHE_DIR
    if _CACHE is not None:
        config.CACHE_DIR = _CACHE
    try:
        compiled: F = njit(
            nogil=True,
            error_model="numpy",
            cache=_CACHE is not None,
            inline="always" if inline else "never",
            no_cfunc_wrapper=True,
            no_cpython_wrapper=inner,
            _nrt=False,
        )(function)
        if inner and not config.DISABLE_JIT:
            _shut(compiled)
        if _CACHE is not None:
            compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    finally:
        config.CACHE_DIR = before
    return compiled


def compile_rules(function: Any, returned: Any, taken: tuple[Any, ...], digest: str) -> Any:
    """A C function made from rules, cached by their digest. Its name has that too, or the code of
    two games from the cache would bear one name; for the same reason it is loaded once."""
    if digest in _RULES:
        return _RULES[digest]
    function.__name__ = function.__qualname__ = f"rules_{digest}"
    made: Any = CFunc(function, (taken, returned), {}, {"error_model": "numpy", "nopython": True})
    before = config.CACHE_DIR
    try:
        if _CACHE is not None:
            config.CACHE_DIR = _CACHE
            made._cache = RulesCache(function, digest)
        made.compile()
    finally:
        config.CACHE_DIR = before
    _RULES[digest] = made
    return made


#: Rules that are compiled in this process, by their digest.
_RULES: dict[str, Any] = {}


def _shut(kernel: Any) -> None:
    """Have Python's calls of a kernel without a door refused: they would crash."""

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{kernel.__name__} is called by kernels alone (jit(inner=True))")

    kernel._insert = lambda *_: None  # so that every call asks to compile
    kernel._compile_for_args = refuse
