"""Compiles `CompiledRules` to one C function that takes a step; kernels call it by its address.

Functions that the rules call are compiled with them, with or without `@njit` (`with_helpers`).
Compiled code is cached on disk under a digest of the rules' functions and of everything these use
(`rules_digest`).
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable
from functools import cache
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types as _types
from numba.core import config as _config
from numba.extending import is_jitted

from counterplay.core.base.errors import BadGame
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules
from counterplay.core.kernels.intrinsics import plain_address
from counterplay.core.kernels.jit import compile_rules
from counterplay.core.kernels.rng import uniform

config: Any = _config  # its settings are not declared
njit: Any = numba.njit
carray: Any = numba.carray  # type: ignore[attr-defined]
types: Any = _types

#: Columns of `facts`: who acts, the number of actions (or an error), and what the player knows.
WHO, COUNT, KNOWN = range(3)
PLAY, RAW, SHARE, PASSIVE = range(4)  # modes of a step
#: Up to so many constants are compiled in, which makes divisions and loops over them faster.
MOST_INLINE = 16
MOST_ACTIONS = 10_000  # of a player at one state, and decisions of a history
MOST_DRAWS = 10_000  # of chance in a row; more count as an endless history
BAD_PLAYER, BAD_COUNT, BAD_PAYOFF, NO_END, BAD_KEY, TOO_LONG, BAD_PASSIVE, FAILED = range(1, 9)
PROBLEMS = {
    BAD_PLAYER: "player() gave no player, CHANCE or TERMINAL",
    BAD_COUNT: "actions() gave a number that is not from 1 to max_actions",
    BAD_PAYOFF: "payoff() gave a number that is not finite",
    NO_END: "chance acts without end",
    BAD_KEY: "key() gave a number below 0 or above 2^60 (give it more words: known_size = 2)",
    TOO_LONG: "a history has more decisions than `depth`",
    BAD_PASSIVE: "passive() gave no action",
    FAILED: "the rules failed",
}
COLOUR = re.compile(r"\x1b\[\d*m")  # in messages of Numba
FUNCTIONS = ("start", "player", "actions", "chance", "apply", "key", "payoff", "passive")
OPTIONAL = ("start", "chance", "passive")
#: What compiled code can use by name.
_USABLE = (int, float, tuple, np.ndarray, np.generic, ModuleType, FunctionType, BuiltinFunctionType)
_TYPES = (int, float, bool, np.generic)  # and these as functions


def _no_chance(c: Any, state: Any, action: int) -> float:
    return 1.0  # not called: chance is uniform


def _never(c: Any, state: Any) -> int:
    return -1


MISSING = {"chance": _no_chance, "passive": _never}  # what stands for a function that is None


class Shape(NamedTuple):
    """Sizes of compiled rules."""

    n_players: int
    state: int
    known: int
    actions: int
    depth: int


def shape_of(name: str, rules: CompiledRules) -> Shape:
    """The sizes of rules, checked."""
    sizes = []
    limits = {"n_players": 10, "state_size": 10**6, "known_size": 10**4}
    for field in ("n_players", "state_size", "known_size", "max_actions", "depth"):
        value, most = getattr(rules, field, None), limits.get(field, MOST_ACTIONS)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadGame(
                f"{name}: `{field}` must be a whole number from 1 to {most:,}, not {value!r}"
            )
        sizes.append(value)
    for function in FUNCTIONS:
        written = getattr(type(rules), function, None)
        if written is getattr(CompiledRules, function) and function not in OPTIONAL:
            raise BadGame(f"{name}: compiled rules need a function {function}()")
    return Shape(*sizes)


def constants_of(name: str, rules: CompiledRules) -> np.ndarray:
    """int64[...]: the constants of the rules, or one zero if there are none."""
    try:
        values = np.array(rules.constants, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise BadGame(f"{name}: `constants` must be whole numbers of 64 bits") from None
    if values.ndim != 1:
        raise BadGame(f"{name}: `constants` must be one list of whole numbers")
    return values if len(values) else np.zeros(1, dtype=np.int64)


def _functions_of(rules: CompiledRules) -> list[Any]:
    """The functions of rules, in the order of `FUNCTIONS`."""
    written = (getattr(type(rules), name) for name in FUNCTIONS)
    return [one or MISSING[name] for name, one in zip(FUNCTIONS, written, strict=True)]


def _step_of(functions: list[Any], shape: Shape, is_uniform: bool) -> Any:
    """The step function of rules, from their functions, plain or compiled."""
    start, player, actions, chance, apply, key, payoff, passive = functions
    n_players, n_known, most_actions = shape.n_players, shape.known, shape.actions

    def step(
        c: Any,
        above: Any,
        below: Any,
        action: int,
        mode: int,
        rng: Any,
        facts: Any,
        known: Any,
        pays: Any,
    ) -> None:
        """Goes from the state `above` to `below` by an action, or to the first state (action < 0);
        in mode `PLAY` then draws chance until a player acts or the game is over. Fills `facts` and
        `known`, or `pays`. Mode `SHARE` only writes to `pays` the probability of an outcome of
        chance (`facts` has their number), mode `PASSIVE` the action that checks or calls."""
        if mode == PASSIVE:
            pays[0] = passive(c, above)
            return
        if mode == SHARE:
            pays[0] = 1.0 / facts[COUNT] if is_uniform else chance(c, above, action)
            return
        for k in range(len(below)):
            below[k] = above[k] if action >= 0 else 0
        if action < 0:
            start(c, below)
        problem, draws, count = 0, 0, 0
        pending = action
        while True:  # one pass, and one for each draw of chance
            if pending >= 0:
                apply(c, below, pending)
            who = player(c, below)
            if who == TERMINAL:
                break
            count = actions(c, below)
            if who != CHANCE or mode != PLAY:
                break
            draws += 1
            if count < 1:
                problem = BAD_COUNT
                break
            if draws > MOST_DRAWS:
                problem = NO_END
                break
            u = uniform(rng)
            if is_uniform:
                pending = min(int(u * count), count - 1)
            else:
                total, pending = 0.0, 0
                for outcome in range(count):
                    share = chance(c, below, outcome)
                    if share > 0.0:
                        pending = outcome
                        total += share
                        if u < total:
                            break
        if problem == 0 and who >= 0:
            if who >= n_players:
                problem = BAD_PLAYER
            elif count < 1 or count > most_actions:
                problem = BAD_COUNT
            else:
                for k in range(n_known):
                    known[k] = 0
                key(c, below, known)
        elif problem == 0 and who == TERMINAL:
            for k in range(n_players):
                pays[k] = 0.0
            payoff(c, below, pays)
            for k in range(n_players):
                if not math.isfinite(pays[k]):
                    problem = BAD_PAYOFF
        elif problem == 0 and who == CHANCE and count < 1:
            problem = BAD_COUNT
        elif problem == 0 and who != CHANCE:
            problem = BAD_PLAYER
        facts[WHO] = who if problem == 0 else TERMINAL
        facts[COUNT] = (count if who != TERMINAL else 0) if problem == 0 else problem

    return step


def plain_step(rules: CompiledRules, shape: Shape) -> Callable[..., None]:
    """The step function in plain Python, with Python's own integers."""
    step = _step_of(_functions_of(rules), shape, type(rules).chance is None)

    def plain(
        c: Any, above: Any, below: Any, action: int, mode: int, rng: Any, facts: Any, pays: Any
    ) -> None:
        lists = [list(map(int, row)) for row in (c, above, below)]
        row, paid = list(map(int, facts)), pays.tolist()
        known = row[KNOWN:]
        step(*lists, action, mode, rng, row, known, paid)
        below[:], facts[:KNOWN], facts[KNOWN:], pays[:] = lists[2], row[:KNOWN], known, paid

    return plain


