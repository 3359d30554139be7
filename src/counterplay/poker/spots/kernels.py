"""One traversal of a spot's public tree, with a number for every holding of both ranges.

A player (`own`) is evaluated against the other: the other's reach goes down, the counterfactual
values of the player's holdings come up. At the player's nodes `mode` says what is computed:

- `LEARN`: the mean by regret matching, and the regrets are updated;
- `BEST`: the maximum, and the choice is recorded;
- `FIXED`: the mean by a given strategy.

Symbols: r_I → `source`, s_I → `strategy_sum`, σ → `policy`, π_-i → `reach`, v(I, a) → `value`. On
the way down the other's reach is added to its average strategy, which costs nothing there: so
iteration t adds the strategy that player 1 has after its update, and that of player 2 before.

The kernels of `poker/vector/street.py` need streets of the same shape after every history, rows of
8 lanes for their starts, and one list of holdings for both players. Stacks give every history
another shape, a river has a single start, and ranges are narrow; so this traversal has loops over
holdings instead. Tables are [board, action, holding] for each node, so that these loops are
contiguous; slots of a strategy are [board, holding, action]. Numbers of nodes and boards are
columns of one array each, since kernels of many arrays take long to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots.betting import DECISION, FOLD, MOST_ACTIONS, ONWARD
from counterplay.poker.spots.columns import (
    ACTIONS,
    BASE,
    CARD,
    CHILD,
    END,
    FIRST,
    FLOOR,
    KIND,
    LEFT,
    LOCAL,
    NEXT,
    NEXT_CARD,
    NEXT_END,
    PLAYER,
    SEQUENCE,
    SIZE,
    SUITS,
)
from counterplay.poker.spots.showdowns import KernelSide, fold, show_down

LEARN, BEST, FIXED = range(3)
START, BOARDS, FINISH = range(3)  # parts of a traversal
_CARDS = index(N_CARDS)
WEIGHT, POSITIVE, NEGATIVE = range(2, 5)  # after the constants 0 and 1 in `Work.number`
_TOTAL, _SPREAD = index(MOST_ACTIONS), index(MOST_ACTIONS + 1)  # rows of `Work.policy`


class SpotForm(NamedTuple):
    """What a traversal reads."""

    nodes: np.ndarray  # int64[n, columns]
    boards: np.ndarray  # int64[b, columns]
    payoff: np.ndarray  # [n, 2, 3]: of each player for losing, splitting and winning
    floor: np.ndarray  # [board, action, holding] for each locked node: least probabilities


class Tables(NamedTuple):
    """One player's tables, [slots]. `source` gives the strategy by regret matching: regrets, or a
    strategy."""

    source: np.ndarray
    strategy_sum: np.ndarray


class Work(NamedTuple):
    """Buffers of one thread: l levels, q action sequences, n nodes of a segment, h holdings."""

    reach: np.ndarray  # [l, q, h]: of the other player
    value: np.ndarray  # [l, n, h]: of the player
    policy: np.ndarray  # [actions + 2, h]
    by_card: np.ndarray  # float64[53]: sums of reach by card, and of all
    number: np.ndarray  # [5]: 0, 1, and what an iteration needs, in the precision of the tables


class Seats(NamedTuple):
    """Who is evaluated against whom."""

    own: Tables
    others: Tables
    side: KernelSide
    other: KernelSide


@jit(inner=True)
def _set_policy(
    form: SpotForm, source: Any, node: Any, local: Any, n: Any, policy: Any, number: Any
) -> None:
    """Fills `policy` by regret matching, above the floor of a locked node."""
    count = index(form.nodes[node, ACTIONS])
    at = index(form.nodes[node, BASE]) + local * index(form.nodes[node, SIZE])
    zero, one = number[ZERO], number[ONE]
    for h in range(n):
        policy[_TOTAL, h] = zero
    uniform = zero
    for a in range(count):
        low = at + a * n
        uniform += one
        for h in range(n):
            policy[_TOTAL, h] += max(source[low + h], zero)
    uniform = one / uniform
    for h in range(n):
        total = policy[_TOTAL, h]
        policy[_SPREAD, h] = zero if total > zero else uniform
        policy[_TOTAL, h] = one / total if total > zero else zero
    for a in range(count):
        low = at + a * n
        for h in range(n):
            positive = max(source[low + h], zero)
            policy[a, h] = positive * policy[_TOTAL, h] + policy[_SPREAD, h]
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
def _go_down(
    form: SpotForm, others: Tables, them: Any, first: Any, end: Any, local: Any, n: Any,
    learn: bool, reach: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the reach of the other player (`them`, with n holdings) in the segment first .. end -
    1, from that of its first node; adds it to the average strategy if `learn`."""
    nodes, weight, policy = form.nodes, work.number[index(WEIGHT)], work.policy
    column = index(SEQUENCE) + them
    for k in range(first, end):
        if nodes[k, KIND] != DECISION or nodes[k, PLAYER] != them:
            continue
        _set_policy(form, others.source, k, local, n, policy, work.number)
        before = index(nodes[k, column])
        at = index(nodes[k, BASE]) + local * index(nodes[k, SIZE])
        for a in range(index(nodes[k, ACTIONS])):
            after, low = index(nodes[index(nodes[k, CHILD]) + a, column]), at + a * n
            for h in range(n):
                reach[after, h] = reach[before, h] * policy[a, h]
            if learn:
                for h in range(n):
                    others.strategy_sum[low + h] += weight * reach[after, h]


