"""Games by name: `load("bluff(1,1,6)")`. A new game is a file that sets `GAME`, and its test;
`core/base/registry.py` says in which packages."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

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

if TYPE_CHECKING:
    from counterplay.core.forms.strategy import Strategy

USER_DEFINED = "my_game.py:MyGame"  # how to name a user-defined game
#: How to open a file of a user-defined game.
NAME_THE_GAME = "give the game: --game (of solve: its argument), in Python game="
LARGEST_NUMBER = 10**9
TREE = re.compile(r"([(,])\s*tree\s*=\s*(True|False)\s*(?=[,)])")


@dataclass(frozen=True)
class GameSpec:
    """A game by name: `make(...)` returns rules; its parameters are those of the game."""

    name: str
    make: Callable[..., Any]
    summary: str
    examples: tuple[str, ...]
    #: The arguments in the canonical name, where they follow from the rules.
    arguments: Callable[[Any], str] | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise BadParameter(
                f"the name of a game is a word in small letters, such as kuhn, not {self.name!r}"
            )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """The canonical name and the rules for given arguments."""
        signature = inspect.signature(self.make)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise BadParameter(
                f"{self.name}: {error}; write it like {' or '.join(self.examples)}"
            ) from None
        bound.apply_defaults()
        rules = self.make(*bound.args, **bound.kwargs)
        if self.arguments is not None:
            given = self.arguments(rules)
            return f"{self.name}({given})" if given else self.name, rules
        parts = []
        for name, value in bound.arguments.items():
            default = signature.parameters[name].default
            if default is inspect.Parameter.empty:
                parts.append(f"{value}")
            elif value != default:
                parts.append(f"{name}={value}")
        canonical = f"{self.name}({','.join(parts)})" if parts else self.name
        return canonical, rules


@dataclass(frozen=True)
class GameSource:
    """Games of another library or file format. `name`: the word before a colon, as in
    `open_spiel:hex`, or the ending of a file."""

    name: str
    read: Callable[[str], Any]  # from the text behind the colon, or the path of the file, to rules
    example: str


class Exchange(NamedTuple):
    """Conversion of strategies from and to the policies of another library."""

    name: str
    read: Callable[[Any, Any], Strategy]
    write: Callable[[Any, str], Any]


GAMES: Registry[GameSpec] = Registry("game", lambda spec: isinstance(spec, GameSpec))
SOURCES: Registry[GameSource] = Registry("source", lambda spec: isinstance(spec, GameSource))
EXCHANGES: Registry[Exchange] = Registry("exchange", lambda spec: isinstance(spec, Exchange))


def load(name: str) -> Game:
    """A game by name, with its parameters: `kuhn`, `ocp(500)`, `pam(3,3,8,stay=True)`,
    `open_spiel:hex(board_size=2)`, a file of Gambit (`game.efg`, `game.nfg`), a class of your own
    as `my_game.py:MyGame` (which runs that file). `goofspiel(6,tree=False)` is played without a
    tree, as games too large for one always are."""
    if not isinstance(name, str):
        raise BadParameter(f"a game is named by a string such as 'kuhn', not {name!r}")
    canonical, rules, tree = _named_rules(name)
    game = Game(canonical, rules, tree)
    if tree is None or game.has_tree == Game(canonical, rules).has_tree:
        return game
    opened = canonical.removesuffix(")")  # a name that loads the same game
    comma = "(" if opened == canonical else ","
    return Game(f"{opened}{comma}tree={tree})", rules, tree)


def _named_rules(name: str) -> tuple[str, Any, bool | None]:
    """The canonical name, the rules and the argument `tree` of a game by name."""
    before, colon, _ = name.partition(":")
    if colon and before in SOURCES:
        name, tree = _split_tree(name)
        return name, SOURCES[before].read(name.removeprefix(f"{before}:")), tree
    if is_user_defined(name):
        name, tree = _split_tree(name)
        return name, _user_rules(name), tree
    _, dot, ending = name.rpartition(".")
    if dot and ending in SOURCES:
        return name, SOURCES[ending].read(name), None
    word, args, kwargs = _parse(name)
    tree = kwargs.pop("tree", None)
    return *_spec(word).bind(args, kwargs), tree


def _split_tree(name: str) -> tuple[str, bool | None]:
    """A name without its argument `tree`, and that argument."""
    found = TREE.search(name)
    if found is None:
        return name, None
    rest = name[: found.start()] + found[1] + name[found.end() :]
    for text, short in (("(,", "("), (",,", ","), (",)", ")"), ("()", "")):
        rest = rest.replace(text, short)
    return rest, found[2] == "True"


def _spec(word: str) -> GameSpec:
    try:
        return GAMES[word]
    except KeyError:
        return GAMES.find(
            word, also=[*(source.example for source in SOURCES.values()), USER_DEFINED]
        )


def _user_rules(name: str) -> Any:
    """User-defined rules, from a class, a function that makes them, a spec, or rules."""
    value, (_, word, rest) = user_object(name, "game"), split_user_defined(name)
    _, args, kwargs = _parse(f"{word}{rest}")
    if isinstance(value, GameSpec):
        return value.bind(args, kwargs)[1]
    if isinstance(value, Game):
        return value.rules
    return call_user_code(value, name, *args, **kwargs) if callable(value) else value


def recorded_game(name: str, where: object) -> Game:
    """The game that a file names; refuses a user-defined one, whose code would have to run."""
    check_not_user_defined(name, where, NAME_THE_GAME)
    return load(name)


def as_game(game: Game | str, strategy: Any = None) -> Game:
    """A game, or the game of a name; the strategy's own game if that is its name."""
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
    """A literal; a bare word is a string, as in `first=monster` or `kind=equal-width`."""
    value = _word(node) or ast.literal_eval(node)
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise ValueError("no game has a parameter that large")
    return value


def _word(node: ast.expr) -> str | None:
    """A bare word, which may have hyphens; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        left, right = _word(node.left), _word(node.right)
        return f"{left}-{right}" if left and right else None
    return None
