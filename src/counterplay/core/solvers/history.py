"""One history of outcome sampling: lines 2-8 and 10-20 of Algorithm 1. Symbols as in `mccfr.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import (
    child,
    forced_at,
    infoset_at,
    player_at,
    slots_at,
    start,
    utility,
)
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import regret_matching, sample_epsilon_greedy
from counterplay.core.kernels.rng import uniform


class OutcomeTables(NamedTuple):
    """The tables of outcome sampling: s slots, m information sets."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]
    last_visit: np.ndarray  # int64[m]


class HistoryWorkspace(NamedTuple):
    """The decisions of one history: d decisions, w actions at most, p players."""

    infoset: np.ndarray  # int32[d]
    slot: np.ndarray  # int64[d]: the first one of the information set
    actions: np.ndarray  # int32[d]: their number
    player: np.ndarray  # int8[d]
    action: np.ndarray  # int32[d]
    policy: np.ndarray  # float64[d * w]: σ at decision k is policy[k * w : ]
    own: np.ndarray  # float64[d]: π_i(z[I])
    others: np.ndarray  # float64[d]: counterfactual reach π_-i(z[I]), without chance
    drawn: np.ndarray  # float64[d]: π^σ'(z[I]) without chance
    reach: np.ndarray  # float64[p]: π_i so far
    width: int  # w


def new_workspace(depth: int, width: int, n_players: int) -> HistoryWorkspace:
    return HistoryWorkspace(
        infoset=np.zeros(depth, dtype=np.int32),
        slot=np.zeros(depth, dtype=np.int64),
        actions=np.zeros(depth, dtype=np.int32),
        player=np.zeros(depth, dtype=np.int8),
        action=np.zeros(depth, dtype=np.int32),
        policy=np.zeros(depth * width),
        own=np.zeros(depth),
        others=np.zeros(depth),
        drawn=np.zeros(depth),
        reach=np.zeros(n_players),
        width=index(width),
    )


@jit(inline=True)
def sample_history(
    form: Any,
    chance: Any,
    tables: OutcomeTables,
    trail: HistoryWorkspace,
    rng: np.ndarray,
    epsilon: float,
) -> tuple[int, int, float, int]:
    """Lines 2-8: samples one history into `trail`. Returns the terminal node, the number of
    decisions, π^σ'(z) without chance, and the number of forced moves, which are no decisions: all
    their sampled regrets are 0."""
    width = trail.width
    n_players = index(len(trail.reach))
    for j in range(n_players):
        trail.reach[j] = 1.0
    drawn = 1.0
    k, forced = ZERO, ZERO
    node = start(form, chance, rng)
    player = player_at(form, chance, node)
    while player >= 0:
        if forced_at(form, chance, node):
            uniform(rng)  # as at a decision: keeps the random numbers of a seed
            forced += ONE
            node = child(form, chance, node, ZERO, rng)
            player = player_at(form, chance, node)
            continue
        infoset = infoset_at(form, chance, node)
        first, count = slots_at(form, chance, node, infoset)
        offset = k * width
        regret_matching(tables.regret, first, count, trail.policy, offset)  # line 5, Eq 5
        # lines 6-7, Eq 8
        action, p = sample_epsilon_greedy(trail.policy, offset, count, epsilon, uniform(rng))
        me = index(player)
        others = 1.0
        for j in range(n_players):
            if j != me:
                others *= trail.reach[j]
        trail.infoset[k] = infoset
        trail.slot[k] = first
        trail.actions[k] = count
        trail.player[k] = player
        trail.action[k] = action
        trail.own[k] = trail.reach[me]
        trail.others[k] = others
        trail.drawn[k] = drawn
        trail.reach[me] *= trail.policy[offset + action]
        drawn *= p
        k += ONE
        node = child(form, chance, node, action, rng)
        player = player_at(form, chance, node)
    return node, k, drawn, forced


@jit(inline=True)
def update_decision(
    tables: OutcomeTables,
    trail: HistoryWorkspace,
    k: int,
    won: float,
    inverse: float,
    tail: float,
    t: int,
    optimistic: bool,
) -> float:
    """Lines 10-20 at decision k. `won`: the payoff of its player; `inverse`: 1 / π^σ'(z), times the
    weight of a sample; `tail`: π^σ(z[I]a, z). Returns π^σ(z[I], z)."""
    infoset = index(trail.infoset[k])
    first, count = index(trail.slot[k]), index(trail.actions[k])
    offset = k * trail.width
    action = index(trail.action[k])
    below = tail * trail.policy[offset + action]
    weight = won * trail.others[k] * inverse  # Eq 6, w_I
    if optimistic:
        share = (t - tables.last_visit[infoset]) * trail.own[k]  # line 15
        tables.last_visit[infoset] = t  # line 17
    else:
        share = trail.own[k] / trail.drawn[k]
    for a in range(count):
        tables.regret[first + a] -= weight * below  # Eq 6, otherwise
        tables.strategy_sum[first + a] += share * trail.policy[offset + a]
    tables.regret[first + action] += weight * tail  # Eq 6, z[I]a ⊑ z
    return float(below)


@jit(inline=True)
def update_history(
    form: Any,
    chance: Any,
    tables: OutcomeTables,
    trail: HistoryWorkspace,
    node: int,
    n_decisions: int,
    drawn: float,
    t: int,
    optimistic: bool,
    scale: float,
) -> None:
    """Lines 10-20: updates `tables` at every information set of the history, last first."""
    tail, inverse = 1.0, scale / drawn
    k = index(n_decisions)
    while k > ZERO:
        k -= ONE
        won = utility(form, chance, node, trail.player[k])
        tail = update_decision(tables, trail, k, won, inverse, tail, t, optimistic)