@jit(inner=True)
def _update_regrets(
    form: SpotForm, source: Any, node: Any, local: Any, n: Any, here: Any, child: Any, value: Any,
    total: Any, number: Any,
) -> None:  # fmt: skip
    """Adds the regrets of one of the player's nodes: those of its policy above the floor."""
    count, zero = index(form.nodes[node, ACTIONS]), number[ZERO]
    positive, negative = number[index(POSITIVE)], number[index(NEGATIVE)]
    size = local * index(form.nodes[node, SIZE])
    for h in range(n):
        total[h] = value[here, h]
    if form.nodes[node, FLOOR] >= 0:
        at = index(form.nodes[node, FLOOR]) + size
        for h in range(n):
            free, fixed = number[ONE], zero
            for a in range(count):
                free -= form.floor[at + a * n + h]
                fixed += form.floor[at + a * n + h] * value[child + a, h]
            total[h] = (total[h] - fixed) / free if free > zero else total[h]
    at = index(form.nodes[node, BASE]) + size
    for a in range(count):
        low = at + a * n
        for h in range(n):
            regret = source[low + h] + (value[child + a, h] - total[h])
            source[low + h] = regret * (positive if regret > zero else negative)


@jit(inner=True)
def _take_best(
    form: SpotForm, source: Any, node: Any, local: Any, n: Any, child: Any, value: Any, number: Any
) -> None:
    """Makes `source` the choice of the action with the largest value."""
    at = index(form.nodes[node, BASE]) + local * index(form.nodes[node, SIZE])
    count = index(form.nodes[node, ACTIONS])
    for h in range(n):
        top = ZERO
        for a in range(ONE, count):
            if value[child + a, h] > value[child + top, h]:
                top = a
        for a in range(count):
            source[at + a * n + h] = number[ONE] if a == top else number[ZERO]