def compiled_step(rules: CompiledRules, shape: Shape, digest: bytes, fixed: bool) -> Any:
    """The step function as a C function; it must live as long as its `address` is used. `fixed`:
    the constants are compiled in."""
    pasted = njit(error_model="numpy", nogil=True, _nrt=False, inline="always")
    helpers: dict[Any, Any] = {}
    functions = [pasted(with_helpers(function, helpers)) for function in _functions_of(rules)]
    step = pasted(_step_of(functions, shape, type(rules).chance is None))
    constants = tuple(map(int, rules.constants))
    inline = fixed and 0 < len(constants) <= MOST_INLINE
    n_constants, n_state, n_players = max(len(constants), 1), shape.state, shape.n_players
    n_facts = KNOWN + shape.known
    number = types.int64
    word, real, state = (types.CPointer(kind) for kind in (number, types.float64, types.uint64))

    def call(
        c: Any, above: Any, below: Any, action: Any, mode: Any, rng: Any, facts: Any, pays: Any
    ) -> None:
        step(
            constants if inline else carray(c, n_constants),
            carray(above, n_state),
            carray(below, n_state),
            action,
            mode,
            carray(rng, 4),
            carray(facts, n_facts),
            carray(facts, n_facts)[KNOWN:],
            carray(pays, n_players),
        )

    arguments = (word, word, word, number, number, state, word, real)
    return compile_rules(call, types.void, arguments, digest.hex())


