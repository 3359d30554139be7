"""Players of hold'em by word (`core/games/players.py` has the order), and players of a game that
nobody named.

In hold'em a name is that of a bot, and a path may be that of a model (.json). Strategies with any
number of buckets play each other. A bot that is a program, such as Poki, has no table of
probabilities; Sparbot has one that can be measured, but remembers more than a strategy can say.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter, BadStrategy, CounterplayError, shown
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms import registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.mixture import Mixture
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games import players
from counterplay.core.games.players import (
    UNIFORM,
    PlayerResolver,
    as_strategy,
    players_of,
    strategy_in,
)
from counterplay.poker.bots.registry import BOTS, BotSpec

if TYPE_CHECKING:
    from counterplay.poker.models.model import OpponentModel

DEFAULT_GAME = "holdem(buckets=10)"  # of a bot, where nobody says more


class HoldemResolver(PlayerResolver):
    """Who can play hold'em, by word."""

    def names(self) -> Any:
        return BOTS

    def named(self, name: str) -> BotSpec:
        return BOTS[name]

    def read(self, path: Path) -> Strategy | OpponentModel:
        """For any number of buckets: what needs those of the game says so."""
        return _load(path, self.game if _game_name(path) == self.game.name else None)

    def player(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """A bot. Poki's and Sparbot's tables are built on first use; `progress(share, what)`
        hears how far that is."""
        from counterplay.poker.bots.table import strategy_bot

        found = self.find(player)
        if isinstance(found, BotSpec):
            found.prepare(progress)
            bot = found.make()
        elif callable(getattr(found, "act", None)):
            bot = found
        else:
            name = "" if found is player else _name(player)
            try:
                strategy = strategy_in(found)
            except BadStrategy:
                raise BadParameter(_no_player(player, found)) from None
            if isinstance(strategy, Mixture):
                raise BadStrategy("a mixture of strategies can be measured, but plays no match")
            bot = strategy_bot(strategy, name)
        if found is not player:
            with suppress(AttributeError):  # a user's object may take none
                bot.made_from = str(player)
        return bot

    def measurable(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """A strategy, a `Mixture`, or the table of a bot that remembers more than a strategy."""
        return self._in_game(self.find(player), player, progress, strategy_only=False)

    def strategy(self, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
        found = self._in_game(self.find(player), player, progress, strategy_only=True)
        strategy: Strategy = found.strategy() if isinstance(found, Mixture) else found
        return strategy

    def _in_game(
        self, found: Any, player: Any, progress: ProgressCallback, strategy_only: bool
    ) -> Any:
        """What a player is in this game; a bot that is none is refused before it is built."""
        from counterplay.poker.bots.table import TableBot

        if isinstance(found, BotSpec) and found.strategy is not None:
            return found.strategy(self.game)
        bot = isinstance(found, BotSpec) or callable(getattr(found, "act", None))
        if bot and getattr(found, "strategy", None) is None:
            if strategy_only or getattr(found, "table", None) is None:
                raise BadStrategy(_no_table(found))
            if isinstance(found, BotSpec):
                found = TableBot(found.name, found.table(progress))  # type: ignore[misc]
            if found.betting != self.game.rules.betting:
                raise BadStrategy(f"{found.name} was made for other betting than {self.game.name}")
            return found.table
        return self.checked(strategy_in(found), player)

    def user_defined(self, word: str) -> Any:
        """A class, made without arguments; a function that makes a bot or a strategy; a bot, a
        strategy, or a spec."""
        found = super().user_defined(word)
        if isinstance(found, BotSpec):
            return found
        with suppress(AttributeError, TypeError):  # of an object that takes no attribute
            found.made_from = word
        acts = callable(getattr(found, "act", None))
        if not acts and not isinstance(getattr(found, "strategy", found), Strategy | Mixture):
            raise BadParameter(f"{word}: a bot has a method act(view), and this has none")
        return found


def bot(
    player: Any, progress: ProgressCallback = no_progress, game: Game | str = DEFAULT_GAME
) -> Any:
    """A bot from a name, a strategy, the path of a saved one or of a model, a class of your own
    as `my_bots.py:MyBot` (which runs that file), or anything with a method `act`."""
    return HoldemResolver(registry.as_game(game)).player(player, progress)


def kind_of(word: str) -> str | None:
    """Which way to write a player of hold'em this is: "user-defined", "name", "path" or None."""
    return players.kind_of(word, BOTS)


def game_of(player: Any, game: Game | str | None = None) -> Game:
    """The game that is named, else that of the player: of his file or object, for a bot
    hold'em."""
    if game is not None:
        return registry.as_game(game, player)
    kind = players.kind_of(player, BOTS)
    if kind == "name" and str(player).lower() == UNIFORM:
        raise BadParameter(f"{player} needs to know the game: add --game kuhn")
    if kind == "path":
        return _game_in(Path(player))
    usual = HoldemResolver(registry.load(DEFAULT_GAME))
    own = getattr(usual.find(player), "game", None)
    return own if isinstance(own, Game) else usual.game


def find_strategy(player: Any, game: Game | str | None = None) -> Strategy:
    """A player as a strategy of the game, as `game_of` where nobody names it."""
    return as_strategy(game_of(player, game), player)


def game_between(words: Sequence[str], game: str | None = None) -> Game:
    """The game that is named, where no file is for another one; else that of the first who has
    one of his own, or hold'em."""
    if game is None:
        own = [word for word in words if word.lower() != UNIFORM]
        return game_of(own[0]) if own else registry.load(DEFAULT_GAME)
    loaded = registry.load(game)
    for word in words:
        name = _game_name(Path(word)) if players_of(loaded).kind(word) == "path" else None
        if name not in (None, loaded.name):
            raise BadStrategy(f"{word}: a strategy for {name}, not for {loaded.name}")
    return loaded


def _game_name(path: Path) -> str | None:
    """The game that a file names, where it can be read."""
    with suppress(CounterplayError):
        name = _header(path).get("game")
        return name if isinstance(name, str) else None
    return None


def _header(path: Path) -> dict[str, Any]:
    if path.suffix == ".json":
        return files.read_json(path)
    return files.read_header(path / "strategy.npz" if path.is_dir() else path, "strategy")


def _game_in(path: Path) -> Game:
    """The game of a file."""
    name = _game_name(path)
    with suppress(CounterplayError):
        if name is not None:
            return registry.recorded_game(name, path)
    return _load(path).game  # says what is wrong with it


def _load(path: Path, game: Game | None = None) -> Strategy | OpponentModel:
    if path.suffix != ".json":
        return Strategy.load(path, game)
    from counterplay.poker.models.model import load_model

    return load_model(path, game)


def _name(player: Any) -> str:
    """How a strategy is called that was read from here."""
    path = Path(str(player))
    return path.name if path.is_dir() else path.stem


def _no_player(player: Any, found: Any) -> str:
    what = shown(found) if found is player else f"{shown(player)}, which is {shown(found)}"
    return (
        f"a player is a strategy, the name of a bot, or an object with a method act(view), not "
        f"{what}"
    )


def _no_table(player: Any) -> str:
    """What to do where a strategy is needed and a bot is none."""
    name = str(getattr(player, "name", type(player).__name__))
    word = name if isinstance(player, BotSpec) else getattr(player, "made_from", None)
    why = (
        "remembers more than a strategy of a game can say"
        if getattr(player, "table", None) is not None
        else "is a program and no table of probabilities"
    )
    if word is None:
        how = (
            f'cp.play_match("{DEFAULT_GAME}", "probe", player, 20_000, log="hands.parquet", '
            f'observer="a"), then cp.learn_model(cp.observe(cp.read_hands("hands.parquet"), '
            f'{name!r}), cp.load("{DEFAULT_GAME}"), {name!r})'
        )
    else:
        how = (
            f"counterplay match probe {shlex.quote(word)} -n 20000 --log hands.parquet "
            f"--observer a, then counterplay model hands.parquet --player {shlex.quote(name)}"
        )
    return f"{name} {why}; take a model of how it plays: {how}"
