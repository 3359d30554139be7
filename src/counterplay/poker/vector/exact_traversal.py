"""Exact values on one flop: every turn and river, all holdings against all holdings.

The opponent plays a fixed `SeatStrategy`. The player either plays a fixed strategy as well, or a
best response holding by holding (accelerated best response, Johanson et al. 2011). Values are
counterfactual values: sums over the opponent's holdings, means over the cards still to come.

Symbols: `y` and `path` as in `showdown.py`; `e` is the number of an end of a street that leads to
the next; `g` is a group of lanes (`public_tree.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import LANES, add_others, set_product
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS
from counterplay.poker.vector.board import HIGH, LOW, Board, new_board
from counterplay.poker.vector.flop_boards import LAST, FlopBoards
from counterplay.poker.vector.public_tree import SeatStrategy, Street
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
from counterplay.poker.vector.suit_permutations import average_over_suits

_LANES = index(LANES)


class ExactQuery(NamedTuple):
    """Whose value is computed, and against which strategy."""

    streets: tuple[Street, ...]
    player: int
    best: bool  # a best response; otherwise `own` is played
    opponent: SeatStrategy
    own: SeatStrategy
    permuted: np.ndarray  # int64[r, 1326]: holdings after each suit permutation
    deck_size: int


class ExactWorkspace(NamedTuple):
    """Buffers of one thread: n = 1,326 holdings, e onward ends of the flop and of the turn, p parts
    of the opponent's strategy (2 for a mixture), w = action sequences times lanes."""

    board: Board
    y_flop: np.ndarray  # [p, 1, n, LANES]
    y_turn: np.ndarray  # [p, e, n, LANES]
    y_river: np.ndarray  # [p, e * e, n, LANES]
    y_here: np.ndarray  # [p, n, LANES]: in the order of the board
    river: np.ndarray  # float64[e * e, n, LANES]: values at the river's starts, summed over rivers
    turn: np.ndarray  # float64[e, n, LANES]: the same for the turn
    flop: np.ndarray  # float64[n, LANES]: values at the flop's starts
    root: np.ndarray  # [n, LANES]: values at a start of the river on one board
    weaker: np.ndarray  # [n, w]: of `sum_weaker`
    row: np.ndarray  # [2, w]
    sums: np.ndarray  # [2, 53, w]: of showdowns and of folds
    value: np.ndarray  # [nodes * LANES]: values of the nodes of a street to one holding
    reached: np.ndarray  # bool[n]
    half: np.ndarray  # [1]: 0.5
    ones: np.ndarray  # [2]: shares of a mixture, whose weights are in its reach
    average: np.ndarray  # float64[n, LANES]: for `average_over_suits`
    stop: np.ndarray  # int64[1]: set to 1 to abandon the traversal


