"""Compiled rules in plain Python, a state at a time: for trees of small games, and for checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.forms.abilities import numbered
from counterplay.forms.compiled import CompiledRules, constants_of, shape_of
from counterplay.forms.tree import CHANCE


@dataclass(frozen=True)
class Known:
    """What a player knows; two that read alike are told apart by their numbers."""

    known: tuple[int, ...]
    label: str = field(compare=False)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class RulesState:
    """A state of compiled rules as `StateRules` have them. Actions are their labels."""

    game: StatesOfRules
    words: tuple[int, ...]
    path: tuple[int, ...] = ()  # actions that led here, chance included

    def __str__(self) -> str:
        return f"after the actions {list(self.path)} (from 0, chance included)"

    __repr__ = __str__

    @property
    def _state(self) -> list[int]:
        return list(self.words)

    def player(self) -> int:
        return int(self.game.ask("player", self._state))

    def count(self) -> int:
        """How many actions."""
        return int(self.game.ask("actions", self._state))

    def known(self) -> tuple[int, ...]:
        """What the player to act knows, as numbers."""
        known = [0] * self.game.rules.known_size
        self.game.ask("key", self._state, known)
        return whole_numbers(known, "key")

    def actions(self) -> list[str]:
        count = self.count()
        if self.player() == CHANCE:
            return [str(k) for k in range(count)]
        return self.game.rules.action_labels(self.player(), self.known(), count)

    def chance(self) -> list[float]:
        count, state = self.count(), self._state
        if type(self.game.rules).chance is None:
            return [1.0 / count] * count
        return [float(self.game.ask("chance", state, k)) for k in range(count)]

    def passive(self) -> str | None:
        """The action that checks or calls, where the rules say which."""
        if type(self.game.rules).passive is None:
            return None
        return self.actions()[self.passive_number()]

    def passive_number(self) -> int:
        return int(self.game.ask("passive", self._state))

    def child(self, action: str) -> RulesState:
        return self.after(self.actions().index(action))

    def after(self, action: int) -> RulesState:
        """The state after an action by its number."""
        state = self._state
        self.game.ask("apply", state, action)
        return RulesState(self.game, whole_numbers(state, "apply"), (*self.path, action))

    def infoset(self) -> Known:
        player, known = self.player(), self.known()
        return Known(known, self.game.rules.label(player, known))

    def payoffs(self) -> list[float]:
        pays = [0.0] * self.game.n_players
        self.game.ask("payoff", self._state, pays)
        return [float(pay) for pay in pays]


class StatesOfRules:
    """Compiled rules as `StateRules`."""

    def __init__(self, name: str, rules: CompiledRules) -> None:
        self.rules = rules
        self.n_players = shape_of(name, rules).n_players
        self._constants = tuple(constants_of(name, rules).tolist())
        for given in ("unit", "seats"):
            if hasattr(rules, given):
                setattr(self, given, getattr(rules, given))

    def ask(self, function: str, state: list[int], *arguments: Any) -> Any:
        """What a function of the rules says, in plain Python."""
        return getattr(type(self.rules), function)(self._constants, state, *arguments)

    def root(self) -> RulesState:
        state = [0] * self.rules.state_size
        self.ask("start", state)
        return RulesState(self, whole_numbers(state, "start"))


def whole_numbers(words: list[Any], function: str) -> tuple[int, ...]:
    """What a function wrote, if that is what an array of 64-bit numbers would have."""
    for word in words:
        if not isinstance(word, int | np.integer):
            raise TypeError(f"{function}() writes {word!r}, which is no whole number")
        if not -(2**63) <= word < 2**63:
            raise OverflowError(f"{function}() writes {word}, which does not fit into 64 bits")
    return tuple(int(word) for word in words)


def history(states: StatesOfRules, path: tuple[int, ...]) -> str:
    """A history for people, as far as the rules can tell it."""
    steps, state = [], states.root()
    for action in path:
        try:
            player = state.player()
            if player == CHANCE:
                steps.append(f"chance {action}")
            else:
                name = states.rules.action_labels(player, state.known(), state.count())[action]
                steps.append(f"{numbered(player)} {name}")
            state = state.after(action)
        except Exception:  # the very mistake that is reported
            return f"after the actions {list(path)} (from 0, chance included)"
    return "after " + ", ".join(steps) if steps else "at the start"
