"""Algorithm 1 with Eqs 5, 6 and 8; averaging optimistic (line 15) or stochastically weighted."""

from __future__ import annotations

from typing import Any

from .common import Node, grow, regret_matching, table


class OutcomeSampling:
    def __init__(self, root: Node, epsilon: float = 0.6, averaging: str = "optimistic") -> None:
        self.root, self.epsilon, self.averaging = root, epsilon, averaging
        self.regret, self.strategy_sum, self.last_visit = table(), table(), {}

    def iterate(self, t: int, dice: Any) -> None:
        history = self._select(dice)
        self._update(history, t)

    def _select(self, dice: Any) -> tuple[list[dict[str, Any]], list[float]]:
        """Lines 2-8: the decisions of one history, each with σ, σ' and the action taken; and the
        payoffs."""
        node, steps = self.root, []
        while not node.terminal:
            if node.player < 0:
                node = node.children[dice.pick(node.chance)]
                continue
            sigma = regret_matching(grow(self.regret, node))
            drawn = [self.epsilon / node.count + (1 - self.epsilon) * p for p in sigma]
            action = dice.pick(drawn)
            steps.append(
                {
                    "node": node,
                    "sigma": sigma,
                    "action": action,
                    "p": sigma[action],
                    "q": drawn[action],
                }
            )
            node = node.children[action]
        return steps, node.payoffs

    def _update(self, history: tuple[list[dict[str, Any]], list[float]], t: int) -> None:
        """Lines 10-20, backwards; chance stands in π_-i and in π^σ' alike and is left out of
        both."""
        steps, payoffs = history
        for k in reversed(range(len(steps))):
            node, sigma, action = steps[k]["node"], steps[k]["sigma"], steps[k]["action"]
            own, others, before, tail, sampled = 1.0, 1.0, 1.0, 1.0, 1.0
            for j, step in enumerate(steps):
                sampled *= step["q"]
                if j > k:
                    tail *= step["p"]  # π(z[I]a, z)
                elif j < k:
                    before *= step["q"]
                    if step["node"].player == node.player:
                        own *= step["p"]
                    else:
                        others *= step["p"]
            w = payoffs[node.player] * others / sampled  # Eq 6
            weight = (
                own * (t - self.last_visit.get(node.key, 0))
                if self.averaging == "optimistic"
                else own / before
            )
            for a in range(node.count):
                grow(self.regret, node)[a] += w * (
                    (tail if a == action else 0.0) - tail * sigma[action]
                )
                grow(self.strategy_sum, node)[a] += weight * sigma[a]
            self.last_visit[node.key] = t