def new_exact_workspace(streets: tuple[Street, ...], dtype: Any, parts: int = 1) -> ExactWorkspace:
    n = N_HOLDINGS
    nodes = max(len(street.player) for street in streets) * LANES
    sequences = max(int(street.n_sequences.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets[1:])

    def numbers(*shape: int, dtype: Any = dtype) -> np.ndarray:
        return np.zeros(shape, dtype=dtype)

    return ExactWorkspace(
        board=new_board((1,)),
        y_flop=numbers(parts, 1, n, LANES),
        y_turn=numbers(parts, ends, n, LANES),
        y_river=numbers(parts, ends * ends, n, LANES),
        y_here=numbers(parts, n, LANES),
        river=numbers(ends * ends, n, LANES, dtype=np.float64),
        turn=numbers(ends, n, LANES, dtype=np.float64),
        flop=numbers(n, LANES, dtype=np.float64),
        root=numbers(n, LANES),
        weaker=numbers(n, sequences),
        row=numbers(2, sequences),
        sums=numbers(2, N_CARDS + 1, sequences),
        value=numbers(nodes),
        reached=numbers(n, dtype=np.bool_),
        half=np.array([0.5], dtype=dtype),
        ones=np.ones(2, dtype=dtype),
        average=numbers(n, LANES, dtype=np.float64),
        stop=np.zeros(1, dtype=np.int64),
    )


@jit(inner=True)
def _set_board(holdings: np.ndarray, n: int, work: ExactWorkspace) -> None:
    """Puts listed holdings on the board in their order, with the groups of equal strength."""
    board = work.board
    groups = ONE
    board.group[0] = 0
    for k in range(index(n)):
        word = np.int64(holdings[k])
        h = index(word % LAST)
        board.holding[k], board.low[k], board.high[k] = h, LOW[h], HIGH[h]
        if word >= LAST:
            board.group[groups] = k + ONE
            groups += ONE
    board.size[0], board.size[1] = n, groups - ONE


@jit
def _pass_reach(
    street: Street, g: int, other: int, path: Any, code: Any, y: Any, board: Board, out: Any
) -> None:
    """Fills `out[e]` with the reach after every onward end of a group, for the board's holdings."""
    rows, wide = path[g], index(path.shape[2])
    for e in range(index(len(street.onward))):
        sequence = index(street.sequence[other, index(street.onward[e])]) * _LANES
        for k in range(index(board.size[0])):
            h = index(board.holding[k])
            at = index(code[h]) * wide + sequence
            set_product(y, h * _LANES, rows, at, out[e], h * _LANES, ONE)


@jit(inline=True)
def _opponent_reach(street: Street, g: int, paths: Any, work: ExactWorkspace) -> Reach:
    """Returns the opponent's reach from `work.y_here` on."""
    groups = len(street.public_node)
    last = len(paths) // groups - 1  # 1 for a mixture
    here = work.y_here
    return Reach(here[0], paths[g], here[last], paths[last * groups + g], work.ones, last > 0)


@jit(inline=True)
def _back_up_street(
    street: Street, player: Any, best: Any, own: Any, start: Any, value: Any
) -> None:
    k = index(len(street.player))
    while k > ZERO:
        k -= ONE
        if street.player[k] >= 0:
            back_up(street, k, player, best, own, start, value)


@jit(inline=True)
def _value_river_start(query: ExactQuery, g: int, work: ExactWorkspace) -> bool:
    """Fills `work.root` with the values at the river's start g from `work.y_here`; returns whether
    the opponent reaches it. `board.bucket` has the opponent's and the player's own codes."""
    street, player = query.streets[3], query.player
    other, board = 1 - player, work.board
    n, showdowns, folds = int(board.size[0]), street.n_showdowns[other], street.n_folds[other]
    reach = _opponent_reach(street, g, query.opponent.showdown_path[3], work)
    if not mark_reached(reach, n, work.reached):
        return False
    to_folds = _opponent_reach(street, g, query.opponent.fold_path[3], work)
    clear(work.sums[0], ALL + 1, showdowns * LANES)
    clear(work.sums[1], ALL + 1, folds * LANES)
    code, sums, weaker = board.bucket[0], work.sums[0], work.weaker
    sum_weaker(board, code, reach, work.reached, showdowns, work.row[0], sums, weaker)
    sum_reach(board, code, to_folds, work.reached, folds, work.row[0], work.sums[1])
    half = work.half[0]
    for card in range(index(ALL + 1)):
        for w in range(index(showdowns) * _LANES):
            sums[card, w] *= -half
    wide, weaker_wide = index(sums.shape[1]), index(weaker.shape[1])
    payoff, value = street.payoff[player, g], work.value
    own, own_wide = query.own.policy[3][g], index(query.own.policy[3].shape[2])
    for h in range(index(n)):
        low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
        at = h * weaker_wide
        add_others(
            sums, index(ALL) * wide, sums, low, sums, high, weaker, at, index(showdowns)
        )  # fmt: skip
        set_unblocked(board, h, code, to_folds, work.reached, index(folds), work.row, work.sums[1])
        for e in range(index(len(street.terminals))):
            k = index(street.terminals[e])
            sequence = index(street.sequence[other, k])
            if street.folded[k] == NO_FOLD:
                start = at + index(street.showdown_index[other, sequence]) * _LANES
                set_product(payoff, k * _LANES, weaker, start, value, k * _LANES, ONE)
            else:
                start = index(street.fold_index[other, sequence]) * _LANES
                set_product(payoff, k * _LANES, work.row[1], start, value, k * _LANES, ONE)
        start = index(board.bucket[1, h]) * own_wide
        _back_up_street(street, player, query.best, own, start, value)
        for lane in range(_LANES):
            work.root[h, lane] = value[lane]
    return True


@jit(inner=True)
def _value_street(
    query: ExactQuery, street: Street, fold_path: Any, policy: Any, g: int, code: Any,
    own_code: Any, y: Any, e: int, onward: Any, scale: float, work: ExactWorkspace, out: Any,
    weight: float,
) -> None:  # fmt: skip
    """Adds to `out`, times `weight`, the values at the start g of a street before the river, whose
    holdings are on the board. `y[:, e]`: the opponent's reach; `onward`: values after the onward
    ends, to be multiplied by `scale`. The street's arrays are passed one by one, since selecting
    them by number in a kernel takes long to compile."""
    player, other, board = query.player, 1 - query.player, work.board
    n, folds = index(board.size[0]), street.n_folds[other]
    for h in range(n):
        holding = index(board.holding[h])
        board.bucket[0, h], board.bucket[1, h] = code[holding], own_code[holding]
        for part in range(len(fold_path) // len(street.public_node)):
            for lane in range(_LANES):
                work.y_here[part, h, lane] = y[part, e, holding, lane]
    reach = _opponent_reach(street, g, fold_path, work)
    mark_reached(reach, int(n), work.reached)
    sums, value, own, own_wide = work.sums[1], work.value, policy[g], index(policy.shape[2])
    clear(sums, ALL + 1, folds * LANES)
    sum_reach(board, board.bucket[0], reach, work.reached, folds, work.row[0], sums)
    payoff = street.payoff[player, g]
    for h in range(n):
        holding = index(board.holding[h])
        set_unblocked(board, h, board.bucket[0], reach, work.reached, index(folds), work.row, sums)
        for t in range(index(len(street.terminals))):
            k = index(street.terminals[t])
            start = index(street.fold_index[other, index(street.sequence[other, k])]) * _LANES
            set_product(payoff, k * _LANES, work.row[1], start, value, k * _LANES, ONE)
        for t in range(index(len(street.onward))):
            k = index(street.onward[t])
            for lane in range(_LANES):
                value[k * _LANES + lane] = scale * onward[t, holding, lane]
        start = index(board.bucket[1, h]) * own_wide
        _back_up_street(street, player, query.best, own, start, value)
        for lane in range(_LANES):
            out[holding, lane] += weight * value[lane]


@jit
def begin_flop(query: ExactQuery, boards: FlopBoards, g: int, work: ExactWorkspace) -> None:
    """Fills `work.y_turn` with the opponent's reach at the turn's starts after group g."""
    first, flop, other = query.streets[0], query.streets[1], 1 - query.player
    path = query.opponent.path
    _set_board(boards.flop_holding, boards.n_holdings[0], work)
    for part in range(len(path[0])):
        y = work.y_flop[part, 0]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            for h in range(index(N_HOLDINGS)):
                y[h, lane] = 0.0
                work.flop[h, lane] = 0.0
                if end < index(len(first.onward)):
                    sequence = index(first.sequence[other, index(first.onward[end])]) * _LANES
                    y[h, lane] = path[0][part, index(boards.start_code[0, h]), sequence]
        group = part * len(flop.public_node) + g
        code = boards.flop_code[0]
        _pass_reach(flop, group, other, path[1], code, y, work.board, work.y_turn[part])


@jit
def end_flop(query: ExactQuery, boards: FlopBoards, g: int, work: ExactWorkspace) -> None:
    """Fills `work.flop` with the values of group g, after `begin_flop`, from those in
    `work.turn`."""
    _set_board(boards.flop_holding, boards.n_holdings[0], work)
    scale = 1.0 / (query.deck_size - 7)
    _value_street(
        query, query.streets[1], query.opponent.fold_path[1], query.own.policy[1], g,
        boards.flop_code[0], boards.flop_code[1], work.y_flop, 0, work.turn, scale, work, work.flop,
        1.0,
    )  # fmt: skip


@jit
def value_flop(query: ExactQuery, boards: FlopBoards, g: int, work: ExactWorkspace) -> None:
    """Fills `work.flop` with the player's values at the flop's starts of group g."""
    begin_flop(query, boards, g, work)
    ends = len(query.streets[1].onward)
    _clear_values(work.turn, ends)
    for t in range(boards.size[0]):
        if work.stop[0] != 0:
            return
        _value_turn(query, boards, t, g, work)
    stabilizer, n = boards.flop_stabilizer[1:], boards.flop_stabilizer[0]
    for e in range(ends):
        average_over_suits(query.permuted, stabilizer, n, work.turn[e], work.average)
    end_flop(query, boards, g, work)


@jit(inner=True)
def _clear_values(values: Any, rows: int) -> None:
    for e in range(index(rows)):
        for h in range(index(N_HOLDINGS)):
            for lane in range(_LANES):
                values[e, h, lane] = 0.0


@jit(inline=True)
def _value_turn(
    query: ExactQuery, boards: FlopBoards, t: int, g: int, work: ExactWorkspace
) -> None:
    """Adds the values of one turn to `work.turn`."""
    street, other, path = query.streets[2], 1 - query.player, query.opponent.path
    flop_ends, turn_ends = len(query.streets[1].onward), len(street.onward)
    _set_board(boards.turn_holding[t], boards.n_holdings[1], work)
    for part in range(len(path[0])):
        for e in range(flop_ends):
            group = part * len(street.public_node) + g * flop_ends + e
            y, code = work.y_turn[part, e], boards.turn_code[0, t]
            out = work.y_river[part, e * turn_ends : (e + 1) * turn_ends]
            _pass_reach(street, group, other, path[2], code, y, work.board, out)
    _clear_values(work.river, flop_ends * turn_ends)
    for r in range(boards.first_river[t], boards.first_river[t + 1]):
        _value_river(query, boards, r, g, work)
    for e in range(flop_ends * turn_ends):
        average_over_suits(
            query.permuted, boards.stabilizer[t], boards.n_stabilizer[t], work.river[e],
            work.average,
        )  # fmt: skip
    _set_board(boards.turn_holding[t], boards.n_holdings[1], work)
    scale, weight = 1.0 / (query.deck_size - 8), float(boards.turn_weight[t])
    for e in range(flop_ends):
        river = work.river[e * turn_ends : (e + 1) * turn_ends]
        _value_street(
            query, street, query.opponent.fold_path[2], query.own.policy[2], g * flop_ends + e,
            boards.turn_code[0, t], boards.turn_code[1, t], work.y_turn, e, river, scale, work,
            work.turn[e], weight,
        )  # fmt: skip


@jit(inline=True)
def _value_river(
    query: ExactQuery, boards: FlopBoards, r: int, g: int, work: ExactWorkspace
) -> None:
    """Adds the values of one river, times its weight, to `work.river`."""
    board, weight = work.board, boards.river_weight[r]
    _set_board(boards.river_holding[r], boards.n_holdings[2], work)
    n = index(board.size[0])
    for k in range(n):
        board.bucket[0, k] = boards.river_code[0, r, k]
        board.bucket[1, k] = boards.river_code[1, r, k]
    ends = len(query.streets[1].onward) * len(query.streets[2].onward)
    for e in range(ends):
        for part in range(len(query.opponent.path[0])):
            for k in range(n):
                h = index(board.holding[k])
                for lane in range(_LANES):
                    work.y_here[part, k, lane] = work.y_river[part, e, h, lane]
        if _value_river_start(query, g * ends + e, work):
            for k in range(n):
                h = index(board.holding[k])
                for lane in range(_LANES):
                    work.river[e, h, lane] += weight * work.root[k, lane]
