"""One iteration of public chance sampling: the kernels of `public.py`.

The walk goes down street by street in groups of lanes (`poker/vector/public_tree.py`).
`settle_street` makes policies and paths from the regrets, `end_last_street` and `end_street` come
back with values and add to the tables. Everything is a number for each bucket or holding, place and
lane."""

from __future__ import annotations

from typing import Any

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.policy import matching_factors
from counterplay.core.kernels.simd import (
    LANES,
    add_rows,
    set_others,
    set_product,
)
from counterplay.poker.vector.board import Board
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.public_values import (
    count_cards,
    nothing,
    pick_lines,
    reach_of,
    value_few,
    value_holdings,
    value_place,
    value_places,
    values_of,
    weigh_ends,
)
from counterplay.poker.vector.public_workspace import FEW, MODEL, BoardWork, Rows, Ties
from counterplay.poker.vector.showdown import (
    ALL,
    clear,
    mark_reached,
    set_reach,
    sum_reach,
)

_LANES, _TWO = index(LANES), index(2)


@jit(inline=True)
def _match_regrets(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    regret: Any,
    ties: Ties,
    work: BoardWork,
) -> None:
    """σ of every bucket at every place of a group, and the same tied to the model."""
    policy, tied = work.policy[s], work.tied[s]
    buckets = index(board.n_buckets[s])
    for k in range(index(len(street.player))):
        actor = street.player[k]
        if actor < 0:
            continue
        low, high = index(street.first[k]), index(street.first[k + ONE])
        count = high - low
        for lane in range(_LANES):
            node = street.node[g, k, lane]
            if node < 0:
                for b in range(buckets):
                    for c in range(low, high):
                        policy[b, c * _LANES + lane] = tied[b, c * _LANES + lane] = 0.0
                continue
            row = index(rows.first_row[index(node)])
            start = index(rows.first[row])
            for b in range(buckets):
                bucket = index(board.name[s, b])
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
                if actor == ties.restricted:
                    trust = 1.0 if ties.once else ties.confidence[row + bucket]
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        tied[b, c] = trust * ties.fixed[slot + a] + (1.0 - trust) * policy[b, c]
                elif ties.restricted >= 0:
                    for a in range(count):
                        c = (low + a) * _LANES + lane
                        tied[b, c] = policy[b, c]


@jit(inner=True)
def settle_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    regret: Any,
    ties: Ties,
    work: BoardWork,
) -> None:
    """Policies and paths of a group of a street."""
    _match_regrets(street, s, g, board, rows, regret, ties, work)
    path = work.path[s]
    own = work.tied[s] if ties.restricted >= 0 and not ties.once else work.policy[s]
    fixed = work.tied[s]
    for b in range(index(board.n_buckets[s])):
        for lane in range(_LANES):
            path[0, b, lane] = path[1, b, lane] = path[2, b, lane] = 1.0
        for k in range(index(len(street.player))):
            actor = street.player[k]
            if actor < 0:
                continue
            before = index(street.line[actor, k]) * _LANES
            for c in range(index(street.first[k]), index(street.first[k + ONE])):
                after = index(street.line[actor, c]) * _LANES
                for lane in range(_LANES):
                    path[actor, b, after + lane] = (
                        path[actor, b, before + lane] * own[b, c * _LANES + lane]
                    )
                if ties.once and actor == ties.restricted:
                    for lane in range(_LANES):
                        path[MODEL, b, after + lane] = (
                            path[MODEL, b, before + lane] * fixed[b, c * _LANES + lane]
                        )


@jit(inner=True)
def go_on(street: Street, s: int, end: int, board: Board, ties: Ties, work: BoardWork) -> None:
    """Reach at the start of the next street behind the end number `end`, in the same lanes."""
    place = index(street.onward[end])
    for who in range(3):
        if who == MODEL and not ties.once:
            continue
        player = ties.restricted if who == MODEL else who
        line = index(street.line[player, place]) * _LANES
        before, after, path = work.y[s, who], work.y[s + 1, who], work.path[s, who]
        wide = index(path.shape[1])
        for h in range(index(board.size[0])):
            at = index(board.bucket[s, h]) * wide + line
            set_product(before, h * _LANES, path, at, after, h * _LANES, ONE)


@jit(inner=True)
def go_on_apart(street: Street, g: int, board: Board, ties: Ties, work: BoardWork) -> None:
    """The same after the first street, where every end has a lane: those of group g."""
    for who in range(3):
        if who == MODEL and not ties.once:
            continue
        player = ties.restricted if who == MODEL else who
        after, path = work.y[1, who], work.path[0, who]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                line = index(street.line[player, index(street.onward[end])]) * _LANES
                for h in range(index(board.size[0])):
                    after[h, lane] = path[index(board.bucket[0, h]), line]
            else:
                for h in range(index(board.size[0])):
                    after[h, lane] = 0.0


