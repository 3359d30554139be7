"""`HashStrategy`: a strategy of a game whose information sets are discovered while playing.

It has a row for each discovered information set, by key, and is uniform elsewhere. It can be looked
up by what a player knows, saved, and carried over to a tree of the same game.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter, BadStrategy
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.display import Row
from counterplay.core.forms.game import Game
from counterplay.core.forms.infoset_table import (
    InfosetTable,
    find_all,
    owners_of,
    table_from_keys,
)
from counterplay.core.forms.rules_form import HashPolicy, hash_policy, key_of, key_words
from counterplay.core.forms.strategy import TOLERANCE, Strategy, as_game_of, check_same_game

EXACT, HASHED = "exact, 64 bits", "hash of 128 bits"  # what keys are, in a file's header


class HashStrategy(Strategy):
    """n information sets with a key each, uniform play elsewhere. Immutable."""

    _arrays: ClassVar = {"keys": np.uint64, "counts": np.int64, "probabilities": np.float64}

    def __init__(
        self, game: Game, keys: np.ndarray, counts: np.ndarray, probabilities: np.ndarray
    ) -> None:
        self.game = game
        self.keys = _frozen(keys, np.uint64)  # uint64[n, words]
        self.counts = _frozen(counts, np.int64)  # actions of each
        if self.counts.ndim != 1:
            raise BadStrategy(f"arrays that are no strategy of {game.name}")
        self.first = first_slots(self.counts)
        self.probabilities = _frozen(probabilities, np.float64)
        self._check()

    def _check(self) -> None:
        if not self.game.discovers_infosets:
            raise BadStrategy(f"{self.game.name} has a list of information sets, and no keys")
        shares = self.probabilities
        if (
            self.keys.shape != (len(self.counts), key_words(self.game.form.shape))
            or np.any(self.counts < 1)
            or np.any(self.counts > self.game.max_actions)
            or shares.shape != (int(self.first[-1]),)
        ):
            raise BadStrategy(f"arrays that are no strategy of {self.game.name}")
        if not np.all(np.isfinite(shares)) or np.any(shares < 0):
            raise BadStrategy("a probability is negative, or no number")
        if len(self.counts):
            wrong = np.abs(np.add.reduceat(shares, self.first[:-1]) - 1.0) > TOLERANCE
            if np.any(wrong):
                i = int(np.flatnonzero(wrong)[0])
                raise BadStrategy(f"probabilities at {self.name_of(i)} do not sum to 1")

    def __repr__(self) -> str:
        seat = "" if self.player is None else f", for player {self.player + 1}"
        return f"Strategy({self.game.name!r}, {len(self.keys):,} information sets discovered{seat})"

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def _uniform(cls, game: Game) -> Strategy:
        none = np.zeros((0, key_words(game.form.shape)), dtype=np.uint64)
        return cls(game, none, np.zeros(0, dtype=np.int64), np.zeros(0))

    @cached_property
    def _table(self) -> InfosetTable:
        return table_from_keys(self.keys, self.counts)

    @cached_property
    def played(self) -> HashPolicy:
        """The policy as kernels take it."""
        return hash_policy(self.keys, self.counts, self.probabilities, self.game.max_actions)

    def at(self, *infoset: Any) -> dict[str, float]:
        """Probabilities at one information set: by its label, or by the player (0, 1, ...) and the
        numbers that `key` writes for what the player knows."""
        if len(infoset) == 1 and isinstance(infoset[0], str):
            return self.row(self._by_label(infoset[0])).probabilities
        shape = self.game.form.shape
        if len(infoset) != 1 + shape.known or not all(
            isinstance(word, int | np.integer) and not isinstance(word, bool) for word in infoset
        ):
            raise BadStrategy(
                f"an information set of {self.game.name} is named by its label, or by a player "
                f"and {shape.known} number(s) that say what it knows"
            )
        self.game.check_player(infoset[0])
        if not all(-(2**63) <= int(word) < 2**63 for word in infoset[1:]):
            raise BadStrategy("what a player knows is numbers of 64 bits")
        key = key_of(shape, int(infoset[0]), tuple(int(word) for word in infoset[1:]))
        number = np.empty(1, dtype=np.int64)
        find_all(self._table.cells, key, number)
        if number[0] < 0:
            raise BadStrategy(
                f"no information set of {numbered(infoset[0])} that knows "
                f"{', '.join(map(str, infoset[1:]))} was discovered; play there is uniform"
            )
        return self.row(int(number[0])).probabilities

    @cached_property
    def _labels(self) -> dict[str, int]:
        return {self.name_of(i): i for i in range(len(self.keys))}

    def _by_label(self, label: str) -> int:
        names = (label, *(f"{numbered(k)}: {label}" for k in range(self.game.n_players)))
        keys, rows = self.game.keys_of_label(label), list[int]()
        if keys is not None:
            numbers = np.empty(len(keys), dtype=np.int64)
            find_all(self._table.cells, keys, numbers)
            rows = numbers[numbers >= 0].tolist()
        rows = rows or [self._labels[name] for name in names if name in self._labels]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise BadStrategy(f"several players know {label!r}; write {names[1]!r}")
        raise BadStrategy(
            f"no information set {label!r} was discovered in {self.game.name}; play there is "
            f"uniform"
        )

    def _described(self, i: int) -> tuple[int, str, list[str]]:
        """The player of a row, and the labels of its information set and actions."""
        player = int(owners_of(self.keys[i : i + 1])[0])
        return player, *self.game.described(self.keys[i], int(self.counts[i]))

    def name_of(self, i: int) -> str:
        """The label of a row, with its player in front."""
        player, label, _ = self._described(i)
        return f"{numbered(player)}: {label}"

    def row(self, i: int) -> Row:
        low, high = int(self.first[i]), int(self.first[i + 1])
        player, label, names = self._described(i)
        shares = dict(zip(names, self.probabilities[low:high].tolist(), strict=True))
        return Row(player, f"{numbered(player)}: {label}", shares)

    @property
    def n_rows(self) -> int:
        return len(self.keys)

    def to_openspiel(self, kind: str = "python") -> Any:
        raise BadParameter(
            f"{self.game.name} is played without a tree; strategy.on(game) with a tree has a "
            f"policy of OpenSpiel"
        )

    def rows(self, player: int | None = None, like: str | None = None) -> Iterator[Row]:
        """Rows in order of discovery: all, or those of a player, or whose label matches `like`, in
        which * stands for any text."""
        for i, owner in enumerate(owners_of(self.keys).tolist()):
            if player in (None, owner):
                name = self.name_of(i)
                names = (name, name.removeprefix(f"{numbered(owner)}: "))
                if like in (None, *names) or any(fnmatchcase(name, str(like)) for name in names):
                    yield self.row(i)

    def table(self) -> list[Row]:
        return list(self.rows())

    def replace(self, other: Strategy, player: int) -> Strategy:
        check_same_game(self.game, other)
        self.game.check_player(player)
        theirs = (
            other if isinstance(other, HashStrategy) else hash_strategy_from_tree(other, self.game)
        )
        parts = []
        for strategy, of_player in ((self, False), (theirs, True)):
            mine = (owners_of(strategy.keys) == player) == of_player
            slots = np.repeat(mine, strategy.counts)
            parts.append(
                (strategy.keys[mine], strategy.counts[mine], strategy.probabilities[slots])
            )
        return HashStrategy(self.game, *(np.concatenate(both) for both in zip(*parts, strict=True)))

    def plan(self, player: int) -> np.ndarray:
        raise BadParameter(
            f"{self.game.name} is played without a tree, so its sequences are not listed"
        )

    def mix(self, other: Strategy, weight: float) -> Strategy:
        raise BadParameter(
            f"{self.game.name} is played without a tree; strategies are mixed on a tree: "
            f"strategy.on(game)"
        )

    def on(self, game: Game | str) -> Strategy:
        """The strategy carried over to a tree of the same game."""
        tree_game = as_game_of(game)
        if tree_game.discovers_infosets:
            check_same_game(tree_game, self)
            return self
        keys, tree = keys_in_tree(tree_game, self.game), tree_game.tree
        numbers = np.empty(len(keys), dtype=np.int64)
        find_all(self._table.cells, keys, numbers)
        width = np.diff(tree.first).astype(np.int64)
        met = numbers >= 0
        if np.any(self.counts[numbers[met]] != width[met]):
            raise BadGame(f"{tree_game.name}: a strategy with other actions than the tree")
        shares: np.ndarray = np.repeat(1.0 / width, width)  # where a key is absent
        within = np.arange(len(shares)) - np.repeat(tree.first[:-1], width)
        slots = np.repeat(met, width)
        shares[slots] = self.probabilities[(np.repeat(self.first[numbers], width) + within)[slots]]
        return Strategy(tree_game, shares).for_player(self.player)

    @classmethod
    def _carried(cls, strategy: Strategy, game: Game) -> Strategy:
        return hash_strategy_from_tree(strategy, game).for_player(strategy.player)

    def _header(self) -> dict[str, Any]:
        kind = EXACT if self.keys.shape[1] == 1 else HASHED
        return {**super()._header(), "keys": kind, "information sets": len(self.keys)}


def _frozen(array: np.ndarray, kind: type) -> np.ndarray:
    """The array if it is read-only and owns its memory, else a read-only copy."""
    if array.dtype == kind and array.base is None and not array.flags.writeable:
        return array
    copy: np.ndarray = np.array(array, dtype=kind)
    copy.setflags(write=False)
    return copy


def first_slots(counts: np.ndarray) -> np.ndarray:
    """int64[n + 1]: the first slots of information sets with `counts` actions."""
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=first[1:])
    return first


def keys_in_tree(tree_game: Game, game: Game) -> np.ndarray:
    """uint64[m, k]: the keys of the information sets of a tree of `game`."""
    if not tree_game.has_tree or tree_game.rules_digest != game.rules_digest:
        raise BadStrategy(f"a strategy for {game.name} cannot play {tree_game.name}")
    return tree_game.keys


def hash_strategy_from_tree(strategy: Strategy, game: Game) -> HashStrategy:
    """A strategy of a tree, carried over to the same game without one."""
    keys = keys_in_tree(strategy.game, game)
    counts = np.diff(strategy.game.tree.first).astype(np.int64)
    return HashStrategy(game, keys, counts, strategy.probabilities)
