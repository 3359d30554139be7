"""Policies of OpenSpiel as strategies, and back, for its own games and for our twins of them.

Both trees are walked side by side. Ours of an `open_spiel:` game is theirs, node by node. A twin
deals all cards at once where OpenSpiel deals them one by one, and asks for moves that are forced,
which OpenSpiel makes by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, CounterplayError, shown
from counterplay.core.forms.exchange import Exchange
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GAMES, as_game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import CHANCE
from counterplay.core.games.openspiel import OPEN_SPIEL, OpenSpielRules

KINDS = ("python", "cpp")


class Pair(NamedTuple):
    """One of our information sets and a state of theirs in it."""

    infoset: int
    state: Any


def twin_of(game: Game) -> tuple[Any, bool]:
    """OpenSpiel's game behind one of ours, and whether ours is a twin of it."""
    rules = game.rules
    if hasattr(rules, "spiel"):
        return rules.spiel, False
    name = rules.openspiel() if hasattr(rules, "openspiel") else None
    if name is None:
        twins = [spec.name for spec in GAMES.values() if hasattr(spec.make, "openspiel")]
        raise BadParameter(
            f"{game.name} has no twin in OpenSpiel; games of {OPEN_SPIEL} and most of "
            f"{', '.join(twins)} have"
        )
    return OpenSpielRules(name).spiel, True


def pairs(game: Game) -> list[Pair]:
    """Each information set that OpenSpiel asks about, once."""
    spiel, twin = twin_of(game)
    tree = game.tree
    found: dict[int, Any] = {}
    waiting = [(0, spiel.new_initial_state())]
    while waiting:
        node, state = waiting.pop()
        if state.is_terminal():
            continue  # ours may go on with forced moves
        low, high = int(tree.first_child[node]), int(tree.first_child[node + 1])
        if state.is_chance_node():
            below = list(_deals(state)) if twin else list(_outcomes(state))
            fits = tree.player[node] == CHANCE
        else:
            below = [state.child(action) for action in state.legal_actions()]
            fits = tree.player[node] == state.current_player()
            found.setdefault(int(tree.row[node]), state)
        if not fits or len(below) != high - low:
            raise CounterplayError(f"{game.name} and OpenSpiel's {spiel} do not match")
        waiting += zip(range(low, high), below, strict=True)
    return [Pair(infoset, state) for infoset, state in found.items()]


def _outcomes(state: Any) -> Iterator[Any]:
    return (state.child(outcome) for outcome, _ in state.chance_outcomes())


def _deals(state: Any) -> Iterator[Any]:
    """All cards that are dealt in a row."""
    if not state.is_chance_node():
        yield state
        return
    for below in _outcomes(state):
        yield from _deals(below)


def read_policy(game: Any, policy: Any) -> Strategy:
    """`Strategy.from_openspiel`."""
    game = _ours(game)
    ask = (
        policy.get if isinstance(policy, Mapping) else getattr(policy, "action_probabilities", None)
    )
    if not callable(ask):
        raise BadStrategy(
            f"a policy of OpenSpiel has action_probabilities(state), and {shown(policy)} has not"
        )
    counts = np.diff(game.form.first)
    shares = np.repeat(1.0 / counts, counts)  # which is right where a move is forced
    for infoset, state in pairs(game):
        key = _key(state)
        given = dict(ask(key if isinstance(policy, Mapping) else state) or {})
        low, legal = int(game.form.first[infoset]), state.legal_actions()
        strange = set(given) - set(legal)
        if not given or any(given[action] for action in strange):
            raise BadStrategy(f"the policy has {given or 'nothing'} for {key!r}; legal are {legal}")
        shares[low : low + len(legal)] = [given.get(action, 0.0) for action in legal]
    sums = np.add.reduceat(shares, game.form.first[:-1])
    if np.any(np.abs(sums - 1.0) > 1e-6):
        i = int(np.abs(sums - 1.0).argmax())
        raise BadStrategy(f"probabilities at {game.infoset_names[i]!r} sum to {sums[i]:.9g}, not 1")
    return Strategy(game, shares / np.repeat(sums, counts))  # theirs may be rounded


def write_policy(strategy: Strategy, kind: str = "python") -> Any:
    """`Strategy.to_openspiel`."""
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

    policy = TabularPolicy(twin_of(game)[0])
    for key, entry in table.items():
        row = policy.policy_for_key(key)
        row[:] = 0.0
        for action, share in entry:
            row[action] = share
    return policy


def _key(state: Any) -> str:
    """What OpenSpiel's tables are looked up by."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return str(state.information_state_string())
    return str(state.observation_string() if kind.provides_observation_string else state)


def _ours(game: Any) -> Game:
    """Our game for whatever was given."""
    if isinstance(game, Game | str):
        return as_game(game)
    if hasattr(game, "new_initial_state"):
        return as_game(f"{OPEN_SPIEL}{game}")
    raise BadParameter(f"a game is one of ours, its name, or one of OpenSpiel's, not {game!r}")


EXCHANGE = Exchange("openspiel", read_policy, write_policy)
