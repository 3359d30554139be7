"""Prox functions of treeplexes and the smooth best replies they give, for the excessive gap
technique (`egt.py`; Hoda, Gilpin, Peña & Sandholm 2010).

The dilated d(x) = Σ_I β_I x(p_I) ω(x_I / x(p_I)), p_I the sequence above I and b = x_I /
x(p_I) a behaviour over n actions,
    entropy ω(b) = Σ b log b + log n,    Euclidean ω(b) = ½ Σ (b - 1/n)²,
    β_I = 1 + max_a Σ_{J below a} β_J.
Its conjugate is a pass children first: v_a = g_a + values of the information sets below a, and at I
    entropy b ∝ exp(v / μβ), value μβ (log Σ exp(v / μβ) - log n);
    Euclidean b = Π(1/n + v / μβ), value b'v - μβ ω(b).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterplay.forms.sequence import Side, Treeplex
from counterplay.forms.shares import Shares
from counterplay.forms.together import Gang, collect, sequences_of
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.meeting import meet

STATE = ("plan", "payoff")  # of a half; the rest is constant or scratch


class Half(NamedTuple):
    """One player's arrays: m information sets, s slots, s + 1 sequences."""

    beta: np.ndarray  # float64[m]: constant
    plan: np.ndarray  # float64[s + 1]
    payoff: np.ndarray  # float64[s + 1]: against the other's plan
    reply: np.ndarray  # float64[s + 1]
    reply_policy: np.ndarray  # float64[s]
    next: np.ndarray  # float64[s + 1]
    next_payoff: np.ndarray  # float64[s + 1]
    work: np.ndarray  # float64[s + 1]
    policy: np.ndarray  # float64[s]
    value: np.ndarray  # float64[m]
    above: np.ndarray  # float64[m]


def new_half(side: Treeplex | Side) -> Half:
    n_slots, n_infosets = int(side.first[-1]), len(side.parent)
    half = Half(
        np.empty(n_infosets),
        *(np.empty(n_slots + sequences) for sequences in (1, 1, 1, 0, 1, 1, 1, 0)),
        *(np.empty(n_infosets) for _ in range(2)),
    )
    most_below(side, np.ones(n_infosets), half.beta, half.work)
    return half


def largest_prox(side: Treeplex | Side, half: Half, euclidean: bool) -> float:
    """D = max d; pure actions attain the maximum of ω."""
    n = np.diff(side.first)
    own = half.beta * (0.5 * (1.0 - 1.0 / n) if euclidean else np.log(n))
    return float(most_below(side, own, np.empty(len(n)), half.work))


@jit
def most_below(
    side: Treeplex | Side, own: np.ndarray, total: np.ndarray, below: np.ndarray
) -> float:
    """Fill `total`: own_I + max_a Σ_{J below a} total_J; `below`: that sum per sequence. The sum
    below the empty sequence."""
    for q in range(index(len(below))):
        below[q] = 0.0
    i = index(len(side.parent))
    while i > ZERO:  # children first
        i -= ONE
        most = 0.0
        for slot in range(index(side.first[i]), index(side.first[i + ONE])):
            most = max(most, below[slot + ONE])
        total[i] = own[i] + most
        below[index(side.parent[i])] += total[i]
    return float(below[0])


@jit(inner=True)
def _softmax(payoff: np.ndarray, low: int, high: int, weight: float, policy: np.ndarray) -> float:
    """max_b b'v - weight ω(b), entropy, v = `payoff` of the sequences after slots low .. high -
    1. Fills `policy` there."""
    most = payoff[low + ONE]
    for slot in range(low, high):
        most = max(most, payoff[slot + ONE])
    total = 0.0
    for slot in range(low, high):
        policy[slot] = math.exp((payoff[slot + ONE] - most) / weight)
        total += policy[slot]
    for slot in range(low, high):
        policy[slot] /= total
    return float(most + weight * math.log(total / float(high - low)))


@jit(inner=True)
def _project(payoff: np.ndarray, low: int, high: int, weight: float, policy: np.ndarray) -> float:
    """The same for Euclidean ω: b = Π(1/n + v / weight), by dropping actions until none is
    negative (Michelot 1986)."""
    share = 1.0 / float(high - low)
    most = payoff[low + ONE]
    for slot in range(low, high):
        most = max(most, payoff[slot + ONE])
    for slot in range(low, high):  # Π does not notice that the largest v is subtracted
        policy[slot] = share + (payoff[slot + ONE] - most) / weight
    cut = share - 1.0  # no action so far below the best is played
    kept, before = high - low + ONE, high - low + ONE + ONE
    while kept < before:
        before, kept, total = kept, ZERO, 0.0
        for slot in range(low, high):
            if policy[slot] > cut:
                total += policy[slot]
                kept += ONE
        cut = (total - 1.0) / float(kept)
    value = 0.0
    for slot in range(low, high):
        policy[slot] = max(policy[slot] - cut, 0.0)
        value += policy[slot] * payoff[slot + ONE] - 0.5 * weight * (policy[slot] - share) ** 2
    return float(value)


@jit
def smoothed_reply(
    side: Treeplex | Side,
    half: Half,
    mu: float,
    euclidean: bool,
    payoff: np.ndarray,
    shares: Shares,
    crew: Gang,
    k: int,
) -> float:
    """max_x x'payoff - μ d(x), thread k's part. Fills `half.policy` with the maximiser's
    behaviour, `half.work` with smoothed values; at the end both are whole."""
    row = len(shares.low)
    while row > 0:  # children first
        row -= 1
        begin = index(shares.low[row, k])
        i = index(shares.high[row, k])
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            for slot in range(low, high):
                half.work[slot + ONE] = collect(shares, half.value, slot + ONE, payoff[slot + ONE])
            if euclidean:
                value = _project(half.work, low, high, mu * half.beta[i], half.policy)
            else:
                value = _softmax(half.work, low, high, mu * half.beta[i], half.policy)
            half.value[i] = value
        if shares.begins[row]:
            meet(crew.door, crew.threads)
    return float(collect(shares, half.value, ZERO, payoff[ZERO]))


@jit(inner=True)
def add_prox_gradient(
    side: Treeplex | Side,
    half: Half,
    mu: float,
    policy: np.ndarray,
    out: np.ndarray,
    shares: Shares,
    crew: Gang,
    k: int,
) -> None:
    """Add μ ∇d to `out`, Euclidean, at the plan with behaviour `policy`: μβ (b - 1/n), and μβ
    (ω(b) - b'(b - 1/n)) above. Thread k's part."""
    for row in range(len(shares.low)):
        for i in range(index(shares.low[row, k]), index(shares.high[row, k])):
            low, high = index(side.first[i]), index(side.first[i + ONE])
            share = 1.0 / float(high - low)
            above = 0.0
            for slot in range(low, high):
                away = policy[slot] - share
                out[slot + ONE] += mu * half.beta[i] * away
                above += 0.5 * away * away - policy[slot] * away
            half.above[i] = mu * half.beta[i] * above
    meet(crew.door, crew.threads)
    for row in range(len(shares.low)):
        low, high = sequences_of(side, shares, row, k)
        for q in range(low, high):
            j = index(shares.below[q + ONE])
            while j > index(shares.below[q]):  # parents first
                j -= ONE
                out[q] += half.above[index(shares.after[j])]
