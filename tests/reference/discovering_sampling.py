"""Outcome sampling (Algorithm 1, Eqs 5, 6 and 8) on compiled rules: states are lists, information
sets entries of a dict, discovered while playing."""

from __future__ import annotations

from typing import Any

from .common import regret_matching


class DiscoveringSampling:
    def __init__(self, rules: Any, epsilon: float = 0.6) -> None:
        self.rules, self.epsilon = rules, epsilon
        self.regret: dict[Any, list[float]] = {}
        self.strategy_sum: dict[Any, list[float]] = {}
        self.last_visit: dict[Any, int] = {}

    def iterate(self, t: int, dice: Any) -> None:
        rules, c = self.rules, list(self.rules.constants)
        state, steps = [0] * rules.state_size, []
        rules.start(c, state)
        while (player := rules.player(c, state)) != -2:
            n = rules.actions(c, state)
            if player == -1:
                rules.apply(c, state, dice.pick([1 / n] * n))
                continue
            known = [0] * rules.known_size
            rules.key(c, state, known)
            key = (player, *known)
            sigma = regret_matching(self.regret.setdefault(key, [0.0] * n))
            self.strategy_sum.setdefault(key, [0.0] * n)
            drawn = [self.epsilon / n + (1 - self.epsilon) * p for p in sigma]
            action = dice.pick(drawn)
            steps.append((key, player, sigma, action, drawn[action]))
            rules.apply(c, state, action)
        payoff = [0.0] * rules.n_players
        rules.payoff(c, state, payoff)
        self._update(steps, payoff, t)

    def _update(self, steps: list[Any], payoff: list[float], t: int) -> None:
        drawn = 1.0
        for *_, q in steps:
            drawn *= q
        tail = 1.0
        for k in reversed(range(len(steps))):
            key, player, sigma, action, _ = steps[k]
            own, others = 1.0, 1.0
            for _, who, policy, done, _ in steps[:k]:
                own, others = (
                    (own * policy[done], others) if who == player else (own, others * policy[done])
                )
            w = payoff[player] * others / drawn  # Eq 6
            for a, p in enumerate(sigma):
                self.regret[key][a] += w * tail * ((a == action) - sigma[action])
                self.strategy_sum[key][a] += own * (t - self.last_visit.get(key, 0)) * p
            self.last_visit[key] = t
            tail *= sigma[action]
