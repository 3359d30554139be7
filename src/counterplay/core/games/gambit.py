"""Games in the files of Gambit: `.efg` (extensive games) and `.nfg` (tables of payoffs), read by
`cp.load("game.efg")`.

An extensive game becomes states, one per node of the file, walked like any game of one's own;
payoffs on the way to an end are added up. A table becomes a game in which the players choose one
after the other and see nothing of each other. Numbers may be whole, decimal or fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.core.base.disk import read_bytes
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.forms.spec import GameSource
from counterplay.core.games.gambit_words import Words

ENDINGS = (".efg", ".nfg")

MOST_BYTES = 1 << 28
MOST_PROFILES = 10_000_000


class GambitNode(NamedTuple):
    """A node of an extensive game; `below`: the numbers of its children."""

    player: int  # as in a tree
    infoset: Any  # what the player to act knows
    actions: tuple[str, ...]
    chance: tuple[float, ...]
    payoffs: tuple[float, ...] | None  # of the outcome that stands here
    below: tuple[int, ...]


@dataclass(frozen=True)
class GambitState:
    """A node, and what was paid on the way to it."""

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
    """An information set: its number makes it itself, its name is for people."""

    number: int
    name: str

    def __str__(self) -> str:
        return self.name


class GambitRules:
    """An extensive game as its file has it; the root is the first node."""

    def __init__(self, title: str, players: list[str], nodes: list[GambitNode]) -> None:
        self.title, self.nodes = title, nodes
        self.n_players = len(players)
        if len(set(players)) == len(players) and all(players):
            self.seats = tuple(players)

    def root(self) -> GambitState:
        return GambitState(self, 0, (0.0,) * self.n_players)


def read_gambit(path: Path) -> GambitRules:
    """The game in a file, or `BadFile` with the line where it is wrong."""
    words = Words(str(path), read_bytes(path, MOST_BYTES).decode("utf-8", "replace"))
    kind = words.word()
    if kind not in ("EFG", "NFG"):
        raise words.wrong("a file of Gambit begins with EFG or NFG")
    version, numbers = words.word(), words.word()
    if version not in ("1", "2") or numbers not in ("R", "D"):
        raise words.wrong(f"expected version 2 R, not {version} {numbers}")
    title = words.text()
    return (_Extensive if kind == "EFG" else _Table)(words, title).read()


class _Extensive:
    """`.efg`: nodes in prefix order. Names and payoffs are given where a set or an outcome stands
    first."""

    def __init__(self, words: Words, title: str) -> None:
        self.words, self.title = words, title
        self.nodes: list[GambitNode] = []
        self.open: list[tuple[int, list[int]]] = []  # nodes whose children are not all read
        self.sets: dict[tuple[int, int], tuple[str, tuple[str, ...], tuple[float, ...]]] = {}
        self.outcomes: dict[int, tuple[float, ...] | None] = {0: None}

    def read(self) -> GambitRules:
        words = self.words
        players = words.texts()
        if words.is_text():
            words.text()  # a comment
        self.n_players = len(players)
        if not players:
            raise words.wrong("no players")
        self._node()
        while self.open:
            self._node()
        if words.more():
            raise words.wrong("something stands behind the last node")
        return GambitRules(self.title, players, self.nodes)

    def _node(self) -> None:
        """Read a node, and hang it under the last one that is open."""
        words, number = self.words, len(self.nodes)
        kind = words.word()
        if kind not in ("c", "p", "t"):
            raise words.wrong(f"a node begins with c, p or t, not {kind!r}")
        words.text()  # its name
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
        number = self.words.whole()
        if not 1 <= number <= self.n_players:
            raise self.words.wrong(f"no player {number}; there are {self.n_players}")
        return number - 1

    def _set(self, player: int) -> tuple[Label, tuple[str, ...], tuple[float, ...]]:
        words = self.words
        number = words.whole()
        name = words.text() if words.is_text() else ""
        if words.opens():
            actions, chance = [], []
            words.open()
            while not words.closes():
                actions.append(words.text())
                if player == CHANCE:
                    chance.append(words.number())
            words.close()
            if not actions:
                raise words.wrong("a node without actions")
            self.sets.setdefault((player, number), (name, _apart(actions), tuple(chance)))
        known = self.sets.get((player, number))
        if known is None:
            raise words.wrong(f"information set {number} has no actions yet")
        called, labels, odds = known
        return Label(number, called or f"set {number}"), labels, odds

    def _outcome(self) -> tuple[float, ...] | None:
        """What is paid where a node stands; None: nothing."""
        words = self.words
        number = words.whole()
        if words.is_text():
            words.text()
        if words.opens():
            payoffs = tuple(words.numbers())
            if len(payoffs) != self.n_players:
                raise words.wrong(f"{len(payoffs)} payoffs for {self.n_players} players")
            self.outcomes[number] = payoffs
        if number not in self.outcomes:
            raise words.wrong(f"outcome {number} has no payoffs yet")
        return self.outcomes[number]


class _Table:
    """`.nfg`: payoffs of every combination of strategies, the first player's changing fastest."""

    def __init__(self, words: Words, title: str) -> None:
        self.words, self.title = words, title

    def read(self) -> GambitRules:
        words = self.words
        players = words.texts()
        words.open()
        if words.is_number():
            counts = []
            while not words.closes():
                counts.append(words.whole())
            strategies = [[str(k + 1) for k in range(n)] for n in counts]
        else:
            strategies = []
            while words.opens():
                strategies.append(words.texts())
        words.close()
        if words.is_text():
            words.text()  # a comment
        n = len(players)
        if len(strategies) != n or n == 0 or not all(strategies):
            raise words.wrong(f"strategies of {len(strategies)} players, and there are {n}")
        total = 1
        for some in strategies:
            total *= len(some)
        if total > MOST_PROFILES:
            raise words.wrong(f"{total:,} combinations of strategies; {MOST_PROFILES:,} at most")
        payoffs = self._outcomes(n, total) if words.opens() else self._plain(n, total)
        if words.more():
            raise words.wrong("something stands behind the last payoff")
        return GambitRules(self.title, players, _one_after_the_other(strategies, payoffs))

    def _plain(self, n: int, total: int) -> list[tuple[float, ...]]:
        return [tuple(self.words.number() for _ in range(n)) for _ in range(total)]

    def _outcomes(self, n: int, total: int) -> list[tuple[float, ...]]:
        words, known = self.words, [(0.0,) * n]
        words.open()
        while words.opens():
            words.open()
            words.text()
            known.append(tuple(words.number() for _ in range(n)))
            words.close()
        words.close()
        found = []
        for _ in range(total):
            number = words.whole()
            if not 0 <= number < len(known):
                raise words.wrong(f"no outcome {number}")
            found.append(known[number])
        return found


