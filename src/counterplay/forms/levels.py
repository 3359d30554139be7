"""From `LevelRules` to a `HistoryTree`: a whole level at a time with NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from counterplay.base import machine
from counterplay.base.errors import BadGame, TooLarge
from counterplay.base.progress import Count
from counterplay.forms.build import Distributions, Labels, offsets
from counterplay.forms.rules import CHANCE, LevelRules, Rows
from counterplay.forms.tree import NO_ACTION, HistoryTree, level_bounds, parents

#: Peak memory while building, per node: rows of the last level, its parent's, and the finished
#: arrays (measured on Goof(7)).
BYTES_PER_NODE = 70


@dataclass
class _PlayerInfosets:
    """Information sets of one player found so far; ids are local to the player."""

    count: int = 0
    actions: list[np.ndarray] = field(
        default_factory=list
    )  # int32 per batch of new information sets
    passive: list[np.ndarray] = field(default_factory=list)

    def add(self, key: np.ndarray, n_actions: np.ndarray, passive: np.ndarray) -> np.ndarray:
        """Ids for the rows of one level; equal keys are one information set."""
        representative, dense = _by_action_count(n_actions, *_dense(key))
        if not np.array_equal(n_actions[representative][dense], n_actions):
            raise BadGame("two histories of one information set allow different numbers of actions")
        self.actions.append(n_actions[representative])
        self.passive.append(passive[representative])
        ids = (dense + self.count).astype(np.int32)
        self.count += len(representative)
        return ids


def _dense(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A row for every distinct key, and every row's position among the sorted distinct keys."""
    low = int(key.min())
    span = int(key.max()) - low + 1
    if span > max(8 * len(key), 1 << 16):
        _, representative, dense = np.unique(key, return_index=True, return_inverse=True)
        return representative, dense.reshape(-1)
    shifted = key - low  # few possible keys: a table instead of a sort
    row_of = np.full(span, -1, dtype=np.int64)
    row_of[shifted[::-1]] = np.arange(len(key) - 1, -1, -1)
    used = row_of >= 0
    position = np.cumsum(used, dtype=np.int64) - 1
    return row_of[used], position[shifted]


