"""The histories of outcome sampling: lines 2-8 and 10-20 of Algorithm 1, for one history and for
several interleaved ones. Symbols as in `mccfr.py`.

A look-up in a table larger than the caches mostly waits for memory. `outcome_sampling_interleaved`
therefore samples w histories at the same time from unchanged tables; each prefetches what it reads
next and continues when all others have done so. Their updates are applied in order afterwards, as
iterations t, t + 1, ... . Each is an iteration of Algorithm 1 with a strategy at most w - 1
iterations old, so sampled regrets stay unbiased (`tests/core/solvers/test_interleaved.py`).
Histories that were sampled and not yet applied are part of the worker's saved state
(`Worker.buffer`), so interrupting a run does not change its bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import (
    child,
    forced_at,
    full,
    infoset_at,
    lane_chance,
    lane_infoset,
    move,
    player_at,
    prefetch_node,
    prefetch_slots,
    settle,
    slots_at,
    start,
    start_lane,
    utility,
)
from counterplay.core.kernels.intrinsics import prefetch_at
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import regret_matching, sample_epsilon_greedy
from counterplay.core.kernels.rng import uniform

_LINE = index(8)  # numbers in a cache line


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
def _decide(
    tables: Any, trail: HistoryWorkspace, k: int, reach: int, n_players: int, player: Any,
    infoset: Any, first: Any, count: Any, drawn: Any, epsilon: Any, rng: Any,
) -> tuple[int, float]:  # fmt: skip
    """Lines 5-8: draws the action of decision k, writes the decision to `trail`, and returns the
    action and its probability. `reach`: where π_i of this history begins in `trail.reach`."""
    offset = k * trail.width
    regret_matching(tables.regret, first, count, trail.policy, offset)  # line 5, Eq 5
    # lines 6-7, Eq 8
    action, p = sample_epsilon_greedy(trail.policy, offset, count, epsilon, uniform(rng))
    me = index(player)
    others = 1.0
    for j in range(n_players):
        if j != me:
            others *= trail.reach[reach + j]
    trail.infoset[k] = infoset
    trail.slot[k] = first
    trail.actions[k] = count
    trail.player[k] = player
    trail.action[k] = action
    trail.own[k] = trail.reach[reach + me]
    trail.others[k] = others
    trail.drawn[k] = drawn
    trail.reach[reach + me] *= trail.policy[offset + action]
    return action, p


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
        action, p = _decide(
            tables, trail, k, ZERO, n_players, player, infoset, first, count, drawn, epsilon, rng
        )
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


class HistoryBatch(NamedTuple):
    """The state of each of w interleaved histories."""

    node: np.ndarray  # int64[w]
    player: np.ndarray  # int64[w]: negative after its end
    infoset: np.ndarray  # int64[w]
    slot: np.ndarray  # int64[w]: the first one of the information set
    actions: np.ndarray  # int64[w]: their number; 1: the move is forced
    made: np.ndarray  # int64[w]: decisions so far
    forced: np.ndarray  # int64[w]: forced moves so far
    drawn: np.ndarray  # float64[w]: π^σ'(z[I]) without chance
    active: np.ndarray  # int64[w]: histories that are not over
    payoff: np.ndarray  # float64[w * players]: at its end
    pending: np.ndarray  # int64[1]: sampled histories that are not applied yet, the last ones
    depth: int  # decisions at most: those of history h begin at h * depth in the trail


class BatchWorkspace(NamedTuple):
    """The workspace of interleaved histories."""

    trail: HistoryWorkspace
    batch: HistoryBatch


FLOATS = {"policy", "own", "others", "drawn", "reach", "batch.drawn", "batch.payoff"}


def _sizes(many: int, depth: int, width: int, players: int) -> dict[str, int]:
    """The length of each array of `HistoryWorkspace` and `HistoryBatch`; `FLOATS` are float64."""
    decisions = many * depth
    trail = dict.fromkeys(HistoryWorkspace._fields[:-1], decisions)
    trail |= {"policy": decisions * width, "reach": many * players}
    batch = dict.fromkeys((f"batch.{name}" for name in HistoryBatch._fields[:-1]), many)
    return trail | batch | {"batch.payoff": many * players, "batch.pending": 1}


def batch_size(many: int, depth: int, width: int, players: int) -> int:
    """The length of the buffer of `batch_on`, in numbers of 64 bits."""
    return sum(_sizes(many, depth, width, players).values())


def batch_on(buffer: np.ndarray, many: int, depth: int, width: int, players: int) -> BatchWorkspace:
    """The workspace of `many` histories as views of int64[batch_size(...)], which is their whole
    state; no history is sampled yet."""
    buffer[:] = 0
    sizes = _sizes(many, depth, width, players)
    parts = dict(zip(sizes, np.split(buffer, np.cumsum(list(sizes.values()))[:-1]), strict=True))
    arrays = {k: part.view(np.float64) if k in FLOATS else part for k, part in parts.items()}
    own = {name: arrays[name] for name in HistoryWorkspace._fields[:-1]}
    rest = {name: arrays[f"batch.{name}"] for name in HistoryBatch._fields[:-1]}
    return BatchWorkspace(
        HistoryWorkspace(**own, width=index(width)), HistoryBatch(**rest, depth=index(depth))
    )


def is_valid(workspace: BatchWorkspace, sets: int, slots: int) -> bool:
    """Whether pending histories lie within tables of this size; kernels do not check bounds."""
    trail, batch = workspace
    many, players = len(batch.node), len(trail.reach) // len(batch.node)
    pending, made = int(batch.pending[0]), batch.made
    if not (0 <= pending <= many and (made >= 0).all() and (made <= batch.depth).all()):
        return False
    used = np.arange(len(trail.infoset)) % batch.depth < np.repeat(made, batch.depth)
    fields = (trail.infoset, trail.player, trail.slot, trail.actions, trail.action)
    infoset, player, slot, count, action = (x[used] for x in fields)
    inside = (infoset >= 0) & (infoset < sets) & (player >= 0) & (player < players)
    inside &= (count > 0) & (count <= trail.width) & (action >= 0) & (action < count)
    inside &= (slot >= 0) & (slot <= slots - count)
    return bool(inside.all())


@jit(inline=True)
def _look_up(form: Any, chance: Any, tables: Any, batch: HistoryBatch, n: int) -> None:
    """Finds the information sets and slots of all active histories, and prefetches the tables."""
    for j in range(n):
        h = index(batch.active[j])
        if batch.actions[h] != 1:
            infoset = lane_infoset(form, chance, h, index(batch.node[h]))
            batch.infoset[h] = infoset
            prefetch_slots(form, chance, infoset)
            prefetch_at(tables.last_visit, infoset)
    for j in range(n):
        h = index(batch.active[j])
        if batch.actions[h] == 1:
            continue
        node, infoset = index(batch.node[h]), index(batch.infoset[h])
        first, count = slots_at(form, chance, node, infoset)
        batch.slot[h] = first
        batch.actions[h] = count
        last = first + count - ONE  # often in the next cache line
        for k in range(first, last, _LINE):
            prefetch_at(tables.regret, k)
            prefetch_at(tables.strategy_sum, k)
        prefetch_at(tables.regret, last)
        prefetch_at(tables.strategy_sum, last)


@jit(inline=True)
def _advance(form: Any, chance: Any, batch: HistoryBatch, h: int, action: int, rng: Any) -> None:
    """Plays an action and prefetches the next node."""
    node = move(form, chance, index(batch.node[h]), action, rng)
    batch.node[h] = node
    prefetch_node(form, chance, node)


@jit(inline=True)
def sample_histories(
    form: Any,
    chance: Any,
    tables: Any,
    trail: Any,
    batch: HistoryBatch,
    rng: Any,
    epsilon: Any,
    n: int,
) -> None:
    """Samples n interleaved histories into `trail` and `batch`; does not change `tables`."""
    players = index(len(trail.reach)) // index(len(batch.node))
    for h in range(n):
        for j in range(players):
            trail.reach[h * players + j] = 1.0
        batch.drawn[h] = 1.0
        batch.made[h] = 0
        batch.forced[h] = 0
        batch.node[h] = start_lane(form, chance, h, rng)
        batch.active[h] = h
    active = n
    while active > ZERO:
        left = ZERO
        for j in range(active):
            h = index(batch.active[j])
            node = settle(form, chance, index(batch.node[h]), rng)
            player = player_at(form, chance, node)
            batch.node[h] = node
            batch.player[h] = player
            if player >= 0:
                batch.actions[h] = 1 if forced_at(form, chance, node) else 0
                batch.active[left] = h
                left += ONE
        active = left
        _look_up(form, chance, tables, batch, active)
        for j in range(active):
            h = index(batch.active[j])
            if batch.actions[h] == 1:
                uniform(rng)
                batch.forced[h] += 1
                _advance(form, chance, batch, h, ZERO, rng)
            else:
                k = h * batch.depth + index(batch.made[h])
                slot, count = index(batch.slot[h]), index(batch.actions[h])
                action, p = _decide(
                    tables, trail, k, h * players, players, batch.player[h], batch.infoset[h],
                    slot, count, batch.drawn[h], epsilon, rng,
                )  # fmt: skip
                batch.drawn[h] *= p
                batch.made[h] += 1
                _advance(form, chance, batch, h, action, rng)


@jit
def outcome_sampling_interleaved(
    form: Any,
    chance: Any,
    tables: Any,
    workspace: BatchWorkspace,
    rng: np.ndarray,
    done: int,
    n: int,
    epsilon: float,
    optimistic: bool,
    stride: int,
    scale: float,
) -> tuple[int, int]:
    """`outcome_sampling` with `len(batch.node)` interleaved histories."""
    trail, batch = workspace.trail, workspace.batch
    touched, played = ZERO, ZERO
    t = done + 1
    many = index(len(batch.node))
    players = index(len(trail.reach)) // many
    while played < index(n):
        if batch.pending[ZERO] == 0:
            if full(form, chance):
                break
            sample_histories(form, chance, tables, trail, batch, rng, epsilon, many)
            for h in range(many):
                dealt = lane_chance(form, chance, index(h))
                for j in range(players):
                    won = utility(form, dealt, index(batch.node[h]), j)
                    batch.payoff[h * players + j] = won
            batch.pending[ZERO] = many
        h = many - index(batch.pending[ZERO])
        made, base = index(batch.made[h]), h * batch.depth
        tail, inverse = 1.0, scale / batch.drawn[h]
        k = base + made
        while k > base:
            k -= ONE
            won = batch.payoff[h * players + index(trail.player[k])]
            tail = update_decision(tables, trail, k, won, inverse, tail, t, optimistic)
        batch.pending[ZERO] -= 1
        touched += made + index(batch.forced[h]) + ONE
        t += stride
        played += ONE
    return int(played), int(touched)
