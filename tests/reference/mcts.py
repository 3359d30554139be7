"""Section 3.2.1: UCT (Eq 2) with values and counts per information set and a tree of game nodes."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from .common import Node, grow, table


class TreeSearch:
    def __init__(self, root: Node, c: float = 2.0, simulation: str = "on-policy") -> None:
        self.root, self.c, self.simulation = root, c, simulation
        self.value, self.visits, self.spread = table(), table(), {}
        self.in_tree: set[int] = set()  # ids of nodes

    def iterate(self, t: int, dice: Any) -> None:
        node, inside, steps = self.root, True, []
        while not node.terminal:
            if node.player < 0:
                node = node.children[dice.pick(node.chance)]
                continue
            if inside and id(node) not in self.in_tree:  # expansion: one node per game
                self.in_tree.add(id(node))
                inside = False
            action = (
                self._uct(node, dice)
                if inside or self.simulation == "on-policy"
                else self._simulate(node, dice)
            )
            steps.append((node, action))
            node = node.children[action]
        for visited, action in steps:  # backpropagation: a running mean
            visits, value = grow(self.visits, visited), grow(self.value, visited)
            visits[action] += 1
            value[action] += (node.payoffs[visited.player] - value[action]) * (1 / visits[action])
            if (
                visits[action] < 256 or visits[action] % 16 == 0
            ):  # C √(ln n_p), renewed seldom once there are many
                self.spread[visited.key] = self.c * sqrt(log(max(sum(visits), 2)))

    def _uct(self, node: Node, dice: Any) -> int:
        visits, value = grow(self.visits, node), grow(self.value, node)
        untried = [a for a in range(node.count) if visits[a] == 0]
        if untried:  # an infinite bound
            return (
                untried[dice.pick([1 / len(untried)] * len(untried))]
                if len(untried) > 1
                else untried[0]
            )
        spread = self.spread[
            node.key
        ]  # times √(1 / n_a), as in the kernel: ties are common and rounding decides
        bounds = [value[a] + spread * sqrt(1 / visits[a]) for a in range(node.count)]
        return bounds.index(max(bounds))

    def _simulate(self, node: Node, dice: Any) -> int:
        if self.simulation == "call":
            assert node.passive is not None
            return node.passive
        return dice.pick([1 / node.count] * node.count)
