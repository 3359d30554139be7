"""The three ways to write down rules.

`StateRules` are for people: one `State` object per situation, in plain Python;
`core/forms/states.py` walks them to a `HistoryTree`. `CompiledRules` are functions over an array of
integers, which Numba compiles: `core/forms/expand.py` makes a `HistoryTree` of them,
`core/forms/rules_form.py` plays them without one. `FormRules` make the form that is sampled
themselves. Any of them may say more of itself (`core/forms/capabilities.py`)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.tree import CHANCE, TERMINAL

__all__ = ["CHANCE", "TERMINAL", "CompiledRules", "FormRules", "State", "StateRules"]


class State(Protocol):
    """A situation in a game. Immutable: `child` returns a new one."""

    def player(self) -> int:
        """0, 1, ... for the player to act, CHANCE, or TERMINAL."""

    def actions(self) -> Sequence[Any]:
        """What can be done here, at a player's or a chance node; `str(action)` is its label."""

    def child(self, action: Any) -> State:
        """The situation after `action`."""

    def infoset(self) -> Hashable:
        """What the player to act knows; `str` of it is the label. Equal values are one
        information set."""

    def chance(self) -> Sequence[float]:
        """At a chance node: the probability of each action."""

    def payoffs(self) -> Sequence[float]:
        """At the end: one number per player."""


@runtime_checkable
class StateRules(Protocol):
    """A game given by its first state.

    A state may also have a method `passive()`, the action that checks or calls; MCTS can then use
    such roll-outs.
    """

    n_players: int

    def root(self) -> State:
        """The situation before anything happened."""


@runtime_checkable
class FormRules(Protocol):
    """A game too large for a tree, as a form that answers the questions of `core/forms/access.py`.

    The form has the arrays `first` and `owner` of its information sets, player by player,
    `passive`, and the properties `n_nodes`, `n_infosets` and `n_slots`.
    """

    n_players: int
    zero_sum: bool
    depth: int  # decisions in the longest history

    def form(self) -> Any:
        """The arrays."""

    def labels(self) -> tuple[list[str], list[str]]:
        """A name for every information set and for every slot."""

    def key(self) -> bytes:
        """Changes when the meaning of the slots does."""


class CompiledRules:
    """Rules as a handful of functions over an array of integers. Derive from it, set the sizes and
    write the functions (static methods).

    `c` are the constants of the game (int64[...]), `state` is what happened so far
    (int64[state_size], zeros at first). The functions are plain Python as well: that is how
    `cp.check` runs them, and how to debug them.

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

    # Of a tree:
    most_nodes: int = 2**27  # with more it is built only when asked for
    #: A player's information sets are numbered by depth, number of actions and key; else in the
    #: order in which they are met, level by level.
    sorted_infosets: bool = False
    #: The table of payoffs, a row per outcome; None: each in the order in which it is met.
    payoff_table: Any = None

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

    def root(self) -> RulesState:
        """The first state, for walking the rules in plain Python."""
        c, state = tuple(map(int, self.constants)) or (0,), [0] * self.state_size
        self.start(c, state)
        return RulesState(self, c, whole_numbers(state, "start"))

    def label(self, player: int, known: tuple[int, ...]) -> str:
        """What a player knows, for people."""
        return " ".join(str(word) for word in known)

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        """Names of the actions there, for people."""
        return [str(action) for action in range(count)]


@dataclass(frozen=True)
class Known:
    """What a player knows; two that read alike are told apart by their numbers."""

    known: tuple[int, ...]
    label: str = field(compare=False)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class RulesState:
    """A state of compiled rules as `StateRules` have them. Actions of players are their labels,
    those of chance are numbers."""

    rules: CompiledRules
    c: tuple[int, ...] = field(compare=False)  # constants of the rules
    words: tuple[int, ...]
    path: tuple[int, ...] = ()  # actions that led here, chance included

    def __str__(self) -> str:
        return f"after the actions {list(self.path)} (from 0, chance included)"

    __repr__ = __str__

    @property
    def _state(self) -> list[int]:
        return list(self.words)

    def player(self) -> int:
        return int(self.rules.player(self.c, self._state))

    def count(self) -> int:
        """How many actions."""
        return int(self.rules.actions(self.c, self._state))

    def known(self) -> tuple[int, ...]:
        """What the player to act knows, as numbers."""
        known = [0] * self.rules.known_size
        self.rules.key(self.c, self._state, known)
        return whole_numbers(known, "key")

    def actions(self) -> Sequence[Any]:
        count = self.count()
        if self.player() == CHANCE:
            return range(count)
        return self.rules.action_labels(self.player(), self.known(), count)

    def chance(self) -> list[float]:
        count, state = self.count(), self._state
        if type(self.rules).chance is None:
            return [1.0 / count] * count
        return [float(self.rules.chance(self.c, state, k)) for k in range(count)]

    def passive(self) -> Any:
        """The action that checks or calls, where the rules say which."""
        if type(self.rules).passive is None:
            return None
        return self.actions()[self.passive_number()]

    def passive_number(self) -> int:
        return int(self.rules.passive(self.c, self._state))

    def child(self, action: Any) -> RulesState:
        return self.after(self.actions().index(action))

    def after(self, action: int) -> RulesState:
        """The state after an action by its number."""
        state = self._state
        self.rules.apply(self.c, state, action)
        return RulesState(self.rules, self.c, whole_numbers(state, "apply"), (*self.path, action))

    def infoset(self) -> Known:
        player, known = self.player(), self.known()
        return Known(known, self.rules.label(player, known))

    def payoffs(self) -> list[float]:
        pays = [0.0] * self.rules.n_players
        self.rules.payoff(self.c, self._state, pays)
        return [float(pay) for pay in pays]


def whole_numbers(words: list[Any], function: str) -> tuple[int, ...]:
    """What a function wrote, if that is what an array of 64-bit numbers would have."""
    for word in words:
        if not isinstance(word, int | np.integer):
            raise TypeError(f"{function}() writes {word!r}, which is no whole number")
        if not -(2**63) <= word < 2**63:
            raise OverflowError(f"{function}() writes {word}, which does not fit into 64 bits")
    return tuple(int(word) for word in words)


def history(rules: CompiledRules, path: tuple[int, ...]) -> str:
    """A history for people, as far as the rules can tell it."""
    steps, state = [], rules.root()
    for action in path:
        try:
            player = state.player()
            if player == CHANCE:
                steps.append(f"chance {action}")
            else:
                name = rules.action_labels(player, state.known(), state.count())[action]
                steps.append(f"{numbered(player)} {name}")
            state = state.after(action)
        except Exception:  # the very mistake that is reported
            return f"after the actions {list(path)} (from 0, chance included)"
    return "after " + ", ".join(steps) if steps else "at the start"
