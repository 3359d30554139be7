"""Builds the `HistoryTree` of `StateRules`, one state at a time, breadth first."""

from __future__ import annotations

import gc
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from traceback import extract_tb
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadGame, CounterplayError, shown
from counterplay.core.base.progress import Count
from counterplay.core.base.registry import user_code_reason
from counterplay.core.forms.rules import CHANCE, TERMINAL, State, StateRules
from counterplay.core.forms.tree import NO_ACTION, Distributions, HistoryTree, Labels, offsets

#: Peak memory per state (measured on Leduc).
BYTES_PER_STATE = 1200
CHECK_EVERY = 2000  # histories
MOST_ACTIONS = 2**15 - 1
#: A longer history counts as endless.
MOST_DEPTH = 10_000


@dataclass
class TreeLists:
    """The tree so far, in lists per node or information set. Checks what the rules give."""

    n_players: int
    player: list[int] = field(default_factory=list)
    table_row: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)  # how many
    chance: Distributions = field(default_factory=Distributions)
    outcomes: dict[tuple[float, ...], int] = field(default_factory=dict)
    infosets: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    actions: list[tuple[str, ...]] = field(default_factory=list)  # per information set
    passive: list[int] = field(default_factory=list)

    # what the rules gave, before conversion
    raw_outcomes: dict[Any, int] = field(default_factory=dict)
    raw_actions: list[list[Any]] = field(default_factory=list)  # per information set

    def visit(self, state: State) -> Sequence[Any]:
        """Records a state and returns its actions. Outcomes and information sets that were seen
        before are looked up and not checked again."""
        player = player_of(state, self.n_players)
        if player == TERMINAL:
            self._record(player, self._outcome(state), 0)
            return ()
        actions = actions_of(state)
        row = self._distribution if player == CHANCE else self._infoset
        self._record(player, row(state, player, actions), len(actions))
        return actions

    def _record(self, player: int, table_row: int, children: int) -> None:
        self.player.append(player)
        self.table_row.append(table_row)
        self.children.append(children)

    def _outcome(self, state: State) -> int:
        given = tuple(state.payoffs())
        try:
            return self.raw_outcomes[given]
        except (KeyError, TypeError):
            payoffs = checked_payoffs(given, self.n_players)
        outcome = self.outcomes.setdefault(payoffs, len(self.outcomes))
        self.raw_outcomes[payoffs] = outcome
        return outcome

    def _distribution(self, state: State, player: int, actions: Sequence[Any]) -> int:
        given = state.chance()
        row = self.chance.row_of.get(tuple(given)) if type(given) is list else None
        if row is not None and len(self.chance.rows[row]) == len(actions):
            return row
        probabilities = checked_chance(given, len(actions))
        return self.chance.row(tuple(probabilities.tolist()), probabilities)

    def _infoset(self, state: State, player: int, actions: Sequence[Any]) -> int:
        key = (player, state.infoset())
        try:
            infoset = self.infosets.get(key)
        except TypeError:
            raise BadGame(
                f"infoset() must give something hashable such as a string, not {key[1]!r}"
            ) from None
        if infoset is not None and self.raw_actions[infoset] == actions:
            return infoset
        labels = tuple(str(action) for action in actions)
        if len(set(labels)) < len(labels):
            raise BadGame(
                f"information set {key[1]!r} has two actions with the same label: {labels}"
            )
        if infoset is None:
            infoset = self.infosets[key] = len(self.infosets)
            self.actions.append(labels)
            self.raw_actions.append(list(actions))
            self.passive.append(passive_of(state, actions))
        elif self.actions[infoset] != labels:
            raise BadGame(
                f"information set {key[1]!r} of player {player + 1} has actions "
                f"{self.actions[infoset]} and {labels}"
            )
        return infoset


def player_of(state: State, n_players: int) -> int:
    """Who acts, checked."""
    player = state.player()
    if player in (TERMINAL, CHANCE):
        return player
    if not isinstance(player, int | np.integer) or not 0 <= player < n_players:
        raise BadGame(f"player() gave {player!r}; expected CHANCE, TERMINAL or 0..{n_players - 1}")
    return player


def actions_of(state: State) -> list[Any]:
    """The actions, checked to be neither none nor endless."""
    actions = state.actions()
    if not isinstance(actions, list):
        actions = list(islice(actions, MOST_ACTIONS + 1))
    if not actions:
        raise BadGame(f"no actions in a state that is not terminal: {state!r}")
    if len(actions) > MOST_ACTIONS:
        raise BadGame(f"more than {MOST_ACTIONS:,} actions in a state: {str(state)[:100]}")
    return actions


def passive_of(state: Any, actions: Sequence[Any]) -> int:
    """The number of the action that checks or calls, or `NO_ACTION`."""
    passive = state.passive() if hasattr(state, "passive") else None
    return actions.index(passive) if passive in actions else NO_ACTION


