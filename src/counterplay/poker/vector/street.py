"""One street of the public tree on one board, with a number for every private holding.

Four kinds of kernels make up every computation, two of them in `learner_tables.py`:

- `match_regrets`, `follow_policy`, `follow_choices`: regrets, a policy or pure choices become the
  probabilities of a player's own action sequences;
- `pass_down`: reach probabilities at the start of the street become those at its onward ends;
- `evaluate`: the opponent's reach probabilities become the counterfactual values of a player, by
  its policy or by the maximum at its nodes;
- `update_tables`: counterfactual values become regrets, own reach the average strategy.

Symbols: r_I → `regret`, s_I → `strategy_sum`, σ → `policy`, π_i and π_-i → `reach`, v(I, a) →
`action_value`. A street is processed at `LANES` of its starts at once (`public_tree.py`); arrays of
a group of starts have the lanes last. A *row* is what a seat distinguishes on this board, a bucket
or a holding; `row[h]` is the row of holding h.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.cache_lines import aligned_zeros
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES, add_others, set_product, set_sum
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import (
    ALL,
    Reach,
    back_up,
    clear,
    mark_reached,
    set_unblocked,
    sum_reach,
    sum_weaker,
)

_LANES = index(LANES)
_ALL = index(ALL)


class RowStrategy(NamedTuple):
    """A seat's strategy on a street of a board: g groups, r rows, n nodes, q own action
    sequences."""

    policy: np.ndarray  # [g, r, n * LANES]: probability of the action that leads to a node
    path: np.ndarray  # [g, r, q * LANES]: probability of each own action sequence
    showdown_path: np.ndarray  # [g, r, w]: of those with a showdown
    fold_path: np.ndarray  # [g, r, w]: of those with a fold


def new_row_strategy(street: Street, player: int, rows: int, dtype: Any) -> RowStrategy:
    """Returns a strategy of zeros."""
    groups, nodes = street.public_node.shape[:2]
    counts = (street.n_sequences, street.n_showdowns, street.n_folds)
    widths = (nodes, *(int(count[player]) for count in counts))
    return RowStrategy(*(aligned_zeros((groups, rows, n * LANES), dtype) for n in widths))


class StreetWorkspace(NamedTuple):
    """Buffers of one thread: n holdings, w action sequences times lanes."""

    reach: np.ndarray  # [2, n, LANES]: the opponent's and its model's, in the order of the board
    opponent_row: np.ndarray  # int64[2, n]: in the order of the board
    weaker: np.ndarray  # [n, w]: results of `sum_weaker`
    row: np.ndarray  # [2, w]
    sums: np.ndarray  # [2, cards + 1, w]: of showdowns and folds
    value: np.ndarray  # [nodes * LANES]: values of one holding
    reached: np.ndarray  # bool[n]
    share: np.ndarray  # [2]: ones, since the weights of a mixture are in its reach
    half: np.ndarray  # [1]: 0.5


def new_street_workspace(streets: tuple[Street, ...], holdings: int, dtype: Any) -> StreetWorkspace:
    nodes = max(len(street.player) for street in streets) * LANES
    width = max(int(street.n_sequences.max()) for street in streets) * LANES
    return StreetWorkspace(
        reach=aligned_zeros((2, holdings, LANES), dtype),
        opponent_row=np.zeros((2, holdings), dtype=np.int64),
        weaker=aligned_zeros((holdings, width), dtype),
        row=aligned_zeros((2, width), dtype),
        sums=aligned_zeros((2, ALL + 1, width), dtype),
        value=aligned_zeros((nodes,), dtype),
        reached=np.zeros(holdings, dtype=np.bool_),
        share=np.ones(2, dtype=dtype),
        half=np.array([0.5], dtype=dtype),
    )


@jit(inner=True)
def follow(
    street: Street, player: int, low: Any, high: Any, policy: Any, path: Any, showdown_path: Any,
    fold_path: Any,
) -> None:  # fmt: skip
    """Fills the probabilities of the action sequences of rows low .. high - 1 from their policy."""
    wide, policy_wide = index(path.shape[1]), index(policy.shape[1])
    for row in range(low, high):
        at, own = row * wide, row * policy_wide
        for lane in range(_LANES):
            path[row, lane] = 1.0
        for k in range(index(len(street.player))):
            if street.player[k] != player:
                continue
            before = at + index(street.sequence[player, k]) * _LANES
            for c in range(index(street.first_child[k]), index(street.first_child[k + ONE])):
                after = at + index(street.sequence[player, c]) * _LANES
                set_product(path, before, policy, own + c * _LANES, path, after, ONE)
        for q in range(index(street.n_sequences[player])):
            showdown, fold = street.showdown_index[player, q], street.fold_index[player, q]
            if showdown >= 0:
                to = row * index(showdown_path.shape[1]) + index(showdown) * _LANES
                set_sum(path, at + q * _LANES, showdown_path, to, ONE)
            if fold >= 0:
                to = row * index(fold_path.shape[1]) + index(fold) * _LANES
                set_sum(path, at + q * _LANES, fold_path, to, ONE)


@jit(inline=True)
def follow_row(street: Street, player: int, g: Any, r: Any, strategy: RowStrategy) -> None:
    """As `follow`, for row r of group g."""
    follow(
        street, player, r, r + ONE, strategy.policy[g], strategy.path[g], strategy.showdown_path[g],
        strategy.fold_path[g],
    )  # fmt: skip


@jit
def follow_policy(street: Street, player: int, used: np.ndarray, strategy: RowStrategy) -> None:
    """Fills the probabilities of action sequences from `strategy.policy`."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            follow_row(street, player, g, index(used[j]), strategy)


