"""Chance-sampled CFR (Section 3.2.2; Zinkevich et al. 2008): chance is sampled, all actions of all
players are tried.

Symbols: r_I → `regret`, s_I → `strategy_sum`, σ^t → `current` (fixed during an iteration, even if
an information set is visited more than once), π_i → `stack.reach`. An iteration is one traversal
that updates all players: r̃(I, a) = π_-i(h) (v(ha) - v(h)), s_I[a] += π_i(h) σ(I, a). Deviations:
chance is sampled again at each chance node, so the histories of a traversal need not share all
chance outcomes; each history still has its chance probability.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import child, infoset_at, player_at, slots_of, start, utility
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import regret_matching
from counterplay.core.parallel.pool import Worker
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.sampling import SamplingSolver


class ChanceTables(NamedTuple):
    """The tables of chance sampling: s slots, m information sets."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]
    current: np.ndarray  # float64[s]: σ^t where `computed` says t
    computed: np.ndarray  # int64[m]: the iteration of `current`


class ChanceStack(NamedTuple):
    """The decisions on the current path: d of them, w actions at most, p players."""

    node: np.ndarray  # int64[d]
    action: np.ndarray  # int32[d]: being tried
    # float64[(d + 1) * p]: π_i of each player at decision k
    reach: np.ndarray
    gain: np.ndarray  # float64[d * w]: value to the acting player of each action tried so far
    # float64[(d + 1) * p]: value of decision k to each player, summed over the actions tried
    value: np.ndarray
    width: int  # w
    n_players: int  # p


def new_stack(depth: int, width: int, n_players: int) -> ChanceStack:
    return ChanceStack(
        node=np.zeros(depth, dtype=np.int64),
        action=np.zeros(depth, dtype=np.int32),
        reach=np.ones((depth + 1) * n_players),
        gain=np.zeros(depth * width),
        value=np.zeros((depth + 1) * n_players),
        width=index(width),
        n_players=index(n_players),
    )


@jit(inline=True)
def _open(
    form: Any, chance: Any, tables: ChanceTables, stack: ChanceStack, depth: int, node: int, t: int
) -> None:
    """Pushes a decision: computes its σ^t and adds to its average strategy."""
    infoset = infoset_at(form, chance, node)
    first, count = slots_of(form, chance, infoset)
    if tables.computed[infoset] != t:
        regret_matching(tables.regret, first, count, tables.current, first)
        tables.computed[infoset] = t
    stack.node[depth] = node
    stack.action[depth] = 0
    own = stack.reach[depth * stack.n_players + index(player_at(form, chance, node))]
    for a in range(count):
        tables.strategy_sum[first + a] += own * tables.current[first + a]
    for j in range(stack.n_players):
        stack.value[depth * stack.n_players + j] = 0.0


@jit(inline=True)
def _close_action(
    form: Any, chance: Any, tables: ChanceTables, stack: ChanceStack, depth: int
) -> bool:
    """Adds the values of the action tried at decision `depth`, which are in the row below. Returns
    whether it was the last action, after which regrets are updated."""
    node = index(stack.node[depth])
    infoset = infoset_at(form, chance, node)
    player = index(player_at(form, chance, node))
    first, count = slots_of(form, chance, infoset)
    action = index(stack.action[depth])
    here, below = depth * stack.n_players, (depth + ONE) * stack.n_players
    stack.gain[depth * stack.width + action] = stack.value[below + player]
    for j in range(stack.n_players):
        stack.value[here + j] += tables.current[first + action] * stack.value[below + j]
    if action + ONE < count:
        stack.action[depth] = action + ONE
        return False
    others = 1.0
    for j in range(stack.n_players):
        if j != player:
            others *= stack.reach[here + j]
    for a in range(count):
        tables.regret[first + a] += others * (
            stack.gain[depth * stack.width + a] - stack.value[here + player]
        )
    return True


@jit
def chance_sampling(
    form: Any,
    chance: Any,
    tables: ChanceTables,
    stack: ChanceStack,
    rng: np.ndarray,
    done: int,
    n: int,
) -> int:
    """Iterations done + 1 .. done + n. Changes `tables`, `stack`, `rng`; the nodes touched."""
    touched = ZERO
    p = stack.n_players
    for t in range(done + 1, done + n + 1):
        node = start(form, chance, rng)
        depth = ZERO
        going_down = True
        while going_down or depth > ZERO:
            if going_down:
                touched += ONE
                if player_at(form, chance, node) < 0:
                    for j in range(p):
                        stack.value[depth * p + j] = utility(form, chance, node, j)
                    going_down = False
                    continue
                _open(form, chance, tables, stack, depth, node, t)
                depth += ONE
            elif _close_action(form, chance, tables, stack, depth - ONE):
                depth -= ONE
                continue
            top = depth - ONE  # try the next action of the top decision
            above = index(stack.node[top])
            action = index(stack.action[top])
            for j in range(p):
                stack.reach[depth * p + j] = stack.reach[top * p + j]
            infoset = infoset_at(form, chance, above)
            first, _ = slots_of(form, chance, infoset)
            stack.reach[depth * p + index(player_at(form, chance, above))] *= tables.current[
                first + action
            ]
            node = child(form, chance, above, action, rng)
            going_down = True
    return int(touched)


class ChanceSampling(SamplingSolver):
    """No options."""

    name = "mccfr-chance"
    summary = "chance-sampled CFR"

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(problem, seed)  # by one thread

    def _new_tables(self, infosets: int, slots: int) -> ChanceTables:
        regret, strategy_sum, current = (np.zeros(slots) for _ in range(3))
        return ChanceTables(regret, strategy_sum, current, np.zeros(infosets, dtype=np.int64))

    def _new_workspace(self) -> ChanceStack:
        return new_stack(self.game.depth, self.game.max_actions, self.game.n_players)

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        return n, chance_sampling(self.form, *worker.arguments, done, n)


SOLVER = ChanceSampling
