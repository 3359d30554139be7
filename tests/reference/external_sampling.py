"""External sampling (Lanctot et al. 2009): the traverser tries all actions; chance and the
others are sampled."""

from __future__ import annotations

from typing import Any

from .common import Node, grow, regret_matching, table


class ExternalSampling:
    def __init__(self, root: Node, n_players: int) -> None:
        self.root, self.n_players = root, n_players
        self.regret, self.strategy_sum = table(), table()

    def iterate(self, t: int, dice: Any) -> None:
        for traverser in range(self.n_players):
            self.walk(self.root, traverser, dice)

    def walk(self, node: Node, traverser: int, dice: Any) -> float:
        """The sampled value of `node` to the traverser; changes the traverser's regrets and the
        others' averages."""
        if node.terminal:
            return node.payoffs[traverser]
        if node.player < 0:
            return self.walk(node.children[dice.pick(node.chance)], traverser, dice)
        sigma = regret_matching(grow(self.regret, node))
        if node.player != traverser:
            for a, p in enumerate(sigma):
                grow(self.strategy_sum, node)[a] += p
            return self.walk(node.children[dice.pick(sigma)], traverser, dice)
        values = [self.walk(child, traverser, dice) for child in node.children]
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        for a, v in enumerate(values):
            grow(self.regret, node)[a] += v - value
        return value
