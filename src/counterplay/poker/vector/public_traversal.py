"""The vector-form traversal of one board: the kernels of `public_sampling.py`.

The traversal descends street by street in groups of lanes (`public_tree.py`): `set_policies`
computes policies and paths from the regrets, and `pass_reach` the reach at the next street. On the
way back `end_last_street` and `end_street` compute values and update the tables. Numbers are for
each bucket or holding, node and lane.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import matching_factors
from counterplay.core.kernels.simd import LANES, add_rows, set_product
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_values import (
    back_up_buckets,
    back_up_holding,
    clear_values,
    count_bucket_cards,
    gather_paths,
    opponent_reach,
    played_policy,
    start_values,
    value_by_bucket,
    value_by_sequence,
    weigh_terminals,
)
from counterplay.poker.vector.public_workspace import (
    FEW,
    MODEL,
    InfosetRows,
    Restriction,
    TraversalWorkspace,
)
from counterplay.poker.vector.showdown import ALL, clear, mark_reached, set_unblocked, sum_reach

_LANES, _TWO = index(LANES), index(2)
#: The number of a street as a variable: functions would be compiled anew for each constant.
_STREET: Any = np.int64


class Iteration(NamedTuple):
    """What one traversal reads and updates."""

    rows: InfosetRows
    tables: Any  # `regret` and `strategy_sum`: float64[slots] each
    restriction: Restriction
    regret_weight: float  # of what is added to the regrets
    average_weight: float  # of what is added to the strategy sums


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
                    trust = 1.0 if restriction.per_hand else restriction.confidence[row + bucket]
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        fixed = restriction.fixed[slot + a]
                        mixed[b, c] = trust * fixed + (1.0 - trust) * policy[b, c]
                elif restriction.restricted >= 0:
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        mixed[b, c] = policy[b, c]


@jit(inner=True)
def set_policies(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes the policies and paths of a group of a street."""
    _match_regrets(street, s, g, board, it, work)
    path, restriction = work.path[s], it.restriction
    own = played_policy(s, restriction, work)
    fixed = work.restricted_policy[s]
    for b in range(index(board.n_buckets[s])):
        for lane in range(_LANES):
            path[0, b, lane] = path[1, b, lane] = path[2, b, lane] = 1.0
        for k in range(index(len(street.player))):
            actor = street.player[k]
            if actor < 0:
                continue
            before = index(street.sequence[actor, k]) * _LANES
            for c in range(index(street.first_child[k]), index(street.first_child[k + ONE])):
                after = index(street.sequence[actor, c]) * _LANES
                for lane in range(_LANES):
                    path[actor, b, after + lane] = (
                        path[actor, b, before + lane] * own[b, c * _LANES + lane]
                    )
                if restriction.per_hand and actor == restriction.restricted:
                    for lane in range(_LANES):
                        path[MODEL, b, after + lane] = (
                            path[MODEL, b, before + lane] * fixed[b, c * _LANES + lane]
                        )


