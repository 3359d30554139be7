"""One traversal of a spot's public tree, with a number for every holding of both ranges.

A player (`own`) is evaluated against the other: the other's reach goes down, the counterfactual
values of the player's holdings come up. At the player's nodes `mode` says what is computed:

- `LEARN`: the mean by regret matching, and the regrets are updated;
- `BEST`: the maximum, and the choice is recorded;
- `FIXED`: the mean by a given strategy.

Symbols: r_I → `regret`, s_I → `strategy_sum`, σ → `policy`, π_-i → `reach`, v(I, a) → `value`. On
the way down the other's reach is added to its average strategy, which costs nothing there: so
iteration t adds the strategy that player 1 has after its update, and that of player 2 before.

The kernels of `poker/vector/street.py` need streets of the same shape after every history, rows of
8 lanes for their starts, and one list of holdings for both players. Stacks give every history
another shape, a river has a single start, and ranges are narrow; so this traversal has loops over
holdings instead. Tables are [board, action, holding] for each node, so that these loops are
contiguous; slots of a strategy are [board, holding, action].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots.betting import DECISION, FOLD, MOST_ACTIONS, ONWARD, SpotTree
from counterplay.poker.spots.cards import Boards, Side
from counterplay.poker.spots.showdowns import fold, show_down

LEARN, BEST, FIXED = range(3)
_CARDS = index(N_CARDS)
_BASE = 2  # of the constants in `Work.number`: 0 and 1
WEIGHT, POSITIVE, NEGATIVE = range(_BASE, _BASE + 3)


class SpotForm(NamedTuple):
    """What a traversal reads."""

    tree: SpotTree
    boards: Boards
    payoff: np.ndarray  # [n, 2, 3]: as in the tree
    base: np.ndarray  # int64[n]: where the table of a node begins
    size: np.ndarray  # int64[n]: of its table for one board


class Tables(NamedTuple):
    """One player's tables, [slots]. `source` gives the strategy by regret matching: regrets, or a
    strategy."""

    source: np.ndarray
    strategy_sum: np.ndarray
    floor: np.ndarray  # [boards, actions, holdings] for each locked node: least probabilities
    floor_at: np.ndarray  # int64[n]: where those of a node begin; -1 where there are none


class Work(NamedTuple):
    """Buffers of one thread: l levels, q action sequences, n nodes of a segment, h holdings."""

    reach: np.ndarray  # [l, q, h]: of the other player
    value: np.ndarray  # [l, n, h]: of the player
    policy: np.ndarray  # [actions, h]
    total: np.ndarray  # [h]
    spread: np.ndarray  # [h]
    by_card: np.ndarray  # float64[53]: sums of reach by card, and of all
    number: np.ndarray  # [5]: 0, 1, and what an iteration needs, in the precision of the tables


def new_work(form: SpotForm, sides: tuple[Side, Side], dtype: Any) -> Work:
    levels = len(form.boards.chance)
    nodes = int(np.diff(form.tree.first_node).max())
    holdings = max(len(side.holding) for side in sides)
    return Work(
        reach=np.zeros((levels, int(form.tree.n_sequences.max()), holdings), dtype=dtype),
        value=np.zeros((levels, nodes, holdings), dtype=dtype),
        policy=np.zeros((MOST_ACTIONS, holdings), dtype=dtype),
        total=np.zeros(holdings, dtype=dtype),
        spread=np.zeros(holdings, dtype=dtype),
        by_card=np.zeros(N_CARDS + 1),
        number=np.array([0.0, 1.0, 0.0, 0.0, 0.0], dtype=dtype),
    )


@jit(inner=True)
def _block(form: SpotForm, node: Any, level: Any, board: Any) -> Any:
    """Where the table of a node on a board begins."""
    local = board - index(form.boards.first[level])
    return index(form.base[node]) + local * index(form.size[node])


@jit(inner=True)
def _set_policy(
    form: SpotForm, tables: Tables, node: Any, level: Any, board: Any, n: Any, work: Work
) -> None:
    """Fills `work.policy` by regret matching, above the floor of a locked node."""
    count, at = index(form.tree.n_actions[node]), _block(form, node, level, board)
    source, total, spread, policy = tables.source, work.total, work.spread, work.policy
    zero, one = work.number[ZERO], work.number[ONE]
    for h in range(n):
        total[h] = zero
    for a in range(count):
        low = at + a * n
        for h in range(n):
            total[h] += max(source[low + h], zero)
    uniform = one
    for _ in range(count - ONE):
        uniform += one
    uniform = one / uniform
    for h in range(n):
        positive = total[h] > zero
        spread[h] = zero if positive else uniform
        total[h] = one / total[h] if positive else zero
    for a in range(count):
        low = at + a * n
        for h in range(n):
            policy[a, h] = max(source[low + h], zero) * total[h] + spread[h]
    if tables.floor_at[node] >= 0:
        _raise_to_floor(form, tables, node, level, board, n, work)


@jit(inner=True)
def _floor_block(form: SpotForm, tables: Tables, node: Any, level: Any, board: Any) -> Any:
    local = board - index(form.boards.first[level])
    return index(tables.floor_at[node]) + local * index(form.size[node])


@jit(inner=True)
def _raise_to_floor(
    form: SpotForm, tables: Tables, node: Any, level: Any, board: Any, n: Any, work: Work
) -> None:
    """Replaces `work.policy` by floor + (1 - Σ floor) · policy."""
    count, at = index(form.tree.n_actions[node]), _floor_block(form, tables, node, level, board)
    for h in range(n):
        free = work.number[ONE]
        for a in range(count):
            free -= tables.floor[at + a * n + h]
        free = max(free, work.number[ZERO])
        for a in range(count):
            low = at + a * n
            work.policy[a, h] = tables.floor[low + h] + free * work.policy[a, h]


@jit(inner=True)
def go_down(
    form: SpotForm, other: Tables, player: Any, segment: Any, level: Any, board: Any, n: Any,
    learn: bool, work: Work,
) -> None:  # fmt: skip
    """Fills the reach of the other player (`player`, with n holdings) in a segment, from that of
    its first node; adds it to the average strategy if `learn`."""
    tree, reach, weight = form.tree, work.reach[level], work.number[index(WEIGHT)]
    for k in range(index(tree.first_node[segment]), index(tree.first_node[segment + ONE])):
        if tree.kind[k] != DECISION or tree.player[k] != player:
            continue
        _set_policy(form, other, k, level, board, n, work)
        before, at = index(tree.sequence[k, player]), _block(form, k, level, board)
        for a in range(index(tree.n_actions[k])):
            after = index(tree.sequence[index(tree.first_child[k]) + a, player])
            for h in range(n):
                reach[after, h] = reach[before, h] * work.policy[a, h]
            if learn:
                low = at + a * n
                for h in range(n):
                    other.strategy_sum[low + h] += weight * reach[after, h]


@jit(inner=True)
def _mean(work: Work, level: Any, here: Any, child: Any, count: Any, n: Any) -> None:
    """Sets a value to the mean of those of its children by `work.policy`."""
    value, policy = work.value[level], work.policy
    for h in range(n):
        value[here, h] = policy[ZERO, h] * value[child, h]
    for a in range(ONE, count):
        for h in range(n):
            value[here, h] += policy[a, h] * value[child + a, h]


@jit(inner=True)
def _update_regrets(
    form: SpotForm, own: Tables, node: Any, level: Any, board: Any, n: Any, here: Any, child: Any,
    work: Work,
) -> None:  # fmt: skip
    """Adds the regrets of one of the player's nodes: those of its policy above the floor."""
    value, total, count = work.value[level], work.total, index(form.tree.n_actions[node])
    positive, negative = work.number[index(POSITIVE)], work.number[index(NEGATIVE)]
    zero, at = work.number[ZERO], _block(form, node, level, board)
    for h in range(n):
        total[h] = value[here, h]
    if own.floor_at[node] >= 0:
        low = _floor_block(form, own, node, level, board)
        for h in range(n):
            free, fixed = work.number[ONE], zero
            for a in range(count):
                free -= own.floor[low + a * n + h]
                fixed += own.floor[low + a * n + h] * value[child + a, h]
            total[h] = (total[h] - fixed) / free if free > zero else total[h]
    for a in range(count):
        low = at + a * n
        for h in range(n):
            regret = own.source[low + h] + (value[child + a, h] - total[h])
            own.source[low + h] = regret * (positive if regret > zero else negative)


