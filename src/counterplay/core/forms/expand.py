"""From `CompiledRules` to a `HistoryTree`.

The kernels (`expand_kernels.py`) return when an array is full, and from time to time; the builder
enlarges the arrays, goes on, numbers the information sets and assembles the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
    HistorySearch,
    LevelOrder,
    expand_histories,
    number_rows,
    order_by_level,
)
from counterplay.core.forms.infoset_table import (
    MAX_LOAD,
    MIN_CELLS,
    PROBLEM,
    SETS,
    SETS_LIMIT,
    InfosetTable,
    action_counts,
    cells_for,
    enlarge_table,
    infoset_count,
    keys_of,
    new_infoset_table,
    owners_of,
)
from counterplay.core.forms.rules import CompiledRules, history
from counterplay.core.forms.rules_form import RulesWorkspace, rules_form, rules_workspace, table_in
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
FIRST_NODES, FIRST_LEVELS = 1 << 12, 64  # first sizes where `count_nodes` is missing
#: A history longer than this is taken for one that never ends.
MOST_DEPTH = 10_000
BATCH = 1 << 22  # nodes between two reports of progress


class ExpandedRules(NamedTuple):
    """The tree of compiled rules, and the keys of its m information sets."""

    tree: HistoryTree
    known: np.ndarray  # int64[m, k]: what the player knows
    keys: np.ndarray  # uint64[m, 1 or 2]


class _TreeBuilder:
    """Runs the kernels and enlarges their arrays."""

    def __init__(self, name: str, rules: CompiledRules) -> None:
        self.name, self.rules = name, rules
        self.n_nodes = rules.count_nodes() if hasattr(rules, "count_nodes") else None
        if self.n_nodes is not None:
            self._check_size(self.n_nodes)
        self.form, self._code = rules_form(name, rules, fixed=False)
        # one node more than promised shows a miscount
        nodes = FIRST_NODES if self.n_nodes is None else self.n_nodes + 1
        self.chance, self.search = self._arrays(FIRST_LEVELS, nodes)
        self.tables = (_empty_table(), _empty_table())

    def _check_size(self, nodes: int) -> None:
        if nodes >= 2**31:
            raise TooLarge(
                f"{self.name} has {nodes:,} histories, more than the {2**31:,} a tree can number; "
                f"take a smaller game"
            )
        memory.require(nodes * BYTES_PER_NODE, f"{self.name} with {nodes:,} histories")

    def _arrays(self, levels: int, nodes: int) -> tuple[RulesWorkspace, HistorySearch]:
        chance = rules_workspace(self.form.shape, levels)
        chance.size[SETS_LIMIT] = MIN_CELLS * MAX_LOAD
        shape, words = self.form.shape, np.int64
        at = np.zeros(4, dtype=words)
        at[ACTION] = -1
        return chance, HistorySearch(
            at,
            np.zeros(levels, dtype=words),
            np.zeros(levels, dtype=words),
            np.zeros(levels, dtype=words),
            np.empty(nodes, dtype=np.int8),
            np.empty(nodes, dtype=np.int32),
            np.empty(MIN_CELLS, dtype=np.int32),
            np.empty((MIN_CELLS, shape.known), dtype=words),
            np.empty(MIN_CELLS, dtype=np.int16),
            np.empty((MIN_CELLS, shape.n_players)),
        )

    def play(self) -> None:
        """Plays all histories."""
        count, uniform = Count(f"histories of {self.name}"), type(self.rules).chance is None
        watch = memory.MemoryWatch(BYTES_PER_NODE)
        while True:
            n = int(self.search.at[NODES])
            most = min(len(self.search.player), n + BATCH)
            bits = self.chance.payoff.view(np.uint64)
            expand_histories(self.form, self.chance, bits, self.tables, self.search, uniform, most)
            if self.chance.size[PROBLEM] != 0:
                raise self._error(int(self.chance.size[PROBLEM]))
            n = int(self.search.at[NODES])
            if self.search.at[DONE] != 0 or (self.n_nodes is not None and n > self.n_nodes):
                break
            count.say(n)
            if self.n_nodes is None:
                watch.check(n, f"{self.name} with more than {n:,} histories")
            self._enlarge()
        if self.n_nodes not in (None, n):
            more = "" if self.search.at[DONE] != 0 else " and more"
            raise BadGame(
                f"{self.name}: count_nodes() promised {self.n_nodes:,} nodes and the rules gave "
                f"{n:,}{more}"
            )

    def _enlarge(self) -> None:
        """Doubles every array that is full."""
        search, chance = self.search, self.chance
        if search.at[NODES] == len(search.player):
            self._check_size(2 * len(search.player))
            search = _doubled(search, "player", "row")
        if search.at[LEVEL] + 1 >= len(search.next):
            if len(search.next) > MOST_DEPTH:
                raise BadGame(
                    f"{self.name} has a history that goes on after {MOST_DEPTH:,} actions; every "
                    f"history must end"
                )
            search = _doubled(search, "next", "actions", "width")
            chance = _doubled(chance, "states", "facts", "payoff", "slot")
        if chance.size[SETS] >= chance.size[SETS_LIMIT]:
            chance = chance._replace(**_larger(table_in(chance))._asdict())
            while len(search.level) < chance.size[SETS_LIMIT]:
                search = _doubled(search, "level", "known", "passive")
        shares, outcomes = (
            _larger(table) if table.size[SETS] >= table.size[SETS_LIMIT] else table
            for table in self.tables
        )
        while len(search.payoff) < outcomes.size[SETS_LIMIT]:
            search = _doubled(search, "payoff")
        self.search, self.chance, self.tables = search, chance, (shares, outcomes)

    def _error(self, problem: int) -> BadGame:
        path = tuple(int(action) - 1 for action in self.search.next[: self.search.at[LEVEL]])
        what = PROBLEMS.get(
            problem, "two histories of one information set allow different numbers of actions"
        )
        return BadGame(f"{self.name}: {what}, {history(self.rules, path)}")

    def tree(self) -> ExpandedRules:
        """The tree of the histories that were played."""
        search, infosets = self.search, table_in(self.chance)
        n, counts = int(search.at[NODES]), action_counts(infosets)
        if not len(counts):
            raise BadGame(f"{self.name}: no player ever acts")
        if counts.max() > self.rules.max_actions:
            raise BadGame(
                f"{self.name}: actions() gave {counts.max()}, and max_actions is "
                f"{self.rules.max_actions}"
            )
        if np.any(search.passive[: len(counts)] >= counts):
            raise BadGame(f"{self.name}: {PROBLEMS[BAD_PASSIVE]}")
        levels = int(np.count_nonzero(search.width))
        ordered = LevelOrder(
            np.empty(n, dtype=np.int8),
            np.empty(n + 1, dtype=np.int32),
            np.empty(n, dtype=np.int32),
            np.concatenate([[0], np.cumsum(search.width[:levels])]),
            np.zeros(levels, dtype=np.int64),
            *(
                np.full(infoset_count(table), n, dtype=np.int32)
                for table in (infosets, *self.tables)
            ),
        )
        order_by_level(search, infosets.first, self.tables[0].first, ordered)
        ordered.first_child[n] = n
        # which frees the arrays in depth-first order
        self.search = search = search._replace(player=ordered.player, row=ordered.row)
        known, keys = search.known[: len(counts)], keys_of(infosets)
        order = self._order(owners_of(keys), counts, known, ordered.infoset)
        shares = np.argsort(ordered.chance, kind="stable")
        payoff, outcome = self._payoffs(ordered.outcome)
        number_rows(ordered.player, ordered.row, _rank(order), _rank(shares), outcome)
        tree = HistoryTree(
            player=ordered.player,
            first_child=ordered.first_child,
            row=ordered.row,
            first=offsets(counts[order]),
            owner=owners_of(keys)[order],
            passive=np.maximum(search.passive[: len(counts)][order], NO_ACTION),
            payoff=payoff,
            **Distributions().arrays(),
        )
        tree = tree._replace(**self._distributions(tree, ordered.chance[shares]))
        return ExpandedRules(tree, known[order], keys[order])

    def _order(
        self, owner: np.ndarray, counts: np.ndarray, known: np.ndarray, met: np.ndarray
    ) -> np.ndarray:
        """The order of the information sets in the tree."""
        if not self.rules.sorted_infosets:
            return np.lexsort((met, owner))
        level = self.search.level[: len(owner)].astype(np.int64)
        where = (owner.astype(np.int64) << 48) | (level << 32) | counts
        return np.lexsort((*known.T[::-1], where))

    def _payoffs(self, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The table of payoffs, and the row of each outcome in it."""
        payoff, table = self.search.payoff[: len(met)], self.rules.payoff_table
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
        """The distributions at chance nodes, from the rules in plain Python."""
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
    table = new_infoset_table(2)
    table.size[SETS_LIMIT] = MIN_CELLS * MAX_LOAD
    return table


def _larger(table: InfosetTable) -> InfosetTable:
    sets = 2 * int(table.size[SETS_LIMIT])
    table = enlarge_table(table, cells_for(sets), sets)
    table.size[SETS_LIMIT] = sets
    return table


def _doubled(arrays: Any, *fields: str) -> Any:
    """The named tuple with twice the length of these fields."""
    larger = {}
    for field in fields:
        old = getattr(arrays, field)
        larger[field] = np.zeros((2 * len(old), *old.shape[1:]), dtype=old.dtype)
        larger[field][: len(old)] = old
    return arrays._replace(**larger)


def _rank(order: np.ndarray) -> np.ndarray:
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def expand_rules(rules: CompiledRules, name: str) -> ExpandedRules:
    """The tree of `rules`: every history is a node, level by level."""
    builder = _TreeBuilder(name, rules)
    builder.play()
    return builder.tree()


def label_rules(rules: CompiledRules, expanded: ExpandedRules, name: str) -> Labels:
    """The labels of all information sets and slots."""
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
