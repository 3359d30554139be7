"""The three ways to write down rules.

`StateRules` are for people: one `State` object per situation; `forms/states.py` walks them one at a
time to a `HistoryTree`. `LevelRules` are for large built-in games: a whole level of the tree is a
dictionary of arrays with one row per node, and `forms/levels.py` expands it at once with NumPy to a
`HistoryTree`. `FormRules` are for games that fit in no tree: they make the form that is sampled
themselves. Any of them may say more of itself (`forms/abilities.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from counterplay.forms.tree import CHANCE, TERMINAL

__all__ = ["CHANCE", "TERMINAL", "FormRules", "Level", "LevelRules", "Rows", "State", "StateRules"]


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
    """A game too large for a tree, as a form that answers the questions of `forms/access.py`.

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


Rows = dict[
    str, np.ndarray
]  # one row per node of a level; every array has the same first dimension


class Level(NamedTuple):
    """What the rules say about n nodes of one level; A is the largest number of actions there."""

    player: np.ndarray  # int8[n]
    legal: np.ndarray  # bool[n, A]; chance is uniform over its legal actions
    key: np.ndarray  # int64[n]: equal keys of one player in one level are one information set
    outcome: np.ndarray  # int32[n]: row of `payoffs` where the game is over
    passive: np.ndarray | None = (
        None  # int16[n]: the action that checks or calls, in games that have one
    )


@runtime_checkable
class LevelRules(Protocol):
    """A game whose levels are expanded with NumPy. A player must remember everything he saw and
    did."""

    n_players: int
    payoffs: np.ndarray  # float64[o, p]: every payoff vector that can happen

    def count_nodes(self) -> int:
        """The exact number of nodes, computed without building the tree."""

    def first_level(self) -> Rows:
        """One row: the root."""

    def level(self, rows: Rows) -> Level:
        """Who acts, what he may do and what he knows, for every row."""

    def children(self, rows: Rows, row: np.ndarray, action: np.ndarray) -> Rows:
        """The rows after `action[k]` in row `row[k]`."""

    def infoset_label(self, rows: Rows, k: int) -> str:
        """Readable name of the information set of row k."""

    def action_label(self, rows: Rows, k: int, action: int) -> str:
        """Readable name of an action in row k."""


def by_levels(rules: object) -> bool:
    """Whether rules expand whole levels at once, instead of one state after the other."""
    return isinstance(rules, LevelRules)