@jit(inner=True)
def _best(
    form: SpotForm, own: Tables, node: Any, level: Any, board: Any, n: Any, here: Any, child: Any,
    work: Work,
) -> None:  # fmt: skip
    """Sets a value to the largest of those of its children, above the floor of a locked node; the
    probabilities of the actions replace `own.source`."""
    value, count = work.value[level], index(form.tree.n_actions[node])
    zero, at = work.number[ZERO], _block(form, node, level, board)
    for h in range(n):
        top = ZERO
        for a in range(ONE, count):
            if value[child + a, h] > value[child + top, h]:
                top = a
        for a in range(count):
            own.source[at + a * n + h] = work.number[ONE] if a == top else zero
    _set_policy(form, own, node, level, board, n, work)
    _mean(work, level, here, child, count, n)
    for a in range(count):
        low = at + a * n
        for h in range(n):
            own.source[low + h] = work.policy[a, h]


@jit(inner=True)
def go_up(
    form: SpotForm, own: Tables, side: Side, other: Side, player: Any, segment: Any, level: Any,
    board: Any, mode: int, work: Work,
) -> None:  # fmt: skip
    """Fills the player's values in a segment, from the other's reach and the values of the nodes
    that lead onward."""
    tree, n = form.tree, index(len(side.holding))
    first, k = index(tree.first_node[segment]), index(tree.first_node[segment + ONE])
    river = board - index(form.boards.first[level])
    while k > first:
        k -= ONE
        here, kind = k - first, tree.kind[k]
        if kind == ONWARD:
            continue
        if kind != DECISION:
            reach = work.reach[level, index(tree.sequence[k, ONE - player])]
            value, payoff = work.value[level, here], form.payoff[k, player]
            if kind == FOLD:
                fold(side, other, payoff[0], reach, value, work.by_card)
            else:
                show_down(side, other, river, payoff, reach, value, work.by_card)
            continue
        child, count = index(tree.first_child[k]) - first, index(tree.n_actions[k])
        if tree.player[k] != player:
            value = work.value[level]
            for h in range(n):
                value[here, h] = value[child, h]
            for a in range(ONE, count):
                for h in range(n):
                    value[here, h] += value[child + a, h]
        elif mode == BEST:
            _best(form, own, k, level, board, n, here, child, work)
        else:
            _set_policy(form, own, k, level, board, n, work)
            _mean(work, level, here, child, count, n)
            if mode == LEARN:
                _update_regrets(form, own, k, level, board, n, here, child, work)


