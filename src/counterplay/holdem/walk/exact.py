"""Exact values on one flop: every turn and river, all holdings against all holdings.

One player sits in a seat that is known (`Seat`); the other either plays a known seat as well, or
the best there is against it, holding by holding (accelerated best response, Johanson et al. 2011).
Values are sums over the opponent's holdings, and means over the cards still to come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.holdem.betting import ACTIONS, NO_FOLD, BettingTree
from counterplay.holdem.boards import rename
from counterplay.holdem.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.holdem.deal import FIRST_OF_BOARD, Deal, bucket_at, find_board, new_deal
from counterplay.holdem.evaluator import strength_of_masks
from counterplay.holdem.strength import sort_numbers
from counterplay.holdem.table import Table, codes_of
from counterplay.holdem.walk.board import PLACE, Board, find_groups, new_board
from counterplay.holdem.walk.shape import LANES, Street
from counterplay.holdem.walk.showdown import (
    ALL,
    Reach,
    clear,
    compare,
    mark_reached,
    set_reach,
    sum_reach,
)
from counterplay.holdem.walk.symmetry import Renamings, even_out, keep_renamings, times
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.lanes import (
    add_others,
    add_rows,
    set_dot,
    set_most,
    set_others,
    set_product,
    set_sum,
)

_LANES = index(LANES)


class Seat(NamedTuple):
    """A player whose table is known: c codes (what he remembers of his buckets) on each street, g
    groups. One array for each street."""

    table: Table
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
    return Seat(table, tuple(path), tuple(shown), tuple(gone), tuple(policy))


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


class Desk(NamedTuple):
    """Numbers of one flop: n = 1,326 holdings, e ends of the flop and of the turn."""

    board: Board
    chance: Deal
    code: np.ndarray  # int64[2, 4, n]: of the opponent and, where he has a table, the player
    y_flop: np.ndarray  # [n, LANES]
    y_turn: np.ndarray  # [e, n, LANES]
    y_river: np.ndarray  # [e * e, n, LANES]
    y_here: np.ndarray  # [n, LANES]: by strength on this board
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
    even: np.ndarray  # float64[n, LANES]: scratch
    kept: np.ndarray  # int64[3, 24]: renamings that leave the flop, and the turn, as they are
    low: np.ndarray  # int64[n]
    high: np.ndarray  # int64[n]


def new_desk(streets: tuple[Street, ...], dtype: Any) -> Desk:
    n = N_HOLDINGS
    places = max(len(street.player) for street in streets) * LANES
    lines = max(int(street.n_lines.max()) for street in streets) * LANES
    ends = max(len(street.onward) for street in streets[1:])

    def numbers(*shape: int, dtype: Any = dtype) -> np.ndarray:
        return np.zeros(shape, dtype=dtype)

    return Desk(
        board=new_board((1,)),
        chance=new_deal(),
        code=numbers(2, 4, n, dtype=np.int64),
        y_flop=numbers(n, LANES),
        y_turn=numbers(ends, n, LANES),
        y_river=numbers(ends * ends, n, LANES),
        y_here=numbers(n, LANES),
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
        even=numbers(n, LANES, dtype=np.float64),
        kept=numbers(3, 24, dtype=np.int64),
        low=HOLDING_CARDS[:, 0].astype(np.int64),
        high=HOLDING_CARDS[:, 1].astype(np.int64),
    )


@jit(inline=True)
def on_board(chance: Deal, cards: Any, card: Any) -> bool:
    found = False
    for k in range(index(cards)):
        found |= chance.deck[index(FIRST_OF_BOARD) + k] == card
    return found


@jit
def set_codes(table: Table, desk: Desk, who: int, street: int) -> None:
    """Codes of all holdings on a street of the board; those of the street before are there."""
    row = find_board(table.cards, desk.chance, street)
    code, carry = desk.code[who], table.carry[street]
    for h in range(index(N_HOLDINGS)):
        a, b = desk.low[h], desk.high[h]
        if street > 0:
            a, b = rename(a, desk.chance.renaming[0]), rename(b, desk.chance.renaming[0])
            a, b = min(a, b), max(a, b)
        bucket = np.int64(bucket_at(table.cards, street, row, b * (b - 1) // 2 + a))
        before = code[street - 1, h] if street > 0 else 0
        code[street, h] = before * carry + bucket


@jit
def list_holdings(deck: np.ndarray, desk: Desk, cards: int, by_strength: bool) -> None:
    """Holdings without a card of the board (its first `cards`), weakest first on the river."""
    board, chance = desk.board, desk.chance
    masks = chance.masks
    for suit in range(index(4)):
        masks[suit] = 0
    for k in range(index(cards)):
        card = chance.deck[index(FIRST_OF_BOARD) + k]
        masks[index(card & 3)] |= 1 << (card >> 2)
    left = index(0)
    for k in range(index(len(deck))):
        if not on_board(chance, cards, deck[k]):
            board.left[left] = deck[k]
            left += ONE
    n = index(0)
    for i in range(left):
        a = board.left[i]
        masks[index(a & 3)] |= 1 << (a >> 2)
        for j in range(i):
            b = board.left[j]
            value = 0
            if by_strength:
                masks[index(b & 3)] |= 1 << (b >> 2)
                value = strength_of_masks(masks[0], masks[1], masks[2], masks[3])
                masks[index(b & 3)] ^= 1 << (b >> 2)
            low, high = min(a, b), max(a, b)
            board.key[n] = value * PLACE + high * (high - 1) // 2 + low
            n += ONE
        masks[index(a & 3)] ^= 1 << (a >> 2)
    if by_strength:
        sort_numbers(board.key, int(n), board.stack)
    board.size[0] = n
    find_groups(board, desk.low, desk.high)


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


@jit
def _value_river(
    street: Street, g: int, player: int, best: bool, shown: Any, gone: Any, own: Any, desk: Desk
) -> bool:
    """Fill `desk.root` with values at a start of the river from `desk.y_here`; whether anybody
    comes there. Codes stand by strength in `board.bucket`: the opponent's, and his own."""
    other, board = 1 - player, desk.board
    n = int(board.size[0])
    lines, folds = street.n_shown[other], street.n_gone[other]
    reach = Reach(desk.y_here, shown[g], desk.y_here, shown[g], desk.half, False)
    if not mark_reached(reach, n, desk.reached):
        return False
    faced = Reach(desk.y_here, gone[g], desk.y_here, gone[g], desk.half, False)
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


