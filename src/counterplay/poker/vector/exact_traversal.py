"""Exact values on one flop: every turn and river, all holdings against all holdings.

One player sits in a seat that is known (`Seat`); the other either plays a known seat as well, or
the best there is against it, holding by holding (accelerated best response, Johanson et al. 2011).
Values are sums over the opponent's holdings, and means over the cards still to come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.simd import (
    LANES,
    add_others,
    add_rows,
    set_dot,
    set_most,
    set_others,
    set_product,
    set_sum,
)
from counterplay.poker.betting.betting import ACTIONS, NO_FOLD, BettingTree
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.holdem.table import Table, codes_of
from counterplay.poker.vector.board import Board, new_board
from counterplay.poker.vector.board_list import LAST, Listing
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.showdown import (
    ALL,
    Reach,
    clear,
    compare,
    mark_reached,
    set_reach,
    sum_reach,
)
from counterplay.poker.vector.suit_permutations import even_out

_LANES = index(LANES)


class Seat(NamedTuple):
    """A player whose table is known: c codes (what he remembers of his buckets) on each street, g
    groups. One array for each street. Of a mixture (`mixed_seat`) the groups of one table stand
    behind those of the other: 2g."""

    path: tuple[np.ndarray, ...]  # [g, c, lines * LANES]: of each of his lines
    shown: tuple[np.ndarray, ...]  # [g, c, w]: of lines with a showdown
    gone: tuple[np.ndarray, ...]  # [g, c, w]: of lines with a fold
    policy: tuple[np.ndarray, ...]  # [g, c, places * LANES]: of the action that leads to a place


def make_seat(
    tree: BettingTree, streets: tuple[Street, ...], player: int, table: Table, dtype: Any
) -> Seat:
    """A table in a seat."""
    path, shown, gone, policy = [], [], [], []
    for street, codes in zip(streets, codes_of(table, tree), strict=True):
        groups, places = street.node.shape[:2]
        chosen = np.zeros((groups, codes, places, LANES))
        lines = np.zeros((groups, codes, int(street.n_lines[player]), LANES))
        lines[:, :, 0] = 1.0
        for k in np.flatnonzero(street.player == player).tolist():
            below = range(int(street.first[k]), int(street.first[k + 1]))
            share = _shares(tree, street, k, table, codes)
            for a, c in enumerate(below):
                chosen[:, :, c] = share[..., a]
                before, after = street.line[player, k], street.line[player, c]
                lines[:, :, after] = lines[:, :, before] * share[..., a]
        flat = lines.reshape(groups, codes, -1)
        path.append(flat.astype(dtype))
        shown.append(_picked(lines, street.shown[player], int(street.n_shown[player]), dtype))
        gone.append(_picked(lines, street.gone[player], int(street.n_gone[player]), dtype))
        policy.append(chosen.reshape(groups, codes, -1).astype(dtype))
    return Seat(tuple(path), tuple(shown), tuple(gone), tuple(policy))


def mixed_seat(one: Seat, other: Seat, weight: float) -> Seat:
    """A player who sits in seat `one` with probability `weight`, in the other otherwise, decided
    before the hand: his reach is the sum of two. Both tables see the cards alike."""
    found = Seat(
        *(
            tuple(np.concatenate(both) for both in zip(a, b, strict=True))
            for a, b in zip(one, other, strict=True)
        )
    )
    found.path[0][0] *= weight  # before the flop there is one group
    found.path[0][1] *= 1.0 - weight
    return found


def _picked(lines: np.ndarray, number: np.ndarray, n: int, dtype: Any) -> np.ndarray:
    """[g, c, n * LANES]: lines by their number."""
    order = [int(np.flatnonzero(number == k)[0]) for k in range(n)]
    return np.ascontiguousarray(
        lines[:, :, order].reshape(*lines.shape[:2], n * LANES).astype(dtype)
    )


def _shares(tree: BettingTree, street: Street, k: int, table: Table, codes: int) -> np.ndarray:
    """float64[g, c, LANES, actions]: probabilities at a place; 0 in lanes not in use."""
    node = street.node[:, k]
    rows = table.first_row[np.maximum(node, 0)][:, None, :] + np.arange(codes)[None, :, None]
    columns = [ACTIONS.index(action) for action in tree.actions[int(node[node >= 0][0])]]
    found: np.ndarray = np.where(node[:, None, :, None] >= 0, table.policy[rows][..., columns], 0.0)
    return found


class WalkDesk(NamedTuple):
    """Numbers of one flop: n = 1,326 holdings, e ends of the flop and of the turn, p parts of the
    opponent: 2 of a mixture."""

    board: Board
    y_flop: np.ndarray  # [p, 1, n, LANES]
    y_turn: np.ndarray  # [p, e, n, LANES]
    y_river: np.ndarray  # [p, e * e, n, LANES]
    y_here: np.ndarray  # [p, n, LANES]: by strength on this board
    river: np.ndarray  # float64[e * e, n, LANES]: values of the river's starts, summed over rivers
    turn: np.ndarray  # float64[e, n, LANES]
    flop: np.ndarray  # float64[n, LANES]
    root: np.ndarray  # [n, LANES]
    twice: np.ndarray  # [n, w]
    row: np.ndarray  # [3, w]
    sums: np.ndarray  # [2, 53, w]
    place: np.ndarray  # [k * LANES]
    reached: np.ndarray  # bool[n]
    half: np.ndarray  # [1]
    whole: np.ndarray  # [2]: ones, since the shares of a mixture are in its reach
    even: np.ndarray  # float64[n, LANES]: scratch
    low: np.ndarray  # int64[n]
    high: np.ndarray  # int64[n]
    stop: np.ndarray  # int64[1]: not 0 when nobody waits for the answer any more


def new_desk(streets: tuple[Street, ...], dtype: Any, parts: int = 1) -> WalkDesk:
    n = N_HOLDINGS
    places = max(len(street.player) for street in streets) * LANES
    lines = max(int(street.n_lines.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets[1:])

    def numbers(*shape: int, dtype: Any = dtype) -> np.ndarray:
        return np.zeros(shape, dtype=dtype)

    return WalkDesk(
        board=new_board((1,)),
        y_flop=numbers(parts, 1, n, LANES),
        y_turn=numbers(parts, ends, n, LANES),
        y_river=numbers(parts, ends * ends, n, LANES),
        y_here=numbers(parts, n, LANES),
        river=numbers(ends * ends, n, LANES, dtype=np.float64),
        turn=numbers(ends, n, LANES, dtype=np.float64),
        flop=numbers(n, LANES, dtype=np.float64),
        root=numbers(n, LANES),
        twice=numbers(n, lines),
        row=numbers(3, lines),
        sums=numbers(2, N_CARDS + 1, lines),
        place=numbers(places),
        reached=numbers(n, dtype=np.bool_),
        half=np.array([0.5], dtype=dtype),
        whole=np.ones(2, dtype=dtype),
        even=numbers(n, LANES, dtype=np.float64),
        low=HOLDING_CARDS[:, 0].astype(np.int64),
        high=HOLDING_CARDS[:, 1].astype(np.int64),
        stop=np.zeros(1, dtype=np.int64),
    )


@jit
def _pass_down(
    street: Street, g: int, other: int, path: Any, code: Any, y: Any, n: int, pair: Any, out: Any
) -> None:
    """Reach behind every end of a group that goes on: `out[e]`, for the holdings listed in
    `pair`."""
    rows, wide = path[g], index(path.shape[2])
    for e in range(index(len(street.onward))):
        line = index(street.line[other, index(street.onward[e])]) * _LANES
        for k in range(index(n)):
            h = index(pair[k])
            at = index(code[h]) * wide + line
            set_product(y, h * _LANES, rows, at, out[e], h * _LANES, ONE)


@jit(inline=True)
def _reach_of(street: Street, g: int, paths: Any, desk: WalkDesk) -> Reach:
    """The opponent's reach, from `desk.y_here` on."""
    groups = len(street.node)
    last = len(paths) // groups - 1  # 1 of a mixture
    here = desk.y_here
    return Reach(here[0], paths[g], here[last], paths[last * groups + g], desk.whole, last > 0)


