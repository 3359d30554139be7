"""Games by name: `load("bluff(1,1,6)")`. A new game is a file of this folder that sets `GAME`,
and its test."""

from __future__ import annotations

import ast
from typing import Any

from counterplay.base.errors import BadParameter
from counterplay.base.registry import Registry
from counterplay.forms.game import Game
from counterplay.forms.strategy import set_game_finder
from counterplay.games.spec import GameSpec

OPEN_SPIEL = "open_spiel:"
ELSEWHERE = ("counterplay.holdem.game",)  # more than a file; it stands in a higher layer
LARGEST_NUMBER = 10**9

GAMES: Registry[GameSpec] = Registry(
    "game", "counterplay.games", lambda spec: isinstance(spec, GameSpec), ELSEWHERE
)


def load(name: str) -> Game:
    """A game by name, with its parameters: `kuhn`, `ocp(500)`, `pam(3,3,8,stay=True)`,
    `open_spiel:hex(board_size=2)`."""
    if not isinstance(name, str):
        raise BadParameter(f"a game is named by a string such as 'kuhn', not {name!r}")
    if name.startswith(OPEN_SPIEL):
        from counterplay.games.openspiel import OpenSpielRules

        return Game(name, OpenSpielRules(name[len(OPEN_SPIEL) :]))
    word, args, kwargs = _parse(name)
    canonical, rules = GAMES.find(word, also=[OPEN_SPIEL + "NAME"]).bind(args, kwargs)
    return Game(canonical, rules)


def _parse(text: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """`pam(3,3,8,stay=True)` -> word, positional and named arguments."""
    problem = BadParameter(
        f"cannot read {text!r} as a game; write it like kuhn, ocp(500) or kuhn(players=3)"
    )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise problem from None
    if isinstance(tree, ast.Name):
        return tree.id.lower(), (), {}
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)):
        raise problem
    try:
        args = tuple(_literal(node) for node in tree.args)
        kwargs = {str(keyword.arg): _literal(keyword.value) for keyword in tree.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise problem from None
    if len(kwargs) < len(tree.keywords):
        raise problem
    return tree.func.id.lower(), args, kwargs


def _literal(node: ast.expr) -> Any:
    """A literal; a bare word stands for itself, as in `first=monster`."""
    value = node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise ValueError("no game has a parameter that large")
    return value


set_game_finder(load)