@jit
def follow_choices(
    street: Street, player: int, choice: np.ndarray, used: np.ndarray, strategy: RowStrategy
) -> None:
    """Fills a pure strategy: `choice[g, r, k * LANES + lane]` is the action at node k."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                low = index(street.first_child[k])
                for c in range(low, index(street.first_child[k + ONE])):
                    for lane in range(_LANES):
                        taken = choice[g, r, k * _LANES + lane] == c - low
                        strategy.policy[g, r, c * _LANES + lane] = 1.0 if taken else 0.0
            follow_row(street, player, g, r, strategy)


@jit(inner=True)
def pass_to_end(
    street: Street, player: int, e: Any, n: Any, place: Any, row: Any, path: Any, reach: Any,
    out: Any,
) -> None:  # fmt: skip
    """Fills `out` with the reach of `player` after onward end e; holdings are those at `place`."""
    sequence, wide = index(street.sequence[player, index(street.onward[e])]), index(path.shape[1])
    for k in range(n):
        h = index(place[k])
        at = index(row[h]) * wide + sequence * _LANES
        set_product(reach, h * _LANES, path, at, out, h * _LANES, ONE)


@jit(inner=True)
def pass_to_lanes(
    street: Street, player: int, group: Any, n: Any, place: Any, row: Any, path: Any, reach: Any,
    out: Any,
) -> None:  # fmt: skip
    """As `pass_to_end` after the first street, where every onward end has a lane: those of a group
    of the next street."""
    for lane in range(_LANES):
        e = group * _LANES + lane
        used = e < index(len(street.onward))
        node = index(street.onward[e if used else ZERO])
        sequence = index(street.sequence[player, node]) * _LANES
        for k in range(n):
            h = index(place[k])
            out[h, lane] = reach[h, ZERO] * path[index(row[h]), sequence] if used else 0.0


@jit
def pass_down(
    street: Street, player: int, row: np.ndarray, strategy: RowStrategy, board: Board,
    opening: bool, reach: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Fills `out[g * ends + e]` with the reach of `player` after onward end e, from `reach[g]`. On
    the first street (`opening`) each end becomes a lane instead."""
    ends, n = index(len(street.onward)), index(board.size[0])
    for below in range(index(len(out))):
        g = ZERO if opening else below // ends
        path, start = strategy.path[g], reach[g]
        if opening:
            pass_to_lanes(street, player, below, n, board.holding, row, path, start, out[below])
        else:
            e = below % ends
            pass_to_end(street, player, e, n, board.holding, row, path, start, out[below])


