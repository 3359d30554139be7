"""Who can sit on the other side: strategies of the library, bots, an equilibrium made on the spot,
the player who learns."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from counterplay.app.web.library import Library
from counterplay.core.base.errors import BadParameter

EQUILIBRIUM, LEARNER = "equilibrium", "adaptive"
SOLVING_SECONDS = 2.0
BOT = "bot:"
STRATEGY = "strategy:"


def offered(game_word: str, library: Library) -> list[dict[str, str]]:
    """Keys, names and a sentence about each opponent at a game."""
    if game_word == "holdem":
        return [*_saved(game_word, library), *_bots(library)]
    found = [
        {
            "key": EQUILIBRIUM,
            "name": "Equilibrium",
            "about": "cannot be beaten in the long run; worked out when you sit down",
        },
        {"key": "uniform", "name": "Uniform", "about": "every action with the same probability"},
    ]
    return [*found, *_saved(game_word, library)]


def _saved(game_word: str, library: Library) -> list[dict[str, str]]:
    found = []
    for key, name, game in strategies(library):
        if game.partition("(")[0] == game_word:
            found.append({"key": STRATEGY + key, "name": name, "about": game})
    return found


def strategies(library: Library) -> list[tuple[str, str, str]]:
    """Key, name and game of everything that can be opened as a strategy."""
    found = []
    for thing in library.things("run", "strategy", "model"):
        game = library.game_name(thing)
        if game is not None:
            found.append((thing.key, thing.name, game))
    return found + [(key, name, made.game.name) for key, (name, made) in library.made().items()]


def _bots(library: Library) -> list[dict[str, str]]:
    from counterplay.poker.bots.registry import BOTS

    known = {name: spec.summary for name, spec in BOTS.items()}
    known |= dict.fromkeys(library.user_defined, "user-defined")
    return [{"key": BOT + name, "name": name, "about": about} for name, about in known.items()]


@lru_cache(maxsize=8)
def equilibrium(game: Any) -> Any:
    """A strategy close to an equilibrium, in two seconds at most."""
    from counterplay.core.solvers.run import solve

    return solve(game, "cfr+", seconds=SOLVING_SECONDS, target=1e-4).strategy


def small_opponent(key: str, game: Any, library: Library) -> Any:
    """A strategy of a game with a tree."""
    from counterplay.core.games.players import UNIFORM, as_strategy

    if key == EQUILIBRIUM:
        return equilibrium(game)
    if key == UNIFORM:
        return as_strategy(game, UNIFORM)
    if key.startswith(STRATEGY):
        return as_strategy(game, library.strategy(key.removeprefix(STRATEGY)))
    raise BadParameter("there is no such opponent at this game")


class Bots:
    """Hold'em players by key. Those that are tables are shared by all who play them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._strategies: dict[str, Any] = {}
        self._prepared: set[str] = set()

    def get(self, key: str) -> Any:
        from counterplay.poker.bots.registry import BOTS
        from counterplay.poker.players import bot

        if key.startswith(STRATEGY):
            strategy = self._library.strategy(key.removeprefix(STRATEGY))
            known = self._strategies.get(key)
            if known is None or known.strategy is not strategy:
                self._strategies[key] = bot(strategy)
            return self._strategies[key]
        name = key.removeprefix(BOT)
        if not key.startswith(BOT) or name not in (*BOTS, *self._library.user_defined):
            raise BadParameter("there is no such opponent at this game")
        return make_bot(name)

    def ready(self, key: str) -> bool:
        """Whether an opponent needs no preparation, or has had it."""
        return key in self._prepared or not key.startswith(BOT)

    def prepare(self, key: str, progress: Callable[[float, str], None]) -> None:
        """What a bot needs once, such as tables; may take long."""
        from counterplay.poker.bots.registry import BOTS

        name = key.removeprefix(BOT)
        if name in BOTS:
            BOTS[name].prepare(progress)
        self._prepared.add(key)


_tables: dict[str, Any] = {}  # bots by name that remember nothing


def make_bot(name: str) -> Any:
    """A bot by name; one that learns is made to be watched."""
    from counterplay.app.web.learning import Watched, watchable
    from counterplay.poker.bots.table import TableBot
    from counterplay.poker.players import bot

    if name in _tables:
        return _tables[name]
    made = bot(name)
    if isinstance(made, TableBot):
        _tables[name] = made
    return Watched(made) if watchable(made) else made