def _by_action_count(
    n_actions: np.ndarray, representative: np.ndarray, dense: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Renumber so that information sets with equally many actions stand together: loops over
    them are then predictable."""
    counts = n_actions[representative]
    if np.all(counts[1:] >= counts[:-1]):
        return representative, dense
    order = np.argsort(counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return representative[order], rank[dense]


def build_levels(rules: LevelRules, name: str) -> HistoryTree:
    """Expand `rules` level by level with NumPy."""
    n_nodes = rules.count_nodes()
    if n_nodes >= 2**31:
        raise TooLarge(
            f"{name} has {n_nodes:,} histories, more than the {2**31:,} a tree can number; take a "
            f"smaller game"
        )
    machine.require(n_nodes * BYTES_PER_NODE, f"{name} with {n_nodes:,} histories")
    infosets = [_PlayerInfosets() for _ in range(rules.n_players)]
    chance = Distributions()
    player = np.empty(n_nodes, dtype=np.int8)
    table_row = np.empty(n_nodes, dtype=np.int32)
    first_child = np.empty(n_nodes + 1, dtype=np.int32)
    rows = rules.first_level()
    low, high = 0, 1
    count = Count(f"histories of {name}")
    while low < high <= n_nodes:
        count.say(high)
        level = rules.level(rows)
        counts = level.legal.sum(axis=1, dtype=np.int32)
        player[low:high] = level.player
        here = table_row[low:high]
        here[:] = level.outcome
        for size in np.unique(counts[level.player == CHANCE]):
            where = (level.player == CHANCE) & (counts == size)
            here[where] = chance.row(int(size), np.full(size, 1.0 / size))
        for i, known in enumerate(infosets):
            where = np.flatnonzero(level.player == i)
            if len(where) == 0:
                continue
            passive = (
                np.full(len(where), NO_ACTION, np.int16)
                if level.passive is None
                else level.passive[where]
            )
            here[where] = known.add(level.key[where], counts[where], passive)
        first_child[low] = high
        np.cumsum(counts[:-1], out=first_child[low + 1 : high])
        first_child[low + 1 : high] += high
        row, action = np.nonzero(level.legal)
        rows = rules.children(rows, row, action) if len(row) else {}
        low, high = high, high + len(row)
    if high != n_nodes:
        raise BadGame(
            f"{name}: count_nodes() promised {n_nodes:,} nodes and the rules gave "
            f"{high:,}{' and more' * (low < high)}"
        )
    first_child[n_nodes] = n_nodes
    return _finish_levels(rules, infosets, chance, player, table_row, first_child)


def _finish_levels(
    rules: LevelRules,
    infosets: list[_PlayerInfosets],
    chance: Distributions,
    player: np.ndarray,
    table_row: np.ndarray,
    first_child: np.ndarray,
) -> HistoryTree:
    base = 0
    for i, known in enumerate(infosets):
        if base:
            table_row[player == i] += base
        base += known.count
    actions = [batch for known in infosets for batch in known.actions]
    passive = [batch for known in infosets for batch in known.passive]
    return HistoryTree(
        player=player,
        first_child=first_child,
        row=table_row,
        first=offsets(np.concatenate(actions)),
        owner=np.repeat(
            np.arange(len(infosets), dtype=np.int8), [known.count for known in infosets]
        ),
        passive=np.concatenate(passive).astype(np.int16),
        payoff=np.ascontiguousarray(rules.payoffs, dtype=np.float64),
        **chance.arrays(),
    )


def label_levels(rules: LevelRules, tree: HistoryTree) -> Labels:
    """Names of all information sets and slots, by replaying one history of each."""
    acting = np.flatnonzero(tree.player >= 0)
    representative = np.empty(tree.n_infosets, dtype=np.int64)
    representative[tree.row[acting][::-1]] = acting[::-1]  # the first node of each
    wanted = _with_ancestors(tree, representative)
    infoset_of_node = {int(node): i for i, node in enumerate(representative)}
    infoset = [""] * tree.n_infosets
    action = [""] * tree.n_slots
    rows = rules.first_level()
    for nodes, below in zip(wanted, [*wanted[1:], np.empty(0, dtype=np.int64)], strict=True):
        legal = rules.level(rows).legal
        for k, node in enumerate(nodes):
            i = infoset_of_node.get(int(node))
            if i is not None:
                infoset[i] = rules.infoset_label(rows, k)
                for a, code in enumerate(np.flatnonzero(legal[k])):
                    action[tree.first[i] + a] = rules.action_label(rows, k, int(code))
        rows = _replay(rules, tree, rows, legal, nodes, below)
    return Labels(infoset, action)


def _with_ancestors(tree: HistoryTree, nodes: np.ndarray) -> list[np.ndarray]:
    """For each level that is needed to replay `nodes`, the sorted nodes of it on the way."""
    bounds = level_bounds(tree)
    by_level: list[np.ndarray] = []
    pending = np.empty(0, dtype=np.int64)
    for low, high in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
        pending = np.union1d(pending, nodes[(nodes >= low) & (nodes < high)])
        if len(pending):
            by_level.append(pending)
            pending = np.unique(parents(tree, pending)) if low else pending
    return by_level[::-1]


def _replay(
    rules: LevelRules,
    tree: HistoryTree,
    rows: Rows,
    legal: np.ndarray,
    nodes: np.ndarray,
    below: np.ndarray,
) -> Rows:
    """Rows of the nodes `below`, all children of `nodes`."""
    if len(below) == 0:
        return {}
    above = parents(tree, below)
    row = np.searchsorted(nodes, above)
    position = below - tree.first_child[above]
    codes = [np.flatnonzero(legal[r])[a] for r, a in zip(row, position, strict=True)]
    return rules.children(rows, row, np.array(codes))
