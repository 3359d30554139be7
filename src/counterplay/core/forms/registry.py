"""Games by name: `load("bluff(1,1,6)")`. A new game is a file that sets `GAME`, and its test;
`core/base/registry.py` says in which packages."""

from __future__ import annotations

import ast
from typing import Any

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.registry import (
    Registry,
    call_user_code,
    check_not_user_defined,
    is_user_defined,
    split_user_defined,
    user_object,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.spec import GameSource, GameSpec

OWN = "my_game.py:MyGame"  # how to write one of the user's own
LARGEST_NUMBER = 10**9

GAMES: Registry[GameSpec] = Registry("game", lambda spec: isinstance(spec, GameSpec))
SOURCES: Registry[GameSource] = Registry("source", lambda spec: isinstance(spec, GameSource))


def load(name: str) -> Game:
    """A game by name, with its parameters: `kuhn`, `ocp(500)`, `pam(3,3,8,stay=True)`,
    `open_spiel:hex(board_size=2)`, a file of Gambit (`game.efg`, `game.nfg`), a class of your own
    as `my_game.py:MyGame` (which runs that file). `goofspiel(6,tree=False)` is played without a
    tree, as games too large for one always are."""
    if not isinstance(name, str):
        raise BadParameter(f"a game is named by a string such as 'kuhn', not {name!r}")
    before, colon, rest = name.partition(":")
    if colon and before in SOURCES:
        return Game(name, SOURCES[before].read(rest))
    if is_user_defined(name):
        return Game(name, _own_rules(name))
    _, dot, ending = name.rpartition(".")
    if dot and ending in SOURCES:
        return Game(name, SOURCES[ending].read(name))
    word, args, kwargs = _parse(name)
    tree = kwargs.pop("tree", None)
    canonical, rules = _spec(word).bind(args, kwargs)
    game = Game(canonical, rules, tree)
    if (
        tree is None
        or game.capabilities.discovered == Game(canonical, rules).capabilities.discovered
    ):
        return game
    opened = canonical.removesuffix(")")  # so that a file that names it finds the same
    comma = "(" if opened == canonical else ","
    return Game(f"{opened}{comma}tree={tree})", rules, tree)


def _spec(word: str) -> GameSpec:
    try:
        return GAMES[word]
    except KeyError:
        return GAMES.find(word, also=[*(source.example for source in SOURCES.values()), OWN])


def _own_rules(name: str) -> Any:
    """Rules of the user's own: a class, a function that makes them, a spec, or the rules."""
    found, (_, word, rest) = user_object(name, "game"), split_user_defined(name)
    _, args, kwargs = _parse(f"{word}{rest}")
    if isinstance(found, GameSpec):
        return found.bind(args, kwargs)[1]
    if isinstance(found, Game):
        return found.rules
    return call_user_code(found, name, *args, **kwargs) if callable(found) else found


def recorded_game(name: str, where: object) -> Game:
    """The game that a file names; one of the user's own is not run for that."""
    check_not_user_defined(name, where, "give the game: --game, in Python game=")
    return load(name)


def as_game(game: Game | str, strategy: Any = None) -> Game:
    """A game as it is, or by name; where that is the name of the strategy's own game, that one."""
    if isinstance(game, Game):
        return game
    own = getattr(strategy, "game", None)
    return own if isinstance(own, Game) and own.name == game else load(game)


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
