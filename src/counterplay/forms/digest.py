"""What compiled rules are known by: their text, and that of all they use."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from typing import Any

import numpy as np

from counterplay.forms.compiled import FUNCTIONS, CompiledRules


def rules_digest(rules: CompiledRules) -> bytes:
    """Changes when the rules do, and not with their comments or layout."""
    digest = hashlib.blake2b(digest_size=16)
    sizes = (rules.n_players, rules.state_size, rules.known_size, rules.max_actions, rules.depth)
    digest.update(repr((sizes, tuple(int(word) for word in rules.constants))).encode())
    seen: set[int] = set()
    for function in FUNCTIONS:
        written = getattr(type(rules), function)
        digest.update(b"-" if written is None else _written(written, seen))
    return digest.digest()


def _written(function: Any, seen: set[int]) -> bytes:
    """The text of a function, of those it calls, and the constants it uses."""
    function = getattr(function, "py_func", function)
    if id(function) in seen:
        return b""
    seen.add(id(function))
    parts = [_source(function)]
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for name in sorted(_names_in(function.__code__)):
        value = names.get(name)
        if callable(value) and hasattr(getattr(value, "py_func", value), "__code__"):
            parts.append(_written(value, seen))
        elif isinstance(value, np.ndarray):
            parts.append(value.tobytes())
        elif isinstance(value, int | float | str | bytes | tuple):
            parts.append(f"{name}={value!r}".encode())
    return b"|".join(parts)


def _names_in(code: Any) -> set[str]:
    inner = (const for const in code.co_consts if hasattr(const, "co_names"))
    return {*code.co_names, *code.co_freevars}.union(*map(_names_in, inner))


def _source(function: Any) -> bytes:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        return "".join(ast.dump(node) for node in ast.walk(tree) if _acts(node)).encode()
    except (OSError, TypeError, SyntaxError):  # typed in, or made by a program
        code = function.__code__
        return bytes(code.co_code) + repr((code.co_consts, code.co_names)).encode()


def _acts(node: ast.AST) -> bool:
    """The function without its docstring and annotations."""
    return isinstance(node, ast.stmt) and not (
        isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )
