"""Players of hold'em by name or path (`core/games/players.py` has the order of lookup), and the
game of a player where none is given.

In hold'em a name is that of a bot or a shipped strategy, and a path may be that of a model (.json).
Strategies with any number of buckets play each other. A bot that is a program, such as Poki, has no
table of probabilities; Sparbot has one that can be evaluated, with more recall than a strategy of a
game.
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
from counterplay.core.forms.mixture import KIND, Mixture, load_strategy, single_strategy
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games import players
from counterplay.core.games.locks import Lock, LockedDecision
from counterplay.core.games.players import (
    UNIFORM,
    PlayerResolver,
    as_strategy,
    is_policy,
    players_of,
    strategy_in,
)
from counterplay.poker.bots.registry import BOTS, BotSpec
from counterplay.poker.bots.shipped import ShippedStrategy
from counterplay.poker.vector.policy import VectorPolicy

if TYPE_CHECKING:
    from counterplay.poker.models.model import OpponentModel

DEFAULT_GAME = "holdem(buckets=10)"  # of a bot, unless a game is given


class BoardResolver(PlayerResolver):
    """Resolves players of games with boards, whose policies are `VectorPolicy`."""

    def policy(self, policy: Any, name: str = "") -> VectorPolicy:
        if not callable(policy):
            raise BadStrategy(
                f"OpenSpiel has no game like {self.game.name}; a policy is a function of boards "
                f"and betting"
            )
        return VectorPolicy(policy, name)

    def measurable(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        found = self.find(player)
        if isinstance(found, VectorPolicy):
            return found
        return self.checked(strategy_in(found), player)

    def strategy(self, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
        found = self.find(player)
        if isinstance(found, VectorPolicy):
            raise BadStrategy(
                f"{found.name} is a policy of all cards; it is measured (evaluate) and plays "
                f"matches of holdem, but has no table of buckets"
            )
        measured = self.checked(strategy_in(found), player)
        return single_strategy(measured)


class HoldemResolver(BoardResolver):
    """Resolves players of hold'em."""

    def names(self) -> Any:
        return BOTS

    def named(self, name: str) -> BotSpec:
        return BOTS[name]

    def read(self, path: Path) -> Strategy | Mixture | OpponentModel:
        """A strategy, a mixture or a model with any number of buckets; callers check that it fits
        the game."""
        return _load(path, self.game if _game_name(path) == self.game.name else None)

    def player(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """A bot. Tables are built on first use; `progress(share, what)` reports on it."""
        from counterplay.poker.bots.table import PolicyBot, mixture_bot, strategy_bot

        resolved = self.find(player)
        if isinstance(resolved, BotSpec):
            resolved.prepare(progress)
            bot = resolved.make()
        elif callable(getattr(resolved, "act", None)):
            bot = resolved
        elif isinstance(resolved, VectorPolicy):
            bot = PolicyBot(resolved)
        else:
            path = Path(str(player))
            name = "" if resolved is player else path.name if path.is_dir() else path.stem
            try:
                strategy = strategy_in(resolved)
            except BadStrategy:
                which = "" if resolved is player else f"{shown(player)}, which is "
                raise BadParameter(
                    f"a player is a strategy, the name of a bot, or an object with a method "
                    f"act(view), not {which}{shown(resolved)}"
                ) from None
            if isinstance(strategy, Mixture):
                bot = mixture_bot(strategy, name)
            else:
                bot = strategy_bot(strategy, name)
        if resolved is not player:
            with suppress(AttributeError):  # user-defined objects may refuse attributes
                bot.made_from = str(player)
        return bot

    def measurable(self, player: Any, progress: ProgressCallback = no_progress) -> Any:
        """A strategy, a `Mixture`, or the table of a bot with more recall than a strategy."""
        return self._in_game(self.find(player), player, progress, strategy_only=False)

    def strategy(self, player: Any, progress: ProgressCallback = no_progress) -> Strategy:
        resolved = self._in_game(self.find(player), player, progress, strategy_only=True)
        strategy = single_strategy(resolved)
        return strategy

    def model(self, player: Any) -> Strategy:
        found = self.find(player)
        found = getattr(found, "shipped", None) or found  # of a name: the strategy in its own game
        strategy = getattr(found, "strategy", found)
        if isinstance(found, VectorPolicy) or not isinstance(strategy, Strategy):
            return self.strategy(player)
        self.check_model(strategy)
        return strategy

    def known_player(self, measured: Any) -> Any:
        from counterplay.poker.bots.known import known_player

        return known_player(self.game, measured)

    def decisions(self, strategy: Strategy, lock: Lock) -> list[LockedDecision]:
        from counterplay.poker.holdem.locks import lock_decisions

        return lock_decisions(strategy, lock)

    def check_model(self, model: Strategy) -> None:
        rules, own = model.game.rules, self.game.rules
        holdem = model.game.can("bots") and rules.betting == own.betting
        if not holdem or rules.abstraction.deck != own.abstraction.deck:
            check_same_game(self.game, model)

    def _in_game(
        self, resolved: Any, player: Any, progress: ProgressCallback, strategy_only: bool
    ) -> Any:
        """The strategy, mixture or table of a player in this game; a bot without one is refused
        before its tables are built."""
        from counterplay.poker.bots.table import TableBot

        if isinstance(resolved, VectorPolicy):
            return super().strategy(resolved) if strategy_only else resolved
        if isinstance(resolved, BotSpec) and resolved.strategy is not None:
            return resolved.strategy(self.game)
        bot = isinstance(resolved, BotSpec) or callable(getattr(resolved, "act", None))
        if bot and getattr(resolved, "strategy", None) is None:
            if strategy_only or getattr(resolved, "table", None) is None:
                raise BadStrategy(_no_table(resolved))
            if isinstance(resolved, BotSpec):
                resolved = TableBot(resolved.name, resolved.table(progress))  # type: ignore[misc]
            if resolved.betting != self.game.rules.betting:
                raise BadStrategy(
                    f"{resolved.name} was made for other betting than {self.game.name}"
                )
            return resolved.table
        return self.checked(strategy_in(resolved), player)

    def user_defined(self, word: str) -> Any:
        """A class without required arguments; a function that returns a bot or a strategy; a bot, a
        strategy, or a spec."""
        resolved = super().user_defined(word)
        if isinstance(resolved, BotSpec | VectorPolicy) or is_policy(resolved):
            return resolved
        with suppress(AttributeError, TypeError):  # the object may refuse attributes
            resolved.made_from = word
        acts = callable(getattr(resolved, "act", None))
        if not acts and not isinstance(getattr(resolved, "strategy", resolved), Strategy | Mixture):
            raise BadParameter(f"{word}: a bot has a method act(view), and this has none")
        return resolved


def is_vector_policy(player: Any) -> bool:
    """Whether a player is a function of boards and betting."""
    return isinstance(player, VectorPolicy)


def bot(
    player: Any, progress: ProgressCallback = no_progress, game: Game | str = DEFAULT_GAME
) -> Any:
    """A bot from a name, a strategy, the path of a saved strategy or model, a user-defined class as
    `my_bots.py:MyBot` (which runs that file), or any object with a method `act`."""
    return HoldemResolver(registry.as_game(game)).player(player, progress)


def kind_of(word: str) -> str | None:
    """How `word` names a player of hold'em: "user-defined", "name", "path" or None."""
    return players.kind_of(word, BOTS)


def game_of(player: Any, game: Game | str | None = None) -> Game:
    """The given game, else that of the player's file or object; hold'em for a bot."""
    if game is not None:
        return registry.as_game(game, player)
    kind = players.kind_of(player, BOTS)
    if kind == "name" and str(player).lower() == UNIFORM:
        raise BadParameter(f"{player} needs to know the game: add --game kuhn")
    if kind == "path":
        return _game_in(Path(player))
    resolver = HoldemResolver(registry.load(DEFAULT_GAME))
    found = resolver.find(player)
    own = getattr(found, "game", None)
    if isinstance(found, BotSpec | ShippedStrategy) and own is not None:
        return registry.load(own)
    return own if isinstance(own, Game) else resolver.game


def find_strategy(player: Any, game: Game | str | None = None) -> Strategy:
    """A player as a strategy of the game; `game_of` determines the game if none is given."""
    return as_strategy(game_of(player, game), player)


def game_between(words: Sequence[str], game: str | None = None) -> Game:
    """The given game, if no player's file is for another; else the game of the first player that
    has one, or hold'em."""
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
    """The name of the game in a file, or None if it cannot be read."""
    file = path / "strategy.npz" if path.is_dir() else path
    for kind in ("strategy", KIND):
        with suppress(CounterplayError):
            is_model = path.suffix == ".json"
            header = files.read_json(path) if is_model else files.read_header(file, kind)
            name = header.get("game")
            return name if isinstance(name, str) else None
    return None


def _game_in(path: Path) -> Game:
    """The game of a file."""
    name = _game_name(path)
    with suppress(CounterplayError):
        if name is not None:
            return registry.recorded_game(name, path)
    return _load(path).game  # raises with the reason


def _load(path: Path, game: Game | None = None) -> Strategy | Mixture | OpponentModel:
    if path.suffix != ".json":
        return load_strategy(path, game)
    from counterplay.poker.models.model import load_model

    return load_model(path, game)


def _no_table(player: Any) -> str:
    """Why a bot is not a strategy, and how to learn a model of it."""
    name = str(getattr(player, "name", type(player).__name__))
    word = name if isinstance(player, BotSpec) else getattr(player, "made_from", None)
    why = (
        "has more recall than a strategy of a game"
        if getattr(player, "table", None) is not None
        else "is a program without a table of probabilities"
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
