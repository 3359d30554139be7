"""Players by word: the one place where what a user writes becomes a player of a game.

Whatever takes a player, command, page, dealer or function, takes one of these, looked up in this
order:

1. an object: a `Strategy`, a `Mixture`, or whatever has a strategy as its attribute `strategy`
   (a run, a response, a model); in hold'em also a bot, which has a method `act`;
2. `file.py:Name`, user-defined: a strategy, or a function or class that makes one, of the game or
   of nothing. Typing the name runs that file; a name that stands in another file never does;
3. a name: `uniform`, in hold'em that of a bot;
4. a path: a strategy file, or the folder of a run or of a response; in hold'em also a model;
5. a name in capitals.

So a name comes before a file that is called the same, which is written `./uniform`. A `Path` is
a path, whatever it is called.

Rules with players of their own name a subclass of `PlayerResolver` in their attribute `players`, as
`package.module:Class`.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Collection, Container
from importlib import import_module
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadStrategy, UnknownName, shown, unknown
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.registry import call_user_code, is_user_defined, user_object
from counterplay.core.forms.game import Game
from counterplay.core.forms.hash_strategy import HashStrategy
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy, check_same_game

UNIFORM = "uniform"
MOST_NEIGHBOURS = 10_000  # of a file that is not there, among which to look for a similar name


class PlayerResolver:
    """Who can play a game, by word."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def names(self) -> Collection[str]:
        """Whom the game knows by name."""
        return (UNIFORM,)

    def player(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """Whoever can play a match of the game."""
        return self.strategy(player, progress)

    def strategy(self, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
        """The same as a strategy of the game, or one sentence on why there is none."""
        found = self.measurable(player, progress)
        strategy: Strategy = found.strategy() if isinstance(found, Mixture) else found
        return strategy

    def measurable(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """What can be measured in the game: a strategy, or a `Mixture` of two."""
        strategy = strategy_in(self.find(player))
        if isinstance(strategy, HashStrategy) and self.game.capabilities.listed:
            strategy = strategy.on(self.game)  # carried over to the tree
        return self.checked(strategy, player)

    def checked(self, strategy: Strategy | Mixture, player: Any) -> Strategy | Mixture:
        """The strategy of a player, where it belongs to the game."""
        one = strategy.one if isinstance(strategy, Mixture) else strategy
        try:
            check_same_game(self.game, one)
        except BadStrategy:
            if self.kind(player) != "path":
                raise
            raise BadStrategy(
                f"{player}: a strategy for {one.game.name}, not for {self.game.name}"
            ) from None
        return strategy

    def find(self, player: Any) -> Any:
        """What a word stands for; an object stands for itself."""
        kind = self.kind(player)
        if kind == "object":
            return player
        word = str(player)
        if kind == "user-defined":
            return self.user_defined(word)
        if kind == "name":
            return self.named(word if word in self.names() else word.lower())
        if kind == "path":
            return self.read(Path(word))
        raise self.unknown(word)

    def kind(self, player: Any) -> str | None:
        """Which of the ways to write a player this is; None for a word that nobody has."""
        return kind_of(player, self.names())

    def named(self, name: str) -> Any:
        """Whom one of `names`, in small letters, stands for."""
        return Strategy.uniform(self.game)

    def read(self, path: Path) -> Any:
        """Whom a file or folder holds."""
        return Strategy.load(path, self.game)

    def user_defined(self, word: str) -> Any:
        """What `file.py:Name` is, made where it has to be made."""
        found = user_object(word, "player")
        if isinstance(found, Strategy | Mixture) or not callable(found):
            return found
        return call_user_code(found, word, *([self.game] if _takes_a_game(found) else []))

    def unknown(self, word: str) -> UnknownName:
        """One sentence about a word that nobody has, with the nearest that somebody has."""
        path, names = Path(word), sorted(self.names())
        near = _neighbour(path)
        if path.suffix or len(path.parts) > 1:
            hint = f"; did you mean {near}?" if near else "."
            sentence = f"no strategy at {path}: no such file or folder{hint} Known players: "
            return UnknownName(sentence + ", ".join(names))
        sentence = f"{unknown('player', word, names)}; and there is no run folder or file {word!r} "
        hint = f"; did you mean {near}?" if near and "did you mean" not in sentence else ""
        return UnknownName(f"{sentence}here{hint}")


def kind_of(player: Any, names: Container[str]) -> str | None:
    """Which of the ways to write a player this is, where these names are known."""
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
    """Who can play this game."""
    module, _, name = str(getattr(game.rules, "players", "")).partition(":")
    made: PlayerResolver = (getattr(import_module(module), name) if name else PlayerResolver)(game)
    return made


def as_strategy(game: Game, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
    """Any kind of player as a strategy of the game."""
    return players_of(game).strategy(player, progress)


def strategy_in(player: Any) -> Strategy | Mixture:
    """The strategy that an object is or has."""
    for strategy in (player, getattr(player, "strategy", None)):
        if isinstance(strategy, Strategy | Mixture):
            return strategy
    raise BadStrategy(f"expected a Strategy, or what has one, not {shown(player)}")


def _takes_a_game(make: Any) -> bool:
    """Whether a user's function cannot be called without an argument."""
    try:
        inspect.signature(make).bind()
    except TypeError:
        return True
    except ValueError:  # of something that Python does not know the arguments of
        return False
    return False


def _neighbour(path: Path) -> Path | None:
    """What lies beside a file that is not there and is called almost the same."""
    try:
        with os.scandir(path.parent) as entries:
            there = [entry.name for entry, _ in zip(entries, range(MOST_NEIGHBOURS), strict=False)]
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(path.name, there, 1, 0.7)
    return path.parent / near[0] if near else None
