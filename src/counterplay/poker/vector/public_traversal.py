"""The vector-form traversal of one board: the kernels of `public_sampling.py`.

The traversal descends street by street in groups of lanes (`public_tree.py`), by the kernels of
`street.py`: `set_policies` computes policies and paths from the regrets, and `pass_reach` the reach
at the next street. On the way back `end_last_street` and `end_street` compute values and update the
tables. It differs from `traversal.py` in three ways, for speed: it is depth first and one kernel;
holdings are numbered in the order of the board; and the values of the last street are those of
buckets (`public_values.py`), since no seat distinguishes holdings. By seats, `LearnerSeat` against
`LearnerSeat` on sampled boards, an iteration takes more than twice as long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import matching_factors
from counterplay.core.kernels.simd import LANES, add_rows
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_values import (
    FEW,
    MODEL,
    InfosetRows,
    Restriction,
    TraversalWorkspace,
    back_up_buckets,
    clear_values,
    count_bucket_cards,
    opponent_reach,
    played_policy,
    start_values,
    value_by_bucket,
    value_by_sequence,
    weigh_terminals,
)
from counterplay.poker.vector.showdown import clear, mark_reached
from counterplay.poker.vector.street import Onward, follow, pass_to_end, pass_to_lanes, value_start

_LANES, _TWO = index(LANES), index(2)
#: The number of a street as a variable: functions would be compiled anew for each constant.
_STREET: Any = np.int64


class FollowedRows(NamedTuple):
    """The information sets of a model that is followed for whole hands: the player's own, or those
    of another card abstraction."""

    rows: InfosetRows
    board: Board  # with the model's buckets


class Iteration(NamedTuple):
    """What one traversal reads and updates."""

    rows: InfosetRows
    tables: Any  # `regret` and `strategy_sum`: float64[slots] each
    restriction: Restriction
    regret_weight: float  # of what is added to the regrets
    average_weight: float  # of what is added to the strategy sums
    model: FollowedRows  # its own where there is no model


@jit(inline=True)
def _first_row(rows: InfosetRows, node: int) -> tuple[int, int]:
    """Returns the row of the first bucket at a node, and its first slot."""
    row = index(rows.first_row[index(node)])
    return row, index(rows.first[row])


@jit(inline=True)
def _match_regrets(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes σ of every bucket at every node of a group, and the restricted policy."""
    policy, mixed = work.policy[s], work.restricted_policy[s]
    rows, regret, restriction = it.rows, it.tables.regret, it.restriction
    buckets = index(board.n_buckets[s])
    for k in range(index(len(street.player))):
        actor = street.player[k]
        if actor < 0:
            continue
        low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
        count = high - low
        for lane in range(_LANES):
            node = street.public_node[g, k, lane]
            if node < 0:
                for b in range(buckets):
                    for c in range(low, high):
                        policy[b, c * _LANES + lane] = mixed[b, c * _LANES + lane] = 0.0
                continue
            row, start = _first_row(rows, node)
            for b in range(buckets):
                bucket = index(board.global_bucket[s, b])
                slot = start + bucket * count
                at = low * _LANES + lane
                first = max(regret[slot], 0.0)
                second = max(regret[slot + ONE], 0.0) if count > ONE else 0.0
                third = max(regret[slot + _TWO], 0.0) if count > _TWO else 0.0
                total = first + second + third
                scale, even = matching_factors(total, count)
                policy[b, at] = first * scale + even
                if count > ONE:
                    policy[b, at + _LANES] = second * scale + even
                if count > _TWO:
                    policy[b, at + _TWO * _LANES] = third * scale + even
                if actor == restriction.restricted:
                    if restriction.per_hand:
                        continue
                    trust = restriction.confidence[row + bucket]
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        fixed = restriction.fixed[slot + a]
                        mixed[b, c] = trust * fixed + (1.0 - trust) * policy[b, c]
                elif restriction.restricted >= 0:
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        mixed[b, c] = policy[b, c]