@jit(inline=True)
def _go_up(street: Street, player: Any, best: Any, own: Any, start: Any, place: Any) -> None:
    """Values of the places where somebody acts, from those of the ends. His policy stands in `own`
    from `start` on."""
    k = index(len(street.player))
    while k > ZERO:
        k -= ONE
        if street.player[k] < 0:
            continue
        low = index(street.first[k])
        count = index(street.first[k + ONE]) - low
        if street.player[k] != player:
            set_sum(place, low * _LANES, place, k * _LANES, count)
        elif best:
            set_most(place, low * _LANES, place, k * _LANES, count)
        else:
            set_dot(own, start + low * _LANES, place, low * _LANES, place, k * _LANES, count)


@jit(inline=True)
def _value_river(
    street: Street, g: int, player: int, best: bool, shown: Any, gone: Any, own: Any, desk: WalkDesk
) -> bool:
    """Fill `desk.root` with values at a start of the river from `desk.y_here`; whether anybody
    comes there. Codes stand by strength in `board.bucket`: the opponent's, and his own."""
    other, board = 1 - player, desk.board
    n = int(board.size[0])
    lines, folds = street.n_shown[other], street.n_gone[other]
    reach = _reach_of(street, g, shown, desk)
    if not mark_reached(reach, n, desk.reached):
        return False
    faced = _reach_of(street, g, gone, desk)
    clear(desk.sums[0], ALL + 1, lines * LANES)
    clear(desk.sums[1], ALL + 1, folds * LANES)
    code = board.bucket[0]
    compare(board, code, reach, desk.reached, lines, desk.row[0], desk.sums[0], desk.twice)
    sum_reach(board, code, faced, desk.reached, folds, desk.row[0], desk.sums[1])
    half = desk.half[0]
    for card in range(index(ALL + 1)):
        for w in range(index(lines) * _LANES):
            desk.sums[0, card, w] *= -half
    shows, sums, wide = desk.sums[0], desk.sums[1], index(desk.sums.shape[2])
    pay, place, policy = street.pay[player, g], desk.place, own[g]
    longest, own_wide, all_of = index(desk.twice.shape[1]), index(own.shape[2]), index(ALL) * wide
    for h in range(index(n)):
        low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
        add_others(
            shows, all_of, shows, low, shows, high, desk.twice, h * longest, index(lines)
        )  # fmt: skip
        set_others(sums, all_of, sums, low, sums, high, desk.row[1], ZERO, index(folds))
        if desk.reached[h]:
            set_reach(faced, h, index(code[h]), index(folds), desk.row[0])
            add_rows(desk.row[0], ZERO, desk.row[1], ZERO, index(folds))
        for e in range(index(len(street.ends))):
            k = index(street.ends[e])
            line = index(street.line[other, k])
            if street.folded[k] == NO_FOLD:
                start = h * longest + index(street.shown[other, line]) * _LANES
                set_product(pay, k * _LANES, desk.twice, start, place, k * _LANES, ONE)
            else:
                start = index(street.gone[other, line]) * _LANES
                set_product(pay, k * _LANES, desk.row[1], start, place, k * _LANES, ONE)
        at = index(board.bucket[1, h]) * own_wide
        _go_up(street, player, best, policy, at, place)
        for lane in range(_LANES):
            desk.root[h, lane] = place[lane]
    return True


