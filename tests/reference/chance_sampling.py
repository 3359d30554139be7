"""Chance-sampled CFR (Section 3.2.2): one walk in which chance is sampled, all players are
updated, σ^t stands still."""

from __future__ import annotations

from math import prod
from typing import Any

from .common import Node, Policy, grow, regret_matching, table


class ChanceSampling:
    def __init__(self, root: Node, n_players: int) -> None:
        self.root, self.n_players = root, n_players
        self.regret, self.strategy_sum = table(), table()

    def iterate(self, t: int, dice: Any) -> None:
        self.current: Policy = {}
        self._walk(self.root, [1.0] * self.n_players, dice)

    def _walk(self, node: Node, reach: list[float], dice: Any) -> list[float]:
        """The value of `node` to every player, chance as it fell."""
        if node.terminal:
            return node.payoffs
        if node.player < 0:
            return self._walk(node.children[dice.pick(node.chance)], reach, dice)
        me = node.player
        if node.key not in self.current:
            self.current[node.key] = regret_matching(grow(self.regret, node))
        sigma = self.current[node.key]
        for a, p in enumerate(sigma):
            grow(self.strategy_sum, node)[a] += reach[me] * p
        values = []
        for a, child in enumerate(node.children):
            values.append(
                self._walk(
                    child, [r * sigma[a] if i == me else r for i, r in enumerate(reach)], dice
                )
            )
        value = [
            sum(p * v[i] for p, v in zip(sigma, values, strict=True)) for i in range(self.n_players)
        ]
        others = prod(r for i, r in enumerate(reach) if i != me)
        for a in range(node.count):
            grow(self.regret, node)[a] += others * (values[a][me] - value[me])
        return value
