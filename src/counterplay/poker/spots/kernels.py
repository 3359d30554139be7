"""One traversal of a spot's public tree, with a number for every holding of both ranges.

A player (`own`) is evaluated against the other: the other's reach goes down, the counterfactual
values of the player's holdings come up. At the player's nodes `mode` says what is computed:

- `LEARN`: the mean by regret matching, and the regrets are updated;
- `BEST`: the maximum, and the choice is recorded, unless the player's table is empty;
- `FIXED`: the mean by a given strategy.

Symbols: r_I → `source`, s_I → `strategy_sum`, σ → `policy`, π_-i → `reach`, v(I, a) → `value`. On
the way down the other's reach is added to its average strategy, which costs nothing there: so
iteration t adds the strategy that player 1 has after its update, and that of player 2 before.

The kernels of `poker/vector/street.py` need streets of the same shape after every history, rows of
8 lanes for their starts, and one list of holdings for both players. Stacks give every history
another shape, a river has a single start, and ranges are narrow; so this traversal has loops over
holdings instead, and only folds and showdowns have lanes, which are the other player's action
sequences in a segment (`showdowns.py`). Tables are [board, action, holding] for each node, so that
these loops are contiguous; slots of a strategy are [board, holding, action]. Numbers of nodes and
boards are columns of one array each, since kernels of many arrays take long to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import answers
from counterplay.core.kernels.cache_lines import aligned_rows, cache_aligned
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots.betting import DECISION, FOLD, MOST_ACTIONS, ONWARD, SHOWDOWN
from counterplay.poker.spots.columns import (
    ACTIONS,
    CARD,
    CHILD,
    END,
    FIRST,
    KIND,
    LEFT,
    LOCAL,
    NEXT,
    NEXT_CARD,
    NEXT_END,
    PLAYER,
    SEQUENCE,
    SUITS,
)
from counterplay.poker.spots.decisions import (
    TOTAL,
    WEIGHT,
    SpotForm,
    match_policy,
    set_policy,
    table_start,
    take_best,
    update_regrets,
)
from counterplay.poker.spots.row_kernels import (
    NoRows,
    RowWork,
    new_row_work,
    set_row_values,
    visit_by_rows,
)
from counterplay.poker.spots.showdowns import (
    KernelSide,
    Sums,
    meet,
    new_sums,
    set_fold,
    set_showdown,
    show_down,
    take_reach,
)

LEARN, BEST, FIXED = range(3)
START, BOARDS, FINISH = range(3)  # parts of a traversal
_CARDS, _LANES = index(N_CARDS), index(LANES)


class Tables(NamedTuple):
    """One player's tables, [slots]. `source` gives the strategy by regret matching: regrets, or a
    strategy."""

    source: np.ndarray
    strategy_sum: np.ndarray


class Work(NamedTuple):
    """Buffers of one thread: l levels, q action sequences, n nodes of a segment, h holdings."""

    reach: np.ndarray  # [l, q, h]: of the other player
    value: np.ndarray  # [l, n, h]: of the player
    policy: np.ndarray  # [actions + 2, h, or more rows]
    sums: Sums  # of folds and showdowns
    rows: RowWork | NoRows  # of rivers where both learn by rows
    number: np.ndarray  # [5]: 0, 1, and what an iteration needs, in the precision of the tables


class Seats(NamedTuple):
    """Who is evaluated against whom."""

    own: Tables
    others: Tables
    side: KernelSide
    other: KernelSide


@jit(inner=True)
def _go_down(
    form: SpotForm, seats: Seats, them: Any, first: Any, end: Any, local: Any, learn: bool,
    reach: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the reach of the other player (`them`) in the segment first .. end - 1, from that of
    its first node; adds it to the average strategy, if there is one and `learn`."""
    nodes, weight, policy = form.nodes, work.number[index(WEIGHT)], work.policy
    side, others, column = seats.other, seats.others, index(SEQUENCE) + them
    n, average = index(len(side.cards)), learn and len(others.strategy_sum) > 0
    for k in range(first, end):
        if nodes[k, KIND] != DECISION or nodes[k, PLAYER] != them:
            continue
        set_policy(form, side, others.source, k, local, policy, work.number)
        before = index(nodes[k, column])
        at = table_start(form, side, k, local)
        for a in range(index(nodes[k, ACTIONS])):
            after, low = index(nodes[index(nodes[k, CHILD]) + a, column]), at + a * n
            for h in range(n):
                reach[after, h] = reach[before, h] * policy[a, h]
            if average:
                for h in range(n):
                    others.strategy_sum[low + h] += weight * reach[after, h]


