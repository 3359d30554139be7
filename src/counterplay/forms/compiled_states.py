"""Compiled rules in plain Python, a state at a time: for trees of small games, and for checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

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
    def _state(self) -> np.ndarray:
        return np.array(self.words, dtype=np.int64)

    def player(self) -> int:
        return int(self.game.ask("player", self._state))

    def count(self) -> int:
        """How many actions."""
        return int(self.game.ask("actions", self._state))

    def known(self) -> tuple[int, ...]:
        """What the player to act knows, as numbers."""
        known = np.zeros(self.game.rules.known_size, dtype=np.int64)
        self.game.ask("key", self._state, known)
        return tuple(known.tolist())

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

    def child(self, action: str) -> RulesState:
        return self.after(self.actions().index(action))

    def after(self, action: int) -> RulesState:
        """The state after an action by its number."""
        state = self._state
        self.game.ask("apply", state, action)
        return RulesState(self.game, tuple(state.tolist()), (*self.path, action))

    def infoset(self) -> Known:
        player, known = self.player(), self.known()
        return Known(known, self.game.rules.label(player, known))

    def payoffs(self) -> list[float]:
        pays = np.zeros(self.game.n_players)
        self.game.ask("payoff", self._state, pays)
        return [float(pay) for pay in pays]


class StatesOfRules:
    """Compiled rules as `StateRules`."""

    def __init__(self, name: str, rules: CompiledRules) -> None:
        self.rules = rules
        self.n_players = shape_of(name, rules).n_players
        self._constants = constants_of(name, rules)
        for given in ("unit", "seats"):
            if hasattr(rules, given):
                setattr(self, given, getattr(rules, given))

    def ask(self, function: str, state: np.ndarray, *arguments: Any) -> Any:
        """What a function of the rules says, in plain Python; whole numbers that do not fit into 64
        bits are an `OverflowError`."""
        with np.errstate(over="raise"):
            try:
                return getattr(type(self.rules), function)(self._constants, state, *arguments)
            except FloatingPointError:
                raise OverflowError(
                    f"{function}() computes a number that does not fit into 64 bits"
                ) from None

    def root(self) -> RulesState:
        state = np.zeros(self.rules.state_size, dtype=np.int64)
        self.ask("start", state)
        return RulesState(self, tuple(state.tolist()))
