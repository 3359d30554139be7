"""One street of the public tree on one board, with a number for every private holding.

Four kinds of kernels make up every computation:

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

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES, add_others, set_product
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
    return RowStrategy(*(np.zeros((groups, rows, n * LANES), dtype=dtype) for n in widths))


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
        reach=np.zeros((2, holdings, LANES), dtype=dtype),
        opponent_row=np.zeros((2, holdings), dtype=np.int64),
        weaker=np.zeros((holdings, width), dtype=dtype),
        row=np.zeros((2, width), dtype=dtype),
        sums=np.zeros((2, ALL + 1, width), dtype=dtype),
        value=np.zeros(nodes, dtype=dtype),
        reached=np.zeros(holdings, dtype=np.bool_),
        share=np.ones(2, dtype=dtype),
        half=np.array([0.5], dtype=dtype),
    )


@jit(inner=True)
def _follow(street: Street, player: int, g: int, r: int, strategy: RowStrategy) -> None:
    """Fills the probabilities of a row's action sequences from its policy."""
    group, row = index(g), index(r)
    path, policy = strategy.path[group, row], strategy.policy[group, row]
    for lane in range(_LANES):
        path[lane] = 1.0
    for k in range(index(len(street.player))):
        if street.player[k] != player:
            continue
        before = index(street.sequence[player, k]) * _LANES
        for c in range(index(street.first_child[k]), index(street.first_child[k + ONE])):
            after = index(street.sequence[player, c]) * _LANES
            for lane in range(_LANES):
                path[after + lane] = path[before + lane] * policy[c * _LANES + lane]
    for q in range(index(street.n_sequences[player])):
        showdown, fold = street.showdown_index[player, q], street.fold_index[player, q]
        for lane in range(_LANES):
            probability = path[q * _LANES + lane]
            if showdown >= 0:
                strategy.showdown_path[group, row, index(showdown) * _LANES + lane] = probability
            if fold >= 0:
                strategy.fold_path[group, row, index(fold) * _LANES + lane] = probability


@jit(inline=True)
def _match_regrets(street: Street, k: Any, regret: Any, policy: Any) -> None:
    """Regret matching at node k, lane by lane."""
    low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
    for lane in range(_LANES):
        total = regret[ZERO] * 0
        for c in range(low, high):
            total += max(regret[c * _LANES + lane], 0)
        for c in range(low, high):
            at = c * _LANES + lane
            if total > 0:
                policy[at] = max(regret[at], 0) / total
            else:
                policy[at] = 1.0 / (high - low)