@jit(inner=True)
def pass_reach(
    street: Street, s: int, end: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes the reach at the start of the next street after onward end `end`."""
    node, restriction = index(street.onward[end]), it.restriction
    for who in range(3):
        if who == MODEL and not restriction.per_hand:
            continue
        player = restriction.restricted if who == MODEL else who
        sequence = index(street.sequence[player, node]) * _LANES
        before, after, path = work.y[s, who], work.y[s + 1, who], work.path[s, who]
        wide = index(path.shape[1])
        for h in range(index(board.size[0])):
            at = index(board.bucket[s, h]) * wide + sequence
            set_product(before, h * _LANES, path, at, after, h * _LANES, ONE)


@jit(inline=True)
def pass_reach_to_lanes(
    street: Street, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """As `pass_reach` after the first street, where every onward end has a lane: those of group
    g."""
    restriction = it.restriction
    for who in range(3):
        if who == MODEL and not restriction.per_hand:
            continue
        player = restriction.restricted if who == MODEL else who
        after, path = work.y[1, who], work.path[0, who]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                sequence = index(street.sequence[player, index(street.onward[end])]) * _LANES
                for h in range(index(board.size[0])):
                    after[h, lane] = path[index(board.bucket[0, h]), sequence]
            else:
                for h in range(index(board.size[0])):
                    after[h, lane] = 0.0


@jit(inner=True)
def _update_tables(
    street: Street, s: int, g: int, player: int, board: Board, it: Iteration,
    work: TraversalWorkspace,
) -> None:  # fmt: skip
    """Updates the regrets and strategy sums of one player at all nodes of a group."""
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
                mean = policy[at] * gain[at]
                if count > ONE:
                    mean += policy[at + _LANES] * gain[at + _LANES]
                if count > _TWO:
                    mean += policy[at + _TWO * _LANES] * gain[at + _TWO * _LANES]
                free = regret_weight
                if biased:
                    free = regret_weight * (1.0 - restriction.confidence[row + bucket])
                weight = average_weight * work.own_reach[b, lane] * path[sequence + lane]
                for a in range(count):
                    c = at + a * _LANES
                    regret[slot + a] += free * (gain[c] - mean)
                    strategy_sum[slot + a] += weight * policy[c]


@jit(inner=True)
def end_last_street(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """Computes both players' values at the start of a group of the last street, and updates its
    tables."""
    buckets, n, restriction = int(board.n_buckets[s]), int(board.size[0]), it.restriction
    gather_paths(street, s, buckets, restriction, work)
    for player in range(2):
        reach = opponent_reach(
            1 - player, s, board.bucket[s], restriction, work.showdown_path, work
        )
        clear_values(start_values(s, player, work), n)
        if not mark_reached(reach, n, work.reached):
            clear(work.gain, buckets, len(work.value))
        else:
            weigh_terminals(street, g, player, buckets, work.path[s, player], work)
            if buckets <= FEW and not restriction.per_hand:
                value_by_bucket(street, s, player, board, work)
            else:
                value_by_sequence(street, s, player, board, restriction, work)
            back_up_buckets(street, s, g, player, buckets, restriction, work)
        _update_tables(street, s, g, player, board, it, work)


@jit(inner=True)
def end_street(
    street: Street, s: int, g: int, board: Board, it: Iteration, work: TraversalWorkspace
) -> None:
    """As `end_last_street` for an earlier street, from the values after its onward ends."""
    n, buckets, restriction = int(board.size[0]), int(board.n_buckets[s]), it.restriction
    bucket, nodes = board.bucket[s], index(len(street.player))
    own = played_policy(s, restriction, work)
    gather_paths(street, s, buckets, restriction, work)
    for player in range(2):
        other = 1 - player
        folds = street.n_folds[other]
        reach = opponent_reach(other, s, bucket, restriction, work.fold_path, work)
        mark_reached(reach, n, work.reached)
        clear(work.sums[1], ALL + 1, folds * LANES)
        sum_reach(board, reach, work.reached, folds, work.row[0], work.sums[1])
        clear(work.gain, buckets, len(work.value))
        values, sums, count = start_values(s, player, work), work.sums[1], index(folds)
        for h in range(index(n)):
            b = index(bucket[h])
            set_unblocked(board, h, reach, work.reached, count, work.row, sums)
            back_up_holding(street, s, g, player, h, own[b], work)
            add_rows(work.value, ZERO, work.gain, b * index(work.gain.shape[1]), nodes)
            for lane in range(_LANES):
                values[h, lane] = work.value[lane]
        _update_tables(street, s, g, player, board, it, work)


@jit(inline=True)
def _collect_lanes(street: Street, g: int, n: int, work: TraversalWorkspace) -> None:
    """Moves the values of group g of the second street to the onward ends of the first, one from
    each lane."""
    for player in range(2):
        root = work.root[player]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                for h in range(index(n)):
                    work.onward_value[0, player, end, h, 0] = root[h, lane]


@jit
def traverse_board(streets: Any, board: Board, it: Iteration, work: TraversalWorkspace) -> None:
    """Traverses the betting on one board and updates both players' regrets and strategy sums. The
    four streets are written out, since selecting them by number takes long to compile."""
    first, flop, turn, river = streets
    preflop, second, third, last = _STREET(0), _STREET(1), _STREET(2), _STREET(3)
    n = int(board.size[0])
    for h in range(index(n)):
        for lane in range(_LANES):
            work.y[0, 0, h, lane] = work.y[0, 1, h, lane] = work.y[0, 2, h, lane] = 1.0
    if board.n_buckets[3] <= FEW:
        count_bucket_cards(last, board, work)
    set_policies(first, preflop, preflop, board, it, work)
    for g in range(len(flop.public_node)):
        pass_reach_to_lanes(first, g, board, it, work)
        set_policies(flop, second, g, board, it, work)
        for a in range(len(flop.onward)):
            work.onward_end[1] = a
            here = g * len(flop.onward) + a
            pass_reach(flop, second, a, board, it, work)
            set_policies(turn, third, here, board, it, work)
            for b in range(len(turn.onward)):
                work.onward_end[2] = b
                below = here * len(turn.onward) + b
                pass_reach(turn, third, b, board, it, work)
                set_policies(river, last, below, board, it, work)
                end_last_street(river, last, below, board, it, work)
            end_street(turn, third, here, board, it, work)
        end_street(flop, second, g, board, it, work)
        _collect_lanes(first, g, n, work)
    end_street(first, preflop, preflop, board, it, work)