@jit(inner=True)
def _set_ends(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, local: Any, reach: Any,
    value: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the player's values of the folds and showdowns of a segment, for `LANES` of the other
    player's action sequences at a time."""
    nodes, sums, column = form.nodes, work.sums, index(SEQUENCE) + ONE - player
    n, low, left = index(len(seats.side.cards)), ZERO, True
    while left:
        left, folds, shown = False, False, False
        for k in range(first, end):
            sequence, kind = index(nodes[k, column]), nodes[k, KIND]
            left |= sequence >= low + _LANES
            if low <= sequence < low + _LANES:
                folds |= kind == FOLD
                shown |= kind == SHOWDOWN
        if folds or shown:
            take_reach(reach, low, index(len(seats.other.cards)), sums)
            if shown:
                show_down(seats.side, seats.other, local, sums)
            else:
                meet(seats.side, seats.other, sums)
        for k in range(first, end):
            sequence, kind = index(nodes[k, column]), nodes[k, KIND]
            if low <= sequence < low + _LANES:
                paid = form.payoff[k, player]
                if kind == FOLD:
                    set_fold(sums, sequence - low, n, paid[ZERO], value[k - first])
                elif kind == SHOWDOWN:
                    set_showdown(sums, sequence - low, n, paid, value[k - first])
        low += _LANES


@jit(inner=True)
def _go_up(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, board: Any, mode: int,
    reach: Any, value: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the player's values in the segment first .. end - 1, from the other's reach and the
    values of the nodes that lead onward."""
    n, local = index(len(seats.side.cards)), index(form.boards[board, LOCAL])
    _set_ends(form, seats, player, first, end, local, reach, value, work)
    _back_up(form, seats, player, first, end, local, n, mode, False, value, work)


@jit(inline=True)
def _back_up(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, local: Any, n: Any, mode: int,
    in_rows: bool, value: Any, work: Work,
) -> None:  # fmt: skip
    """Fills the values of decisions from those of the ends of a segment, of n holdings, or of rows
    if `in_rows`."""
    nodes, source, k = form.nodes, seats.own.source, end
    while k > first:
        k -= ONE
        here = k - first
        if nodes[k, KIND] != DECISION:
            continue
        child, count = index(nodes[k, CHILD]) - first, index(nodes[k, ACTIONS])
        mine = nodes[k, PLAYER] == player
        if mine:
            if mode == BEST:
                take_best(form, source, k, local, n, child, value, work.policy, work.number)
            elif in_rows:
                match_policy(form, seats.side, source, k, local, work.policy, work.number)
            else:
                set_policy(form, seats.side, source, k, local, work.policy, work.number)
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
            total = work.policy[TOTAL]
            update_regrets(
                form, seats.side, source, k, local, here, child, value, total, work.number
            )


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
def _all_in(nodes: Any, k: Any) -> bool:
    """Whether nothing but a showdown follows a node that leads onward."""
    return bool(nodes[index(nodes[k, NEXT]), KIND] == SHOWDOWN)


@jit(inner=True)
def _run_out(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, board: Any, level: Any,
    work: Work,
) -> None:  # fmt: skip
    """Fills the values of the nodes of a segment after which there is only a showdown, for `LANES`
    of them at a time, from the reach on their street."""
    nodes, boards, sums, column = form.nodes, form.boards, work.sums, index(SEQUENCE) + ONE - player
    n, many, k = index(len(seats.side.cards)), index(len(seats.other.cards)), first
    value = work.value[level]
    while k < end:
        start, count = k, ZERO
        while k < end and count < _LANES:
            if nodes[k, KIND] == ONWARD and _all_in(nodes, k):
                count += ONE
                for h in range(n):
                    value[k - first, h] = 0.0
            k += ONE
        if count == ZERO:
            return
        dealt, below = work.reach[level + ONE], work.value[level + ONE, ZERO]
        for b in range(index(boards[board, FIRST]), index(boards[board, END])):
            lane = ZERO
            for j in range(start, k):
                if nodes[j, KIND] == ONWARD and _all_in(nodes, j):
                    row = work.reach[level, index(nodes[j, column])]
                    _deal(seats.other.cards, boards[b, CARD], row, dealt[lane])
                    lane += ONE
            take_reach(dealt, ZERO, many, sums)
            show_down(seats.side, seats.other, index(boards[b, LOCAL]), sums)
            lane = ZERO
            for j in range(start, k):
                if nodes[j, KIND] == ONWARD and _all_in(nodes, j):
                    paid = form.payoff[index(nodes[j, NEXT]), player]
                    set_showdown(sums, lane, n, paid, below)
                    _add_board(boards, seats.side, board, b, below, value[j - first])
                    lane += ONE


@answers(visit_by_rows, RowWork)
def _visit_by_rows(
    rows: Any, form: Any, seats: Any, player: Any, first: Any, end: Any, local: Any, level: Any,
    work: Any,
) -> Any:  # fmt: skip
    value, learnt = work.value[level], seats.others.strategy_sum
    if set_row_values(
        form, seats, player, first, end, local, work.reach[level, ZERO], value, learnt, rows,
        work.policy, work.number,
    ):  # fmt: skip
        many = index(seats.side.span[local, ONE])
        _back_up(form, seats, player, first, end, local, many, LEARN, True, value, work)
    for h in range(index(len(seats.side.cards))):
        value[ZERO, h] = rows.out[h]


@jit(inner=True)
def _visit(
    form: SpotForm, seats: Seats, player: Any, first: Any, end: Any, board: Any, level: Any,
    mode: int, work: Work,
) -> None:  # fmt: skip
    """Values of a segment on a board of the last or the last but one level, from the reach of its
    first node."""
    nodes, boards, them, learn = form.nodes, form.boards, ONE - player, mode == LEARN
    local = index(boards[board, LOCAL])
    reach, value = work.reach[level], work.value[level]
    by_rows = learn and len(seats.side.row) > 0
    if by_rows and boards[board, FIRST] == boards[board, END]:
        visit_by_rows(work.rows, form, seats, player, first, end, local, level, work)
        return
    _go_down(form, seats, them, first, end, local, learn, reach, work)
    _run_out(form, seats, player, first, end, board, level, work)
    for k in range(first, end):
        if nodes[k, KIND] != ONWARD or _all_in(nodes, k):
            continue
        out, low, high = value[k - first], index(nodes[k, NEXT]), index(nodes[k, NEXT_END])
        for h in range(index(len(seats.side.cards))):
            out[h] = 0.0
        row, next_reach = reach[index(nodes[k, index(SEQUENCE) + them])], work.reach[level + ONE]
        for b in range(index(boards[board, FIRST]), index(boards[board, END])):
            _deal(seats.other.cards, boards[b, CARD], row, next_reach[ZERO])
            local_b, below = index(boards[b, LOCAL]), work.value[level + ONE]
            if by_rows:
                under = level + ONE
                visit_by_rows(work.rows, form, seats, player, low, high, local_b, under, work)
            else:
                _go_down(form, seats, them, low, high, local_b, learn, next_reach, work)
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
        _go_down(form, seats, them, ZERO, last, ZERO, mode == LEARN, root, work)
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


def new_reach(levels: int, sequences: int, holdings: int, dtype: Any) -> np.ndarray:
    """[l, q, h]: buffers for the reach on so many action sequences, which are read `LANES` at a
    time."""
    return aligned_rows((levels, -(-sequences // LANES) * LANES, holdings), dtype)


def new_work(
    levels: int, sequences: int, nodes: int, holdings: int, rows: int, by_rows: bool, dtype: Any
) -> Work:
    return Work(
        reach=new_reach(levels, sequences, holdings, dtype),
        value=aligned_rows((levels, nodes, holdings), dtype),
        policy=aligned_rows((MOST_ACTIONS + 2, max(holdings, rows)), dtype),
        sums=new_sums(holdings),
        rows=new_row_work(sequences, holdings, rows, dtype) if by_rows else NoRows(),
        number=cache_aligned(np.array([0.0, 1.0, 0.0, 0.0, 0.0], dtype=dtype)),
    )
