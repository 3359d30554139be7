"""Games that a page may name: built-in games of two players, small enough for quick replies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from counterplay.core.base.errors import BadParameter, unknown

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


def offered_games() -> list[dict[str, str]]:
    """The games of the registry that have a tree, and hold'em first, each in the size that the
    pages offer."""
    from counterplay.core.forms.registry import GAMES, load

    games = []
    for word in [*TITLES, *(word for word in GAMES if word not in TITLES)]:
        title, about = TITLES.get(word, (word, GAMES[word].summary))
        name = OFFERED.get(word, GAMES[word].examples[0])
        if word != "holdem" and not load(name).capabilities.listed:
            continue
        games.append({"word": word, "name": name, "title": title, "about": about})
    return games


def small_game_strategies(kind: str, title: str) -> list[dict[str, str]]:
    """The strategies of one kind, such as `uniform`, of all offered games but hold'em; `title`
    goes before the title of the game."""
    games = ((game["name"], game["title"]) for game in offered_games() if game["word"] != "holdem")
    return [{"key": f"{kind}:{n}", "name": f"{title} of {t}", "game": n} for n, t in games]


def title_of(word: str) -> str:
    return TITLES[word][0] if word in TITLES else word


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
