"""Prox functions of treeplexes and their smoothed best replies, for the excessive gap technique
(`egt.py`; Hoda, Gilpin, Peña & Sandholm 2010).

The dilated prox function is d(x) = Σ_I β_I x(p_I) ω(x_I / x(p_I)), where p_I is the sequence above
I and b = x_I / x(p_I) the behaviour over n actions,
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

from counterplay.core.forms.sequence import Side, Treeplex
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.parallel.barrier import barrier
from counterplay.core.parallel.full_width import (
    ThreadGroup,
    collect,
    collect_slots,
    infoset_range,
    sequences_of,
)
from counterplay.core.parallel.partition import Partition

STATE = ("plan", "payoff")  # the other tables are constant or workspace


class ProxTables(NamedTuple):
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


def new_tables(side: Treeplex | Side) -> ProxTables:
    n_slots, n_infosets = int(side.first[-1]), len(side.parent)
    tables = ProxTables(
        np.empty(n_infosets),
        *(np.empty(n_slots + sequences) for sequences in (1, 1, 1, 0, 1, 1, 1, 0)),
        *(np.empty(n_infosets) for _ in range(2)),
    )
    most_below(side, np.ones(n_infosets), tables.beta, tables.work)
    return tables


def largest_prox(side: Treeplex | Side, tables: ProxTables, euclidean: bool) -> float:
    """D = max d; pure actions attain the maximum of ω."""
    n = np.diff(side.first)
    own = tables.beta * (0.5 * (1.0 - 1.0 / n) if euclidean else np.log(n))
    return float(most_below(side, own, np.empty(len(n)), tables.work))


@jit
def most_below(
    side: Treeplex | Side, own: np.ndarray, total: np.ndarray, below: np.ndarray
) -> float:
    """Fills `total` with own_I + max_a Σ_{J below a} total_J and `below` with that sum for each
    sequence; returns the sum below the empty sequence."""
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
    """The maximum of b'v - weight ω(b) for the entropy, v = `payoff`. Fills `policy`."""
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
    """The same for Euclidean ω: b = Π(1/n + v / weight), by removing actions (Michelot 1986)."""
    share = 1.0 / float(high - low)
    most = payoff[low + ONE]
    for slot in range(low, high):
        most = max(most, payoff[slot + ONE])
    for slot in range(low, high):  # subtracting the largest v does not change Π
        policy[slot] = share + (payoff[slot + ONE] - most) / weight
    cut = share - 1.0  # actions this far below the best have probability 0
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
    tables: ProxTables,
    mu: float,
    euclidean: bool,
    payoff: np.ndarray,
    part: Partition,
    group: ThreadGroup,
    k: int,
) -> float:
    """Thread k's part of max_x x'payoff - μ d(x). Fills `tables.policy` with the behaviour of the
    maximiser and `tables.work` with smoothed values; both are complete at the end."""
    for row in range(len(part.low) - 1, -1, -1):  # children first
        begin, i = infoset_range(part, row, k)
        while i > begin:
            i -= ONE
            low, high = index(side.first[i]), index(side.first[i + ONE])
            collect_slots(part, tables.value, payoff, tables.work, low, high)
            if euclidean:
                value = _project(tables.work, low, high, mu * tables.beta[i], tables.policy)
            else:
                value = _softmax(tables.work, low, high, mu * tables.beta[i], tables.policy)
            tables.value[i] = value
        if part.begins[row]:
            barrier(group.counter, group.threads)
    return float(collect(part, tables.value, ZERO, payoff[ZERO]))


@jit(inner=True)
def add_prox_gradient(
    side: Treeplex | Side,
    tables: ProxTables,
    mu: float,
    policy: np.ndarray,
    out: np.ndarray,
    part: Partition,
    group: ThreadGroup,
    k: int,
) -> None:
    """Thread k's part of adding μ ∇d, Euclidean, to `out`, at the plan with behaviour `policy`: μβ
    (b - 1/n), and μβ (ω(b) - b'(b - 1/n)) at the sequence above."""
    for row in range(len(part.low)):
        for i in range(index(part.low[row, k]), index(part.high[row, k])):
            low, high = index(side.first[i]), index(side.first[i + ONE])
            share = 1.0 / float(high - low)
            above = 0.0
            for slot in range(low, high):
                away = policy[slot] - share
                out[slot + ONE] += mu * tables.beta[i] * away
                above += 0.5 * away * away - policy[slot] * away
            tables.above[i] = mu * tables.beta[i] * above
    barrier(group.counter, group.threads)
    for row in range(len(part.low)):
        low, high = sequences_of(side, part, row, k)
        for q in range(low, high):
            j = index(part.below[q + ONE])
            while j > index(part.below[q]):  # parents first
                j -= ONE
                out[q] += tables.above[index(part.after[j])]
