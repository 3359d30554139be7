"""From `CompiledRules` to a `HistoryTree`.

The kernels (`expand_kernels.py`) return when they want room or after some time; this makes room
and goes on, numbers the information sets and puts the tree together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadGame, TooLarge
from counterplay.core.base.progress import Count
from counterplay.core.forms.compiled import BAD_PASSIVE, PROBLEMS
from counterplay.core.forms.expand_kernels import (
    ACTION,
    DONE,
    LEVEL,
    NODES,
    Expansion,
    Moved,
    move_all,
    number_all,
    play_all,
)
from counterplay.core.forms.infoset_table import (
    LEAST_PLACES,
    MOST_FILLED,
    PROBLEM,
    ROOM_SETS,
    SETS,
    InfosetTable,
    counts_of,
    enlarged,
    keys_of,
    new_found,
    owners_of,
    places_for,
    sets_in,
)
from counterplay.core.forms.rules import CompiledRules, history
from counterplay.core.forms.rules_form import Situation, found_in, rules_form, scratch_of
from counterplay.core.forms.tree import (
    NO_ACTION,
    Distributions,
    HistoryTree,
    Labels,
    offsets,
    parents,
)

#: Peak memory while building, per node (measured on Goof(7)).
BYTES_PER_NODE = 30
FIRST_NODES, FIRST_LEVELS = 1 << 12, 64  # room at first where nobody knows how much is needed
#: A history longer than this is taken for one that never ends.
MOST_DEPTH = 10_000
AT_ONCE = 1 << 22  # nodes between looks


class ExpandedRules(NamedTuple):
    """The tree of compiled rules, and for each of its m information sets the key."""

    tree: HistoryTree
    known: np.ndarray  # int64[m, k]: what the player knows
    keys: np.ndarray  # uint64[m, 1 or 2]


class _Builder:
    """Makes room for the kernels."""

    def __init__(self, name: str, rules: CompiledRules) -> None:
        self.name, self.rules = name, rules
        self.n_nodes = rules.count_nodes() if hasattr(rules, "count_nodes") else None
        if self.n_nodes is not None:
            self._check_size(self.n_nodes)
        self.form, self._code = rules_form(name, rules, fixed=False)
        nodes = FIRST_NODES if self.n_nodes is None else self.n_nodes + 1  # one more: miscounted
        self.chance, self.done = self._room(FIRST_LEVELS, nodes)
        self.tables = (_empty_table(), _empty_table())

    def _check_size(self, nodes: int) -> None:
        if nodes >= 2**31:
            raise TooLarge(
                f"{self.name} has {nodes:,} histories, more than the {2**31:,} a tree can number; "
                f"take a smaller game"
            )
        memory.require(nodes * BYTES_PER_NODE, f"{self.name} with {nodes:,} histories")

    def _room(self, levels: int, nodes: int) -> tuple[Situation, Expansion]:
        chance = scratch_of(self.form.shape, levels)
        chance.size[ROOM_SETS] = LEAST_PLACES * MOST_FILLED
        shape, words = self.form.shape, np.int64
        at = np.zeros(4, dtype=words)
        at[ACTION] = -1
        return chance, Expansion(
            at,
            np.zeros(levels, dtype=words),
            np.zeros(levels, dtype=words),
            np.zeros(levels, dtype=words),
            np.empty(nodes, dtype=np.int8),
            np.empty(nodes, dtype=np.int32),
            np.empty(LEAST_PLACES, dtype=np.int32),
            np.empty((LEAST_PLACES, shape.known), dtype=words),
            np.empty(LEAST_PLACES, dtype=np.int16),
            np.empty((LEAST_PLACES, shape.n_players)),
        )

    def play(self) -> None:
        """All histories."""
        count, uniform = Count(f"histories of {self.name}"), type(self.rules).chance is None
        watch = memory.MemoryWatch(BYTES_PER_NODE)
        while True:
            n = int(self.done.at[NODES])
            most = min(len(self.done.player), n + AT_ONCE)
            bits = self.chance.payoff.view(np.uint64)
            play_all(self.form, self.chance, bits, self.tables, self.done, uniform, most)
            if self.chance.size[PROBLEM] != 0:
                raise self._wrong(int(self.chance.size[PROBLEM]))
            n = int(self.done.at[NODES])
            if self.done.at[DONE] != 0 or (self.n_nodes is not None and n > self.n_nodes):
                break
            count.say(n)
            if self.n_nodes is None:
                watch.check(n, f"{self.name} with more than {n:,} histories")
            self._make_room()
        if self.n_nodes not in (None, n):
            more = "" if self.done.at[DONE] != 0 else " and more"
            raise BadGame(
                f"{self.name}: count_nodes() promised {self.n_nodes:,} nodes and the rules gave "
                f"{n:,}{more}"
            )

    def _make_room(self) -> None:
        """Twice as much of whatever is full."""
        done, chance = self.done, self.chance
        if done.at[NODES] == len(done.player):
            self._check_size(2 * len(done.player))
            done = done._replace(player=_doubled(done.player), row=_doubled(done.row))
        if done.at[LEVEL] + 1 >= len(done.next):
            if len(done.next) > MOST_DEPTH:
                raise BadGame(
                    f"{self.name} has a history that goes on after {MOST_DEPTH:,} actions; every "
                    f"history must end"
                )
            longer = ("next", "actions", "width")
            done = done._replace(**{field: _doubled(getattr(done, field)) for field in longer})
            rows = ("states", "facts", "payoff", "slot")
            chance = chance._replace(**{field: _doubled(getattr(chance, field)) for field in rows})
        if chance.size[SETS] >= chance.size[ROOM_SETS]:
            table = _larger(found_in(chance))
            chance = chance._replace(**table._asdict())
            while len(done.level) < chance.size[ROOM_SETS]:
                fields = ("level", "known", "passive")
                done = done._replace(**{field: _doubled(getattr(done, field)) for field in fields})
        shares, outcomes = (
            _larger(table) if table.size[SETS] >= table.size[ROOM_SETS] else table
            for table in self.tables
        )
        while len(done.payoff) < outcomes.size[ROOM_SETS]:
            done = done._replace(payoff=_doubled(done.payoff))
        self.done, self.chance, self.tables = done, chance, (shares, outcomes)

    def _wrong(self, problem: int) -> BadGame:
        path = tuple(int(action) - 1 for action in self.done.next[: self.done.at[LEVEL]])
        what = PROBLEMS.get(
            problem, "two histories of one information set allow different numbers of actions"
        )
        return BadGame(f"{self.name}: {what}, {history(self.rules, path)}")

    def tree(self) -> ExpandedRules:
        """Of what was played."""
        done, infosets = self.done, found_in(self.chance)
        n, counts = int(done.at[NODES]), counts_of(infosets)
        if not len(counts):
            raise BadGame(f"{self.name}: no player ever acts")
        if counts.max() > self.rules.max_actions:
            raise BadGame(
                f"{self.name}: actions() gave {counts.max()}, and max_actions is "
                f"{self.rules.max_actions}"
            )
        if np.any(done.passive[: len(counts)] >= counts):
            raise BadGame(f"{self.name}: {PROBLEMS[BAD_PASSIVE]}")
        levels = int(np.count_nonzero(done.width))
        moved = Moved(
            np.empty(n, dtype=np.int8),
            np.empty(n + 1, dtype=np.int32),
            np.empty(n, dtype=np.int32),
            np.concatenate([[0], np.cumsum(done.width[:levels])]),
            np.zeros(levels, dtype=np.int64),
            *(np.full(sets_in(table), n, dtype=np.int32) for table in (infosets, *self.tables)),
        )
        move_all(done, infosets.first, self.tables[0].first, moved)
        moved.first_child[n] = n
        self.done = done = done._replace(player=moved.player, row=moved.row)  # the rest may go
        known, keys = done.known[: len(counts)], keys_of(infosets)
        order = self._order(owners_of(keys), counts, known, moved.infoset)
        shares = np.argsort(moved.chance, kind="stable")
        payoff, outcome = self._payoffs(moved.outcome)
        number_all(moved.player, moved.row, _rank(order), _rank(shares), outcome)
        tree = HistoryTree(
            player=moved.player,
            first_child=moved.first_child,
            row=moved.row,
            first=offsets(counts[order]),
            owner=owners_of(keys)[order],
            passive=np.maximum(done.passive[: len(counts)][order], NO_ACTION),
            payoff=payoff,
            **Distributions().arrays(),
        )
        tree = tree._replace(**self._distributions(tree, moved.chance[shares]))
        return ExpandedRules(tree, known[order], keys[order])

    def _order(
        self, owner: np.ndarray, counts: np.ndarray, known: np.ndarray, met: np.ndarray
    ) -> np.ndarray:
        """Information sets in the order of the tree."""
        if not self.rules.sorted_infosets:
            return np.lexsort((met, owner))
        level = self.done.level[: len(owner)].astype(np.int64)
        where = (owner.astype(np.int64) << 48) | (level << 32) | counts
        return np.lexsort((*known.T[::-1], where))

    def _payoffs(self, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The table of payoffs, and the row there of each outcome."""
        payoff, table = self.done.payoff[: len(met)], self.rules.payoff_table
        if table is None:
            order = np.argsort(met, kind="stable")
            return payoff[order], _rank(order)
        table = np.array(table, dtype=np.float64)
        row_of = {tuple(row): k for k, row in enumerate(table.tolist())}
        try:
            return table, np.array([row_of[tuple(row)] for row in payoff.tolist()], dtype=np.int32)
        except KeyError as error:
            raise BadGame(f"{self.name}: payoff() gave {error}, not in payoff_table") from None

    def _distributions(self, tree: HistoryTree, nodes: np.ndarray) -> dict[str, np.ndarray]:
        """Probabilities at nodes of chance, asked of the rules in plain Python."""
        distributions = Distributions()
        for k, node in enumerate(nodes.tolist()):
            count = int(tree.first_child[node + 1] - tree.first_child[node])
            if type(self.rules).chance is None:
                distributions.row(k, np.full(count, 1.0 / count))
                continue
            path: list[int] = []
            while node > 0:
                above = int(parents(tree, np.array([node]))[0])
                path.insert(0, node - int(tree.first_child[above]))
                node = above
            state = self.rules.root()
            for action in path:
                state = state.after(action)
            shares = np.array(state.chance())
            if not np.all(shares >= 0) or abs(shares.sum() - 1.0) > 1e-9:
                raise BadGame(
                    f"{self.name}: chance() gave probabilities that are negative or sum to "
                    f"{shares.sum():.9g}, not 1, {history(self.rules, tuple(path))}"
                )
            distributions.row(k, shares)
        return distributions.arrays()


