"""One decision of a spot on one board, for all holdings: regret matching above the least
probabilities of locks, regrets, and the best choice.

Symbols: r_I → `source`, σ → `policy`, v(I, a) → `value`. `number` holds 0, 1, and what an iteration
needs, in the precision of the tables, so that no operation is done in another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.spots.betting import MOST_ACTIONS
from counterplay.poker.spots.columns import ACTIONS, BASE, BY_ROW, FLOOR, SIZE
from counterplay.poker.spots.showdowns import KernelSide

WEIGHT, POSITIVE, NEGATIVE = range(2, 5)  # after the constants 0 and 1 in `Work.number`
TOTAL, SPREAD = index(MOST_ACTIONS), index(MOST_ACTIONS + 1)  # rows of `Work.policy`


class SpotForm(NamedTuple):
    """What a traversal reads."""

    nodes: np.ndarray  # int64[n, columns]
    boards: np.ndarray  # int64[b, columns]
    payoff: np.ndarray  # [n, 2, 3]: of each player for losing, splitting and winning
    floor: np.ndarray  # [board, action, holding] for each locked node: least probabilities


@jit(inner=True)
def _bind(form: SpotForm, node: Any, local: Any, n: Any, policy: Any, number: Any) -> None:
    """Changes `policy` as the floor of a locked node demands."""
    count, zero, one = index(form.nodes[node, ACTIONS]), number[ZERO], number[ONE]
    if form.nodes[node, FLOOR] < 0:
        return
    at = index(form.nodes[node, FLOOR]) + local * index(form.nodes[node, SIZE])
    for h in range(n):  # floor + (1 - Σ floor) · policy
        free = one
        for a in range(count):
            free -= form.floor[at + a * n + h]
        free = max(free, zero)
        for a in range(count):
            policy[a, h] = form.floor[at + a * n + h] + free * policy[a, h]


@jit(inner=True)
def table_start(form: SpotForm, side: KernelSide, node: Any, local: Any) -> int:
    """Where the table of a node on a board begins."""
    at = index(form.nodes[node, BASE])
    if form.nodes[node, BY_ROW] == 0:
        at += local * index(form.nodes[node, SIZE])
    else:
        at += index(form.nodes[node, ACTIONS]) * index(side.span[local, ZERO])
    return at


@jit(inner=True)
def table_rows(form: SpotForm, side: KernelSide, node: Any, local: Any) -> int:
    """The number of rows of a node on a board, for each of its actions."""
    by_row = form.nodes[node, BY_ROW] != 0
    return index(side.span[local, ONE]) if by_row else index(len(side.cards))


@jit(inner=True)
def _spread(side: KernelSide, local: Any, count: Any, rows: Any, policy: Any) -> None:
    """Gives every holding the policy of its row."""
    for a in range(count):
        for r in range(rows):
            policy[TOTAL, r] = policy[a, r]
        for h in range(index(len(side.cards))):
            policy[a, h] = policy[TOTAL, index(side.row[local, h])]


@jit(inner=True)
def set_policy(
    form: SpotForm, side: KernelSide, source: Any, node: Any, local: Any, policy: Any, number: Any
) -> None:
    """Fills `policy` by regret matching, above the floor of a locked node."""
    match_policy(form, side, source, node, local, policy, number)
    if form.nodes[node, BY_ROW] != 0:
        count = index(form.nodes[node, ACTIONS])
        _spread(side, local, count, table_rows(form, side, node, local), policy)
    _bind(form, node, local, index(len(side.cards)), policy, number)


@jit(inner=True)
def match_policy(
    form: SpotForm, side: KernelSide, source: Any, node: Any, local: Any, policy: Any, number: Any
) -> None:
    """Fills `policy` by regret matching, for each row of the table."""
    count = index(form.nodes[node, ACTIONS])
    at, n = table_start(form, side, node, local), table_rows(form, side, node, local)
    zero, one = number[ZERO], number[ONE]
    for h in range(n):
        policy[TOTAL, h] = zero
    uniform = zero
    for a in range(count):
        low = at + a * n
        uniform += one
        for h in range(n):
            policy[TOTAL, h] += max(source[low + h], zero)
    uniform = one / uniform
    for h in range(n):
        total = policy[TOTAL, h]
        policy[SPREAD, h] = zero if total > zero else uniform
        policy[TOTAL, h] = one / total if total > zero else zero
    for a in range(count):
        low = at + a * n
        for h in range(n):
            positive = max(source[low + h], zero)
            policy[a, h] = positive * policy[TOTAL, h] + policy[SPREAD, h]


@jit(inner=True)
def update_regrets(
    form: SpotForm, side: KernelSide, source: Any, node: Any, local: Any, here: Any, child: Any,
    value: Any, total: Any, number: Any,
) -> None:  # fmt: skip
    """Adds the regrets of one of the player's nodes: those of its policy above the floor. Values
    are of the rows of its table."""
    count, zero = index(form.nodes[node, ACTIONS]), number[ZERO]
    positive, negative = number[index(POSITIVE)], number[index(NEGATIVE)]
    at, n = table_start(form, side, node, local), table_rows(form, side, node, local)
    for h in range(n):
        total[h] = value[here, h]
    if form.nodes[node, FLOOR] >= 0:
        bound = index(form.nodes[node, FLOOR]) + local * index(form.nodes[node, SIZE])
        for h in range(n):
            free, fixed = number[ONE], zero
            for a in range(count):
                free -= form.floor[bound + a * n + h]
                fixed += form.floor[bound + a * n + h] * value[child + a, h]
            total[h] = (total[h] - fixed) / free if free > zero else total[h]
    for a in range(count):
        low = at + a * n
        for h in range(n):
            regret = source[low + h] + (value[child + a, h] - total[h])
            source[low + h] = regret * (positive if regret > zero else negative)


@jit(inner=True)
def take_best(
    form: SpotForm, source: Any, node: Any, local: Any, n: Any, child: Any, value: Any, policy: Any,
    number: Any,
) -> None:  # fmt: skip
    """Fills `policy` with the choice of the first action with the largest value, above the floor of
    a locked node. The choice is recorded in `source`, if that is not empty."""
    count, zero = index(form.nodes[node, ACTIONS]), number[ZERO]
    for h in range(n):
        policy[TOTAL, h] = value[child, h]
        policy[SPREAD, h] = number[ONE]  # what is left to choose
    for a in range(ONE, count):
        for h in range(n):
            policy[TOTAL, h] = max(policy[TOTAL, h], value[child + a, h])
    at = index(form.nodes[node, BASE]) + local * index(form.nodes[node, SIZE])
    for a in range(count):
        for h in range(n):
            best = value[child + a, h] == policy[TOTAL, h]
            policy[a, h] = policy[SPREAD, h] if best else zero
            policy[SPREAD, h] = zero if best else policy[SPREAD, h]
        if len(source) > 0:
            for h in range(n):
                source[at + a * n + h] = policy[a, h]
    _bind(form, node, local, n, policy, number)
