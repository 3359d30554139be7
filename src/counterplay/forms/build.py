"""From rules to a `HistoryTree`: one state at a time, or a whole level at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from counterplay.base import memory
from counterplay.base.errors import BadGame, TooLarge
from counterplay.forms.rules import CHANCE, TERMINAL, LevelRules, Rows, State, StateRules
from counterplay.forms.tree import NO_ACTION, HistoryTree, level_bounds, parents

#: Peak memory while building, per node: rows of the last level, its parent's, and the finished arrays (measured on Goof(7)).
BYTES_PER_NODE = 70
#: The same for a game walked in Python (measured on Leduc).
BYTES_PER_STATE = 1200


class Labels(NamedTuple):
    """Names for people: one per information set, one per slot."""

    infoset: list[str]
    action: list[str]


@dataclass
class _Distributions:
    """Distinct chance distributions, in order of first use."""

    row_of: dict[Hashable, int] = field(default_factory=dict)
    rows: list[np.ndarray] = field(default_factory=list)

    def row(self, key: Hashable, probabilities: np.ndarray) -> int:
        if key not in self.row_of:
            self.row_of[key] = len(self.rows)
            self.rows.append(probabilities)
        return self.row_of[key]

    def arrays(self) -> dict[str, np.ndarray]:
        cumulative = [np.cumsum(row) for row in self.rows]
        for row in cumulative:
            row[-1] = 1.0
        empty = [np.empty(0)]
        return {
            "chance_first": _offsets([len(row) for row in self.rows]),
            "chance_probability": np.concatenate(self.rows or empty),
            "chance_cumulative": np.concatenate(cumulative or empty),
            "chance_uniform": np.array([bool(np.all(row == row[0])) for row in self.rows], dtype=np.bool_),
        }


def _offsets(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """int32 running sum that starts at 0."""
    result = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=result[1:])
    return result


# ---------------------------------------------------------------------------------------------------------------------
# A level at a time
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class _PlayerInfosets:
    """Information sets of one player found so far; ids are local to the player."""

    count: int = 0
    actions: list[np.ndarray] = field(default_factory=list)  # int32 per batch of new information sets
    passive: list[np.ndarray] = field(default_factory=list)

    def add(self, key: np.ndarray, n_actions: np.ndarray, passive: np.ndarray) -> np.ndarray:
        """Ids for the rows of one level; equal keys are one information set."""
        representative, dense = _dense(key)
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


def build_levels(rules: LevelRules, name: str) -> HistoryTree:
    """Expand `rules` level by level with NumPy."""
    n_nodes = rules.count_nodes()
    if n_nodes >= 2**31:
        raise TooLarge(f"{name} has {n_nodes:,} histories, more than the {2**31:,} a tree can number; take a smaller game")
    memory.require(n_nodes * BYTES_PER_NODE, f"{name} with {n_nodes:,} histories")
    infosets = [_PlayerInfosets() for _ in range(rules.n_players)]
    chance = _Distributions()
    player = np.empty(n_nodes, dtype=np.int8)
    table_row = np.empty(n_nodes, dtype=np.int32)
    first_child = np.empty(n_nodes + 1, dtype=np.int32)
    rows = rules.first_level()
    low, high = 0, 1
    while low < high:
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
            passive = np.full(len(where), NO_ACTION, np.int16) if level.passive is None else level.passive[where]
            here[where] = known.add(level.key[where], counts[where], passive)
        first_child[low] = high
        np.cumsum(counts[:-1], out=first_child[low + 1 : high])
        first_child[low + 1 : high] += high
        row, action = np.nonzero(level.legal)
        rows = rules.children(rows, row, action) if len(row) else {}
        low, high = high, high + len(row)
    if high != n_nodes:
        raise BadGame(f"{name}: count_nodes() promised {n_nodes:,} nodes and the rules gave {high:,}")
    first_child[n_nodes] = n_nodes
    return _finish_levels(rules, infosets, chance, player, table_row, first_child)


def _finish_levels(
    rules: LevelRules,
    infosets: list[_PlayerInfosets],
    chance: _Distributions,
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
        first=_offsets(np.concatenate(actions)),
        owner=np.repeat(np.arange(len(infosets), dtype=np.int8), [known.count for known in infosets]),
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


def _replay(rules: LevelRules, tree: HistoryTree, rows: Rows, legal: np.ndarray, nodes: np.ndarray, below: np.ndarray) -> Rows:
    """Rows of the nodes `below`, all children of `nodes`."""
    if len(below) == 0:
        return {}
    above = parents(tree, below)
    row = np.searchsorted(nodes, above)
    position = below - tree.first_child[above]
    codes = [np.flatnonzero(legal[r])[a] for r, a in zip(row, position, strict=True)]
    return rules.children(rows, row, np.array(codes))


# ---------------------------------------------------------------------------------------------------------------------
# A state at a time
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class _Walk:
    """A breadth-first walk over states; lists grow by one entry per node or per information set."""

    n_players: int
    player: list[int] = field(default_factory=list)
    table_row: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)  # how many
    chance: _Distributions = field(default_factory=_Distributions)
    outcomes: dict[tuple[float, ...], int] = field(default_factory=dict)
    infosets: dict[tuple[int, Hashable], int] = field(default_factory=dict)
    actions: list[tuple[str, ...]] = field(default_factory=list)  # per information set
    passive: list[int] = field(default_factory=list)

    def visit(self, state: State) -> list[State]:
        """Record a state; its children."""
        player = state.player()
        if player == TERMINAL:
            self._record(player, self._outcome(state), 0)
            return []
        actions = list(state.actions())
        if not actions:
            raise BadGame(f"no actions in a state that is not terminal: {state!r}")
        if player == CHANCE:
            self._record(player, self._distribution(state, len(actions)), len(actions))
        elif 0 <= player < self.n_players:
            self._record(player, self._infoset(state, player, actions), len(actions))
        else:
            raise BadGame(f"player() gave {player!r}; expected CHANCE, TERMINAL or 0..{self.n_players - 1}")
        return [state.child(action) for action in actions]

    def _record(self, player: int, table_row: int, children: int) -> None:
        self.player.append(player)
        self.table_row.append(table_row)
        self.children.append(children)

    def _outcome(self, state: State) -> int:
        payoffs = tuple(float(x) for x in state.payoffs())
        if len(payoffs) != self.n_players or not np.all(np.isfinite(payoffs)):
            raise BadGame(f"payoffs() must give {self.n_players} finite numbers, not {payoffs}")
        return self.outcomes.setdefault(payoffs, len(self.outcomes))

    def _distribution(self, state: State, n_actions: int) -> int:
        probabilities = np.array(state.chance(), dtype=np.float64)
        if probabilities.shape != (n_actions,):
            raise BadGame(f"chance() must give one probability for each of {n_actions} actions")
        if not np.all(probabilities >= 0) or abs(probabilities.sum() - 1.0) > 1e-9:
            raise BadGame(f"chance() gave probabilities that are negative or sum to {probabilities.sum():.9g}, not 1")
        return self.chance.row(probabilities.tobytes(), probabilities)

    def _infoset(self, state: State, player: int, actions: list[Any]) -> int:
        key = (player, state.infoset())
        labels = tuple(str(action) for action in actions)
        found = self.infosets.setdefault(key, len(self.infosets))
        if found == len(self.actions):
            self.actions.append(labels)
            passive = state.passive() if hasattr(state, "passive") else None
            self.passive.append(actions.index(passive) if passive in actions else NO_ACTION)
        elif self.actions[found] != labels:
            raise BadGame(f"information set {key[1]!r} of player {player + 1} has actions {self.actions[found]} and {labels}")
        return found


def build_states(rules: StateRules, name: str) -> tuple[HistoryTree, Labels]:
    """Walk all states of `rules` breadth first."""
    walk = _Walk(rules.n_players)
    limit = memory.available_bytes() // BYTES_PER_STATE
    level = [rules.root()]
    seen = 0
    while level:
        seen += len(level)
        if seen > limit:
            memory.require(seen * BYTES_PER_STATE, f"{name} with more than {seen:,} histories")
        level = [below for state in level for below in walk.visit(state)]
    if not walk.infosets:
        raise BadGame(f"{name}: no player ever acts")
    keys = list(walk.infosets)
    order = sorted(range(len(keys)), key=lambda i: keys[i][0])  # stable: by player, then parents first
    new_id = np.empty(len(order), dtype=np.int32)
    new_id[order] = np.arange(len(order), dtype=np.int32)
    player = np.array(walk.player, dtype=np.int8)
    table_row = np.array(walk.table_row, dtype=np.int32)
    table_row[player >= 0] = new_id[table_row[player >= 0]]
    tree = HistoryTree(
        player=player,
        first_child=_offsets(walk.children) + np.int32(1),
        row=table_row,
        first=_offsets([len(walk.actions[i]) for i in order]),
        owner=np.array([keys[i][0] for i in order], dtype=np.int8),
        passive=np.array([walk.passive[i] for i in order], dtype=np.int16),
        payoff=np.array(list(walk.outcomes), dtype=np.float64),
        **walk.chance.arrays(),
    )
    return tree, Labels([str(keys[i][1]) for i in order], [label for i in order for label in walk.actions[i]])
