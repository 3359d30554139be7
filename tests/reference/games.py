"""Games of the twin tests, each unfolded once."""

from __future__ import annotations

from functools import cache

from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load

from .common import Node
from .toy import toy


@cache
def game_and_root(name: str) -> tuple[Game, Node]:
    game = toy() if name == "toy" else load(name)
    return game, Node(game.rules.root())
