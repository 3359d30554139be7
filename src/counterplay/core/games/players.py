"""`PlayerResolver`: from what a user writes to a player of a game.

Every command, page and function that takes a player resolves it here, in this order:

1. an object: a `Strategy`, a `Mixture`, or an object with an attribute `strategy` (a run, a
   response, a model); a policy; in a match a player that learns (`learns`); in hold'em also a bot,
   which has a method `act`;
2. `file.py:Name`, user-defined: a strategy, a policy, or a function or class that makes one, with
   the game as argument or without. Typing such a name runs the file; a name read from another file
   never does;
3. a name: `uniform`, in hold'em also that of a bot;
4. a path: a strategy file, or the folder of a run or of a response; in hold'em also a model;
5. a name in other letter case.

A policy is a function of what a player knows. In a game with a tree it is called once for every
information set, `policy(label, actions)`, and returns their probabilities, by name or in order; or
it is a policy of OpenSpiel. In hold'em it is called with boards and betting
(`poker/vector/policy.py`). In a file a function that needs two arguments is a policy.

A name precedes a file of the same name, which is written `./uniform`. A `Path` is always a path.

Rules with players of their own name a subclass of `PlayerResolver` in their attribute `players`, as
`package.module:Class`.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Collection, Container, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterplay.core.base.arrays import SAME, TOLERANCE, as_numpy
from counterplay.core.base.errors import LONGEST_REASON, BadStrategy, UnknownName, shown, unknown
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.registry import call_user_code, is_user_defined, user_object
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.mixture import Mixture, load_strategy, single_strategy
from counterplay.core.forms.strategy import Strategy, check_same_game

if TYPE_CHECKING:
    from counterplay.core.games.locks import Lock, LockedDecision

UNIFORM = "uniform"
MOST_NEIGHBOURS = 10_000  # files that are searched for a similar name
REPEATED = 8  # questions that a policy is asked twice


class PlayerResolver:
    """Resolves the players of one game."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def names(self) -> Collection[str]:
        """The names of players."""
        return (UNIFORM,)

    def player(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """A player for a match of the game."""
        if self.kind(player) == "user-defined":
            player = self.find(player)
        return player if learns(player) else self.strategy(player, progress)

    def strategy(self, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
        """The player as a strategy of the game; an error says why there is none."""
        measured = self.measurable(player, progress)
        strategy = single_strategy(measured)
        return strategy

    def measurable(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """The player as it can be measured: a strategy, or a `Mixture` of two."""
        return self.checked(strategy_in(self.find(player)), player)

    def checked(self, strategy: Strategy | Mixture, player: Any) -> Strategy | Mixture:
        """The strategy of a player; `BadStrategy` if it is for another game."""
        one = strategy.one if isinstance(strategy, Mixture) else strategy
        try:
            if isinstance(strategy, HashStrategy):
                return strategy.on(self.game)  # carried over to a tree
            check_same_game(self.game, one)
        except BadStrategy:
            if self.kind(player) != "path":
                raise
            raise BadStrategy(
                f"{player}: a strategy for {one.game.name}, not for {self.game.name}"
            ) from None
        return strategy

    def model(self, player: Any) -> Strategy:
        """The player as a model for a responder whose adversary has no card abstraction: in hold'em
        it may have another one than the game."""
        return self.strategy(player)

    def check_model(self, model: Strategy) -> None:
        """`BadStrategy` unless `model` may return this strategy."""
        check_same_game(self.game, model)

    def known_player(self, measured: Any) -> Any:
        """A player beside which another is measured on a sample (`core/forms/game.py`, Evaluator),
        if the game has one."""
        return None

    def decisions(self, strategy: Strategy, lock: Lock) -> list[LockedDecision]:
        """The decisions that a lock names, where one of its actions is legal. Here every
        information set is one; * in its name stands for any text."""
        from counterplay.core.games.locks import LockedDecision, refuse_fields

        refuse_fields(lock, self.game.name)
        names, labels, first = self.game.infoset_names, self.game.labels, self.game.form.first
        matching = [i for i, name in enumerate(names) if fnmatchcase(name, lock.at)]
        if not matching:
            raise unknown("information set", lock.at, names)
        found, known = [], set()
        for i in matching:
            actions = labels.action[int(first[i]) : int(first[i + 1])]
            known |= set(actions)
            group = lock.groups(actions, {})
            if group.max() >= 0:
                found.append(LockedDecision(np.array([i]), np.ones(1), group))
        for action in lock.play:
            if action not in known:
                raise unknown("action", action, sorted(known))
        return found

    def infoset_name(self, infoset: int) -> str:
        """What an information set is called in errors about locks."""
        return repr(self.game.infoset_names[infoset])

    def find(self, player: Any) -> Any:
        """The object that `player` names; an object names itself."""
        kind = self.kind(player)
        if kind == "object":
            return self.policy(player) if is_policy(player) else player
        word = str(player)
        if kind == "user-defined":
            found = self.user_defined(word)
            return self.policy(found, word) if is_policy(found) else found
        if kind == "name":
            return self.named(word if word in self.names() else word.lower())
        if kind == "path":
            return self.read(Path(word))
        raise self.unknown(word)

    def policy(self, policy: Any, name: str = "the policy") -> Any:
        """A policy as what can be measured: here the strategy of its answers."""
        if hasattr(policy, "action_probabilities"):
            return Strategy.from_openspiel(self.game, policy)
        return tabulated(self.game, policy, name)

    def kind(self, player: Any) -> str | None:
        """How `player` is given: object, user-defined, name or path; None if unknown."""
        return kind_of(player, self.names())

    def named(self, name: str) -> Any:
        """The player called `name`, one of `names`."""
        return Strategy.uniform(self.game)

    def read(self, path: Path) -> Any:
        """The player in a file or folder."""
        return load_strategy(path, self.game)

    def user_defined(self, word: str) -> Any:
        """The player `file.py:Name`; a function or class is called."""
        value = user_object(word, "player")
        if isinstance(value, Strategy | Mixture) or not callable(value) or _needs_two(value):
            return value
        return call_user_code(value, word, *([self.game] if _takes_a_game(value) else []))

    def unknown(self, word: str) -> UnknownName:
        """The error for an unknown player, with the nearest known one."""
        path, names = Path(word), sorted(self.names())
        near = _neighbour(path)
        if path.suffix or len(path.parts) > 1:
            hint = f"; did you mean {near}?" if near else "."
            where = word if len(word) <= LONGEST_REASON else shown(word)
            sentence = f"no strategy at {where}: no such file or folder{hint} Known players: "
            return UnknownName(sentence + ", ".join(names))
        sentence = (
            f"{unknown('player', word, names)}; and there is no run folder or file {shown(word)} "
        )
        hint = f"; did you mean {near}?" if near and "did you mean" not in sentence else ""
        return UnknownName(f"{sentence}here{hint}")


def kind_of(player: Any, names: Container[str]) -> str | None:
    """`PlayerResolver.kind`, for the given names."""
    if not isinstance(player, str | Path):
        return "object"
    word = player if isinstance(player, str) else os.sep
    if is_user_defined(word):
        return "user-defined"
    if os.sep not in word and word in names:
        return "name"
    if str(player) and os.path.exists(player):
        return "path"
    return "name" if os.sep not in word and word.lower() in names else None


def players_of(game: Game) -> PlayerResolver:
    """The resolver of the players of a game."""
    module, _, name = str(getattr(game.rules, "players", "")).partition(":")
    kind = getattr(import_module(module), name) if name else PlayerResolver
    resolver: PlayerResolver = kind(game)
    return resolver


def as_strategy(game: Game, player: Any) -> Strategy:
    """A player, however given, as a strategy of the game."""
    return players_of(game).strategy(player)


def strategy_in(player: Any) -> Strategy | Mixture:
    """The strategy that an object is or has."""
    for strategy in (player, getattr(player, "strategy", None)):
        if isinstance(strategy, Strategy | Mixture):
            return strategy
    raise BadStrategy(f"expected a Strategy, or what has one, not {shown(player)}")


def learns(player: Any) -> bool:
    """Whether an object is a player that learns, of a game with a tree. It has the attributes
    `game` and `player` (its only seat, or None); `start(seed)` begins a match, `strategy_for(seat)`
    is its strategy in the next hand, and `end_hand(seat, node)` says how that ended."""
    asked = (getattr(player, name, None) for name in ("strategy_for", "end_hand"))
    return not isinstance(player, type) and all(callable(one) for one in asked)


def is_policy(player: Any) -> bool:
    """Whether an object is a policy: a function, or one of OpenSpiel."""
    if isinstance(player, type | Strategy | Mixture):
        return False
    if any(getattr(player, name, None) is not None for name in ("act", "strategy", "make")):
        return False
    return callable(player) or callable(getattr(player, "action_probabilities", None))


def tabulated(game: Game, policy: Any, name: str) -> Strategy:
    """The answers of `policy(label, actions)` at every information set. The first questions are
    asked twice: a policy that draws has no exact value."""
    if game.discovers_infosets:
        raise BadStrategy(
            f"{game.name} is played without a tree, so {name} cannot be asked about all of its "
            f"information sets"
        )
    first, labels, shares = game.form.first, game.labels, np.zeros(game.n_slots)
    names = game.infoset_names
    for infoset in (*range(len(names)), *range(min(REPEATED, len(names)))):
        low, high = int(first[infoset]), int(first[infoset + 1])
        asked_before = shares[low:high].any()
        row = _answered(policy, name, names[infoset], list(labels.action[low:high]))
        if asked_before and np.abs(row - shares[low:high]).max() > SAME:
            raise BadStrategy(
                f"{name} answers the same question differently at {names[infoset]!r}; a policy "
                f"returns probabilities, the same in every call"
            )
        if not asked_before:
            shares[low:high] = row
    return Strategy(game, shares)


def _answered(policy: Any, name: str, label: str, actions: list[str]) -> np.ndarray:
    """The probabilities of the actions at an information set."""
    answer = call_user_code(policy, name, label, list(actions))
    tolerance, row = TOLERANCE, np.zeros(0)
    try:
        if isinstance(answer, Mapping) and set(answer) <= {*actions}:
            row = np.array([float(answer.get(action, 0.0)) for action in actions])
        elif not isinstance(answer, Mapping):
            row, tolerance = as_numpy(answer)
    except Exception:  # of whatever library made it: these are no numbers
        row = np.zeros(0)
    right = row.shape == (len(actions),) and bool((row >= 0.0).all())
    if not right or not abs(row.sum() - 1.0) <= tolerance:
        raise BadStrategy(
            f"{name} answered {shown(answer)} at {label!r}; expected the probabilities of "
            f"{', '.join(actions)}, which sum to 1"
        )
    shares: np.ndarray = row / row.sum()
    return shares


def _needs_two(function: Any) -> bool:
    """Whether a user's function is called with two arguments and not with fewer: a policy."""
    if isinstance(function, type):
        return False
    fits = []
    for arguments in ((), (None,), (None, None)):
        try:
            inspect.signature(function).bind(*arguments)
            fits.append(True)
        except (TypeError, ValueError):
            fits.append(False)
    return fits == [False, False, True]


def _takes_a_game(make: Any) -> bool:
    """Whether a user's function needs an argument."""
    try:
        inspect.signature(make).bind()
    except TypeError:
        return True
    except ValueError:  # Python does not know its arguments
        return False
    return False


def _neighbour(path: Path) -> Path | None:
    """A file with almost the same name, beside one that does not exist."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MOST_NEIGHBOURS), strict=False)]
            names = [name for name in names if name != path.name]  # a link to nothing
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(path.name, names, 1, 0.7)
    return path.parent / near[0] if near else None
