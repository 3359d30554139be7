"""Reads files of Gambit: `.efg` (extensive games) and `.nfg` (tables of payoffs), for
`cp.load("game.efg")`. `gambit_write.py` writes them.

An extensive game becomes states, one per node of the file; payoffs along a history are added up. A
table becomes a game in which the players choose in turn and do not see each other's choices.
Numbers may be whole, decimal or fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, product
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile
from counterplay.core.forms.registry import GameSource
from counterplay.core.forms.rules import CHANCE, TERMINAL

ENDINGS = (".efg", ".nfg")

MOST_BYTES = 1 << 28
MOST_PROFILES = 10_000_000
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}])|,|([^\s{},"]+)|("|\S)', re.DOTALL)
MOST_DIGITS = 400  # characters of a number

T = TypeVar("T")


class GambitNode(NamedTuple):
    """A node of an extensive game."""

    player: int  # as in `HistoryTree`
    infoset: Any  # of the player to act
    actions: tuple[str, ...]
    chance: tuple[float, ...]
    payoffs: tuple[float, ...] | None  # of the outcome at this node
    below: tuple[int, ...]  # the numbers of its children


@dataclass(frozen=True)
class GambitState:
    """A node, and the payoffs on the way to it."""

    rules: GambitRules = field(repr=False)
    node: int
    paid: tuple[float, ...] = field(repr=False)

    @property
    def _here(self) -> GambitNode:
        return self.rules.nodes[self.node]

    def player(self) -> int:
        return self._here.player

    def actions(self) -> Sequence[str]:
        return self._here.actions

    def chance(self) -> Sequence[float]:
        return self._here.chance

    def infoset(self) -> Any:
        return self._here.infoset

    def child(self, action: str) -> GambitState:
        below = self._here.below[self._here.actions.index(action)]
        return GambitState(self.rules, below, self.payoffs())

    def payoffs(self) -> tuple[float, ...]:
        here = self._here.payoffs
        if here is None:
            return self.paid
        return tuple(a + b for a, b in zip(self.paid, here, strict=True))


class Label(NamedTuple):
    """An information set: its number identifies it, its name is for display."""

    number: int
    name: str

    def __str__(self) -> str:
        return self.name


class GambitRules:
    """The extensive game of a file; the root is the first node."""

    def __init__(self, title: str, players: list[str], nodes: list[GambitNode]) -> None:
        self.title, self.nodes = title, nodes
        self.n_players = len(players)
        if len(set(players)) == len(players) and all(players):
            self.seats = tuple(players)

    def root(self) -> GambitState:
        return GambitState(self, 0, (0.0,) * self.n_players)


class Tokens:
    """The tokens of a file: quoted texts, braces and words. Errors name the line."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._tokens = _TOKEN.finditer(text)
        self._next: re.Match[str] | None = None
        self._step()

    def _step(self) -> None:
        self._next = next((m for m in self._tokens if m[0] != ","), None)

    def more(self) -> bool:
        """Whether there is another token."""
        return self._next is not None

    def is_text(self) -> bool:
        return self._next is not None and self._next[1] is not None

    def is_number(self) -> bool:
        return self._next is not None and bool(re.match(r"[-+.\d]", self._next[3] or ""))

    def at(self, brace: str) -> bool:
        return self._next is not None and self._next[2] == brace

    def text(self) -> str:
        """A quoted text."""
        if not self.is_text():
            raise self.wrong(f"expected a text in quotes, not {self._shown()}")
        assert self._next is not None
        text = re.sub(r"\\(.)", r"\1", self._next[1])
        self._step()
        return text

    def in_braces(self, read: Callable[[], T]) -> list[T]:
        """What `read` reads, again and again, between braces."""
        values = []
        self.take("{")
        while not self.at("}"):
            values.append(read())
        self.take("}")
        return values

    def take(self, brace: str) -> None:
        if not self.at(brace):
            raise self.wrong(f"expected {brace}, not {self._shown()}")
        self._step()

    def word(self) -> str:
        """A word without quotes."""
        if self._next is None or not self._next[3]:
            raise self.wrong(f"expected a word, not {self._shown()}")
        word = self._next[3]
        self._step()
        return word

    def whole(self) -> int:
        """A whole number."""
        text = self.word()
        if not re.fullmatch(r"[-+]?\d{1,18}", text):
            raise self.wrong(f"{text[:40]!r} is not a whole number")
        return int(text)

    def number(self) -> float:
        """A whole number, a decimal or a fraction."""
        text = self.word()
        try:
            if len(text) > MOST_DIGITS:
                raise ValueError
            value = float(Fraction(text)) if "/" in text else float(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise self.wrong(f"{text[:40]!r} is not a number") from None
        if not math.isfinite(value):
            raise self.wrong(f"{text[:40]!r} is not a number to count with")
        return value

    def _shown(self) -> str:
        return "the end of the file" if self._next is None else repr(self._next[0][:40])

    def wrong(self, why: str) -> BadFile:
        """An error at the current line."""
        end = len(self._text) if self._next is None else self._next.start()
        line = self._text.count("\n", 0, end) + 1
        return BadFile(f"{self.name}:{line}: {why}")


def read_gambit(path: Path) -> GambitRules:
    """The game in a file, or `BadFile` with the line of the error."""
    tokens = Tokens(str(path), read_bytes(path, MOST_BYTES).decode("utf-8", "replace"))
    kind = tokens.word()
    if kind not in ("EFG", "NFG"):
        raise tokens.wrong("a file of Gambit begins with EFG or NFG")
    version, numbers = tokens.word(), tokens.word()
    if version not in ("1", "2") or numbers not in ("R", "D"):
        raise tokens.wrong(f"expected version 2 R, not {version} {numbers}")
    title = tokens.text()
    return (_Extensive if kind == "EFG" else _Table)(tokens, title).read()


class _Extensive:
    """Reads `.efg`: nodes in prefix order; names and payoffs stand at their first node."""

    def __init__(self, tokens: Tokens, title: str) -> None:
        self.tokens, self.title = tokens, title
        self.nodes: list[GambitNode] = []
        self.open: list[tuple[int, list[int]]] = []  # nodes with children still to be read
        self.sets: dict[tuple[int, int], tuple[str, tuple[str, ...], tuple[float, ...]]] = {}
        self.outcomes: dict[int, tuple[float, ...] | None] = {0: None}

    def read(self) -> GambitRules:
        tokens = self.tokens
        players = tokens.in_braces(tokens.text)
        if tokens.is_text():
            tokens.text()  # a comment
        self.n_players = len(players)
        if not players:
            raise tokens.wrong("no players")
        self._node()
        while self.open:
            self._node()
        if tokens.more():
            raise tokens.wrong("something stands behind the last node")
        return GambitRules(self.title, players, self.nodes)

    def _node(self) -> None:
        """Reads a node, the next child of the last open one."""
        tokens, number = self.tokens, len(self.nodes)
        kind = tokens.word()
        if kind not in ("c", "p", "t"):
            raise tokens.wrong(f"a node begins with c, p or t, not {kind!r}")
        tokens.text()  # its name
        if self.open:
            self.open[-1][1].append(number)
        if kind == "t":
            self.nodes.append(GambitNode(TERMINAL, None, (), (), self._outcome(), ()))
        else:
            player = CHANCE if kind == "c" else self._player()
            label, actions, chance = self._set(player)
            self.nodes.append(GambitNode(player, label, actions, chance, self._outcome(), ()))
            self.open.append((number, []))
        while self.open and len(self.open[-1][1]) == len(self.nodes[self.open[-1][0]].actions):
            done, below = self.open.pop()
            self.nodes[done] = self.nodes[done]._replace(below=tuple(below))

    def _player(self) -> int:
        number = self.tokens.whole()
        if not 1 <= number <= self.n_players:
            raise self.tokens.wrong(f"no player {number}; there are {self.n_players}")
        return number - 1

    def _set(self, player: int) -> tuple[Label, tuple[str, ...], tuple[float, ...]]:
        tokens = self.tokens
        number = tokens.whole()
        name = tokens.text() if tokens.is_text() else ""
        if tokens.at("{"):
            actions, chance = [], []
            tokens.take("{")
            while not tokens.at("}"):
                actions.append(tokens.text())
                if player == CHANCE:
                    chance.append(tokens.number())
            tokens.take("}")
            if not actions:
                raise tokens.wrong("a node without actions")
            self.sets.setdefault((player, number), (name, _unique_labels(actions), tuple(chance)))
        if (player, number) not in self.sets:
            raise tokens.wrong(f"information set {number} has no actions yet")
        name, labels, odds = self.sets[player, number]
        return Label(number, name or f"set {number}"), labels, odds

    def _outcome(self) -> tuple[float, ...] | None:
        """The payoffs of the outcome at a node; None where it has none."""
        tokens = self.tokens
        number = tokens.whole()
        if tokens.is_text():
            tokens.text()
        if tokens.at("{"):
            payoffs = tuple(tokens.in_braces(tokens.number))
            if len(payoffs) != self.n_players:
                raise tokens.wrong(f"{len(payoffs)} payoffs for {self.n_players} players")
            self.outcomes[number] = payoffs
        if number not in self.outcomes:
            raise tokens.wrong(f"outcome {number} has no payoffs yet")
        return self.outcomes[number]


class _Table:
    """Reads `.nfg`: payoffs of every strategy profile, the first player's changing fastest."""

    def __init__(self, tokens: Tokens, title: str) -> None:
        self.tokens, self.title = tokens, title

    def read(self) -> GambitRules:
        tokens = self.tokens
        players = tokens.in_braces(tokens.text)
        tokens.take("{")
        strategies = []
        while tokens.at("{") or tokens.is_number():
            strategies.append(
                tokens.in_braces(tokens.text)
                if tokens.at("{")
                else [str(k + 1) for k in range(tokens.whole())]
            )
        tokens.take("}")
        if tokens.is_text():
            tokens.text()  # a comment
        n = len(players)
        if len(strategies) != n or n == 0 or not all(strategies):
            raise tokens.wrong(f"strategies of {len(strategies)} players, and there are {n}")
        total = math.prod(map(len, strategies))
        if total > MOST_PROFILES:
            raise tokens.wrong(f"{total:,} combinations of strategies; {MOST_PROFILES:,} at most")
        if tokens.at("{"):
            payoffs = self._outcomes(n, total)
        else:
            payoffs = [tuple(tokens.number() for _ in range(n)) for _ in range(total)]
        if tokens.more():
            raise tokens.wrong("something stands behind the last payoff")
        return GambitRules(self.title, players, _sequential_tree(strategies, payoffs))

    def _outcomes(self, n: int, total: int) -> list[tuple[float, ...]]:
        tokens, outcomes = self.tokens, [(0.0,) * n]
        tokens.take("{")
        while tokens.at("{"):
            tokens.take("{")
            tokens.text()
            outcomes.append(tuple(tokens.number() for _ in range(n)))
            tokens.take("}")
        tokens.take("}")
        payoffs = []
        for _ in range(total):
            number = tokens.whole()
            if not 0 <= number < len(outcomes):
                raise tokens.wrong(f"no outcome {number}")
            payoffs.append(outcomes[number])
        return payoffs


def _sequential_tree(
    strategies: list[list[str]], payoffs: list[tuple[float, ...]]
) -> list[GambitNode]:
    """The nodes of a tree in which the players choose in turn and do not see earlier choices."""
    counts = [len(some) for some in strategies]
    nodes: list[GambitNode] = []
    first = 0
    for player, some in enumerate(strategies):
        width = math.prod(counts[:player])
        label = Label(player, f"choice of player {player + 1}")
        below = first + width
        for k in range(width):
            children = tuple(range(below + k * len(some), below + (k + 1) * len(some)))
            nodes.append(GambitNode(player, label, _unique_labels(some), (), None, children))
        first = below
    step = list(accumulate(counts[:-1], mul, initial=1))
    for choice in product(*(range(n) for n in counts)):
        number = sum(k * s for k, s in zip(choice, step, strict=True))
        nodes.append(GambitNode(TERMINAL, None, (), (), payoffs[number], ()))
    return nodes


def _unique_labels(actions: Sequence[str]) -> tuple[str, ...]:
    """Labels of actions, made unique and not empty."""
    labels: list[str] = []
    for k, action in enumerate(actions):
        label = action or str(k + 1)
        while label in labels:
            label += "'"
        labels.append(label)
    return tuple(labels)


def _read(path: str) -> Any:
    return read_gambit(Path(path))


SOURCE = (GameSource("efg", _read, "game.efg"), GameSource("nfg", _read, "game.nfg"))
