"""Numba's inliner without copies that nobody uses.

To insert a function into its caller (`jit(inline=True)`, the rules of a game), Numba parses the
function and then copies what it parsed twice, once to change it and once to return it unchanged.
Each block is copied with all variables of the function, so that the copies take half of the time in
which the rules of a game are compiled. What was just parsed belongs to nobody else: it is inserted
as it is. The compiled code is the same.
"""

from __future__ import annotations

import copy
from typing import Any

from numba.core import inline_closurecall as _inline_closurecall

inline_closurecall: Any = _inline_closurecall  # not typed


class CopyModule:
    """The module `copy` as the inliner sees it: while a function that was just parsed is inserted
    (`fresh`), a deep copy is the object itself. One thread compiles at a time."""

    def __init__(self) -> None:
        self.fresh = False

    def __getattr__(self, name: str) -> Any:
        return getattr(copy, name)

    def deepcopy(self, value: Any, memo: dict[int, Any] | None = None) -> Any:
        return value if self.fresh else copy.deepcopy(value, memo)


COPY = CopyModule()


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


def inline_without_copies() -> None:
    """From now on, where Numba's inliner is the one that is known here."""
    worker = inline_closurecall.InlineWorker
    known = ("inline_function", "inline_ir", "run_untyped_passes")
    if getattr(inline_closurecall, "copy", None) is copy and all(hasattr(worker, n) for n in known):
        inline_closurecall.copy = COPY
        worker.inline_function = _inline_function
