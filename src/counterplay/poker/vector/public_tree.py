"""The public tree of the betting, street by street.

After every end of the first street the betting of later streets has the same shape; only stakes
differ. So a street is traversed at `LANES` of its starts at once: lane l starts after the l-th end
of the first street, and all lanes take the same ends of later streets. Numbers of a node are arrays
over lanes; nodes in this package are those of the common shape, and `Street.public_node` has the
nodes of the `BettingTree` behind them.

A player's reach probability changes with its own actions only: nodes that differ in the other
player's actions share the player's own action sequence. On the last street some action sequences
lead to showdowns and some to folds, and only the former need a comparison of strengths.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.tree import TERMINAL
from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import NO_FOLD, BettingTree


class Street(NamedTuple):
    """One street: n nodes, numbered parents first, of which the first is the start; e nodes that
    lead to the next street; t terminals; q action sequences at most; g groups of `LANES` starts."""

    player: np.ndarray  # int64[n]: the acting player, or TERMINAL at ends of the street
    first_child: np.ndarray  # int64[n + 1]
    folded: np.ndarray  # int64[n]: the player who folded, or NO_FOLD
    onward: np.ndarray  # int64[e]: nodes that lead to the next street
    terminals: np.ndarray  # int64[t]: nodes where the hand ends
    sequence: np.ndarray  # int64[2, n]: each player's own action sequence
    n_sequences: np.ndarray  # int64[2]
    showdown_index: np.ndarray  # int64[2, q]: number among the sequences with a showdown, or -1
    n_showdowns: np.ndarray  # int64[2]: number of those sequences
    fold_index: np.ndarray  # int64[2, q]: number among the sequences with a fold, or -1
    n_folds: np.ndarray  # int64[2]: number of those sequences
    public_node: np.ndarray  # int32[g, n, LANES]: node of the betting tree; -1 in unused lanes
    payoff: np.ndarray  # [2, g, n, LANES]: at terminals; what a showdown can win; 0 in unused lanes


def streets_of(tree: BettingTree, dtype: Any = np.float64) -> tuple[Street, ...]:
    """Returns the streets of a betting tree; `dtype`: of the payoffs."""
    starts = [np.array([[0] + [-1] * (LANES - 1)])]
    streets: list[Street] = []
    for _ in range(tree.rules.n_streets):
        street = _street(tree, starts[-1])
        streets.append(street._replace(payoff=cache_aligned(street.payoff.astype(dtype))))
        starts.append(_next_starts(street, len(streets) == 1))
    return tuple(streets)


def with_tilt(street: Street, tilt: float) -> Street:
    """Returns a street in which what is won by a fold counts 1 + `tilt` times."""
    won = (street.folded != NO_FOLD)[:, None] & (street.payoff > 0.0)
    factor = street.payoff.dtype.type(1.0 + tilt)
    return street._replace(payoff=cache_aligned(np.where(won, factor, 1) * street.payoff))


def _next_starts(street: Street, first: bool) -> np.ndarray:
    """Returns int64[g, LANES]: starts of the next street. After the first street every end gets a
    lane; later each group continues in its lanes, end by end."""
    if not first:
        after: np.ndarray = street.public_node[:, street.onward].reshape(-1, LANES)
        return after
    ends = street.public_node[0, street.onward, 0]
    groups = -(-len(ends) // LANES)
    padded = np.full(groups * LANES, -1, dtype=np.int64)
    padded[: len(ends)] = ends
    return padded.reshape(groups, LANES)


def _street(tree: BettingTree, starts: np.ndarray) -> Street:
    """Returns the street that begins at `starts`: public nodes by group and lane, -1 where unused.
    A node of the next street represents the end that leads to it."""
    nodes = tree.nodes
    model = int(starts[starts >= 0][0])  # all starts have the same shape
    street_of = int(nodes.street[model])
    members, parents, first_child = [model], [-1], []
    k = 0
    while k < len(members):  # level by level, so that siblings are neighbours
        first_child.append(len(members))
        node = members[k]
        if nodes.player[node] != TERMINAL and int(nodes.street[node]) == street_of:
            for child in range(nodes.first_child[node], nodes.first_child[node + 1]):
                members.append(child)
                parents.append(k)
        k += 1
    first_child.append(len(members))
    over = np.array([int(nodes.street[node]) != street_of for node in members])
    player = np.where(over, TERMINAL, nodes.player[members]).astype(np.int64)
    terminals = np.flatnonzero((player == TERMINAL) & ~over)
    firsts = np.array(first_child, dtype=np.int64)
    sequence, n_sequences = _sequences(player, parents)
    folds = nodes.folded[members][terminals] != NO_FOLD
    showdown_index, n_showdowns = _numbered(sequence[:, terminals[~folds]], n_sequences)
    fold_index, n_folds = _numbered(sequence[:, terminals[folds]], n_sequences)
    public_node = _public_nodes(tree, starts, parents, firsts)
    return Street(
        player=player,
        first_child=firsts,
        folded=nodes.folded[members].astype(np.int64),
        onward=np.flatnonzero(over),
        terminals=terminals,
        sequence=sequence,
        n_sequences=n_sequences,
        showdown_index=showdown_index,
        n_showdowns=n_showdowns,
        fold_index=fold_index,
        n_folds=n_folds,
        public_node=public_node.astype(np.int32),
        payoff=np.stack([_payoffs(tree, public_node, player) for player in (0, 1)]),
    )


def _payoffs(tree: BettingTree, public_node: np.ndarray, player: int) -> np.ndarray:
    """Returns float64[g, n, LANES]: the stake, negative where `player` folded."""
    used = np.maximum(public_node, 0)
    stake = np.where(public_node >= 0, tree.nodes.stake[used], 0.0)
    payoffs: np.ndarray = np.where(tree.nodes.folded[used] == player, -stake, stake)
    return payoffs


def _sequences(player: np.ndarray, parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns each player's action sequence at every node, and the numbers of sequences."""
    sequence = np.zeros((2, len(player)), dtype=np.int64)
    n = np.ones(2, dtype=np.int64)
    for k in range(1, len(player)):
        parent = parents[k]
        sequence[:, k] = sequence[:, parent]
        actor = player[parent]
        sequence[actor, k] = n[actor]
        n[actor] += 1
    return sequence, n


def _numbered(sequences: np.ndarray, n_sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns numbers for those of each player's sequences that occur, and how many do."""
    number = np.full((2, int(n_sequences.max())), -1, dtype=np.int64)
    for j in (0, 1):
        used = np.unique(sequences[j])
        number[j, used] = np.arange(len(used))
    return number, (number >= 0).sum(axis=1)


def _public_nodes(
    tree: BettingTree, starts: np.ndarray, parents: list[int], first_child: np.ndarray
) -> np.ndarray:
    """Returns int64[g, n, LANES]: the public node of every node in every lane."""
    below = tree.nodes.first_child
    public_node = np.full((len(starts), len(parents), LANES), -1, dtype=np.int64)
    public_node[:, 0] = starts
    for k in range(1, len(parents)):
        parent = public_node[:, parents[k]]
        action = k - first_child[parents[k]]
        public_node[:, k] = np.where(parent >= 0, below[np.maximum(parent, 0)] + action, -1)
    return public_node