@jit(inner=True)
def _deal(reach: Any, side: Side, card: Any, out: Any) -> None:
    """Fills `out` with the reach of holdings that do not have the next card."""
    for h in range(index(len(side.holding))):
        blocked = side.cards[h, 0] == card or side.cards[h, 1] == card
        out[h] = 0.0 if blocked else reach[h]


@jit(inner=True)
def _add_board(
    form: SpotForm, side: Side, level: Any, board: Any, child: Any, below: Any, out: Any
) -> None:
    """Adds the values `below` on a board after `board`, for all next cards of its orbit."""
    chance = form.boards.chance[level]
    for card in range(_CARDS):
        if form.boards.child[board, card] != child:
            continue
        image = side.image[index(form.boards.perm[board, card])]
        for h in range(index(len(side.holding))):
            if side.cards[h, 0] != card and side.cards[h, 1] != card:
                out[h] += chance * below[index(image[h])]


@jit(inner=True)
def _visit(
    form: SpotForm, own: Tables, others: Tables, side: Side, other: Side, player: Any,
    segment: Any, level: Any, board: Any, mode: int, work: Work,
) -> None:  # fmt: skip
    """Values of a segment on a board of the last or the last but one level, from the reach of its
    first node."""
    tree, learn = form.tree, mode == LEARN
    n, them = index(len(other.holding)), ONE - player
    go_down(form, others, them, segment, level, board, n, learn, work)
    if level + ONE < index(len(form.boards.chance)):
        first = index(tree.first_node[segment])
        for k in range(first, index(tree.first_node[segment + ONE])):
            if tree.kind[k] != ONWARD:
                continue
            value, reach = work.value[level, k - first], work.reach[level]
            for h in range(index(len(side.holding))):
                value[h] = 0.0
            for b in range(
                index(form.boards.child_first[board]), index(form.boards.child_first[board + ONE])
            ):
                below, after = level + ONE, index(tree.next_segment[k])
                row = reach[index(tree.sequence[k, them])]
                _deal(row, other, form.boards.card[b], work.reach[below, ZERO])
                go_down(form, others, them, after, below, b, n, learn, work)
                go_up(form, own, side, other, player, after, below, b, mode, work)
                _add_board(form, side, level, board, b, work.value[below, ZERO], value)
    go_up(form, own, side, other, player, segment, level, board, mode, work)