def address_of(name: str, rules: CompiledRules, fixed: bool = True) -> tuple[int, Any]:
    """The address of the step function, and the code that must live as long as it is used. `fixed`:
    code for the parameters of these rules; otherwise for the same rules with any parameters, which
    is compiled once for all of them and leaves the check of `max_actions` to the caller."""
    shape = shape_of(name, rules)
    if not fixed:
        shape = shape._replace(actions=MOST_ACTIONS)
    if config.DISABLE_JIT:
        return plain_address(plain_step(rules, shape)), None
    try:
        code = compiled_step(rules, shape, rules_digest(rules, fixed), fixed)
    except numba.core.errors.NumbaError as error:
        reason = unusable_name(_functions_of(rules))
        reason = reason or " ".join(COLOUR.sub("", str(error)).split())[:400]
        raise BadGame(f"{name}: the rules cannot be compiled: {reason}") from None
    return int(code.address), code


def rules_digest(rules: CompiledRules, fixed: bool = True) -> bytes:
    """A digest of the rules without layout, and of their parameters if these are `fixed`."""
    digest = hashlib.blake2b(digest_size=16)
    sizes = (rules.n_players, rules.state_size, rules.known_size)
    constants = tuple(int(word) for word in rules.constants)
    parameters = (rules.max_actions, rules.depth, constants) if fixed else len(constants)
    digest.update(repr((sizes, parameters)).encode())
    digest.update(_functions_digest(type(rules)))  # type: ignore[arg-type]
    return digest.digest()


@cache
def _functions_digest(rules: type) -> bytes:
    digest, seen = hashlib.blake2b(digest_size=16), set[int]()
    for function in FUNCTIONS:
        written = getattr(rules, function)
        digest.update(b"-" if written is None else _text_of(written, seen))
    return digest.digest()


def _text_of(function: Any, seen: set[int]) -> bytes:
    """The source of a function and of those it calls, and the constants they use."""
    function = getattr(function, "py_func", function)
    if id(function) in seen:
        return b""
    seen.add(id(function))
    parts = [_source(function)]
    for name, value in used_values(function).items():
        if callable(value) and hasattr(getattr(value, "py_func", value), "__code__"):
            parts.append(_text_of(value, seen))
        elif isinstance(value, np.ndarray):
            parts.append(value.tobytes())
        elif isinstance(value, int | float | str | bytes | tuple):
            parts.append(f"{name}={value!r}".encode())
    return b"|".join(parts)


def _source(function: Any) -> bytes:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
        return "".join(
            ast.dump(node)
            for node in statements  # of the body, without the docstring
            if not isinstance(node, ast.FunctionDef)
            and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ).encode()
    except (OSError, TypeError, SyntaxError):  # no source file
        code = function.__code__
        return bytes(code.co_code) + repr((code.co_consts, code.co_names)).encode()


def with_helpers(function: FunctionType, compiled: dict[FunctionType, Any]) -> FunctionType:
    """`function` with the plain functions that it calls compiled, and those that these call.
    `compiled`: the helpers so far."""
    replaced = {
        name: _helper(value, compiled)
        for name, value in used_values(function).items()
        if isinstance(value, FunctionType)
    }
    return _rebuilt(function, replaced) if replaced else function


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