def checked_payoffs(given: Sequence[Any], n_players: int) -> tuple[float, ...]:
    """What payoffs() gave, one finite number for each player."""
    payoffs = tuple(float(x) for x in given)
    if len(payoffs) != n_players or not all(map(math.isfinite, payoffs)):
        raise BadGame(f"payoffs() must give {n_players} finite numbers, not {payoffs}")
    return payoffs


def checked_chance(given: Sequence[Any], n_actions: int) -> np.ndarray:
    """What chance() gave, a distribution over the actions."""
    probabilities = np.array(given, dtype=np.float64)
    if probabilities.shape != (n_actions,):
        raise BadGame(f"chance() must give one probability for each of {n_actions} actions")
    if not np.all(probabilities >= 0) or abs(probabilities.sum() - 1.0) > 1e-9:
        raise BadGame(
            f"chance() gave probabilities that are negative or sum to "
            f"{probabilities.sum():.9g}, not 1"
        )
    return probabilities


NEEDED = ("player", "actions", "child", "infoset", "chance", "payoffs")


def explained(name: str, state: Any, error: Exception) -> Exception:
    """An error in the rules, with the state and the method."""
    if isinstance(error, BadGame):
        text = str(error)
        return BadGame(text if str(state) in text else f"{text}, in the state {shown(state)}")
    if isinstance(error, CounterplayError | MemoryError):
        return error
    return BadGame(f"{name}: {_mistake(state, error)}")


def _mistake(state: Any, error: Exception) -> str:
    """The method of a state that is missing or fails, and why."""
    missing = [method for method in NEEDED if not callable(getattr(state, method, None))]
    if isinstance(error, AttributeError) and error.obj is state and error.name in missing:
        return (
            f"the state {shown(state)} has no method {error.name}(); a state needs "
            f"{', '.join(NEEDED)}"
        )
    names = [step.name for step in extract_tb(error.__traceback__)]
    method = next((name for name in names if name in NEEDED), None)
    what = f"{method}() failed" if method else "a mistake"
    return f"{what} in the state {shown(state)}: {user_code_reason(error)}"


def endless(name: str) -> BadGame:
    """The error of rules with a history that does not end."""
    return BadGame(
        f"{name} has a history that goes on after {MOST_DEPTH:,} actions; every history must end"
    )


def _visit_all(lists: TreeLists, root: State, name: str) -> None:
    """Visits all states level by level and reports progress. Stops at the limits of memory and
    depth, also inside a level."""
    watch, count = memory.MemoryWatch(BYTES_PER_STATE), Count(f"histories of {name}")
    level, seen, checked, depth = [root], 1, 0, 0
    while level:
        if depth > MOST_DEPTH:
            raise endless(name)
        below: list[State] = []
        for state in level:
            try:
                children = [state.child(action) for action in lists.visit(state)]
            except Exception as error:
                raise explained(name, state, error) from error
            below += children
            seen += len(children)
            if seen - checked >= CHECK_EVERY:
                watch.check(
                    seen,
                    f"{name} with more than {seen:,} histories of {depth + 1} actions and more",
                )
                count.say(seen)
                checked = seen
        level, depth = below, depth + 1


def build_states(rules: StateRules, name: str) -> tuple[HistoryTree, Labels]:
    """The tree of `rules` and its labels."""
    lists = TreeLists(rules.n_players)
    collecting = gc.isenabled()
    gc.disable()  # every object made here stays, so collecting is wasted work
    try:
        _visit_all(lists, rules.root(), name)
    finally:
        if collecting:
            gc.enable()
    if not lists.infosets:
        raise BadGame(f"{name}: no player ever acts")
    keys = list(lists.infosets)
    order = sorted(range(len(keys)), key=lambda i: keys[i][0])  # by player, parents first
    new_id = np.empty(len(order), dtype=np.int32)
    new_id[order] = np.arange(len(order), dtype=np.int32)
    player = np.array(lists.player, dtype=np.int8)
    table_row = np.array(lists.table_row, dtype=np.int32)
    table_row[player >= 0] = new_id[table_row[player >= 0]]
    tree = HistoryTree(
        player=player,
        first_child=offsets(lists.children) + np.int32(1),
        row=table_row,
        first=offsets([len(lists.actions[i]) for i in order]),
        owner=np.array([keys[i][0] for i in order], dtype=np.int8),
        passive=np.array([lists.passive[i] for i in order], dtype=np.int16),
        payoff=np.array(list(lists.outcomes), dtype=np.float64),
        **lists.chance.arrays(),
    )
    return tree, Labels(
        [str(keys[i][1]) for i in order], [label for i in order for label in lists.actions[i]]
    )
