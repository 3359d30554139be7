"""Outcome-sampling Monte-Carlo CFR: Algorithm 1 with Equations 4-6.

Symbols: r_I → `regret`, s_I → `strategy_sum`, c_I → `last_visit`, σ → `trail.policy`, σ' → its
ε-greedy version, π_i(z[I]) → `trail.own`, π_-i(z[I]) → `trail.others`, π^σ'(z) → `drawn`,
π^σ(z[I]a, z) → `tail`, w_I → `weight`.

One history per iteration, ε-greedy at every player's node, both players updated from it, optimistic
averaging with t - c_I. Deviations: none. Chance is sampled on-policy, so its probability stands in
both π_-i π and π^σ' and is left out of both.

Option `averaging="stochastic"` replaces line 15 by s_I[a] += π_i(z[I]) σ(I, a) / π^σ'(z[I]), which
is unbiased where optimistic averaging is not (a visit says nothing about the iterations since the
last one).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.access import (
    child,
    full,
    infoset_at,
    player_at,
    slots_at,
    slots_of,
    start,
    utility,
)
from counterplay.forms.game import Game
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.policy import regret_matching, sample_epsilon_greedy
from counterplay.kernels.rng import uniform
from counterplay.solvers.base import one_of, probability
from counterplay.solvers.sampling import SamplingSolver
from counterplay.solvers.teams import Worker


class Tables(NamedTuple):
    """What is learned: s slots, m information sets."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]
    last_visit: np.ndarray  # int64[m]


class Trail(NamedTuple):
    """Scratch for one history: d decisions, w actions at most, p players."""

    infoset: np.ndarray  # int32[d]
    player: np.ndarray  # int8[d]
    action: np.ndarray  # int32[d]
    policy: np.ndarray  # float64[d * w]: σ at decision k is policy[k * w : ]
    own: np.ndarray  # float64[d]: π_i(z[I])
    others: np.ndarray  # float64[d]: π_-i(z[I]) without chance
    drawn: np.ndarray  # float64[d]: π^σ'(z[I]) without chance
    reach: np.ndarray  # float64[p]: each player's own probability so far
    width: int  # w


def new_trail(depth: int, width: int, n_players: int) -> Trail:
    return Trail(
        infoset=np.zeros(depth, dtype=np.int32),
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
    form: Any, chance: np.ndarray, tables: Tables, trail: Trail, rng: np.ndarray, epsilon: float
) -> tuple[int, int, float]:
    """Lines 2-8: play one history, filling `trail`. The terminal node, the number of decisions,
    π^σ'(z) without chance."""
    width = trail.width
    n_players = index(len(trail.reach))
    for j in range(n_players):
        trail.reach[j] = 1.0
    drawn = 1.0
    k = ZERO
    node = start(form, chance, rng)
    player = player_at(form, chance, node)
    while player >= 0:
        infoset = infoset_at(form, chance, node)
        first, count = slots_at(form, chance, node, infoset)
        offset = k * width
        regret_matching(tables.regret, first, count, trail.policy, offset)  # line 5, Eq 5
        action, p = sample_epsilon_greedy(
            trail.policy, offset, count, epsilon, uniform(rng)
        )  # lines 6-7, Eq 8
        me = index(player)
        others = 1.0
        for j in range(n_players):
            if j != me:
                others *= trail.reach[j]
        trail.infoset[k] = infoset
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
    return node, k, drawn


@jit(inline=True)
def update_history(
    form: Any,
    chance: np.ndarray,
    tables: Tables,
    trail: Trail,
    node: int,
    n_decisions: int,
    drawn: float,
    t: int,
    optimistic: bool,
    scale: float,
) -> None:
    """Lines 10-20: from the end of the history back to its start, change `tables` at every
    information set on it."""
    width = trail.width
    tail = 1.0  # π^σ(z[I]a, z)
    inverse = scale / drawn
    k = n_decisions
    while k > ZERO:
        k -= ONE
        infoset = index(trail.infoset[k])
        first, count = slots_of(form, chance, infoset)
        offset = k * width
        action = index(trail.action[k])
        below = tail * trail.policy[offset + action]  # π^σ(z[I], z)
        # Eq 6, w_I
        weight = utility(form, chance, node, trail.player[k]) * trail.others[k] * inverse
        if optimistic:
            share = (t - tables.last_visit[infoset]) * trail.own[k]  # line 15
            tables.last_visit[infoset] = t  # line 17
        else:
            share = trail.own[k] / trail.drawn[k]
        for a in range(count):
            tables.regret[first + a] -= weight * below  # Eq 6, otherwise
            tables.strategy_sum[first + a] += share * trail.policy[offset + a]
        tables.regret[first + action] += weight * tail  # Eq 6, z[I]a ⊑ z
        tail = below


@jit
def outcome_sampling(
    form: Any,
    chance: np.ndarray,
    tables: Tables,
    trail: Trail,
    rng: np.ndarray,
    done: int,
    n: int,
    epsilon: float,
    optimistic: bool,
    stride: int,
    scale: float,
) -> tuple[int, int]:
    """Algorithm 1, n iterations numbered done + 1, done + 1 + stride, ... Regrets count `scale`
    times.

    Changes `tables` and `rng`; the iterations played, fewer than n where there is no room for what
    the next may find, and the nodes touched."""
    touched = ZERO
    played = ZERO
    t = done + 1
    while played < index(n) and not full(form, chance):
        node, n_decisions, drawn = sample_history(form, chance, tables, trail, rng, epsilon)
        update_history(form, chance, tables, trail, node, n_decisions, drawn, t, optimistic, scale)
        touched += n_decisions + ONE
        t += stride
        played += ONE
    return int(played), int(touched)


class OutcomeSampling(SamplingSolver):
    """`epsilon`: exploration (the paper's 0.6). `averaging`: "optimistic" as in Algorithm 1, or
    "stochastic"."""

    name = "mccfr"
    summary = "outcome-sampling MCCFR, Algorithm 1"
    by_set = ("last_visit",)
    finds = True

    def __init__(
        self,
        game: Game,
        seed: int,
        form: Any = None,
        *,
        epsilon: float = 0.6,
        averaging: str = "optimistic",
        threads: int = 1,
    ) -> None:
        self._epsilon = probability(epsilon, "epsilon")
        if self._epsilon == 0.0:
            raise BadParameter("epsilon must be above 0, so that every history can be sampled")
        self._optimistic = (
            one_of(averaging, ("optimistic", "stochastic"), "averaging") == "optimistic"
        )
        self._path_size = (game.depth, game.max_actions, game.n_players)
        super().__init__(game, seed, form, threads, epsilon=epsilon, averaging=averaging)

    def _new_tables(self, infosets: int, slots: int) -> Tables:
        return Tables(np.zeros(slots), np.zeros(slots), np.zeros(infosets, dtype=np.int64))

    def _new_scratch(self) -> Trail:
        return new_trail(*self._path_size)

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        return outcome_sampling(
            self._form,
            worker.chance,
            worker.tables,
            worker.scratch,
            worker.rng,
            done,
            n,
            self._epsilon,
            self._optimistic,
            stride,
            scale,
        )


SOLVER = OutcomeSampling
