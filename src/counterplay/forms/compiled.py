"""Rules as a handful of functions over an array of integers, which Numba compiles.

For games that fit in no tree. `c` are the constants of the game (int64[...]), `state` is what
happened so far (int64[state_size], zeros at first). The functions are plain Python as well: that is
how `cp.check` runs them, and how to debug them. `RulesForm` (`found_form.py`) plays them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from numba import types as _types
from numba.core import config as _config

from counterplay.base.errors import BadGame
from counterplay.forms.tree import CHANCE, TERMINAL
from counterplay.kernels.call import plain_address
from counterplay.kernels.jit import compile_rules
from counterplay.kernels.rng import uniform

config: Any = _config  # its settings are not declared
njit: Any = numba.njit
carray: Any = numba.carray  # type: ignore[attr-defined]
types: Any = _types

#: A row of `facts`: who acts, how many actions he has (or what is wrong), and what he knows.
WHO, COUNT, KNOWN = range(3)
PLAY, RAW, SHARE, PASSIVE = range(4)  # modes of a step
#: So many constants are known to the compiler, which then divides by them and unrolls loops faster.
MOST_KNOWN = 16
MOST_DRAWS = 10_000  # of chance in a row; more is taken for one that never ends
BAD_PLAYER, BAD_COUNT, BAD_PAYOFF, NO_END, BAD_KEY, TOO_LONG, BAD_PASSIVE = range(1, 8)
PROBLEMS = {
    BAD_PLAYER: "player() gave no player, CHANCE or TERMINAL",
    BAD_COUNT: "actions() gave a number that is not from 1 to max_actions",
    BAD_PAYOFF: "payoff() gave a number that is not finite",
    NO_END: "chance acts without end",
    BAD_KEY: "key() gave a number below 0 or above 2^60 (give it more words: known_size = 2)",
    TOO_LONG: "a history has more decisions than `depth`",
    BAD_PASSIVE: "passive() gave no action",
}
FUNCTIONS = ("start", "player", "actions", "chance", "apply", "key", "payoff", "passive")
OPTIONAL = ("start", "chance", "passive")


class CompiledRules:
    """Derive from it, set the sizes and write the functions (static methods).

    `key` writes all that the player to act knows to `known`, so that he who forgets nothing has
    different numbers there: with `known_size` 1 one number from 0 to 2^60, by which information
    sets are told apart exactly; with more, numbers that are hashed to 128 bits.
    """

    n_players: int = 2
    zero_sum: bool = True
    state_size: int  # integers in a state
    known_size: int = 1  # integers that say what a player knows
    max_actions: int  # of a player at one information set
    depth: int  # decisions of all players in the longest history
    constants: Sequence[int] = ()  # parameters of the game: `c` of every function
    #: The solver that samples it where nobody names one: it may be deep, and walks of external
    #: sampling long.
    sampler: ClassVar[str] = "mccfr"

    @staticmethod
    def start(c: Any, state: Any) -> None:
        """Fill the first state; it is zeros where nothing is done."""

    @staticmethod
    def player(c: Any, state: Any) -> int:
        """Who acts: 0, 1, ..., CHANCE or TERMINAL."""
        raise NotImplementedError

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        """How many things can be done, by a player or by chance; they are numbered from 0."""
        raise NotImplementedError

    #: `chance(c, state, action)`: the probability of an outcome; None where all are alike.
    chance: ClassVar[Any] = None

    #: `passive(c, state)`: the action that checks or calls, for MCTS; None where there is none.
    passive: ClassVar[Any] = None

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        """Change `state` to what it is after an action."""
        raise NotImplementedError

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        """Write what the player to act knows to `known` (zeros before)."""
        raise NotImplementedError

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        """At the end: write what each player gets to `payoff` (float64[n_players])."""
        raise NotImplementedError

    def label(self, player: int, known: tuple[int, ...]) -> str:
        """What a player knows, for people."""
        return " ".join(str(word) for word in known)

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        """Names of the actions there, for people."""
        return [str(action) for action in range(count)]


class Shape(NamedTuple):
    """Sizes of compiled rules."""

    n_players: int
    state: int
    known: int
    actions: int
    depth: int


def shape_of(name: str, rules: CompiledRules) -> Shape:
    """The sizes of rules, checked."""
    found = []
    limits = {"n_players": 10, "state_size": 10**6, "known_size": 10**4}
    for field in ("n_players", "state_size", "known_size", "max_actions", "depth"):
        value, most = getattr(rules, field, None), limits.get(field, 10_000)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise BadGame(
                f"{name}: `{field}` must be a whole number from 1 to {most:,}, not {value!r}"
            )
        found.append(value)
    for function in FUNCTIONS:
        written = getattr(type(rules), function, None)
        if written is getattr(CompiledRules, function) and function not in OPTIONAL:
            raise BadGame(f"{name}: compiled rules need a function {function}()")
    return Shape(*found)


def constants_of(name: str, rules: CompiledRules) -> np.ndarray:
    """int64[...]: at least one, so that there is something to point at."""
    try:
        values = np.array(rules.constants, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise BadGame(f"{name}: `constants` must be whole numbers of 64 bits") from None
    if values.ndim != 1:
        raise BadGame(f"{name}: `constants` must be one list of whole numbers")
    return values if len(values) else np.zeros(1, dtype=np.int64)


def _step_of(functions: dict[str, Any], shape: Shape, uniform: Any) -> Any:
    """One step of the rules from their functions, plain or compiled."""
    start, player, actions = functions["start"], functions["player"], functions["actions"]
    apply, key, payoff = functions["apply"], functions["key"], functions["payoff"]
    chance, is_uniform = functions["chance"], functions["chance"] is None
    if is_uniform:
        chance = functions["none"]
    passive, is_passive = functions["passive"], functions["passive"] is not None
    if not is_passive:
        passive = functions["never"]
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
        """From the state `above` to `below` by an action, or to the first state (action < 0), and
        (mode `PLAY`) on by chance until a player acts or the game is over. Fills `facts`
        and `known`, or `pays`. To `pays` goes in mode `SHARE` only the probability of an outcome of
        chance, of so many as `facts` says, and in mode `PASSIVE` the action that checks or
        calls."""
        if mode == PASSIVE:
            pays[0] = passive(c, above) if is_passive else -1
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


def _no_chance(c: Any, state: Any, action: int) -> float:
    return 1.0


def _never(c: Any, state: Any) -> int:
    return -1


def plain_step(rules: CompiledRules, shape: Shape) -> Callable[..., None]:
    """One step in plain Python, with lists of whole numbers as Python has them."""
    functions = {name: getattr(type(rules), name) for name in FUNCTIONS}
    step = _step_of({**functions, "none": _no_chance, "never": _never}, shape, uniform)

    def plain(
        c: Any, above: Any, below: Any, action: int, mode: int, rng: Any, facts: Any, pays: Any
    ) -> None:
        lists = [list(map(int, row)) for row in (c, above, below)]
        said, paid = list(map(int, facts)), pays.tolist()
        known = said[KNOWN:]
        step(*lists, action, mode, rng, said, known, paid)
        below[:], facts[:KNOWN], facts[KNOWN:], pays[:] = lists[2], said[:KNOWN], known, paid

    return plain


def compiled_step(rules: CompiledRules, shape: Shape, digest: bytes) -> Any:
    """The same as a C function; keep it as long as its `address` is used."""
    pasted = njit(error_model="numpy", nogil=True, _nrt=False, inline="always")
    functions: dict[str, Any] = {"none": pasted(_no_chance), "never": pasted(_never)}
    for name in FUNCTIONS:
        written = getattr(type(rules), name)
        functions[name] = None if written is None else pasted(written)
    step = pasted(_step_of(functions, shape, uniform))
    known = tuple(int(word) for word in rules.constants)
    few = 0 < len(known) <= MOST_KNOWN
    n_constants, n_state, n_players = max(len(rules.constants), 1), shape.state, shape.n_players
    n_facts = KNOWN + shape.known
    word, real, state = (
        types.CPointer(kind) for kind in (types.int64, types.float64, types.uint64)
    )

    number = types.int64

    def call(
        c: Any, above: Any, below: Any, action: Any, mode: Any, rng: Any, facts: Any, pays: Any
    ) -> None:
        step(
            known if few else carray(c, n_constants),
            carray(above, n_state),
            carray(below, n_state),
            action,
            mode,
            carray(rng, 4),
            carray(facts, n_facts),
            carray(facts, n_facts)[KNOWN:],
            carray(pays, n_players),
        )

    taken = (word, word, word, number, number, state, word, real)
    return compile_rules(call, types.void, taken, digest.hex())


def address_of(name: str, rules: CompiledRules, shape: Shape, digest: bytes) -> tuple[int, Any]:
    """Where a kernel finds the step of these rules, and what must be kept for that."""
    if config.DISABLE_JIT:
        return plain_address(plain_step(rules, shape)), None
    try:
        made = compiled_step(rules, shape, digest)
    except numba.core.errors.NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise BadGame(f"{name}: the rules cannot be compiled: {' '.join(lines)[:400]}") from None
    return int(made.address), made