def _empty_table() -> InfosetTable:
    table = new_found(2)
    table.size[ROOM_SETS] = LEAST_PLACES * MOST_FILLED
    return table


def _larger(table: InfosetTable) -> InfosetTable:
    sets = 2 * int(table.size[ROOM_SETS])
    table = enlarged(table, places_for(sets), sets)
    table.size[ROOM_SETS] = sets
    return table


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _rank(order: np.ndarray) -> np.ndarray:
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def expand_rules(rules: CompiledRules, name: str) -> ExpandedRules:
    """Every history of `rules` as a node, level by level."""
    builder = _Builder(name, rules)
    builder.play()
    return builder.tree()


def label_rules(rules: CompiledRules, expanded: ExpandedRules, name: str) -> Labels:
    """Names of all information sets and slots."""
    counts, owner = np.diff(expanded.tree.first).tolist(), expanded.tree.owner.tolist()
    labels = Labels([], [])
    for player, known, count in zip(owner, expanded.known.tolist(), counts, strict=True):
        words = tuple(known)
        actions = rules.action_labels(player, words, count)
        labels.infoset.append(rules.label(player, words))
        if len(set(actions)) < count or len(actions) != count:
            raise BadGame(
                f"{name}: information set {labels.infoset[-1]!r} has {count} actions, and "
                f"action_labels() gave {actions}"
            )
        labels.action.extend(actions)
    return labels
