"""Recursive CFR (Section 3.2.2, Eqs 3 and 5), CFR+ (Tammelin 2014), DCFR (Brown & Sandholm
2019), PCFR+ (Farina et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence

from .common import Key, Node, Policy, grow, normalised, regret_matching, table


class CFR:
    """`variant`: cfr, cfr+, dcfr or pcfr+."""

    def __init__(
        self,
        root: Node,
        variant: str = "cfr",
        alternating: bool = True,
        powers: Sequence[float] = (1.5, 0, 2),
        players: int = 2,
    ) -> None:
        self.turns = [(k,) for k in range(players)] if alternating else [tuple(range(players))]
        self.root, self.variant = root, variant
        self.alpha, self.beta, gamma = powers
        self.gamma = {"cfr": 0.0, "cfr+": 1.0, "dcfr": gamma, "pcfr+": 2.0}[variant]
        self.regret, self.strategy_sum, self.predicted, self.sigma = table(), table(), table(), {}

    def iterate(self, t: int) -> None:
        for turn in self.turns:
            walks = []
            for player in turn:
                # r(I, a) of this iteration, summed over the histories of I
                self.now: Policy = table()
                self.own: dict[Key, float] = {}  # π_i(I)
                self._walk(self.root, player, 1.0, 1.0)
                walks.append((self.now, self.own))
            for now, own in walks:
                for key, regrets in now.items():
                    self._update(key, regrets, own[key], t)

    def _walk(self, node: Node, player: int, own: float, others: float) -> float:
        """The value of `node` to `player`."""
        if node.terminal:
            return node.payoffs[player]
        if node.player < 0:
            return sum(
                p * self._walk(h, player, own, others * p)
                for p, h in zip(node.chance, node.children, strict=True)
            )
        sigma = self.sigma.setdefault(node.key, [1.0 / node.count] * node.count)
        if node.player != player:
            return sum(
                p * self._walk(h, player, own, others * p)
                for p, h in zip(sigma, node.children, strict=True)
            )
        values = [
            self._walk(h, player, own * p, others)
            for p, h in zip(sigma, node.children, strict=True)
        ]
        value = sum(p * v for p, v in zip(sigma, values, strict=True))
        now = grow(self.now, node)
        for a, v in enumerate(values):
            now[a] += others * (v - value)
        self.own[node.key] = own
        return value

    def _update(self, key: Key, now: list[float], own: float, t: int) -> None:
        total = [old + r for old, r in zip(self.regret[key] or [0.0] * len(now), now, strict=True)]
        if self.variant == "dcfr":
            total = [
                r * t**power / (t**power + 1)
                for r in total
                for power in [self.alpha if r > 0 else self.beta]
            ]
        elif self.variant != "cfr":
            total = [max(r, 0.0) for r in total]
        sums = self.strategy_sum[key] or [0.0] * len(now)
        self.strategy_sum[key] = [
            s + t**self.gamma * own * p for s, p in zip(sums, self.sigma[key], strict=True)
        ]
        self.regret[key] = total
        predicted = (
            [r + m for r, m in zip(total, now, strict=True)] if self.variant == "pcfr+" else total
        )
        self.predicted[key], self.sigma[key] = predicted, regret_matching(predicted)

    def policy(self) -> Policy:
        return {key: normalised(sums) for key, sums in self.strategy_sum.items()}
