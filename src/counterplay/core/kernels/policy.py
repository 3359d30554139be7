"""Regret matching (Eq 5), ε-greedy sampling (Eq 8) and normalisation, each written once."""

from __future__ import annotations

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, jit


@jit(inline=True)
def matching_factors(total: float, count: int) -> tuple[float, float]:
    """Eq 5 for `count` actions whose positive regrets add up to `total`: the probability of an
    action is its positive regret times the first factor, plus the second."""
    if total > 0.0:
        return 1.0 / total, 0.0
    return 0.0, 1.0 / count


@jit(inline=True)
def regret_matching(
    regret: np.ndarray, first: int, count: int, out: np.ndarray, offset: int
) -> None:
    """Eq 5: `out[offset : offset + count]` from `regret[first : first + count]`."""
    total = 0.0
    for a in range(count):
        positive = max(regret[first + a], 0.0)
        out[offset + a] = positive
        total += positive
    scale, share = matching_factors(total, count)
    if total > 0.0:
        for a in range(count):
            out[offset + a] *= scale
    else:
        for a in range(count):
            out[offset + a] = share


@jit(inline=True)
def sample_action(policy: np.ndarray, offset: int, count: int, u: float) -> int:
    """Eq 8 without exploration, inverted at `u` in [0, 1): the action. It has no division and the
    bits of `sample_epsilon_greedy` with ε = 0."""
    left = u
    last = count - ONE
    for a in range(last):
        if left < policy[offset + a]:
            return a
        left -= policy[offset + a]
    while policy[offset + last] <= 0.0 and last > ZERO:  # rounding, as below
        last -= ONE
    return last


@jit(inline=True)
def sample_epsilon_greedy(
    policy: np.ndarray, offset: int, count: int, epsilon: float, u: float
) -> tuple[int, float]:
    """Eq 8 inverted at `u` in [0, 1): the action, and the probability with which it is drawn."""
    explore = epsilon / count
    exploit = 1.0 - epsilon
    left = u
    last = count - ONE
    for a in range(last):
        p = explore + exploit * policy[offset + a]
        if left < p:
            return a, p
        left -= p
    p = explore + exploit * policy[offset + last]
    # by rounding u is behind the last action, and that action has probability 0
    while p <= 0.0 and last > ZERO:
        last -= ONE
        p = explore + exploit * policy[offset + last]
    return last, p


@jit
def normalise(weights: np.ndarray, first: np.ndarray, out: np.ndarray) -> None:
    """`out[first[I]:first[I+1]]` proportional to `weights` there, uniform where all are zero."""
    for i in range(len(first) - 1):
        total = 0.0
        for k in range(first[i], first[i + 1]):
            total += weights[k]
        for k in range(first[i], first[i + 1]):
            out[k] = weights[k] / total if total > 0.0 else 1.0 / (first[i + 1] - first[i])
