"""The jit decorator of the project, and the folder of compiled code.

Numba's on-disk cache checks only the file of the function it compiles, and not the files of the
functions which that one calls. The cache folder is therefore named after a hash of every source
file of the rooms that have kernels. The command line, the pages and the experiments are not among
them.

Two conventions make kernels fast. They are compiled without Numba's reference counting
(`_nrt=False`), which would otherwise touch a counter of every array at every step; hence kernels
cannot allocate. And they index with `index(...)`, an unsigned integer: a signed one is tested for
Python's negative indexing at every use. The two must not be mixed in arithmetic, where Numba would
make the result a float.

Functions are inserted into their callers (`jit(inline=True)`, the rules of a game) without copies
that nobody uses. Numba parses such a function and then copies what it parsed twice, once to change
it and once to return it unchanged, each block with all variables of the function, which takes half
of the time in which the rules of a game are compiled. What was just parsed belongs to nobody else:
it is inserted as it is, and the compiled code is the same.
"""

from __future__ import annotations

import copy
import gc
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numba
import numpy as np
from numba.core import ccallback, event
from numba.core import config as _config
from numba.core import inline_closurecall as _inline_closurecall

from counterplay.core.base.disk import remove_abandoned
from counterplay.core.base.progress import FIRST_SECONDS, say
from counterplay.core.base.store import cache_root, remove_old_versions
from counterplay.core.base.version import PACKAGE, hash_sources
from counterplay.core.kernels.cache import KernelCache, RulesCache, make_private, untrusted_because
from counterplay.core.kernels.inner import INNER

config: Any = _config  # its settings are not declared
inline_closurecall: Any = _inline_closurecall  # not typed
njit: Any = numba.njit  # `_nrt` is not declared
CFunc: Any = ccallback.CFunc

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:  # for the type checker an index is an int

    def index(value: Any) -> int:
        """An unsigned integer, for indexing."""
        raise NotImplementedError

else:
    index = np.uint64

ZERO, ONE = index(0), index(1)

#: Versions of the compiled code that stay on disk.
KEPT_VERSIONS = 4

#: The rooms that have kernels.
ROOMS = ("core", "poker")


def _writable_cache() -> str | None:
    """Returns the folder for compiled code; None, with a warning, if it cannot be used."""
    files = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))
    sources = hash_sources(files, PACKAGE, numba.__version__)[:16]
    folder = cache_root() / "kernels" / sources
    try:
        if not folder.is_dir():
            make_private(folder)
            remove_old_versions(folder, KEPT_VERSIONS)
        with tempfile.TemporaryFile(dir=folder):
            pass
        for subfolder in folder.iterdir():
            remove_abandoned(subfolder)
        problem = untrusted_because(folder, cache_root())
        advice = "take that right from them (chmod go-w)"
    except OSError as error:
        problem = error.strerror or str(error)
        advice = "set COUNTERPLAY_CACHE to a folder that can be written"
    if problem is None:
        return str(folder)
    warnings.warn(  # compiled in memory instead: slower to start, otherwise the same
        f"compiled code cannot be kept in {folder} ({problem}), so every start takes seconds "
        f"longer; {advice}",
        stacklevel=2,
    )
    return None


_CACHE = None if config.DISABLE_JIT else _writable_cache()


class _CopyModule:
    """The module `copy` as the inliner sees it: while a function that was just parsed is inserted
    (`fresh`), a deep copy is the object itself. One thread compiles at a time."""

    def __init__(self) -> None:
        self.fresh = False

    def __getattr__(self, name: str) -> Any:
        return getattr(copy, name)

    def deepcopy(self, value: Any, memo: dict[int, Any] | None = None) -> Any:
        return value if self.fresh else copy.deepcopy(value, memo)


COPY = _CopyModule()


def _inline_function(
    self: Any, caller_ir: Any, block: Any, i: int, function: Any, arg_typs: Any = None
) -> Any:
    """`InlineWorker.inline_function`, without copies of what `run_untyped_passes` has made."""
    callee_ir = self.run_untyped_passes(function)
    COPY.fresh = True
    try:
        return self.inline_ir(
            caller_ir, block, i, callee_ir, function.__code__.co_freevars, arg_typs=arg_typs
        )
    finally:
        COPY.fresh = False


