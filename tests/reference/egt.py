"""The excessive gap technique (Hoda et al. 2010) over dicts. A sequence is its last (information
set, action), or ()."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from .common import Key, Node

Plex = dict[Key, tuple[Any, int]]  # information set -> (sequence above it, actions), parents first
Numbers = dict[Any, float]  # per sequence
Behaviour = dict[Key, np.ndarray]


def unfold(root: Node) -> tuple[tuple[Plex, Plex], list[tuple[Any, Any, float]]]:
    """Both treeplexes, and player 1's payoff times chance over pairs of sequences."""
    plexes: tuple[Plex, Plex] = ({}, {})
    entries = []

    def walk(node: Node, last: tuple[Any, Any], chance: float) -> None:
        if node.terminal:
            entries.append((*last, chance * node.payoffs[0]))
        elif node.player >= 0:
            plexes[node.player].setdefault(node.key, (last[node.player], node.count))
        for a, child in enumerate(node.children):
            here = list(last)
            if node.player >= 0:
                here[node.player] = (node.key, a)
            walk(child, (here[0], here[1]), chance * (node.chance[a] if node.chance else 1.0))

    walk(root, ((), ()), 1.0)
    return plexes, entries


def project(z: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by sorting."""
    falling = np.sort(z)[::-1]
    shifts = (np.cumsum(falling) - 1.0) / np.arange(1, len(z) + 1)
    return np.maximum(z - shifts[np.flatnonzero(falling > shifts)[-1]], 0.0)


class Prox:
    """d(x) = Σ β x(p) ω(b) on one treeplex."""

    def __init__(self, plex: Plex, kind: str) -> None:
        self.plex, self.entropy = plex, kind == "entropy"
        self.beta: dict[Key, float] = {}
        below: Numbers = defaultdict(float)
        deepest: Numbers = defaultdict(float)
        for key, (above, n) in reversed(plex.items()):
            self.beta[key] = 1.0 + max(below[key, a] for a in range(n))
            below[above] += self.beta[key]
            deepest[above] += self.beta[key] * self.omega(np.eye(n)[0]) + max(
                deepest[key, a] for a in range(n)
            )
        self.largest = deepest[()]

    def omega(self, b: np.ndarray) -> float:
        if self.entropy:
            return float(sum(p * np.log(p) for p in b if p > 0) + np.log(len(b)))
        return float(0.5 * ((b - 1 / len(b)) ** 2).sum())

    def maximise(self, payoff: Numbers, mu: float) -> tuple[float, Behaviour, Behaviour]:
        """max_x x'payoff - μ d(x), the behaviour that attains it and ω' there (from logarithms,
        since b may vanish)."""
        value, behaviour, slope = defaultdict(float, payoff), {}, {}
        for key, (above, n) in reversed(self.plex.items()):
            v, weight = np.array([value[key, a] for a in range(n)]), mu * self.beta[key]
            if self.entropy:
                logs = (v - v.max()) / weight
                logs -= np.log(np.exp(logs).sum())
                behaviour[key], slope[key] = np.exp(logs), logs + 1.0
            else:
                behaviour[key] = project(1 / n + (v - v.max()) / weight)
                slope[key] = behaviour[key] - 1 / n
            value[above] += behaviour[key] @ v - weight * self.omega(behaviour[key])
        return value[()], behaviour, slope

    def gradient(self, behaviour: Behaviour, slope: Behaviour) -> Numbers:
        """∇d at the plan with this behaviour."""
        out: Numbers = defaultdict(float)
        for key, (above, n) in self.plex.items():
            for a in range(n):
                out[key, a] += self.beta[key] * slope[key][a]
            out[above] += self.beta[key] * (
                self.omega(behaviour[key]) - behaviour[key] @ slope[key]
            )
        return out

    def plan(self, behaviour: Behaviour) -> Numbers:
        plan = {(): 1.0}
        for key, (above, n) in self.plex.items():
            plan.update({(key, a): plan[above] * behaviour[key][a] for a in range(n)})
        return plan


def mix(tau: float, old: Numbers, new: Numbers) -> Numbers:
    return {q: (1 - tau) * old[q] + tau * new[q] for q in old}


class ExcessiveGap:
    """`point[k]`: player k + 1's plan, `mu[k]` that player's smoothing."""

    def __init__(self, root: Node, kind: str, largest_payoff: float) -> None:
        plexes, self.entries = unfold(root)
        self.prox, self.k = [Prox(plex, kind) for plex in plexes], 0.0
        uniform = {key: np.full(n, 1 / n) for key, (_, n) in plexes[0].items()}
        m = 2.0**-20 * largest_payoff
        while True:
            self.mu = [m / prox.largest for prox in self.prox]
            y = self.reply(1, self.prox[0].plan(uniform))
            self.point = [self.reply(0, y), y]
            if self.excess(self.point, self.mu) <= 1e-14 * largest_payoff:
                return
            m *= 2.0

    def payoffs(self, player: int, other: Numbers) -> Numbers:
        out: Numbers = defaultdict(float)
        for q1, q2, value in self.entries:
            out[(q1, q2)[player]] += (value, -value)[player] * other[(q2, q1)[player]]
        return out

    def reply(self, player: int, other: Numbers) -> Numbers:
        prox = self.prox[player]
        return prox.plan(prox.maximise(self.payoffs(player, other), self.mu[player])[1])

    def excess(self, point: list[Numbers], mu: list[float]) -> float:
        return sum(self.prox[p].maximise(self.payoffs(p, point[1 - p]), mu[p])[0] for p in (0, 1))

    def iterate(self, t: int, slack: float) -> None:
        me = (t - 1) % 2
        prox, mu, x, y = self.prox[me], self.mu[me], self.point[me], self.point[1 - me]
        _, hat, slope_hat = prox.maximise(self.payoffs(me, y), mu)
        while True:
            tau = 2 / (self.k + 3)
            y_hat = self.reply(1 - me, mix(tau, x, prox.plan(hat)))
            push, slope = self.payoffs(me, y_hat), prox.gradient(hat, slope_hat)
            step = {q: slope[q] + tau / ((1 - tau) * mu) * push[q] for q in x}
            point, smoothing = [y, y], list(self.mu)
            point[me] = mix(tau, x, prox.plan(prox.maximise(step, 1.0)[1]))
            point[1 - me] = mix(tau, y, y_hat)
            smoothing[me] = (1 - tau) * mu
            if self.excess(point, smoothing) <= slack:
                self.point, self.mu, self.k = point, smoothing, self.k + 1
                return
            self.k = 2 * self.k + 3