@jit
def match_regrets(
    street: Street, player: int, regret: np.ndarray, used: np.ndarray, strategy: RowStrategy
) -> None:
    """Fills the strategy of the rows listed in `used` by regret matching."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            for k in range(index(len(street.player))):
                if street.player[k] == player:
                    _match_regrets(street, k, regret[g, r], strategy.policy[g, r])
            _follow(street, player, int(g), int(r), strategy)


@jit
def follow_policy(street: Street, player: int, used: np.ndarray, strategy: RowStrategy) -> None:
    """Fills the probabilities of action sequences from `strategy.policy`."""
    for g in range(len(street.public_node)):
        for j in range(index(len(used))):
            _follow(street, player, g, int(used[j]), strategy)


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
            _follow(street, player, int(g), int(r), strategy)


@jit
def pass_down(
    street: Street, player: int, row: np.ndarray, strategy: RowStrategy, board: Board,
    opening: bool, reach: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Fills `out[g * ends + e]` with the reach of `player` after onward end e, from `reach[g]`. On
    the first street (`opening`) each end becomes a lane instead."""
    ends = index(len(street.onward))
    for g in range(index(len(street.public_node))):
        path, wide = strategy.path[g], index(strategy.path.shape[2])
        for e in range(ends):
            sequence = index(street.sequence[player, index(street.onward[e])]) * _LANES
            for k in range(index(board.size[0])):
                h = index(board.holding[k])
                r = index(row[h])
                if opening:
                    out[e // _LANES, h, e % _LANES] = reach[g, h, ZERO] * path[r, sequence]
                else:
                    at = r * wide + sequence
                    below = out[g * ends + e]
                    set_product(reach[g], h * _LANES, path, at, below, h * _LANES, ONE)


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


@jit
def evaluate(
    street: Street,
    player: int,
    best: bool,  # whether the player takes the maximum at its nodes
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
    other, n, ends = 1 - player, index(board.size[0]), index(len(street.onward))
    n_showdowns, n_folds = index(street.n_showdowns[other]), index(street.n_folds[other])
    wide, row_wide = index(work.sums.shape[2]), index(work.weaker.shape[1])
    own_wide, value, model, half = index(own.shape[2]), work.value, opponent.model, work.half[0]
    showdowns, folds, weaker = work.sums[0], work.sums[1], work.weaker
    for k in range(n):
        h = index(board.holding[k])
        work.opponent_row[0, k] = opponent.row[h]
        work.opponent_row[1, k] = opponent.model_row[h]
    for g in range(index(len(street.public_node))):
        for k in range(n):
            h = index(board.holding[k])
            for lane in range(_LANES):
                work.reach[0, k, lane] = opponent.reach[g, h, lane]
            if opponent.restricted:
                for lane in range(_LANES):
                    work.reach[1, k, lane] = opponent.model_reach[g, h, lane]
        folding = _opponent_reach(
            opponent, opponent.strategy.fold_path[g], model.fold_path[g], work
        )
        any_reached = mark_reached(folding, int(n), work.reached)
        if final and not any_reached and not record:
            continue
        clear(folds, ALL + 1, n_folds * _LANES)
        sum_reach(board, folding, work.reached, n_folds, work.row[0], folds)
        if final:
            path, model_path = opponent.strategy.showdown_path[g], model.showdown_path[g]
            showing = _opponent_reach(opponent, path, model_path, work)
            clear(showdowns, ALL + 1, n_showdowns * _LANES)
            sum_weaker(board, showing, work.reached, n_showdowns, work.row[0], showdowns, weaker)
            for card in range(_ALL + ONE):  # from twice the reach of all holdings to minus once
                for w in range(n_showdowns * _LANES):
                    showdowns[card, w] *= -half
        payoff, policy, values = street.payoff[player, g], own[g], out[g]
        for k in range(n):
            h, r = index(board.holding[k]), index(own_row[index(board.holding[k])])
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
            for e in range(ends):
                at = index(street.onward[e]) * _LANES
                if opening:
                    value[at] = onward.scale * onward.value[e // _LANES, h, e % _LANES]
                    continue
                for lane in range(_LANES):
                    value[at + lane] = onward.scale * onward.value[g * ends + e, h, lane]
            node = index(len(street.player))
            while node > ZERO:
                node -= ONE
                if street.player[node] >= 0:
                    back_up(street, node, player, best, policy, r * own_wide, value)
            if record:
                _record_choices(street, player, value, choice[g, h])
            if collect:
                _add_action_values(street, player, times, value, action_value[g, r])
            for lane in range(_LANES):
                values[h, lane] += times * value[lane]


@jit
def add_own_reach(
    board: Board, row: np.ndarray, reach: np.ndarray, times: float, out: np.ndarray
) -> None:
    """Adds the reach of the holdings of each row to `out[g, r]`."""
    for g in range(index(len(reach))):
        for k in range(index(board.size[0])):
            h = index(board.holding[k])
            for lane in range(_LANES):
                out[g, index(row[h]), lane] += times * reach[g, h, lane]


@jit
def update_tables(
    street: Street,
    player: int,
    used: np.ndarray,  # the rows to update
    strategy: RowStrategy,
    action_value: np.ndarray,
    own_reach: np.ndarray,
    regrets: float,  # weight of this iteration in the regrets
    weight: float,  # and in the average
    plus: bool,  # regret matching+: negative regrets become zero
    regret: np.ndarray,
    strategy_sum: np.ndarray,
) -> None:
    """Adds regrets · (v(I, a) - Σ_b σ(b) v(I, b)) to r(I, a), and weight · π_i · σ to s_I; clears
    `action_value` and `own_reach`."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            policy, value = strategy.policy[g, r], action_value[g, r]
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
                sequence = index(street.sequence[player, k]) * _LANES
                for lane in range(_LANES):
                    mean = value[ZERO] * 0
                    for c in range(low, high):
                        mean += policy[c * _LANES + lane] * value[c * _LANES + lane]
                    reach = weight * own_reach[g, r, lane] * strategy.path[g, r, sequence + lane]
                    for c in range(low, high):
                        at = c * _LANES + lane
                        total = regret[g, r, at] + regrets * (value[at] - mean)
                        regret[g, r, at] = max(total, 0.0) if plus else total
                        strategy_sum[g, r, at] += reach * policy[at]
                        value[at] = 0.0
            for lane in range(_LANES):
                own_reach[g, r, lane] = 0.0
