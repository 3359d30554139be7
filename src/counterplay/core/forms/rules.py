"""The three ways to write rules: `StateRules`, `CompiledRules` and `FormRules`.

`StateRules` are plain Python: one `State` object per history; `states.py` builds their
`HistoryTree`. `CompiledRules` are functions over an array of integers, which Numba compiles:
`expand.py` builds their `HistoryTree`, `rules_form.py` plays them without one. `FormRules` make the
form for sampling themselves and have no tree. Files of Gambit and games of OpenSpiel are read as
`StateRules`. Rules of each kind may set `capabilities`, `unit` and `seats`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.tree import CHANCE, TERMINAL

__all__ = ["CHANCE", "TERMINAL", "CompiledRules", "FormRules", "State", "StateRules"]


class State(Protocol):
    """A state of a game. Immutable: `child` returns a new one."""

    def player(self) -> int:
        """0, 1, ... for the player to act, CHANCE, or TERMINAL."""

    def actions(self) -> Sequence[Any]:
        """The actions here, of a player or of chance; `str(action)` is the label."""

    def child(self, action: Any) -> State:
        """The state after `action`."""

    def infoset(self) -> Hashable:
        """What the player to act knows; `str` of it is the label. States with equal values are one
        information set."""

    def chance(self) -> Sequence[float]:
        """The probability of each action of chance."""

    def payoffs(self) -> Sequence[float]:
        """The payoff of each player at the end."""


@runtime_checkable
class StateRules(Protocol):
    """A game given by its first state.

    A state may also have a method `passive()`, the action that checks or calls, for roll-outs of
    MCTS.
    """

    n_players: int

    def root(self) -> State:
        """The first state."""


@runtime_checkable
class FormRules(Protocol):
    """A game too large for a tree, as a form that answers the questions of `core/forms/access.py`.

    The form has the arrays `first` and `owner` of its information sets, player by player,
    `passive`, and `n_nodes`.
    """

    n_players: int
    zero_sum: bool
    depth: int  # decisions in the longest history

    def form(self) -> Any:
        """The form for sampling."""

    def labels(self) -> tuple[list[str], list[str]]:
        """A name for every information set and for every slot."""

    def key(self) -> bytes:
        """Changes when the meaning of the slots does."""


class CompiledRules:
    """Rules as functions over an array of integers. Derive from it, set the sizes and write the
    functions (static methods).

    `c` are the constants of the game (int64[...]), `state` is the current state
    (int64[state_size], zeros at first). The functions are also plain Python, which is how
    `cp.check` runs them and how to debug them.

    `key` writes everything that the player to act knows to `known`; for perfect recall that
    includes the player's earlier observations and actions. With `known_size` 1 it is one number
    from 0 to 2^60, which identifies the information set exactly; with more they are hashed to 128
    bits.
    """

    n_players: int = 2
    zero_sum: bool = True
    state_size: int  # integers in a state
    known_size: int = 1  # integers of what a player knows
    max_actions: int  # of a player at one information set
    depth: int  # decisions of all players in the longest history
    constants: Sequence[int] = ()  # parameters of the game: `c` of every function

    most_nodes: int = 2**27  # of a tree that is built unless tree=False
    #: Whether a player's information sets are numbered by depth, number of actions and key;
    #: otherwise in breadth-first order of the tree.
    sorted_infosets: bool = False
    #: The payoffs of a tree, a row per outcome; None: in breadth-first order.
    payoff_table: Any = None

    @staticmethod
    def start(c: Any, state: Any) -> None:
        """Fills the first state, which is zeros before."""

    @staticmethod
    def player(c: Any, state: Any) -> int:
        """Who acts: 0, 1, ..., CHANCE or TERMINAL."""
        raise NotImplementedError

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        """The number of actions, of a player or of chance; they are numbered from 0."""
        raise NotImplementedError

    #: `chance(c, state, action)`: the probability of an outcome; None if chance is uniform.
    chance: ClassVar[Any] = None

    #: `passive(c, state)`: the action that checks or calls, for MCTS; None if there is none.
    passive: ClassVar[Any] = None

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        """Changes `state` to the state after an action."""

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        """Writes what the player to act knows to `known` (zeros before)."""

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        """Writes each player's payoff at the end to `payoff` (float64[n_players])."""

    def root(self) -> RulesState:
        """The first state in plain Python."""
        c, state = tuple(map(int, self.constants)) or (0,), [0] * self.state_size
        self.start(c, state)
        return RulesState(self, c, whole_numbers(state, "start"))

    def label(self, player: int, known: tuple[int, ...]) -> str:
        """A label for what a player knows."""
        return " ".join(str(word) for word in known)

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        """Labels of the actions at an information set."""
        return [str(action) for action in range(count)]


@dataclass(frozen=True)
class Known:
    """What a player knows; labels may be equal, the numbers are compared."""

    known: tuple[int, ...]
    label: str = field(compare=False)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class RulesState:
    """A state of compiled rules as a `State`; actions of players are their labels."""

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
        """The number of actions."""
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
        """The action that checks or calls, if the rules have one."""
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
    """What a function wrote, checked to be integers of 64 bits."""
    for word in words:
        if not isinstance(word, int | np.integer):
            raise TypeError(f"{function}() writes {word!r}, which is no whole number")
        if not -(2**63) <= word < 2**63:
            raise OverflowError(f"{function}() writes {word}, which does not fit into 64 bits")
    return tuple(int(word) for word in words)


def history(rules: CompiledRules, path: tuple[int, ...]) -> str:
    """A readable history, as far as the rules can be played."""
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
        except Exception:  # the error that is being reported
            return f"after the actions {list(path)} (from 0, chance included)"
    return "after " + ", ".join(steps) if steps else "at the start"