@jit
def value_street(
    street: Street,
    g: int,
    player: int,
    best: bool,
    code: Any,
    own_code: Any,
    y: Any,
    gone: Any,
    own: Any,
    onward: Any,
    scale: float,
    desk: Desk,
    out: Any,
    times_: float,
) -> None:
    """Add to `out`, `times_` times, values at the start of a group before the river. `onward[e]`:
    those behind its ends, times `scale`. Holdings stand as listed on the board."""
    other, board = 1 - player, desk.board
    n, folds = index(board.size[0]), street.n_gone[other]
    for h in range(n):
        pair = index(board.pair[h])
        board.bucket[0, h], board.bucket[1, h] = code[pair], own_code[pair]
        for lane in range(_LANES):
            desk.y_here[h, lane] = y[pair, lane]
    faced = Reach(desk.y_here, gone[g], desk.y_here, gone[g], desk.half, False)
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


@jit
def begin_flop(
    streets: Any, deck: np.ndarray, flop: np.ndarray, g: int, player: int, seat: Seat, own: Seat,
    desk: Desk,
) -> None:  # fmt: skip
    """Codes on a flop, and the opponent's reach at the turn's starts behind group g."""
    chance, board, other = desk.chance, desk.board, 1 - player
    for k in range(index(3)):
        chance.deck[index(FIRST_OF_BOARD) + k] = flop[k]
    for street in range(2):
        set_codes(seat.table, desk, 0, street)
        set_codes(own.table, desk, 1, street)
    first = streets[0]
    for lane in range(_LANES):
        end = index(g) * _LANES + lane
        for h in range(index(N_HOLDINGS)):
            desk.y_flop[h, lane] = 0.0
            desk.flop[h, lane] = 0.0
            if end < index(len(first.onward)):
                line = index(first.line[other, index(first.onward[end])]) * _LANES
                desk.y_flop[h, lane] = seat.path[0][0, index(desk.code[0, 0, h]), line]
    list_holdings(deck, desk, 3, False)
    _pass_down(
        streets[1], g, other, seat.path[1], desk.code[0, 1], desk.y_flop, board.size[0],
        board.pair, desk.y_turn,
    )  # fmt: skip


@jit
def end_flop(
    streets: Any, deck: np.ndarray, g: int, player: int, best: bool, seat: Seat, own: Seat,
    desk: Desk,
) -> None:  # fmt: skip
    """Fill `desk.flop` with the values of group g on the flop begun, from those of `desk.turn`."""
    list_holdings(deck, desk, 3, False)
    value_street(
        streets[1], g, player, best, desk.code[0, 1], desk.code[1, 1], desk.y_flop, seat.gone[1],
        own.policy[1], desk.turn, 1.0 / (len(deck) - 7), desk, desk.flop, 1.0,
    )  # fmt: skip


@jit
def keep_flop(names: Renamings, flop: np.ndarray, desk: Desk) -> int:
    """Number the renamings that leave a flop as it is in `desk.kept[1]`; how many."""
    every = len(names.card)
    for k in range(index(every)):
        desk.kept[0, k] = k
    return keep_renamings(names.card, desk.kept[0], flop, every, desk.kept[1])


