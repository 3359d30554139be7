"""Any sequential game of OpenSpiel, and simultaneous ones made turn-based. Needs the extra
`[openspiel]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError, unknown
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.forms.spec import GameSource

OPEN_SPIEL = "open_spiel:"


class OpenSpielState:
    """A pyspiel state behind the state protocol."""

    def __init__(self, state: Any, perfect_information: bool) -> None:
        self._state = state
        self._perfect_information = perfect_information

    def player(self) -> int:
        if self._state.is_terminal():
            return TERMINAL
        return CHANCE if self._state.is_chance_node() else int(self._state.current_player())

    def actions(self) -> Sequence[Action]:
        if self._state.is_chance_node():
            codes = [code for code, _ in self._state.chance_outcomes()]
        else:
            codes = self._state.legal_actions()
        return [
            Action(code, self._state.action_to_string(self._state.current_player(), code))
            for code in codes
        ]

    def chance(self) -> list[float]:
        return [probability for _, probability in self._state.chance_outcomes()]

    def child(self, action: Action) -> OpenSpielState:
        return OpenSpielState(self._state.child(action.code), self._perfect_information)

    def infoset(self) -> str:
        if self._perfect_information:
            return str(self._state.history_str())
        return str(self._state.information_state_string(self._state.current_player()))

    def payoffs(self) -> list[float]:
        return [float(x) for x in self._state.returns()]


class Action:
    """An OpenSpiel action code with its readable name."""

    def __init__(self, code: int, label: str) -> None:
        self.code, self._label = code, label

    def __str__(self) -> str:
        return self._label


class OpenSpielRules:
    """Rules of the OpenSpiel game with this name and parameters, such as `leduc_poker` or
    `goofspiel(num_cards=3)`."""

    def __init__(self, text: str) -> None:
        try:
            import pyspiel
        except ImportError:
            raise CounterplayError(
                "OpenSpiel is not installed; pip install 'counterplay[openspiel]'"
            ) from None
        word = text.split("(")[0].strip()
        if word not in pyspiel.registered_names():
            raise unknown("OpenSpiel game", word, pyspiel.registered_names())
        try:
            game = pyspiel.load_game(text)
            kind = game.get_type()
            if kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                game = pyspiel.convert_to_turn_based(game)
                kind = game.get_type()
        except (
            Exception
        ) as error:  # OpenSpiel raises its own type, with the message we want to pass on
            raise BadParameter(
                f"OpenSpiel refuses {text!r}: {str(error).splitlines()[0]}"
            ) from None
        if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
            raise BadParameter(f"open_spiel:{word} is neither sequential nor simultaneous")
        self._perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        if not self._perfect and not kind.provides_information_state_string:
            raise BadParameter(
                f"open_spiel:{word} does not say what its players know (no information state "
                f"string)"
            )
        self.spiel = game
        self.n_players = int(game.num_players())

    def root(self) -> OpenSpielState:
        return OpenSpielState(self.spiel.new_initial_state(), self._perfect)


SOURCE = GameSource("open_spiel", OpenSpielRules, OPEN_SPIEL + "NAME")
