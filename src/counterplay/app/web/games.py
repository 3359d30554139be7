"""Games that a page may ask for: built-in ones of two players, of a size that answers at once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from counterplay.core.base.errors import BadParameter, unknown

MOST_NODES = 3_000_000
WORD = re.compile(r"[a-z_]+")
SHOWN = {"holdem": "holdem(buckets=10)", "ocp": "ocp(13)", "goofspiel": "goofspiel(5)"}
SAID = {  # title and a line about it
    "holdem": ("Limit Texas Hold'em", "the real game: two cards each, five on the board"),
    "kuhn": ("Kuhn poker", "three cards, one bet: all of poker in a minute"),
    "leduc": ("Leduc hold'em", "six cards, two rounds, a card on the table"),
    "ocp": ("One-Card Poker", "one high card each, one bet"),
    "bluff": ("Bluff", "Liar's Dice: bid on dice you cannot see"),
    "goofspiel": ("Goofspiel", "bid your cards for points, in secret"),
    "pam": ("Princess and Monster", "hide and seek in a dark room"),
}


def offered() -> list[dict[str, str]]:
    """The games of the registry, hold'em first, each as one plays it here."""
    from counterplay.core.forms.registry import GAMES

    def rank(word: str) -> int:
        return list(SAID).index(word) if word in SAID else len(SAID)

    return [
        {
            "word": word,
            "name": SHOWN.get(word, GAMES[word].examples[0]),
            "title": title_of(word),
            "about": SAID[word][1] if word in SAID else GAMES[word].summary,
        }
        for word in sorted(GAMES, key=rank)
    ]


def title_of(word: str) -> str:
    return SAID[word][0] if word in SAID else word


@lru_cache(maxsize=12)
def open_game(name: str) -> Any:
    """A built-in game by name; never a file, and never one that is too large for a page."""
    from counterplay.core.forms.registry import GAMES, load

    word = WORD.match(name.strip().lower())
    if word is None or word.group() not in GAMES or any(c in name for c in ":/\\"):
        raise unknown("game", name[:60], GAMES)
    game = load(name)
    if game.n_players != 2:
        raise BadParameter(f"{game.name} is for {game.n_players} players; here two play")
    if game.capabilities.discovered:
        raise BadParameter(f"{game.name} is played without a tree; here games have one")
    count = getattr(game.rules, "count_nodes", None)
    if count is not None and count() > MOST_NODES:
        raise BadParameter(
            f"{game.name} has {count():,} histories; here games have at most {MOST_NODES:,}"
        )
    return game