@jit
def keep_turn(names: Renamings, on_flop: int, desk: Desk) -> int:
    """The same of a turn, among those of its flop, in `desk.kept[2]`."""
    turn = desk.chance.deck[FIRST_OF_BOARD + 3 : FIRST_OF_BOARD + 4]
    return keep_renamings(names.card, desk.kept[1], turn, on_flop, desk.kept[2])


@jit
def value_flop(
    streets: Any,
    deck: np.ndarray,
    names: Renamings,
    flop: np.ndarray,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    desk: Desk,
) -> int:
    """Fill `desk.flop` with the values of `player` at the flop's starts of group g, on one flop;
    the rivers walked."""
    chance, kept = desk.chance, desk.kept
    begin_flop(streets, deck, flop, g, player, seat, own, desk)
    on_flop, rivers = keep_flop(names, flop, desk), 0
    flop_ends = len(streets[1].onward)
    _zero(desk.turn, flop_ends)
    for t in range(index(len(deck))):
        many = 0 if on_board(chance, 3, deck[t]) else times(names.card, kept[1], on_flop, deck[t])
        if many > 0:
            chance.deck[index(FIRST_OF_BOARD + 3)] = deck[t]
            rivers += _value_turn(
                streets, deck, names, on_flop, g, player, best, seat, own, many, desk
            )
    for e in range(flop_ends):
        even_out(names.pair, kept[1], on_flop, desk.turn[e], desk.even)
    end_flop(streets, deck, g, player, best, seat, own, desk)
    return rivers


@jit
def _zero(values: Any, rows: int) -> None:
    for e in range(index(rows)):
        for h in range(index(N_HOLDINGS)):
            for lane in range(_LANES):
                values[e, h, lane] = 0.0


@jit
def _value_turn(
    streets: Any,
    deck: np.ndarray,
    names: Renamings,
    on_flop: int,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    many: int,
    desk: Desk,
) -> int:
    """Add the values of one turn, `many` times, to `desk.turn`; the rivers walked."""
    chance, board, other = desk.chance, desk.board, 1 - player
    on_turn, rivers = keep_turn(names, on_flop, desk), 0
    flop_ends, turn_ends = len(streets[1].onward), len(streets[2].onward)
    for street in range(1, 3):
        set_codes(seat.table, desk, 0, street)
    for street in range(1, 3):
        set_codes(own.table, desk, 1, street)
    list_holdings(deck, desk, 4, False)
    for e in range(flop_ends):
        _pass_down(
            streets[2], g * flop_ends + e, other, seat.path[2], desk.code[0, 2], desk.y_turn[e],
            board.size[0], board.pair, desk.y_river[e * turn_ends : (e + 1) * turn_ends],
        )  # fmt: skip
    _zero(desk.river, flop_ends * turn_ends)
    for r in range(index(len(deck))):
        more = 0
        if not on_board(chance, 4, deck[r]):
            more = times(names.card, desk.kept[2], on_turn, deck[r])
        if more > 0:
            chance.deck[index(FIRST_OF_BOARD + 4)] = deck[r]
            _walk_river(streets, deck, g, player, best, seat, own, more, desk)
            rivers += 1
    for e in range(flop_ends * turn_ends):
        even_out(names.pair, desk.kept[2], on_turn, desk.river[e], desk.even)
    list_holdings(deck, desk, 4, False)
    for e in range(flop_ends):
        value_street(
            streets[2], g * flop_ends + e, player, best, desk.code[0, 2], desk.code[1, 2],
            desk.y_turn[e], seat.gone[2], own.policy[2],
            desk.river[e * turn_ends : (e + 1) * turn_ends], 1.0 / (len(deck) - 8), desk,
            desk.turn[e], float(many),
        )  # fmt: skip
    return rivers


@jit
def _walk_river(
    streets: Any,
    deck: np.ndarray,
    g: int,
    player: int,
    best: bool,
    seat: Seat,
    own: Seat,
    many: int,
    desk: Desk,
) -> None:
    """Add the values of one river, `many` times, to `desk.river`."""
    board, other_code, own_code = desk.board, desk.code[0, 3], desk.code[1, 3]
    list_holdings(deck, desk, 5, True)
    for street in range(1, 4):
        set_codes(seat.table, desk, 0, street)
    for street in range(1, 4):
        set_codes(own.table, desk, 1, street)
    n = index(board.size[0])
    ends = len(streets[1].onward) * len(streets[2].onward)
    for e in range(ends):
        for k in range(n):
            pair = index(board.pair[k])
            board.bucket[0, k], board.bucket[1, k] = other_code[pair], own_code[pair]
            for lane in range(_LANES):
                desk.y_here[k, lane] = desk.y_river[e, pair, lane]
        reached = _value_river(
            streets[3], g * ends + e, player, best, seat.shown[3], seat.gone[3], own.policy[3], desk
        )
        if reached:
            for k in range(n):
                pair = index(board.pair[k])
                for lane in range(_LANES):
                    desk.river[e, pair, lane] += many * desk.root[k, lane]