@jit
def _learn(
    street: Street,
    s: int,
    g: int,
    player: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """Regrets and strategy sums of one player at all places of a group."""
    buckets = index(board.n_buckets[s])
    for b in range(buckets):
        for lane in range(_LANES):
            work.held[b, lane] = 0.0
    y = work.y[s, player]
    for h in range(index(board.size[0])):
        add_rows(y, h * _LANES, work.held, index(board.bucket[s, h]) * _LANES, ONE)
    biased = player == ties.restricted and not ties.once
    regret, strategy_sum = tables.regret, tables.strategy_sum
    for k in range(index(len(street.player))):
        if street.player[k] != player:
            continue
        low = index(street.first[k])
        count = index(street.first[k + ONE]) - low
        line = index(street.line[player, k]) * _LANES
        for lane in range(_LANES):
            node = street.node[g, k, lane]
            if node < 0:
                continue
            row = index(rows.first_row[index(node)])
            start = index(rows.first[row])
            for b in range(buckets):
                bucket = index(board.name[s, b])
                slot = start + bucket * count
                gain, policy = work.gain[b], work.policy[s, b]
                at = low * _LANES + lane
                mean = policy[at] * gain[at]
                if count > ONE:
                    mean += policy[at + _LANES] * gain[at + _LANES]
                if count > _TWO:
                    mean += policy[at + _TWO * _LANES] * gain[at + _TWO * _LANES]
                free = regrets * (1.0 - ties.confidence[row + bucket]) if biased else regrets
                weight = averages * work.held[b, lane] * work.path[s, player, b, line + lane]
                for a in range(count):
                    c = at + a * _LANES
                    regret[slot + a] += free * (gain[c] - mean)
                    strategy_sum[slot + a] += weight * policy[c]


@jit(inner=True)
def end_last_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """Values of both players at the start of a group of the last street; its tables."""
    buckets, n = int(board.n_buckets[s]), int(board.size[0])
    pick_lines(street, s, buckets, ties, work)
    for player in range(2):
        other = 1 - player
        reach = reach_of(other, s, ties, work.shown, work)
        nothing(values_of(s, player, work), n)
        if not mark_reached(reach, n, work.reached):
            clear(work.gain, buckets, len(work.place))
        else:
            weigh_ends(street, s, g, player, buckets, work.path[s, player], work)
            if buckets <= FEW and not ties.once:
                value_few(street, s, player, board, work)
            else:
                value_holdings(street, s, player, board, ties, work)
            value_places(street, s, g, player, buckets, ties, work)
        _learn(street, s, g, player, board, rows, tables, ties, regrets, averages, work)


@jit(inner=True)
def end_street(
    street: Street,
    s: int,
    g: int,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """The same of an earlier street, from the values of its ends that go on and of its folds."""
    n, buckets = int(board.size[0]), int(board.n_buckets[s])
    bucket = board.bucket[s]
    own = work.tied[s] if ties.restricted >= 0 and not ties.once else work.policy[s]
    places = index(len(street.player))
    pick_lines(street, s, buckets, ties, work)
    for player in range(2):
        other = 1 - player
        gone = street.n_gone[other]
        folds = reach_of(other, s, ties, work.gone, work)
        mark_reached(folds, n, work.reached)
        clear(work.sums[1], ALL + 1, gone * LANES)
        sum_reach(board, bucket, folds, work.reached, gone, work.row[0], work.sums[1])
        clear(work.gain, buckets, len(work.place))
        values = values_of(s, player, work)
        sums, row, lines = work.sums[1], work.row[1], index(gone)
        wide = index(sums.shape[1])
        for h in range(index(n)):
            b = index(bucket[h])
            low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
            set_others(sums, index(ALL) * wide, sums, low, sums, high, row, ZERO, lines)
            if work.reached[h]:
                set_reach(folds, h, b, lines, work.row[0])
                add_rows(work.row[0], ZERO, row, ZERO, lines)
            value_place(street, s, g, player, h, own[b], work)
            add_rows(work.place, ZERO, work.gain, b * index(work.gain.shape[1]), places)
            for lane in range(_LANES):
                values[h, lane] = work.place[lane]
        _learn(street, s, g, player, board, rows, tables, ties, regrets, averages, work)


@jit(inner=True)
def _hand_up_apart(street: Street, g: int, n: int, work: BoardWork) -> None:
    """Values of group g of the second street, to the ends of the first, one in each lane."""
    for player in range(2):
        root = work.root[player]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            if end < index(len(street.onward)):
                for h in range(index(n)):
                    work.value[0, player, end, h, 0] = root[h, lane]


@jit
def walk_board(
    streets: Any,
    board: Board,
    rows: Rows,
    tables: Any,
    ties: Ties,
    regrets: float,
    averages: float,
    work: BoardWork,
) -> None:
    """All betting on one board: both players' regrets, times `regrets`, and strategy sums, times
    `averages`. The four streets are written out: to choose among them takes long to compile."""
    first, flop, turn, river = streets
    n = int(board.size[0])
    for h in range(index(n)):
        for lane in range(_LANES):
            work.y[0, 0, h, lane] = work.y[0, 1, h, lane] = work.y[0, 2, h, lane] = 1.0
    if board.n_buckets[3] <= FEW:
        count_cards(3, board, work)
    regret = tables.regret
    settle_street(first, 0, 0, board, rows, regret, ties, work)
    for g in range(len(flop.node)):
        go_on_apart(first, g, board, ties, work)
        settle_street(flop, 1, g, board, rows, regret, ties, work)
        for a in range(len(flop.onward)):
            work.at[1] = a
            here = g * len(flop.onward) + a
            go_on(flop, 1, a, board, ties, work)
            settle_street(turn, 2, here, board, rows, regret, ties, work)
            for b in range(len(turn.onward)):
                work.at[2] = b
                below = here * len(turn.onward) + b
                go_on(turn, 2, b, board, ties, work)
                settle_street(river, 3, below, board, rows, regret, ties, work)
                end_last_street(river, 3, below, board, rows, tables, ties, regrets, averages, work)
            end_street(turn, 2, here, board, rows, tables, ties, regrets, averages, work)
        end_street(flop, 1, g, board, rows, tables, ties, regrets, averages, work)
        _hand_up_apart(first, g, n, work)
    end_street(first, 0, 0, board, rows, tables, ties, regrets, averages, work)
