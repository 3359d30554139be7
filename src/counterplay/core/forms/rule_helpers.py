"""Functions that compiled rules call: compiled with them, with or without `@njit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

njit: Any = numba.njit

#: What compiled code can use by name.
_USABLE = (int, float, tuple, np.ndarray, np.generic, ModuleType, FunctionType, BuiltinFunctionType)
_TYPES = (int, float, bool, np.generic)  # and these as functions


def with_helpers(function: FunctionType, compiled: dict[FunctionType, Any]) -> FunctionType:
    """`function` with the plain functions that it calls compiled, and those that these call.
    `compiled`: the helpers so far."""
    replaced = {
        name: _helper(value, compiled)
        for name, value in used_values(function).items()
        if isinstance(value, FunctionType)
    }
    if not replaced:
        return function
    return _rebuilt(function, replaced)


def _helper(function: FunctionType, compiled: dict[FunctionType, Any]) -> Any:
    """A helper, compiled; one that calls itself finds itself among those compiled."""
    if function not in compiled:
        copy = _rebuilt(function, {})
        compiled[function] = njit(error_model="numpy", nogil=True, _nrt=False)(copy)
        for name, value in used_values(function).items():
            if isinstance(value, FunctionType):
                copy.__globals__[name] = _helper(value, compiled)
    return compiled[function]


def _rebuilt(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    """A copy of a function that sees other values of its names."""
    code, cells = function.__code__, function.__closure__
    if cells is not None:
        cells = tuple(
            CellType(names[name]) if name in names else cell
            for name, cell in zip(code.co_freevars, cells, strict=True)
        )
    copy = FunctionType(
        code, {**function.__globals__, **names}, function.__name__, function.__defaults__, cells
    )
    copy.__kwdefaults__, copy.__qualname__ = function.__kwdefaults__, function.__qualname__
    return copy


def used_values(function: Any) -> dict[str, Any]:
    """What the global and outer names in a function stand for."""
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    return {name: names[name] for name in sorted(names_in(function.__code__)) if name in names}


def names_in(code: Any) -> set[str]:
    """The names that a function does not define, attributes included."""
    inner = (const for const in code.co_consts if hasattr(const, "co_names"))
    return {*code.co_names, *code.co_freevars}.union(*map(names_in, inner))


def unusable_name(functions: Iterable[Callable[..., Any]]) -> str:
    """What rules use that cannot be compiled, in words; empty if nothing was found."""
    waiting, seen = list(functions), set[Any]()
    while waiting:
        function = waiting.pop()
        function = getattr(function, "py_func", function)
        if function in seen:
            continue
        seen.add(function)
        for name, value in used_values(function).items():
            if isinstance(value, FunctionType) or is_jitted(value):
                waiting.append(value)
            elif isinstance(value, type):
                if not issubclass(value, _TYPES):
                    return (
                        f"{function.__name__}() uses the class {name}; write what it calls there "
                        f"as a function outside of the class"
                    )
            elif not isinstance(value, _USABLE):
                return (
                    f"{function.__name__}() uses {name}, a {type(value).__name__}; compiled rules "
                    f"can use numbers, tuples, NumPy arrays and functions of these"
                )
    return ""
