"""`ReachedTerminals`: the ends of a game as one seat observes them, and what the opponent did."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import treeplex
from counterplay.core.forms.tree import CHANCE, TERMINAL, HistoryTree, level_bounds


class ReachedTerminals:
    """The e terminal nodes of a game, and which of them `seat` cannot distinguish.

    After a hand all actions are known. Cards are shown where the payoff depends on them: at
    terminals with the same actions and different payoffs; with `always` everywhere. Elsewhere
    terminals with the same actions and the same own sequence look alike.
    """

    def __init__(self, game: Game, seat: int, always: bool = False) -> None:
        tree = game.tree
        self.game, self.seat = game, seat
        self.parent = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_child))  # from node 1
        self.line, self.reach, self.lines = public_lines(tree, self.parent)
        self.own, self.other = treeplex(tree, seat)[1], treeplex(tree, 1 - seat)[1]
        side = game.sequence_form[1 - seat]
        self._before, self._infoset = (
            side.parent,
            np.repeat(np.arange(len(side.parent)), np.diff(side.first)),
        )
        self.node = np.flatnonzero(tree.player == TERMINAL)
        self.chance = self.reach[self.node]
        ends = self.node
        line, payoff = self.line[ends], tree.payoff[tree.row[ends], seat]
        most, least = np.full(len(self.lines), -np.inf), np.full(len(self.lines), np.inf)
        np.maximum.at(most, line, payoff)
        np.minimum.at(least, line, payoff)
        key = line.astype(np.int64) * (int(self.own.max()) + 1) + self.own[ends]
        self.group = np.unique(key, return_inverse=True)[1].astype(np.int64)
        shown = (most > least)[line] | always
        self.group[shown] = len(ends) + np.flatnonzero(shown)

    def alike_to(self, end: int) -> np.ndarray:
        """The indices of the terminals that look the same as node `end`."""
        k = int(np.searchsorted(self.node, end))
        if k == len(self.node) or self.node[k] != end:
            raise BadParameter(f"node {end!r} is no terminal node of {self.game.name}")
        return np.flatnonzero(self.group == self.group[k])

    def slots(self, k: int) -> tuple[int, ...]:
        """The slots of the opponent's actions before terminal k, counted from the player's first,
        last action first."""
        slots, sequence = [], int(self.other[self.node[k]])
        while sequence > 0:
            slots.append(sequence - 1)
            sequence = int(self._before[self._infoset[sequence - 1]])
        return tuple(slots)

    def path(self, end: int) -> list[int]:
        """The nodes from the root to `end`."""
        nodes = [int(end)]
        while nodes[-1] > 0:
            nodes.append(int(self.parent[nodes[-1] - 1]))
        return nodes[::-1]


def public_lines(
    tree: HistoryTree, parent: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """The line of every node, its actions without those of chance (int64[n]); chance's reach
    probability (float64[n]); and of each line the one before it and the slot of its last action."""
    line, reach = np.zeros(tree.n_nodes, dtype=np.int64), np.ones(tree.n_nodes)
    number: dict[int, int] = {}
    lines = [(0, -1)]
    widest = int(np.diff(tree.first_child).max()) + 1
    bounds = level_bounds(tree)
    for low, high in pairwise(bounds[1:]):
        nodes = np.arange(low, high)
        before = parent[nodes - 1]
        action = nodes - tree.first_child[before]
        line[nodes], reach[nodes] = line[before], reach[before]
        drawn = tree.player[before] == CHANCE
        at = tree.chance_first[tree.row[before[drawn]]] + action[drawn]
        reach[nodes[drawn]] *= tree.chance_probability[at]
        moved = nodes[~drawn]
        key = line[before[~drawn]] * widest + action[~drawn]
        found, example, which = np.unique(key, return_index=True, return_inverse=True)
        for k, value in zip(example.tolist(), found.tolist(), strict=True):
            if value not in number:
                number[value] = len(lines)
                row = tree.row[before[~drawn][k]]
                lines.append((value // widest, int(tree.first[row]) + value % widest))
        ids = np.array([number[value] for value in found.tolist()], dtype=np.int64)
        line[moved] = ids[which]
    return line, reach, lines