def _one_after_the_other(
    strategies: list[list[str]], payoffs: list[tuple[float, ...]]
) -> list[GambitNode]:
    """A tree in which nobody sees what was chosen before him."""
    counts = [len(some) for some in strategies]
    nodes: list[GambitNode] = []
    first = 0
    for player, some in enumerate(strategies):
        width = 1
        for n in counts[:player]:
            width *= n
        label = Label(player, f"choice of player {player + 1}")
        below = first + width
        for k in range(width):
            children = tuple(range(below + k * len(some), below + (k + 1) * len(some)))
            nodes.append(GambitNode(player, label, _apart(some), (), None, children))
        first = below
    step = [1]
    for n in counts[:-1]:
        step.append(step[-1] * n)
    for choice in product(*(range(n) for n in counts)):
        number = sum(k * s for k, s in zip(choice, step, strict=True))
        nodes.append(GambitNode(TERMINAL, None, (), (), payoffs[number], ()))
    return nodes


def _apart(actions: Sequence[str]) -> tuple[str, ...]:
    """Labels of actions, each once and none empty."""
    found: list[str] = []
    for k, action in enumerate(actions):
        name = action or str(k + 1)
        while name in found:
            name += "'"
        found.append(name)
    return tuple(found)


def _read(path: str) -> Any:
    return read_gambit(Path(path))


SOURCE = (GameSource("efg", _read, "game.efg"), GameSource("nfg", _read, "game.nfg"))