@jit
def start(
    form: SpotForm, others: Tables, other: Side, player: int, learn: bool, work: Work
) -> None:
    """Fills the other's reach on the first street."""
    n = index(len(other.holding))
    for h in range(n):
        work.reach[ZERO, ZERO, h] = other.weight[h]
    go_down(form, others, index(1 - player), ZERO, ZERO, ZERO, n, learn, work)


@jit
def visit_boards(
    form: SpotForm, own: Tables, others: Tables, side: Side, other: Side, player: int, mode: int,
    root: np.ndarray, thread: int, threads: int, work: Work, out: np.ndarray,
) -> None:  # fmt: skip
    """Fills `out`, [boards of level 1, nodes of the first segment, holdings], for every
    `threads`-th board from `thread` on, at nodes that lead onward. `root`: the other's reach on
    the first street."""
    tree, them = form.tree, ONE - index(player)
    first = index(form.boards.child_first[ZERO])
    last = index(form.boards.child_first[ONE])
    b = first + index(thread)
    while b < last:
        for k in range(index(tree.first_node[ONE])):
            if tree.kind[k] == ONWARD:
                row = root[index(tree.sequence[k, them])]
                _deal(row, other, form.boards.card[b], work.reach[ONE, ZERO])
                after = index(tree.next_segment[k])
                _visit(
                    form, own, others, side, other, index(player), after, ONE, b, mode, work
                )
                for h in range(index(len(side.holding))):
                    out[b - first, k, h] = work.value[ONE, ZERO, h]
        b += index(threads)


@jit
def finish(
    form: SpotForm, own: Tables, side: Side, other: Side, player: int, mode: int, work: Work,
    below: np.ndarray,
) -> None:  # fmt: skip
    """Fills `work.value` of the first segment, from what `visit_boards` found."""
    tree, n = form.tree, index(len(side.holding))
    first = index(form.boards.child_first[ZERO])
    last = index(form.boards.child_first[ONE])
    for k in range(index(tree.first_node[ONE])):
        if tree.kind[k] == ONWARD:
            value = work.value[ZERO, k]
            for h in range(n):
                value[h] = 0.0
            for b in range(first, last):
                _add_board(form, side, ZERO, ZERO, b, below[b - first, k], value)
    go_up(form, own, side, other, index(player), ZERO, ZERO, ZERO, mode, work)
