"""All turns and rivers of a flop, laid out for a device: which holdings there are, by strength, and
what a table sees of them. Made on processors, several flops at once, while the device walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.deal import FIRST_OF_BOARD
from counterplay.holdem.table import Table
from counterplay.holdem.walk.exact import (
    Desk,
    keep_flop,
    keep_turn,
    list_holdings,
    on_board,
    set_codes,
)
from counterplay.holdem.walk.symmetry import Renamings, times
from counterplay.kernels.jit import ONE, index, jit

MOST_TURNS, MOST_RIVERS = 49, 49 * 48
ON_TURN, ON_RIVER = 1128, 1081  # holdings
LAST = 1 << 11  # marks the last holding of a group of equals


class Listing(NamedTuple):
    """t turns, r rivers of one flop up to suits."""

    size: np.ndarray  # int64[2]: t and r
    turn_times: np.ndarray  # int32[t]: how many cards each turn stands for
    kept: np.ndarray  # int32[t, 24]: renamings that leave the turn as it is
    n_kept: np.ndarray  # int32[t]
    flop_kept: np.ndarray  # int32[25]: the same of the flop, their number in front
    first_river: np.ndarray  # int32[t + 1]
    river_times: np.ndarray  # int32[r]
    turn_pair: np.ndarray  # uint16[t, 1128]: holdings
    turn_code: np.ndarray  # uint16[2, t, 1326]: of both tables
    river_pair: np.ndarray  # uint16[r, 1081]: holdings, weakest first, with LAST
    river_code: np.ndarray  # uint16[2, r, 1081]: of both tables, in the same order
    flop_code: np.ndarray  # uint16[2, 1326]


def new_listing() -> Listing:
    def ints(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int32)

    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return Listing(
        size=np.zeros(2, dtype=np.int64),
        turn_times=ints(MOST_TURNS),
        kept=ints(MOST_TURNS, 24),
        n_kept=ints(MOST_TURNS),
        flop_kept=ints(25),
        first_river=ints(MOST_TURNS + 1),
        river_times=ints(MOST_RIVERS),
        turn_pair=shorts(MOST_TURNS, ON_TURN),
        turn_code=shorts(2, MOST_TURNS, N_HOLDINGS),
        river_pair=shorts(MOST_RIVERS, ON_RIVER),
        river_code=shorts(2, MOST_RIVERS, ON_RIVER),
        flop_code=shorts(2, N_HOLDINGS),
    )


@jit
def _list_river(
    deck: np.ndarray, first: Table, second: Table, r: int, desk: Desk, out: Listing
) -> None:
    board = desk.board
    list_holdings(deck, desk, 5, True)
    for street in range(1, 4):
        set_codes(first, desk, 0, street)
    for street in range(1, 4):
        set_codes(second, desk, 1, street)
    row = index(r)
    for k in range(index(board.size[0])):
        pair = board.pair[k]
        out.river_pair[row, k] = pair
        out.river_code[0, row, k] = desk.code[0, 3, index(pair)]
        out.river_code[1, row, k] = desk.code[1, 3, index(pair)]
    for g in range(index(1), index(board.size[1]) + ONE):
        out.river_pair[row, index(board.group[g]) - ONE] |= LAST


@jit
def list_flop(
    deck: np.ndarray,
    names: Renamings,
    flop: np.ndarray,
    first: Table,
    second: Table,
    desk: Desk,
    out: Listing,
) -> None:
    """Fill `out` for a flop. `first` is the opponent's table, `second` that of the player."""
    chance, board, kept = desk.chance, desk.board, desk.kept
    for k in range(index(3)):
        chance.deck[index(FIRST_OF_BOARD) + k] = flop[k]
    on_flop = keep_flop(names, flop, desk)
    out.flop_kept[0] = on_flop
    for k in range(index(on_flop)):
        out.flop_kept[k + ONE] = kept[1, k]
    for street in range(2):
        set_codes(first, desk, 0, street)
        set_codes(second, desk, 1, street)
    for h in range(index(N_HOLDINGS)):
        out.flop_code[0, h], out.flop_code[1, h] = desk.code[0, 1, h], desk.code[1, 1, h]
    t, r = index(0), index(0)
    place = index(FIRST_OF_BOARD + 3)
    for a in range(index(len(deck))):
        many = 0 if on_board(chance, 3, deck[a]) else times(names.card, kept[1], on_flop, deck[a])
        if many == 0:
            continue
        chance.deck[place] = deck[a]
        out.turn_times[t] = many
        on_turn = keep_turn(names, on_flop, desk)
        out.n_kept[t] = on_turn
        for k in range(index(on_turn)):
            out.kept[t, k] = kept[2, k]
        list_holdings(deck, desk, 4, False)
        for k in range(index(board.size[0])):
            out.turn_pair[t, k] = board.pair[k]
        for street in range(1, 3):
            set_codes(first, desk, 0, street)
        for street in range(1, 3):
            set_codes(second, desk, 1, street)
        for h in range(index(N_HOLDINGS)):
            out.turn_code[0, t, h], out.turn_code[1, t, h] = desk.code[0, 2, h], desk.code[1, 2, h]
        out.first_river[t] = r
        for b in range(index(len(deck))):
            more = 0
            if not on_board(chance, 4, deck[b]):
                more = times(names.card, kept[2], on_turn, deck[b])
            if more == 0:
                continue
            chance.deck[place + ONE] = deck[b]
            out.river_times[r] = more
            _list_river(deck, first, second, int(r), desk, out)
            r += ONE
        t += ONE
    out.first_river[t] = r
    out.size[0], out.size[1] = t, r