@jit(inner=True)
def value_street(
    street: Street,
    g: int,
    player: int,
    best: bool,
    code: Any,
    own_code: Any,
    y: Any,
    begin: int,
    gone: Any,
    own: Any,
    onward: Any,
    scale: float,
    desk: WalkDesk,
    out: Any,
    times_: float,
) -> None:
    """Add to `out`, `times_` times, values at the start of a group before the river, where the
    opponent's reach is `y[:, begin]`. `onward[e]`: values behind its ends, times `scale`. Holdings
    stand as listed on the board."""
    other, board = 1 - player, desk.board
    n, folds = index(board.size[0]), street.n_gone[other]
    for h in range(n):
        pair = index(board.pair[h])
        board.bucket[0, h], board.bucket[1, h] = code[pair], own_code[pair]
        for part in range(len(gone) // len(street.node)):
            for lane in range(_LANES):
                desk.y_here[part, h, lane] = y[part, begin, pair, lane]
    faced = _reach_of(street, g, gone, desk)
    mark_reached(faced, int(n), desk.reached)
    sums, row, place, policy = desk.sums[1], desk.row[1], desk.place, own[g]
    wide, own_wide = index(sums.shape[1]), index(own.shape[2])
    clear(sums, ALL + 1, folds * LANES)
    sum_reach(board, board.bucket[0], faced, desk.reached, folds, desk.row[0], sums)
    pay = street.pay[player, g]
    for h in range(n):
        pair = index(board.pair[h])
        low, high = index(board.low[h]) * wide, index(board.high[h]) * wide
        set_others(sums, index(ALL) * wide, sums, low, sums, high, row, ZERO, index(folds))
        if desk.reached[h]:
            set_reach(faced, h, index(board.bucket[0, h]), index(folds), desk.row[0])
            add_rows(desk.row[0], ZERO, row, ZERO, index(folds))
        for e in range(index(len(street.ends))):
            k = index(street.ends[e])
            start = index(street.gone[other, index(street.line[other, k])]) * _LANES
            set_product(pay, k * _LANES, row, start, place, k * _LANES, ONE)
        for e in range(index(len(street.onward))):
            k = index(street.onward[e])
            for lane in range(_LANES):
                place[k * _LANES + lane] = scale * onward[e, pair, lane]
        _go_up(street, player, best, policy, index(board.bucket[1, h]) * own_wide, place)
        for lane in range(_LANES):
            out[pair, lane] += times_ * place[lane]


@jit(inner=True)
def _set_board(pair: np.ndarray, n: int, desk: WalkDesk) -> None:
    """The holdings of a list on the board, in its order, and where groups of equals begin."""
    board = desk.board
    groups = ONE
    board.group[0] = 0
    for k in range(index(n)):
        word = np.int64(pair[k])
        holding = index(word % LAST)
        board.pair[k], board.low[k], board.high[k] = holding, desk.low[holding], desk.high[holding]
        if word >= LAST:
            board.group[groups] = k + ONE
            groups += ONE
    board.size[0], board.size[1] = n, groups - ONE


@jit
def begin_flop(
    streets: Any, listing: Listing, g: int, player: int, seat: Seat, desk: WalkDesk
) -> None:
    """The opponent's reach at the turn's starts behind group g."""
    first, other = streets[0], 1 - player
    _set_board(listing.flop_pair, listing.held[0], desk)
    for part in range(len(seat.path[0])):
        y = desk.y_flop[part, 0]
        for lane in range(_LANES):
            end = index(g) * _LANES + lane
            for h in range(index(N_HOLDINGS)):
                y[h, lane] = 0.0
                desk.flop[h, lane] = 0.0
                if end < index(len(first.onward)):
                    line = index(first.line[other, index(first.onward[end])]) * _LANES
                    y[h, lane] = seat.path[0][part, index(listing.start_code[0, h]), line]
        _pass_down(
            streets[1],
            part * len(streets[1].node) + g,
            other,
            seat.path[1],
            listing.flop_code[0],
            y,
            desk.board.size[0],
            desk.board.pair,
            desk.y_turn[part],
        )


@jit
def end_flop(
    streets: Any,
    listing: Listing,
    cards: int,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    desk: WalkDesk,
) -> None:
    """Fill `desk.flop` with the values of group g on the flop begun, from those of `desk.turn`."""
    _set_board(listing.flop_pair, listing.held[0], desk)
    value_street(
        streets[1],
        g,
        player,
        best,
        listing.flop_code[0],
        listing.flop_code[1],
        desk.y_flop,
        0,
        seat.gone[1],
        own.policy[1],
        desk.turn,
        1.0 / (cards - 7),
        desk,
        desk.flop,
        1.0,
    )


@jit
def value_flop(
    streets: Any,
    listing: Listing,
    renamed: np.ndarray,
    cards: int,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    desk: WalkDesk,
) -> None:
    """Fill `desk.flop` with the values of `player` at the flop's starts of group g, on the flop of
    a listing. `cards`: of the deck; `renamed`: holdings after each renaming of suits."""
    begin_flop(streets, listing, g, player, seat, desk)
    flop_ends = len(streets[1].onward)
    _zero(desk.turn, flop_ends)
    for t in range(listing.size[0]):
        if desk.stop[0] != 0:
            return
        _value_turn(streets, listing, t, renamed, cards, g, player, best, seat, own, desk)
    for e in range(flop_ends):
        even_out(renamed, listing.flop_kept[1:], listing.flop_kept[0], desk.turn[e], desk.even)
    end_flop(streets, listing, cards, g, player, best, seat, own, desk)


@jit(inner=True)
def _zero(values: Any, rows: int) -> None:
    for e in range(index(rows)):
        for h in range(index(N_HOLDINGS)):
            for lane in range(_LANES):
                values[e, h, lane] = 0.0


@jit(inline=True)
def _value_turn(
    streets: Any,
    listing: Listing,
    t: int,
    renamed: np.ndarray,
    cards: int,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    desk: WalkDesk,
) -> None:
    """Add the values of one turn to `desk.turn`."""
    board, other, code = desk.board, 1 - player, listing.turn_code
    flop_ends, turn_ends = len(streets[1].onward), len(streets[2].onward)
    _set_board(listing.turn_pair[t], listing.held[1], desk)
    for part in range(len(seat.path[0])):
        for e in range(flop_ends):
            _pass_down(
                streets[2],
                part * len(streets[2].node) + g * flop_ends + e,
                other,
                seat.path[2],
                code[0, t],
                desk.y_turn[part, e],
                board.size[0],
                board.pair,
                desk.y_river[part, e * turn_ends : (e + 1) * turn_ends],
            )
    _zero(desk.river, flop_ends * turn_ends)
    for r in range(listing.first_river[t], listing.first_river[t + 1]):
        _walk_river(streets, listing, r, g, player, best, seat, own, desk)
    for e in range(flop_ends * turn_ends):
        even_out(renamed, listing.kept[t], listing.n_kept[t], desk.river[e], desk.even)
    _set_board(listing.turn_pair[t], listing.held[1], desk)
    for e in range(flop_ends):
        value_street(
            streets[2],
            g * flop_ends + e,
            player,
            best,
            code[0, t],
            code[1, t],
            desk.y_turn,
            e,
            seat.gone[2],
            own.policy[2],
            desk.river[e * turn_ends : (e + 1) * turn_ends],
            1.0 / (cards - 8),
            desk,
            desk.turn[e],
            float(listing.turn_times[t]),
        )


@jit(inline=True)
def _walk_river(
    streets: Any,
    listing: Listing,
    r: int,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    desk: WalkDesk,
) -> None:
    """Add the values of one river, as often as it stands for one, to `desk.river`."""
    board, many = desk.board, listing.river_times[r]
    _set_board(listing.river_pair[r], listing.held[2], desk)
    n = index(board.size[0])
    for k in range(n):
        board.bucket[0, k] = listing.river_code[0, r, k]
        board.bucket[1, k] = listing.river_code[1, r, k]
    ends = len(streets[1].onward) * len(streets[2].onward)
    for e in range(ends):
        for part in range(len(seat.path[0])):
            for k in range(n):
                pair = index(board.pair[k])
                for lane in range(_LANES):
                    desk.y_here[part, k, lane] = desk.y_river[part, e, pair, lane]
        reached = _value_river(
            streets[3], g * ends + e, player, best, seat.shown[3], seat.gone[3], own.policy[3], desk
        )
        if reached:
            for k in range(n):
                pair = index(board.pair[k])
                for lane in range(_LANES):
                    desk.river[e, pair, lane] += many * desk.root[k, lane]
