"""Outcome sampling with several histories in step, for tables that are larger than caches.

A look-up in a large table waits for memory most of the time. Here w histories are sampled at once,
all from the tables as they were; each asks for what it reads next and goes on when all others have
asked. Their updates are applied in order afterwards, as iterations t, t + 1, ... . Each is an
iteration of Algorithm 1 with a strategy at most w - 1 iterations old, so sampled regrets are
unbiased as before (`tests/solvers/test_in_step.py`).

An iteration is the update of one history. Those that were sampled and still wait are kept with all
else that a worker needs to go on (`Worker.buffer`), so a run may be cut anywhere and has the same
bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.access import (
    ask_node,
    ask_slots,
    chance_in,
    forced_at,
    full,
    infoset_in,
    move,
    player_at,
    settle,
    slots_at,
    start_in,
    utility,
)
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.policy import regret_matching, sample_epsilon_greedy
from counterplay.kernels.prefetch import prefetch_at
from counterplay.kernels.rng import uniform
from counterplay.solvers.history import Trail, update_decision

_LINE = index(8)  # numbers in a cache line


class Lanes(NamedTuple):
    """Where each of w histories stands."""

    node: np.ndarray  # int64[w]
    player: np.ndarray  # int64[w]: negative when it is over
    infoset: np.ndarray  # int64[w]
    slot: np.ndarray  # int64[w]: its first
    actions: np.ndarray  # int64[w]: one where a move is forced
    made: np.ndarray  # int64[w]: decisions
    forced: np.ndarray  # int64[w]: moves that were none
    drawn: np.ndarray  # float64[w]: π^σ'(z[I]) without chance
    going: np.ndarray  # int64[w]: those that are not over
    payoff: np.ndarray  # float64[w * players]: at its end
    waits: np.ndarray  # int64[1]: histories that were sampled and are not applied, the last ones
    depth: int  # decisions at most: lane l has the trail from l * depth on


class InStep(NamedTuple):
    """Scratch for several histories."""

    trail: Trail
    lanes: Lanes


FLOATS = {"policy", "own", "others", "drawn", "reach", "lanes.drawn", "lanes.payoff"}


def _sizes(many: int, depth: int, width: int, players: int) -> dict[str, int]:
    """Numbers in each array of `Trail` and of `Lanes`, by name; `FLOATS` are float64."""
    decisions = many * depth
    trail = dict.fromkeys(Trail._fields[:-1], decisions)
    trail |= {"policy": decisions * width, "reach": many * players}
    lanes = dict.fromkeys((f"lanes.{name}" for name in Lanes._fields[:-1]), many)
    return trail | lanes | {"lanes.payoff": many * players, "lanes.waits": 1}


def lanes_size(many: int, depth: int, width: int, players: int) -> int:
    """Numbers of 64 bits that `lanes_on` takes."""
    return sum(_sizes(many, depth, width, players).values())


def lanes_on(buffer: np.ndarray, many: int, depth: int, width: int, players: int) -> InStep:
    """Scratch for `many` histories as parts of one array, int64[lanes_size(...)], which is all that
    has to be kept of them; nothing was sampled yet."""
    buffer[:] = 0
    sizes = _sizes(many, depth, width, players)
    parts = dict(zip(sizes, np.split(buffer, np.cumsum(list(sizes.values()))[:-1]), strict=True))
    found = {k: part.view(np.float64) if k in FLOATS else part for k, part in parts.items()}
    own = {name: found[name] for name in Trail._fields[:-1]}
    rest = {name: found[f"lanes.{name}"] for name in Lanes._fields[:-1]}
    return InStep(Trail(**own, width=index(width)), Lanes(**rest, depth=index(depth)))


def can_wait(scratch: InStep, sets: int, slots: int) -> bool:
    """Whether what waits lies within tables of so many information sets and slots: a kernel writes
    where it is told."""
    trail, lanes = scratch
    many, players = len(lanes.node), len(trail.reach) // len(lanes.node)
    waits, made = int(lanes.waits[0]), lanes.made
    if not (0 <= waits <= many and (made >= 0).all() and (made <= lanes.depth).all()):
        return False
    place = np.arange(len(trail.infoset)) % lanes.depth < np.repeat(made, lanes.depth)
    fields = (trail.infoset, trail.player, trail.slot, trail.actions, trail.action)
    infoset, player, slot, count, action = (x[place] for x in fields)
    inside = (infoset >= 0) & (infoset < sets) & (player >= 0) & (player < players)
    inside &= (count > 0) & (count <= trail.width) & (action >= 0) & (action < count)
    inside &= (slot >= 0) & (slot <= slots - count)
    return bool(inside.all())


@jit(inline=True)
def _look(form: Any, chance: Any, tables: Any, lanes: Lanes, n: int) -> None:
    """Information sets and slots of all that go on, asking in turn for what comes next."""
    for j in range(n):
        lane = index(lanes.going[j])
        if lanes.actions[lane] == 1:
            continue
        infoset = infoset_in(form, chance, lane, index(lanes.node[lane]))
        lanes.infoset[lane] = infoset
        ask_slots(form, chance, infoset)
        prefetch_at(tables.last_visit, infoset)
    for j in range(n):
        lane = index(lanes.going[j])
        if lanes.actions[lane] == 1:
            continue
        node, infoset = index(lanes.node[lane]), index(lanes.infoset[lane])
        first, count = slots_at(form, chance, node, infoset)
        lanes.slot[lane] = first
        lanes.actions[lane] = count
        last = first + count - ONE  # often in the next line
        for k in range(first, last, _LINE):
            prefetch_at(tables.regret, k)
            prefetch_at(tables.strategy_sum, k)
        prefetch_at(tables.regret, last)
        prefetch_at(tables.strategy_sum, last)


@jit(inline=True)
def _go(form: Any, chance: Any, lanes: Lanes, lane: int, action: int, rng: Any) -> None:
    """Play an action and ask for what comes next."""
    node = move(form, chance, index(lanes.node[lane]), action, rng)
    lanes.node[lane] = node
    ask_node(form, chance, node)


@jit(inline=True)
def _decide(
    form: Any, chance: Any, tables: Any, trail: Any, lanes: Lanes, lane: int, rng: Any, epsilon: Any
) -> None:
    """One decision of a history: lines 5-8 of Algorithm 1."""
    players = index(len(trail.reach)) // index(len(lanes.node))
    k = lane * lanes.depth + index(lanes.made[lane])
    offset, reach = k * trail.width, lane * players
    first, count = index(lanes.slot[lane]), index(lanes.actions[lane])
    regret_matching(tables.regret, first, count, trail.policy, offset)
    action, p = sample_epsilon_greedy(trail.policy, offset, count, epsilon, uniform(rng))
    me = index(lanes.player[lane])
    others = 1.0
    for j in range(players):
        if j != me:
            others *= trail.reach[reach + j]
    trail.infoset[k] = lanes.infoset[lane]
    trail.slot[k] = first
    trail.actions[k] = count
    trail.player[k] = lanes.player[lane]
    trail.action[k] = action
    trail.own[k] = trail.reach[reach + me]
    trail.others[k] = others
    trail.drawn[k] = lanes.drawn[lane]
    trail.reach[reach + me] *= trail.policy[offset + action]
    lanes.drawn[lane] *= p
    lanes.made[lane] += 1
    _go(form, chance, lanes, lane, action, rng)


@jit(inline=True)
def sample_histories(
    form: Any, chance: Any, tables: Any, trail: Any, lanes: Lanes, rng: Any, epsilon: Any, n: int
) -> None:
    """Play n histories in step, filling `trail` and `lanes`; tables stay as they are."""
    players = index(len(trail.reach)) // index(len(lanes.node))
    for lane in range(n):
        for j in range(players):
            trail.reach[lane * players + j] = 1.0
        lanes.drawn[lane] = 1.0
        lanes.made[lane] = 0
        lanes.forced[lane] = 0
        lanes.node[lane] = start_in(form, chance, lane, rng)
        lanes.going[lane] = lane
    going = n
    while going > ZERO:
        left = ZERO
        for j in range(going):
            lane = index(lanes.going[j])
            node = settle(form, chance, index(lanes.node[lane]), rng)
            player = player_at(form, chance, node)
            lanes.node[lane] = node
            lanes.player[lane] = player
            if player >= 0:
                lanes.actions[lane] = 1 if forced_at(form, chance, node) else 0
                lanes.going[left] = lane
                left += ONE
        going = left
        _look(form, chance, tables, lanes, going)
        for j in range(going):
            lane = index(lanes.going[j])
            if lanes.actions[lane] == 1:
                uniform(rng)
                lanes.forced[lane] += 1
                _go(form, chance, lanes, lane, ZERO, rng)
            else:
                _decide(form, chance, tables, trail, lanes, lane, rng, epsilon)


@jit
def outcome_sampling_in_step(
    form: Any,
    chance: Any,
    tables: Any,
    trail: Any,
    lanes: Lanes,
    rng: np.ndarray,
    done: int,
    n: int,
    epsilon: float,
    optimistic: bool,
    stride: int,
    scale: float,
) -> tuple[int, int]:
    """As `outcome_sampling`, `len(lanes.node)` histories at a time."""
    touched, played = ZERO, ZERO
    t = done + 1
    many = index(len(lanes.node))
    players = index(len(trail.reach)) // many
    while played < index(n):
        if lanes.waits[ZERO] == 0:
            if full(form, chance):
                break
            sample_histories(form, chance, tables, trail, lanes, rng, epsilon, many)
            for lane in range(many):
                dealt = chance_in(form, chance, index(lane))
                for j in range(players):
                    won = utility(form, dealt, index(lanes.node[lane]), j)
                    lanes.payoff[lane * players + j] = won
            lanes.waits[ZERO] = many
        lane = many - index(lanes.waits[ZERO])
        made, base = index(lanes.made[lane]), lane * lanes.depth
        tail, inverse = 1.0, scale / lanes.drawn[lane]
        k = base + made
        while k > base:
            k -= ONE
            won = lanes.payoff[lane * players + index(trail.player[k])]
            tail = update_decision(tables, trail, k, won, inverse, tail, t, optimistic)
        lanes.waits[ZERO] -= 1
        touched += made + index(lanes.forced[lane]) + ONE
        t += stride
        played += ONE
    return int(played), int(touched)