@jit(inline=True)
def _record_choices(street: Street, player: Any, value: Any, choice: Any) -> None:
    """Fills `choice` with the action of the largest value at each of the player's nodes."""
    for k in range(index(len(street.player))):
        if street.player[k] == player:
            low = index(street.first_child[k])
            for lane in range(_LANES):
                best, most = ZERO, value[low * _LANES + lane]
                for c in range(low + ONE, index(street.first_child[k + ONE])):
                    if value[c * _LANES + lane] > most:
                        best, most = c - low, value[c * _LANES + lane]
                choice[k * _LANES + lane] = best


@jit(inline=True)
def _add_action_values(street: Street, player: Any, times: Any, value: Any, out: Any) -> None:
    """Adds the values of the player's actions to those of a row."""
    for k in range(index(len(street.player))):
        if street.player[k] == player:
            first = index(street.first_child[k]) * _LANES
            for at in range(first, index(street.first_child[k + ONE]) * _LANES):
                out[at] += times * value[at]


class Opponent(NamedTuple):
    """What an evaluation needs of the opponent. A `restricted` one plays a model in part of its
    hands; the reach of both has their probabilities in it."""

    row: np.ndarray  # int64[holdings]
    strategy: RowStrategy
    reach: np.ndarray  # [g, holdings, LANES]: at the start of the street
    model_row: np.ndarray
    model: RowStrategy
    model_reach: np.ndarray
    restricted: bool


class Onward(NamedTuple):
    """Values after the onward ends of a street."""

    value: np.ndarray  # [g * ends, holdings, LANES]
    scale: float


@jit(inline=True)
def _opponent_reach(opponent: Opponent, path: Any, model_path: Any, work: StreetWorkspace) -> Reach:
    """Returns the opponent's reach on the action sequences of `path`."""
    return Reach(
        work.reach[0], path, work.opponent_row[0], work.reach[1], model_path, work.opponent_row[1],
        work.share, opponent.restricted,
    )  # fmt: skip


