"""Games of the twin tests, each unfolded once."""

from __future__ import annotations

from functools import cache

from counterplay.forms.compiled_states import StatesOfRules
from counterplay.forms.game import Game
from counterplay.forms.registry import load

from .common import Node
from .toy import toy


@cache
def game_and_root(name: str) -> tuple[Game, Node]:
    game = toy() if name == "toy" else load(name)
    if hasattr(game.rules, "root"):
        return game, Node(game.rules.root())
    compiled = load(name.rstrip(")") + ",tree=False)").rules
    return game, Node(StatesOfRules(name, compiled).root())
