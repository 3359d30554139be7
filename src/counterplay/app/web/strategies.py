"""Games, strategies and opponents that a page may name.

Games are built in, have two players and are small enough for quick replies. The key of a strategy
is that of a file in the catalog, or `bot:NAME`, `equilibrium:GAME`, `uniform:GAME`; the key of an
opponent at a table is `strategy:KEY`, `bot:NAME`, `equilibrium` or `uniform`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from counterplay.app.web.catalog import Catalog
from counterplay.app.web.kept import MADE
from counterplay.core.base.errors import BadParameter, unknown
from counterplay.core.base.progress import ProgressCallback, no_progress

MOST_NODES = 3_000_000
WORD = re.compile(r"[a-z_]+")
HOLDEM = "holdem(buckets=10)"
OFFERED = {"holdem": HOLDEM, "ocp": "ocp(13)", "goofspiel": "goofspiel(5)"}
TITLES = {  # title and description
    "holdem": ("Limit Texas Hold'em", "the real game: two cards each, five on the board"),
    "kuhn": ("Kuhn poker", "three cards, one bet: the smallest poker game"),
    "leduc": ("Leduc hold'em", "six cards, two rounds, one public card"),
    "ocp": ("One-Card Poker", "one high card each, one bet"),
    "bluff": ("Bluff", "Liar's Dice: bid on dice you cannot see"),
    "goofspiel": ("Goofspiel", "bid your cards for points, in secret"),
    "pam": ("Princess and Monster", "hide and seek in a dark room"),
}
EQUILIBRIUM, UNIFORM, LEARNER = "equilibrium", "uniform", "adaptive"
BOT, STRATEGY, MODEL = "bot:", "strategy:", "model-of:"
SOLVING_SECONDS = 2.0
NO_OPPONENT = "there is no such opponent at this game"


def offered_games() -> list[dict[str, str]]:
    """The games of the registry that have a tree, and hold'em first, each in the size that the
    pages offer."""
    from counterplay.core.forms.registry import GAMES, load

    games = []
    for word in [*TITLES, *(word for word in GAMES if word not in TITLES)]:
        title, about = TITLES.get(word, (word, GAMES[word].summary))
        name = OFFERED.get(word, GAMES[word].examples[0])
        if word == "holdem" or load(name).capabilities.listed:
            games.append({"word": word, "name": name, "title": title, "about": about})
    return games


@lru_cache(maxsize=12)
def open_game(name: str) -> Any:
    """Returns a built-in game by name; refuses files and games that are too large for a page."""
    from counterplay.core.forms.registry import GAMES, load

    word = WORD.match(name.strip().lower())
    if word is None or word.group() not in GAMES or any(c in name for c in ":/\\"):
        raise unknown("game", name[:60], GAMES)
    game = load(name)
    if game.n_players != 2:
        raise BadParameter(f"{game.name} has {game.n_players} players; these pages need two")
    if not game.capabilities.listed and not game.can("bots"):
        raise BadParameter(f"{game.name} has no tree; these pages need one")
    count = getattr(game.rules, "count_nodes", None)
    if count is not None and count() > MOST_NODES:
        raise BadParameter(
            f"{game.name} has {count():,} histories; these pages take at most {MOST_NODES:,}"
        )
    return game


def saved_strategies(catalog: Catalog) -> list[dict[str, str]]:
    """Key, name and game of the strategies in files, and of those computed while serving."""
    files = [
        {"key": entry.key, "name": entry.name, "game": game}
        for entry in catalog.entries("run", "strategy", "model")
        if (game := catalog.game_name(entry)) is not None
    ]
    kept = [] if catalog.kept is None else catalog.kept.strategies()
    listed = {one["key"] for one in kept}
    computed = [
        {"key": key, "name": name, "game": strategy.game.name}
        for key, (name, strategy) in catalog.computed.items()
        if key not in listed
    ]
    return files + kept + computed


def small_game_strategies(kind: str, title: str) -> list[dict[str, str]]:
    """The strategies of one kind, such as `uniform`, of all offered games but hold'em; `title`
    goes before the title of the game."""
    games = ((game["name"], game["title"]) for game in offered_games() if game["word"] != "holdem")
    return [{"key": f"{kind}:{n}", "name": f"{title} of {t}", "game": n} for n, t in games]


def default_bot() -> str:
    """The first opponent and the explorer's start: the least exploitable of the certified
    strategies whose tables are ready, or the first one, whose tables take seconds."""
    from counterplay.poker.bots.shipped import strategies

    listed = strategies()
    ready = [one for one in listed if one.prepared]
    return min(ready or listed[:1], key=lambda one: one.exploitability).name


def bot_strategies() -> list[dict[str, str]]:
    """Key, name and game of the bots whose strategy is known."""
    from counterplay.poker.bots.registry import BOTS

    first = default_bot()
    bots = [
        {"key": BOT + name, "name": name, "game": spec.game or HOLDEM}
        for name, spec in BOTS.items()
        if spec.strategy is not None
    ]
    return sorted(bots, key=lambda bot: bot["name"] != first)


def observed_programs() -> list[dict[str, str]]:
    """Key, name and game of the bots that are programs, of which a model can be learnt."""
    from counterplay.poker.adaptive.portfolio import OBSERVED
    from counterplay.poker.bots.registry import BOTS

    programs = [name for name, spec in BOTS.items() if spec.strategy is None and name != LEARNER]
    title = f"a model from {OBSERVED:,} hands"
    return [{"key": MODEL + n, "name": f"{n}: {title}", "game": HOLDEM} for n in programs]


_equilibria: dict[Any, Any] = {}  # by game


def equilibrium(game: Any, progress: ProgressCallback = no_progress) -> Any:
    """A strategy close to an equilibrium, computed in two seconds at most."""
    from counterplay.core.solvers.run import solve

    def report(at: Any) -> None:
        progress(min(at.seconds / SOLVING_SECONDS, 0.99), "computing an equilibrium")

    if game not in _equilibria:
        progress(0.0, "computing an equilibrium")
        limits: dict[str, Any] = {"seconds": SOLVING_SECONDS, "target": 1e-4}
        _equilibria[game] = solve(game, "cfr+", on_chunk=report, **limits).strategy
    return _equilibria[game]


def find_strategy(catalog: Catalog, key: str, progress: ProgressCallback = no_progress) -> Any:
    """The strategy with a key; `progress` of an equilibrium that is computed."""
    from counterplay.core.games.players import as_strategy
    from counterplay.poker.bots.registry import BOTS

    kind, _, rest = key.partition(":")
    if kind == EQUILIBRIUM and rest:
        return equilibrium(open_game(rest), progress)
    if kind == UNIFORM and rest:
        return as_strategy(open_game(rest), UNIFORM)
    if key.startswith(BOT) and rest in BOTS:
        return as_strategy(open_game(BOTS[rest].game or HOLDEM), rest)
    return catalog.strategy(key)


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
        listed = [
            {"key": BOT + name, "name": Path(name).name, "about": about}  # mine.py:Bot
            for name, about in bots.items()
        ]
        first = default_bot()
        made = STRATEGY + MADE  # by the page, in numbers: below the others
        return sorted(
            [*saved, *listed],
            key=lambda one: (one["key"] != BOT + first, one["key"].startswith(made)),
        )
    equilibrium_about = "cannot be beaten in the long run; computed when you sit down"
    return [
        {"key": EQUILIBRIUM, "name": "Equilibrium", "about": equilibrium_about},
        {"key": UNIFORM, "name": "Uniform", "about": "every action with the same probability"},
        *saved,
    ]


def tree_game_opponent(
    key: str, game: Any, catalog: Catalog, progress: ProgressCallback = no_progress
) -> Any:
    """The strategy of an opponent at a game with a tree."""
    from counterplay.core.games.players import as_strategy

    if key == EQUILIBRIUM:
        return equilibrium(game, progress)
    if key == UNIFORM:
        return as_strategy(game, UNIFORM)
    if key.startswith(STRATEGY):
        return as_strategy(game, catalog.strategy(key.removeprefix(STRATEGY)))
    raise BadParameter(NO_OPPONENT)


class HoldemOpponents:
    """Hold'em bots by key. Bots without memory are shared by all tables."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shared: dict[str, tuple[Any, Any]] = {}  # what was asked for, and its bot

    def get(self, key: str) -> Any:
        """The bot with a key; one that learns gets a `LearnerMonitor`."""
        from counterplay.app.web.learning import LearnerMonitor, is_learner
        from counterplay.poker.bots.registry import BOTS
        from counterplay.poker.bots.table import TableBot
        from counterplay.poker.players import bot

        word: Any = key.removeprefix(BOT)
        if key.startswith(STRATEGY):
            word = self._catalog.strategy(key.removeprefix(STRATEGY))
        elif not key.startswith(BOT) or word not in (*BOTS, *self._catalog.user_defined):
            raise BadParameter(NO_OPPONENT)
        asked, player = self._shared.get(key, (None, None))
        if player is None or (asked is not word and key.startswith(STRATEGY)):
            player = bot(word)
            if isinstance(player, TableBot):
                self._shared[key] = (word, player)
        return LearnerMonitor(player) if is_learner(player) else player

    def prepare_cards(self, key: str, progress: ProgressCallback) -> None:
        """Builds the tables of the cards of a saved strategy."""
        if key.startswith(STRATEGY):
            self._catalog.strategy(key.removeprefix(STRATEGY)).game.rules.prepare(progress)
