"""OpenSpiel: its games as rules, and its policies as strategies. Needs the extra `[openspiel]`.

Every sequential game can be loaded; simultaneous ones are made turn-based. Policies are exchanged
for these games and for games of this package that OpenSpiel has too (`openspiel()` of the rules
gives their name there). Both trees are traversed side by side: an `open_spiel:` game has the same
nodes; a game of this package deals all cards at once where OpenSpiel deals them one by one, and
has nodes for forced moves, which OpenSpiel makes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, CounterplayError, shown, unknown
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GAMES, Exchange, GameSource, as_game
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.forms.strategy import Strategy

OPEN_SPIEL = "open_spiel:"
KINDS = ("python", "cpp")  # of a policy: a class in Python, or in C++


class OpenSpielState:
    """A pyspiel state as a `State`."""

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
                "OpenSpiel is not installed; pip install '.[openspiel]' in a clone"
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
        except Exception as error:  # OpenSpiel has its own type, with a message to pass on
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
        # of play without a tree
        self.depth, self.max_actions = int(game.max_game_length()), int(game.num_distinct_actions())

    def root(self) -> OpenSpielState:
        return OpenSpielState(self.spiel.new_initial_state(), self._perfect)


def openspiel_game(game: Game) -> tuple[Any, bool]:
    """The OpenSpiel game of `game`, and whether `game` is one of this package."""
    rules = game.rules
    if hasattr(rules, "spiel"):
        return rules.spiel, False
    name = rules.openspiel() if hasattr(rules, "openspiel") else None
    if name is None:
        names = [spec.name for spec in GAMES.values() if hasattr(spec.make, "openspiel")]
        raise BadParameter(
            f"{game.name} has no twin in OpenSpiel; games of {OPEN_SPIEL} and most of "
            f"{', '.join(names)} have"
        )
    return OpenSpielRules(name).spiel, True


def pairs(game: Game) -> list[tuple[int, Any]]:
    """Each information set that OpenSpiel has, with one of its states there."""
    spiel, deals_at_once = openspiel_game(game)
    tree = game.tree
    state_of: dict[int, Any] = {}
    waiting = [(0, spiel.new_initial_state())]
    while waiting:
        node, state = waiting.pop()
        if state.is_terminal():
            continue  # forced moves may follow in `game`
        low, high = int(tree.first_child[node]), int(tree.first_child[node + 1])
        if state.is_chance_node():
            below = list(_deals(state)) if deals_at_once else list(_outcomes(state))
            fits = tree.player[node] == CHANCE
        else:
            below = [state.child(action) for action in state.legal_actions()]
            fits = tree.player[node] == state.current_player()
            state_of.setdefault(int(tree.row[node]), state)
        if not fits or len(below) != high - low:
            raise CounterplayError(f"{game.name} and OpenSpiel's {spiel} do not match")
        waiting += zip(range(low, high), below, strict=True)
    return list(state_of.items())


def _outcomes(state: Any) -> Iterator[Any]:
    return (state.child(outcome) for outcome, _ in state.chance_outcomes())


def _deals(state: Any) -> Iterator[Any]:
    """The states after all cards that are dealt in a row."""
    if not state.is_chance_node():
        yield state
        return
    for below in _outcomes(state):
        yield from _deals(below)


def read_policy(game: Any, policy: Any) -> Strategy:
    """See `Strategy.from_openspiel`."""
    game = _loaded(game)
    probabilities_of = (
        policy.get if isinstance(policy, Mapping) else getattr(policy, "action_probabilities", None)
    )
    if not callable(probabilities_of):
        raise BadStrategy(
            f"a policy of OpenSpiel has action_probabilities(state), and {shown(policy)} has not"
        )
    matched, counts = pairs(game), np.diff(game.tree.first)
    shares = np.repeat(1.0 / counts, counts)  # right where a move is forced
    for infoset, state in matched:
        key = _key(state)
        given = dict(probabilities_of(key if isinstance(policy, Mapping) else state) or {})
        low, legal = int(game.form.first[infoset]), state.legal_actions()
        illegal = set(given) - set(legal)
        if not given or any(given[action] for action in illegal):
            raise BadStrategy(f"the policy has {given or 'nothing'} for {key!r}; legal are {legal}")
        shares[low : low + len(legal)] = [given.get(action, 0.0) for action in legal]
    sums = np.add.reduceat(shares, game.form.first[:-1])
    if np.any(np.abs(sums - 1.0) > 1e-6):
        i = int(np.abs(sums - 1.0).argmax())
        raise BadStrategy(f"probabilities at {game.infoset_names[i]!r} sum to {sums[i]:.9g}, not 1")
    return Strategy(game, shares / np.repeat(sums, counts))  # OpenSpiel's may be rounded


def write_policy(strategy: Strategy, kind: str = "python") -> Any:
    """See `Strategy.to_openspiel`."""
    if kind not in KINDS:
        raise BadParameter(f"a policy of OpenSpiel is python or cpp, not {kind!r}")
    game = strategy.game
    table: dict[str, list[tuple[int, float]]] = {}
    first = game.form.first
    for infoset, state in pairs(game):
        row = strategy.probabilities[first[infoset] : first[infoset + 1]].tolist()
        entry = list(zip(state.legal_actions(), row, strict=True))
        if table.setdefault(_key(state), entry) != entry:
            raise BadStrategy(
                f"OpenSpiel has one entry for {_key(state)!r}, and the strategy plays it in two "
                f"ways, by how it came there"
            )
    import pyspiel

    if kind == "cpp":
        return pyspiel.TabularPolicy(table)
    from open_spiel.python.policy import TabularPolicy

    policy = TabularPolicy(openspiel_game(game)[0])
    for key, entry in table.items():
        row = policy.policy_for_key(key)
        row[:] = 0.0
        for action, share in entry:
            row[action] = share
    return policy


def _key(state: Any) -> str:
    """The key of a state in OpenSpiel's tables."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return str(state.information_state_string())
    return str(state.observation_string() if kind.provides_observation_string else state)


def _loaded(game: Any) -> Game:
    """The game for an object, a name or a game of OpenSpiel."""
    if isinstance(game, Game | str):
        return as_game(game)
    if hasattr(game, "new_initial_state"):
        return as_game(f"{OPEN_SPIEL}{game}")
    raise BadParameter(f"a game is one of ours, its name, or one of OpenSpiel's, not {game!r}")


SOURCE = GameSource("open_spiel", OpenSpielRules, OPEN_SPIEL + "NAME")
EXCHANGE = Exchange("openspiel", read_policy, write_policy)
