"""The betting tree street by street, as the walk goes through it.

Betting goes alike after every end of the street before, only the stakes differ. So a street is
walked at `LANES` of its starts at once: lane l starts where the l-th end of the first street leads,
and all lanes take the same ends of later streets. What is known of a place is an array over lanes.

A player's reach changes with his own actions only. Places that differ by the other's actions alone
share it: they have the same `line` of his. Of the last street's lines some end in showdowns, and
only those are compared by strength.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.tree import TERMINAL
from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import NO_FOLD, BettingTree


class Street(NamedTuple):
    """One street: n places, numbered parents first, of which the first is its start; e ends that go
    on; g groups of starts, each `LANES` wide."""

    player: np.ndarray  # int64[n]: who acts, or TERMINAL at ends of the street
    first: np.ndarray  # int64[n + 1]: first place after each
    folded: np.ndarray  # int64[n]: who folded there, or NO_FOLD
    onward: np.ndarray  # int64[e]: places that go on to the next street
    ends: np.ndarray  # int64[t]: places where the hand is over
    line: np.ndarray  # int64[2, n]: of each player's reach
    n_lines: np.ndarray  # int64[2]
    # int64[2, n_lines]: where a line stands among those of a player that end in showdowns, or -1
    shown: np.ndarray
    n_shown: np.ndarray  # int64[2]
    gone: np.ndarray  # int64[2, n_lines]: the same of lines that end with somebody's fold
    n_gone: np.ndarray  # int64[2]
    node: np.ndarray  # int32[g, n, LANES]: the public node of each place; -1 in lanes not in use
    # [2, g, n, LANES]: what each player gets where the hand is over, at a showdown what he may win;
    # 0 in lanes not in use
    pay: np.ndarray


def streets_of(tree: BettingTree, dtype: Any = np.float64) -> tuple[Street, ...]:
    """The streets of a betting tree, each in as many groups as its starts need. `dtype`: of
    payoffs."""
    if tree.rules.n_streets < 2:
        raise BadParameter("the walk by the board needs at least two streets")
    starts = [np.array([[0] + [-1] * (LANES - 1)])]
    found = []
    for _ in range(tree.rules.n_streets):
        street = _street(tree, starts[-1])
        found.append(street._replace(pay=street.pay.astype(dtype)))
        starts.append(_next_starts(tree, street, len(found) == 1))
    return tuple(found)


def _next_starts(tree: BettingTree, street: Street, first: bool) -> np.ndarray:
    """int64[g, LANES]: starts of the next street. After the first street every end gets a lane;
    later each group goes on in its lanes, end by end."""
    if not first:
        after: np.ndarray = street.node[:, street.onward].reshape(-1, LANES)
        return after
    ends = street.node[0, street.onward, 0]
    groups = -(-len(ends) // LANES)
    padded = np.full(groups * LANES, -1, dtype=np.int64)
    padded[: len(ends)] = ends
    return padded.reshape(groups, LANES)


def _street(tree: BettingTree, starts: np.ndarray) -> Street:
    """The street that begins at `starts`: nodes by group and lane, -1 where there is none. A node
    of the next street stands for the end that leads to it."""
    nodes = tree.nodes
    model = int(starts[starts >= 0][0])
    street_of = int(nodes.street[model])
    places, parents, first = [model], [-1], []
    k = 0
    while k < len(places):  # level by level, so that children of a place are neighbours
        first.append(len(places))
        here = places[k]
        if nodes.player[here] != TERMINAL and int(nodes.street[here]) == street_of:
            for below in range(nodes.first_child[here], nodes.first_child[here + 1]):
                places.append(below)
                parents.append(k)
        k += 1
    first.append(len(places))
    over = np.array([int(nodes.street[place]) != street_of for place in places])
    player = np.where(over, TERMINAL, nodes.player[places]).astype(np.int64)
    ends = np.flatnonzero((player == TERMINAL) & ~over)
    firsts = np.array(first, dtype=np.int64)
    line, n_lines = _lines(player, parents)
    folds = nodes.folded[places][ends] != NO_FOLD
    shown, n_shown = _numbered(line[:, ends[~folds]], n_lines)
    gone, n_gone = _numbered(line[:, ends[folds]], n_lines)
    node = _follow(tree, starts, parents, firsts)
    return Street(
        player=player,
        first=firsts,
        folded=nodes.folded[places].astype(np.int64),
        onward=np.flatnonzero(over),
        ends=ends,
        line=line,
        n_lines=n_lines,
        shown=shown,
        n_shown=n_shown,
        gone=gone,
        n_gone=n_gone,
        node=node.astype(np.int32),
        pay=np.stack([_pay(tree, node, player) for player in (0, 1)]),
    )


def _pay(tree: BettingTree, node: np.ndarray, player: int) -> np.ndarray:
    """float64[g, n, LANES]: what a player gets at each node, or may win there."""
    known = np.maximum(node, 0)
    stake = np.where(node >= 0, tree.nodes.stake[known], 0.0)
    paid: np.ndarray = np.where(tree.nodes.folded[known] == player, -stake, stake)
    return paid


def _lines(player: np.ndarray, parents: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Each player's line at every place: a new one after each of his actions."""
    line = np.zeros((2, len(player)), dtype=np.int64)
    n = np.ones(2, dtype=np.int64)
    for k in range(1, len(player)):
        above = parents[k]
        line[:, k] = line[:, above]
        actor = player[above]
        line[actor, k] = n[actor]
        n[actor] += 1
    return line, n


def _numbered(lines: np.ndarray, n_lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers for those of each player's lines that occur, and how many do."""
    number = np.full((2, int(n_lines.max())), -1, dtype=np.int64)
    for j in (0, 1):
        used = np.unique(lines[j])
        number[j, used] = np.arange(len(used))
    return number, (number >= 0).sum(axis=1)


def _follow(
    tree: BettingTree, starts: np.ndarray, parents: list[int], first: np.ndarray
) -> np.ndarray:
    """int64[g, n, LANES]: the node of every place in every lane."""
    below = tree.nodes.first_child
    node = np.full((len(starts), len(parents), LANES), -1, dtype=np.int64)
    node[:, 0] = starts
    for k in range(1, len(parents)):
        above = node[:, parents[k]]
        action = k - first[parents[k]]
        node[:, k] = np.where(above >= 0, below[np.maximum(above, 0)] + action, -1)
    return node
