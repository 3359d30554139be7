"""Opponents at a table: strategies of the catalog, bots, a computed equilibrium, uniform play."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from counterplay.app.web.catalog import Catalog
from counterplay.core.base.errors import BadParameter

EQUILIBRIUM, LEARNER = "equilibrium", "adaptive"
SOLVING_SECONDS = 2.0
BOT = "bot:"
STRATEGY = "strategy:"
MODEL = "model-of:"
NO_OPPONENT = "there is no such opponent at this game"


def offered_opponents(game_word: str, catalog: Catalog) -> list[dict[str, str]]:
    """Key, name and description of each opponent at a game."""
    from counterplay.poker.bots.registry import BOTS

    saved = [
        {"key": STRATEGY + one["key"], "name": one["name"], "about": one["game"]}
        for one in saved_strategies(catalog)
        if one["game"].partition("(")[0] == game_word
    ]
    if game_word == "holdem":
        bots = {name: spec.summary for name, spec in BOTS.items()}
        bots |= dict.fromkeys(catalog.user_defined, "user-defined")
        return saved + [
            {"key": BOT + name, "name": Path(name).name, "about": about}  # mine.py:Bot
            for name, about in bots.items()
        ]
    equilibrium_about = "cannot be beaten in the long run; computed when you sit down"
    return [
        {"key": EQUILIBRIUM, "name": "Equilibrium", "about": equilibrium_about},
        {"key": "uniform", "name": "Uniform", "about": "every action with the same probability"},
        *saved,
    ]


def saved_strategies(catalog: Catalog) -> list[dict[str, str]]:
    """Key, name and game of the strategies in files, and of those computed while serving."""
    files = [
        {"key": entry.key, "name": entry.name, "game": game}
        for entry in catalog.entries("run", "strategy", "model")
        if (game := catalog.game_name(entry)) is not None
    ]
    computed = [
        {"key": key, "name": name, "game": strategy.game.name}
        for key, (name, strategy) in catalog.computed.items()
    ]
    return files + computed


def observed_programs() -> list[dict[str, str]]:
    """Key, name and game of the bots that are programs, of which a model can be learnt."""
    from counterplay.app.web.games import HOLDEM
    from counterplay.poker.adaptive.portfolio import OBSERVED
    from counterplay.poker.bots.registry import BOTS

    programs = [name for name, spec in BOTS.items() if spec.strategy is None and name != LEARNER]
    name_of = "{}: a model from {:,} hands".format
    return [
        {"key": MODEL + name, "name": name_of(name, OBSERVED), "game": HOLDEM} for name in programs
    ]


def bot_strategies() -> list[dict[str, str]]:
    """Key, name and game of the bots whose strategy is known."""
    from counterplay.app.web.games import HOLDEM
    from counterplay.poker.bots.registry import BOTS

    return [
        {"key": BOT + name, "name": name, "game": spec.game or HOLDEM}
        for name, spec in BOTS.items()
        if spec.strategy is not None
    ]


@lru_cache(maxsize=8)
def equilibrium(game: Any) -> Any:
    """A strategy close to an equilibrium, computed in two seconds at most."""
    from counterplay.core.solvers.run import solve

    return solve(game, "cfr+", seconds=SOLVING_SECONDS, target=1e-4).strategy


def tree_game_opponent(key: str, game: Any, catalog: Catalog) -> Any:
    """The strategy of an opponent at a game with a tree."""
    from counterplay.core.games.players import UNIFORM, as_strategy

    if key == EQUILIBRIUM:
        return equilibrium(game)
    if key == UNIFORM:
        return as_strategy(game, UNIFORM)
    if key.startswith(STRATEGY):
        return as_strategy(game, catalog.strategy(key.removeprefix(STRATEGY)))
    raise BadParameter(NO_OPPONENT)


class HoldemOpponents:
    """Hold'em bots by key. Bots without memory are shared by all tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._strategies: dict[str, Any] = {}
        self._prepared: set[str] = set()

    def get(self, key: str) -> Any:
        from counterplay.poker.bots.registry import BOTS
        from counterplay.poker.players import bot

        if key.startswith(STRATEGY):
            strategy = self._catalog.strategy(key.removeprefix(STRATEGY))
            cached = self._strategies.get(key)
            if cached is None or cached.strategy is not strategy:
                self._strategies[key] = bot(strategy)
            return self._strategies[key]
        name = key.removeprefix(BOT)
        if not key.startswith(BOT) or name not in (*BOTS, *self._catalog.user_defined):
            raise BadParameter(NO_OPPONENT)
        return make_bot(name)

    def ready(self, key: str) -> bool:
        """Whether an opponent needs no preparation, or has had it."""
        return key in self._prepared or not key.startswith(BOT)

    def prepare(self, key: str, progress: Callable[[float, str], None]) -> None:
        """Prepares what a bot needs once, such as tables; this may take long."""
        from counterplay.poker.bots.registry import BOTS

        name = key.removeprefix(BOT)
        if name in BOTS:
            BOTS[name].prepare(progress)
        self._prepared.add(key)


_table_bots: dict[str, Any] = {}  # by name


def make_bot(name: str) -> Any:
    """A bot by name; a bot that learns gets a `LearnerMonitor`."""
    from counterplay.app.web.learning import LearnerMonitor, is_learner
    from counterplay.poker.bots.table import TableBot
    from counterplay.poker.players import bot

    if name in _table_bots:
        return _table_bots[name]
    player = bot(name)
    if isinstance(player, TableBot):
        _table_bots[name] = player
    return LearnerMonitor(player) if is_learner(player) else player