@jit(inline=True)
def _follow_model(street: Street, s: int, g: int, it: Iteration, work: TraversalWorkspace) -> None:
    """Fills the restricted policy with that of a model that is followed for whole hands."""
    mixed, fixed, board = work.restricted_policy[s], it.restriction.fixed, it.model.board
    for k in range(index(len(street.player))):
        if street.player[k] != it.restriction.restricted:
            continue
        low, high = index(street.first_child[k]), index(street.first_child[k + ONE])
        for lane in range(_LANES):
            node = street.public_node[g, k, lane]
            start = ZERO if node < 0 else _first_row(it.model.rows, node)[1]
            for b in range(index(board.n_buckets[s])):
                slot = start + index(board.global_bucket[s, b]) * (high - low)
                for c in range(low, high):
                    mixed[b, c * _LANES + lane] = 0.0 if node < 0 else fixed[slot + c - low]


@jit(inner=True)
def set_policies(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes the policies and paths of a group of a street."""
    _match_regrets(street, s, g, board, it, work)
    restriction = it.restriction
    if restriction.per_hand:
        _follow_model(street, s, g, it, work)
    for who in range(3):
        if who == MODEL and not restriction.per_hand:
            continue
        player = restriction.restricted if who == MODEL else who
        model = work.restricted_policy[s]
        policy = model if who == MODEL else played_policy(s, restriction, work)
        seen = it.model.board if who == MODEL else board
        follow(
            street, player, ZERO, index(seen.n_buckets[s]), policy, work.path[s, who],
            work.showdown_path[s, who], work.fold_path[s, who],
        )  # fmt: skip


@jit(inner=True)
def pass_reach(
    street: Street, s: int, below: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes the reach at the start of the next street after onward end `below`; after the first
    street that at group `below`."""
    restriction, n = it.restriction, index(board.size[0])
    for who in range(3):
        if who == MODEL and not restriction.per_hand:
            continue
        player = restriction.restricted if who == MODEL else who
        bucket = it.model.board.bucket[s] if who == MODEL else board.bucket[s]
        path, before, after = work.path[s, who], work.y[s, who], work.y[s + 1, who]
        if s == 0:
            pass_to_lanes(street, player, index(below), n, work.place, bucket, path, before, after)
        else:
            pass_to_end(street, player, index(below), n, work.place, bucket, path, before, after)


@jit(inner=True)
def _update_tables(
    street: Street, s: int, g: int, player: int, board: Board, it: Iteration,
    work: TraversalWorkspace,
) -> None:  # fmt: skip
    """Updates the regrets and strategy sums of one player at all nodes of a group. Rows to which
    nothing is added are not touched: most strategy sums, and what the other player never reaches.
    The tables are most of the memory that an iteration reads and writes."""
    buckets = index(board.n_buckets[s])
    for b in range(buckets):
        for lane in range(_LANES):
            work.own_reach[b, lane] = 0.0
    y = work.y[s, player]
    for h in range(index(board.size[0])):
        add_rows(y, h * _LANES, work.own_reach, index(board.bucket[s, h]) * _LANES, ONE)
    rows, restriction = it.rows, it.restriction
    biased = player == restriction.restricted and not restriction.per_hand
    regret, strategy_sum = it.tables.regret, it.tables.strategy_sum
    regret_weight, average_weight = it.regret_weight, it.average_weight
    for k in range(index(len(street.player))):
        if street.player[k] != player:
            continue
        low = index(street.first_child[k])
        count = index(street.first_child[k + ONE]) - low
        sequence = index(street.sequence[player, k]) * _LANES
        for lane in range(_LANES):
            node = street.public_node[g, k, lane]
            if node < 0:
                continue
            row, start = _first_row(rows, node)
            for b in range(buckets):
                bucket = index(board.global_bucket[s, b])
                slot = start + bucket * count
                gain, policy, path = work.gain[b], work.policy[s, b], work.path[s, player, b]
                at = low * _LANES + lane
                mean, moved = policy[at] * gain[at], gain[at] != 0.0
                if count > ONE:
                    mean += policy[at + _LANES] * gain[at + _LANES]
                    moved |= gain[at + _LANES] != 0.0
                if count > _TWO:
                    mean += policy[at + _TWO * _LANES] * gain[at + _TWO * _LANES]
                    moved |= gain[at + _TWO * _LANES] != 0.0
                if moved:
                    free = regret_weight
                    if biased:
                        free = regret_weight * (1.0 - restriction.confidence[row + bucket])
                    for a in range(count):
                        regret[slot + a] += free * (gain[at + a * _LANES] - mean)
                weight = average_weight * work.own_reach[b, lane] * path[sequence + lane]
                if weight != 0.0:
                    for a in range(count):
                        strategy_sum[slot + a] += weight * policy[at + a * _LANES]


@jit(inner=True)
def end_last_street(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes both players' values at the start of a group of the last street, and updates its
    tables."""
    buckets, n, restriction = int(board.n_buckets[s]), int(board.size[0]), it.restriction
    bucket, model_bucket = board.bucket[s], it.model.board.bucket[s]
    for player in range(2):
        reach = opponent_reach(
            1 - player, s, bucket, model_bucket, restriction, work.showdown_path[s], work
        )
        clear_values(start_values(s, player, work), n)
        if not mark_reached(reach, n, work.street.reached):
            clear(work.gain, buckets, len(work.street.value))
        else:
            weigh_terminals(street, g, player, buckets, work.path[s, player], work)
            if buckets <= FEW and not restriction.per_hand:
                value_by_bucket(street, s, player, board, reach, work)
            else:
                value_by_sequence(street, s, player, board, model_bucket, restriction, work)
            back_up_buckets(street, s, g, player, buckets, restriction, work)
        _update_tables(street, s, g, player, board, it, work)


@jit(inner=True)
def end_street(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """As `end_last_street` for an earlier street, from the values after its onward ends."""
    n, buckets, bucket = int(board.size[0]), int(board.n_buckets[s]), board.bucket[s]
    own, restriction = played_policy(s, it.restriction, work), it.restriction
    model_bucket, paths = it.model.board.bucket[s], work.fold_path[s]
    for player in range(2):
        reach = opponent_reach(1 - player, s, bucket, model_bucket, restriction, paths, work)
        mark_reached(reach, n, work.street.reached)
        clear(work.gain, buckets, len(work.street.value))
        values, onward = start_values(s, player, work), Onward(work.onward_value[s, player], 1.0)
        clear_values(values, n)
        value_start(
            street, g, player, False, board, work.place, s == 0, False, reach, reach, bucket, own,
            onward, 1.0, work.street, values, False, work.no_choice, True, work.gain,
        )  # fmt: skip
        _update_tables(street, s, g, player, board, it, work)


@jit(inner=True)
def _traverse_street(
    streets: Any, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Traverses street s from its group g of starts on."""
    street = streets[s]
    set_policies(street, s, g, board, it, work)
    if s + 1 == len(work.below):
        end_last_street(street, s, g, board, it, work)
        return
    ends = len(street.onward)
    count = (ends + LANES - 1) // LANES if s == 0 else ends  # groups after the first street
    for below in range(count):
        work.below[s] = below
        pass_reach(street, s, below, board, it, work)
        _traverse_street(streets, s + 1, g * count + below, board, it, work)
    end_street(street, s, g, board, it, work)


@jit
def traverse_board(streets: Any, board: Board, it: Iteration, work: TraversalWorkspace) -> None:
    """Traverses the betting on one board and updates both players' regrets and strategy sums. The
    streets are those of the workspace; the tuple may be longer, so that one compiled traversal
    serves games of different numbers of streets."""
    first, last = _STREET(0), _STREET(len(work.below) - 1)
    for h in range(index(board.size[0])):
        for lane in range(_LANES):
            work.y[0, 0, h, lane] = work.y[0, 1, h, lane] = work.y[0, 2, h, lane] = 1.0
    if board.n_buckets[last] <= FEW:
        count_bucket_cards(last, board, work)
    _traverse_street(streets, first, first, board, it, work)