_INLINER = inline_closurecall.InlineWorker
_KNOWN = all(hasattr(_INLINER, n) for n in ("inline_function", "inline_ir", "run_untyped_passes"))
if _KNOWN and getattr(inline_closurecall, "copy", None) is copy:
    inline_closurecall.copy = COPY
    _INLINER.inline_function = _inline_function


class _Compilations(event.Listener):
    """Measures compilations, which may be nested, reports a long one, and disables Python's garbage
    collector meanwhile; one thread compiles at a time. Numba creates millions of small objects, and
    scanning them takes a fifth of the time that the first run waits."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of all compilations that have ended
        self._depth = 0
        self._paused = self._reported = False
        self._started = 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._paused = gc.isenabled()
            gc.disable()
            self._started, self._reported = time.perf_counter(), False
        elif not self._reported and time.perf_counter() - self._started > FIRST_SECONDS:
            self._reported = True
            say("compiling; the next start of the program loads what is compiled now")
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._started
            if self._paused:
                gc.enable()


_COMPILATIONS = _Compilations()
event.register("numba:compile", _COMPILATIONS)  # type: ignore[no-untyped-call]


def clock() -> float:
    """Returns seconds as `time.perf_counter`, without those of compiling."""
    return time.perf_counter() - _COMPILATIONS.seconds


def prepare(kernel: Any, *arguments: Any) -> None:
    """Compiles a kernel for these arguments, or loads it from the cache, without a call."""
    if not config.DISABLE_JIT:
        kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))


@overload
def jit(function: F) -> F: ...
@overload
def jit(*, inline: bool = False, inner: bool = False) -> Callable[[F], F]: ...
def jit(
    function: F | None = None, *, inline: bool = False, inner: bool = False
) -> F | Callable[[F], F]:
    """Compiles with Numba: no interpreter lock, no allocation, IEEE division, cached on disk.

    `inline` inserts the function into its callers, for large parts of a hot loop that LLVM would
    leave as calls, and for functions with one caller, which are then compiled once instead of
    twice. `inner`: only kernels call the function, so it gets no wrapper for Python, which takes
    longer to compile than the function where arguments have many arrays, and no machine code of its
    own (`core/kernels/inner.py`).
    """
    if function is None:
        return lambda decorated: _compile(decorated, inline, inner)
    return _compile(function, inline, inner)


def _compile(function: F, inline: bool, inner: bool) -> F:
    with _cache_folder():
        compiled: F = njit(
            nogil=True,
            error_model="numpy",
            inline="always" if inline else "never",
            _nrt=False,
            **(INNER if inner else {"no_cfunc_wrapper": True}),
        )(function)
        if inner and not config.DISABLE_JIT:
            _refuse_python(compiled)
        if _CACHE is not None:
            compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return compiled


@contextmanager
def _cache_folder() -> Iterator[None]:
    """Numba caches in our folder, if there is one."""
    before = config.CACHE_DIR
    config.CACHE_DIR = before if _CACHE is None else _CACHE
    try:
        yield
    finally:
        config.CACHE_DIR = before


def compile_rules(function: Any, returned: Any, taken: tuple[Any, ...], digest: str) -> Any:
    """Returns a C function compiled from rules and cached by their digest. The digest is part of
    its name, because the code of two games in one process must not have the same name; for the same
    reason it is loaded once."""
    if digest in _RULES:
        return _RULES[digest]
    function.__name__ = function.__qualname__ = f"rules_{digest}"
    compiled: Any = CFunc(
        function, (taken, returned), {}, {"error_model": "numpy", "nopython": True}
    )
    with _cache_folder():
        if _CACHE is not None:
            compiled._cache = RulesCache(function, digest)
        compiled.compile()
    _RULES[digest] = compiled
    return compiled


#: Compiled rules of this process, by digest.
_RULES: dict[str, Any] = {}


def _refuse_python(kernel: Any) -> None:
    """Makes a call from Python of a kernel without a wrapper an error; it would crash."""

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{kernel.__name__} is called by kernels alone (jit(inner=True))")

    kernel._insert = lambda *_: None  # so that every call goes through `_compile_for_args`
    kernel._compile_for_args = refuse