@jit(inline=True)
def value_start(
    street: Street,
    g: Any,
    player: int,
    best: int,
    board: Board,
    place: Any,  # int64[n]: where the numbers of the board's holdings are
    opening: bool,
    final: bool,
    folding: Reach,  # the opponent's reach at folds
    showing: Reach,  # and at showdowns
    own_row: Any,
    policy: Any,  # [r, n * LANES]
    onward: Onward,  # of this group
    times: float,
    work: StreetWorkspace,  # `reached` is that of the opponent
    out: Any,  # [holdings, LANES]
    record: bool,
    choice: Any,  # [holdings, n * LANES]
    collect: bool,
    action_value: Any,  # [r, n * LANES]
) -> None:
    """As `evaluate`, for one group of starts."""
    other, n = 1 - player, index(board.size[0])
    n_showdowns, n_folds = index(street.n_showdowns[other]), index(street.n_folds[other])
    showdowns, folds, weaker, value = work.sums[0], work.sums[1], work.weaker, work.value
    wide, row_wide, half = index(showdowns.shape[1]), index(weaker.shape[1]), work.half[0]
    payoff, own_wide = street.payoff[player, g], index(policy.shape[1])
    clear(folds, ALL + 1, n_folds * _LANES)
    sum_reach(board, folding, work.reached, n_folds, work.row[0], folds)
    if final:
        clear(showdowns, ALL + 1, n_showdowns * _LANES)
        sum_weaker(board, showing, work.reached, n_showdowns, work.row[0], showdowns, weaker)
        for card in range(_ALL + ONE):  # from twice the reach of all holdings to minus once
            for w in range(n_showdowns * _LANES):
                showdowns[card, w] *= -half
    for k in range(n):
        h = index(place[k])
        r = index(own_row[h])
        if final:
            low, high = index(board.low[k]) * wide, index(board.high[k]) * wide
            add_others(
                showdowns, _ALL * wide, showdowns, low, showdowns, high, weaker, k * row_wide,
                n_showdowns,
            )  # fmt: skip
        set_unblocked(board, k, folding, work.reached, n_folds, work.row, folds)
        for e in range(index(len(street.terminals))):
            c = index(street.terminals[e])
            sequence = index(street.sequence[other, c])
            if street.folded[c] == NO_FOLD:
                at = k * row_wide + index(street.showdown_index[other, sequence]) * _LANES
                set_product(payoff, c * _LANES, weaker, at, value, c * _LANES, ONE)
            else:
                at = index(street.fold_index[other, sequence]) * _LANES
                set_product(payoff, c * _LANES, work.row[1], at, value, c * _LANES, ONE)
        for e in range(index(len(street.onward))):
            at = index(street.onward[e]) * _LANES
            if opening:
                value[at] = onward.scale * onward.value[e // _LANES, h, e % _LANES]
                continue
            for lane in range(_LANES):
                value[at + lane] = onward.scale * onward.value[e, h, lane]
        node = index(len(street.player))
        while node > ZERO:
            node -= ONE
            if street.player[node] >= 0:
                back_up(street, node, player, best, policy, r * own_wide, value)
        if record:
            _record_choices(street, player, value, choice[h])
        if collect:
            _add_action_values(street, player, times, value, action_value[r])
        for lane in range(_LANES):
            out[h, lane] += times * value[lane]


@jit
def evaluate(
    street: Street,
    player: int,
    best: int,  # whether the player takes the maximum at its nodes, or is `BIASED`
    board: Board,
    opening: bool,  # whether this is the first street
    final: bool,  # whether it is the last
    opponent: Opponent,
    own_row: np.ndarray,  # int64[holdings]: the player's rows
    own: np.ndarray,  # [g, r, n * LANES]: the player's policy
    onward: Onward,
    times: float,  # factor of the results
    work: StreetWorkspace,
    out: np.ndarray,  # [g, holdings, LANES]: values at the start are added
    record: bool,
    choice: np.ndarray,  # uint8[g, holdings, n * LANES]: the best actions, if `record`
    collect: bool,
    action_value: np.ndarray,  # [g, r, n * LANES]: values are added by row, if `collect`
) -> None:
    """Adds the player's counterfactual value of every holding: a sum over the opponent's holdings,
    weighted by their reach."""
    n, ends, model = index(board.size[0]), len(street.onward), opponent.model
    for k in range(n):
        h = index(board.holding[k])
        work.opponent_row[0, k] = opponent.row[h]
        work.opponent_row[1, k] = opponent.model_row[h]
    for g in range(len(street.public_node)):
        for k in range(n):
            h = index(board.holding[k])
            for lane in range(_LANES):
                work.reach[0, k, lane] = opponent.reach[g, h, lane]
            if opponent.restricted:
                for lane in range(_LANES):
                    work.reach[1, k, lane] = opponent.model_reach[g, h, lane]
        strategy = opponent.strategy
        folding = _opponent_reach(opponent, strategy.fold_path[g], model.fold_path[g], work)
        showing = _opponent_reach(opponent, strategy.showdown_path[g], model.showdown_path[g], work)
        if not mark_reached(folding, int(n), work.reached) and final and not record:
            continue
        first = 0 if opening else g * ends
        value_start(
            street, g, player, best, board, board.holding, opening, final, folding, showing,
            own_row, own[g], Onward(onward.value[first:], onward.scale), times, work, out[g],
            record, choice[g % len(choice)], collect, action_value[g % len(action_value)],
        )  # fmt: skip
