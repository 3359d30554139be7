"""External-sampling MCCFR (Lanctot et al. 2009): chance and the opponents' actions are sampled, all
actions of the traverser are tried.

Symbols: r_I → `regret`, s_I → `strategy_sum`, σ → `stack.policy`, v(a) → `stack.value`. An
iteration is one traversal for each player. At the traverser's information sets r̃(I, a) = v(a) - Σ_b
σ(I, b) v(b); at the sampled nodes of an opponent σ is added to its strategy sum. Deviations: with
more than two players the nodes of every opponent add to its average as they are sampled, as in
other implementations; the average is then weighted by the reach of the third player.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import (
    child,
    forced_at,
    full,
    infoset_at,
    player_at,
    slots_at,
    start,
    utility,
)
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import regret_matching, sample_epsilon_greedy
from counterplay.core.kernels.rng import uniform
from counterplay.core.parallel.pool import Worker
from counterplay.core.solvers.sampling import SamplingSolver, SamplingTables


class TraversalStack(NamedTuple):
    """The traverser's decisions on the current path: d of them, w actions at most."""

    node: np.ndarray  # int64[d]
    first: np.ndarray  # int64[d]: first slot of its information set
    actions: np.ndarray  # int32[d]: how many there are
    action: np.ndarray  # int32[d]: being tried
    policy: np.ndarray  # float64[d * w]
    value: np.ndarray  # float64[d * w]: of each action tried so far
    # int64[3]: where a traversal stopped because tables were full: the traverser, its decisions on
    # the stack, and whether an action of the last one is next (otherwise a traversal begins)
    pause: np.ndarray
    width: int  # w


TRAVERSER, DEPTH, INSIDE = (index(k) for k in range(3))


def new_stack(depth: int, width: int) -> TraversalStack:
    return TraversalStack(
        node=np.zeros(depth, dtype=np.int64),
        first=np.zeros(depth, dtype=np.int64),
        actions=np.zeros(depth, dtype=np.int32),
        action=np.zeros(depth, dtype=np.int32),
        policy=np.zeros((depth + 1) * width),  # the last row is for sampled opponents
        value=np.zeros(depth * width),
        pause=np.zeros(3, dtype=np.int64),
        width=index(width),
    )


@jit(inline=True)
def _descend(
    form: Any,
    chance: Any,
    tables: SamplingTables,
    stack: TraversalStack,
    depth: int,
    traverser: int,
    node: int,
    rng: np.ndarray,
) -> tuple[int, int, int]:
    """Plays from `node` to a terminal node, with the first action at each decision of the
    traverser. Returns the terminal node, the depth of the stack and the nodes touched."""
    spare = index(len(stack.node)) * stack.width
    touched = ONE
    player = player_at(form, chance, node)
    while player >= 0:
        touched += ONE
        if forced_at(form, chance, node):  # its value is that of its child
            if index(player) != traverser:
                uniform(rng)  # as at a decision: keeps the random numbers of a seed
            node = child(form, chance, node, ZERO, rng)
            player = player_at(form, chance, node)
            continue
        first, count = slots_at(form, chance, node, infoset_at(form, chance, node))
        action = ZERO
        if index(player) == traverser:
            regret_matching(tables.regret, first, count, stack.policy, depth * stack.width)
            stack.node[depth] = node
            stack.first[depth] = first
            stack.actions[depth] = count
            stack.action[depth] = 0
            depth += ONE
        else:
            regret_matching(tables.regret, first, count, stack.policy, spare)
            for a in range(count):
                tables.strategy_sum[first + a] += stack.policy[spare + a]
            action, _ = sample_epsilon_greedy(stack.policy, spare, count, 0.0, uniform(rng))
        node = child(form, chance, node, action, rng)
        player = player_at(form, chance, node)
    return node, depth, touched


@jit(inline=True)
def _finish(tables: SamplingTables, stack: TraversalStack, depth: int) -> float:
    """After all actions of decision `depth`: adds its sampled regrets and returns its value."""
    first, count = index(stack.first[depth]), index(stack.actions[depth])
    offset = depth * stack.width
    value = 0.0
    for a in range(count):
        value += stack.policy[offset + a] * stack.value[offset + a]
    for a in range(count):
        tables.regret[first + a] += stack.value[offset + a] - value
    return value


@jit
def external_sampling(
    form: Any,
    chance: Any,
    tables: SamplingTables,
    stack: TraversalStack,
    rng: np.ndarray,
    n_players: int,
    n: int,
    scale: float,
) -> tuple[int, int]:
    """n iterations of one traversal per player, whose regrets count `scale` times. Changes
    `tables`, `stack` and `rng`; returns the iterations finished and the nodes touched. A traversal
    stops if the tables are full (`stack.pause`), and the next call continues it."""
    touched = ZERO
    played = ZERO
    traverser, depth = index(stack.pause[TRAVERSER]), index(stack.pause[DEPTH])
    inside = stack.pause[INSIDE] == 1
    while played < index(n) and not full(form, chance):
        if inside:
            top = depth - ONE
            node = child(form, chance, index(stack.node[top]), index(stack.action[top]), rng)
        else:
            node = start(form, chance, rng)
        node, depth, visited = _descend(form, chance, tables, stack, depth, traverser, node, rng)
        touched += visited
        value = scale * utility(form, chance, node, traverser)
        inside = False
        while depth > ZERO and not inside:
            top = depth - ONE
            action = index(stack.action[top])
            stack.value[top * stack.width + action] = value
            action += ONE
            if action < index(stack.actions[top]):
                stack.action[top] = action
                inside = True
            else:
                depth = top
                value = _finish(tables, stack, depth)
        if not inside:
            traverser += ONE
            if traverser == index(n_players):
                traverser = ZERO
                played += ONE
    stack.pause[TRAVERSER] = traverser
    stack.pause[DEPTH] = depth
    stack.pause[INSIDE] = 1 if inside else 0
    return int(played), int(touched)


class ExternalSampling(SamplingSolver):
    """No options of its own."""

    name = "mccfr-external"
    summary = "external-sampling MCCFR"
    discovers = True

    def _new_workspace(self) -> TraversalStack:
        return new_stack(self.game.depth, self.game.max_actions)

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        return external_sampling(self.form, *worker.arguments, self.game.n_players, n, scale)


SOLVER = ExternalSampling