@jit(inner=True)
def _go_up(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, board: Any, mode: int,
    reach: Any, value: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the player's values in the segment first .. end - 1, from the other's reach and the
    values of the nodes that lead onward."""
    nodes, source, k = form.nodes, seats.own.source, end
    n, local = index(len(seats.side.cards)), index(form.boards[board, LOCAL])
    while k > first:
        k -= ONE
        here, kind = k - first, nodes[k, KIND]
        if kind == ONWARD:
            continue
        if kind != DECISION:
            row = reach[index(nodes[k, index(SEQUENCE) + ONE - player])]
            if kind == FOLD:
                paid = form.payoff[k, player, ZERO]
                fold(seats.side, seats.other, paid, row, value[here], work.by_card)
            else:
                paid = form.payoff[k, player]
                show_down(seats.side, seats.other, local, paid, row, value[here], work.by_card)
            continue
        child, count = index(nodes[k, CHILD]) - first, index(nodes[k, ACTIONS])
        mine = nodes[k, PLAYER] == player
        if mine:
            if mode == BEST:
                _take_best(form, source, k, local, n, child, value, work.number)
            _set_policy(form, source, k, local, n, work.policy, work.number)
        for h in range(n):
            value[here, h] = work.number[ZERO]
        for a in range(count):
            if mine:
                for h in range(n):
                    value[here, h] += work.policy[a, h] * value[child + a, h]
            else:
                for h in range(n):
                    value[here, h] += value[child + a, h]
        if mine and mode == LEARN:
            total = work.policy[_TOTAL]
            _update_regrets(form, source, k, local, n, here, child, value, total, work.number)


@jit(inner=True)
def _deal(cards: Any, card: Any, reach: Any, out: Any) -> None:
    """Fills `out` with the reach of holdings that do not have the next card."""
    for h in range(index(len(cards))):
        blocked = cards[h, 0] == card or cards[h, 1] == card
        out[h] = 0.0 if blocked else reach[h]


@jit(inner=True)
def _add_board(boards: Any, side: KernelSide, board: Any, child: Any, below: Any, out: Any) -> None:
    """Adds the values `below` on a board after `board`, for all next cards of its orbit."""
    chance = 1.0 / boards[board, LEFT]
    for card in range(_CARDS):
        if boards[board, index(NEXT_CARD) + card] != child:
            continue
        image = side.image[index(boards[board, index(SUITS) + card])]
        for h in range(index(len(side.cards))):
            if side.cards[h, 0] != card and side.cards[h, 1] != card:
                out[h] += chance * below[index(image[h])]


@jit(inner=True)
def _visit(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, board: Any, level: Any,
    mode: int, work: Work,
) -> None:  # fmt: skip
    """Values of a segment on a board of the last or the last but one level, from the reach of its
    first node."""
    nodes, boards, them, learn = form.nodes, form.boards, ONE - player, mode == LEARN
    n, local = index(len(seats.other.cards)), index(boards[board, LOCAL])
    reach, value = work.reach[level], work.value[level]
    _go_down(form, seats.others, them, first, end, local, n, learn, reach, work)
    for k in range(first, end):
        if nodes[k, KIND] != ONWARD:
            continue
        out, low, high = value[k - first], index(nodes[k, NEXT]), index(nodes[k, NEXT_END])
        for h in range(index(len(seats.side.cards))):
            out[h] = 0.0
        row, next_reach = reach[index(nodes[k, index(SEQUENCE) + them])], work.reach[level + ONE]
        for b in range(index(boards[board, FIRST]), index(boards[board, END])):
            _deal(seats.other.cards, boards[b, CARD], row, next_reach[ZERO])
            local_b = index(boards[b, LOCAL])
            _go_down(form, seats.others, them, low, high, local_b, n, learn, next_reach, work)
            below = work.value[level + ONE]
            _go_up(form, seats, player, low, high, b, mode, next_reach, below, work)
            _add_board(boards, seats.side, board, b, below[ZERO], out)
    _go_up(form, seats, player, first, end, board, mode, reach, value, work)


@jit
def traverse(
    form: SpotForm,
    seats: Seats,
    player: int,
    mode: int,
    part: int,
    end: int,  # of the first segment
    thread: int,
    threads: int,
    root: np.ndarray,  # [q, h]: the other's reach on the first street
    below: np.ndarray,  # [boards after the first, nodes of the first segment, h]
    work: Work,
) -> None:
    """Part of a traversal. `START` fills the other's reach on the first street, from that of its
    first node. `BOARDS` fills `below` on every `threads`-th board of the second street from
    `thread` on, at nodes that lead onward. `FINISH` fills the values of the first street."""
    nodes, boards, me = form.nodes, form.boards, index(player)
    them, last, n = ONE - me, index(end), index(len(seats.side.cards))
    first_board, last_board = index(boards[0, FIRST]), index(boards[0, END])
    if part == START:
        many, learn = index(len(seats.other.cards)), mode == LEARN
        _go_down(form, seats.others, them, ZERO, last, ZERO, many, learn, root, work)
    elif part == BOARDS:
        b = first_board + index(thread)
        while b < last_board:
            for k in range(last):
                if nodes[k, KIND] == ONWARD:
                    row = root[index(nodes[k, index(SEQUENCE) + them])]
                    _deal(seats.other.cards, boards[b, CARD], row, work.reach[ONE, ZERO])
                    low, high = index(nodes[k, NEXT]), index(nodes[k, NEXT_END])
                    _visit(form, seats, me, low, high, b, ONE, mode, work)
                    for h in range(n):
                        below[b - first_board, k, h] = work.value[ONE, ZERO, h]
            b += index(threads)
    else:
        for k in range(last):
            if nodes[k, KIND] == ONWARD:
                value = work.value[ZERO, k]
                for h in range(n):
                    value[h] = 0.0
                for b in range(first_board, last_board):
                    _add_board(boards, seats.side, ZERO, b, below[b - first_board, k], value)
        _go_up(form, seats, me, ZERO, last, ZERO, mode, root, work.value[ZERO], work)


def new_work(n_levels: int, sequences: int, nodes: int, holdings: int, dtype: Any) -> Work:
    return Work(
        reach=np.zeros((n_levels, sequences, holdings), dtype=dtype),
        value=np.zeros((n_levels, nodes, holdings), dtype=dtype),
        policy=np.zeros((MOST_ACTIONS + 2, holdings), dtype=dtype),
        by_card=np.zeros(N_CARDS + 1),
        number=np.array([0.0, 1.0, 0.0, 0.0, 0.0], dtype=dtype),
    )
