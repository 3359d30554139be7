"""All turns and rivers of a flop: which holdings there are, by strength, and what two tables see of
them. What walks a flop (`exact.py`, `cuda.py`) needs nothing else of the cards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.cards.canonical import rename
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_at, find_board, new_deal
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.cards.strength import sort_numbers
from counterplay.poker.holdem.table import Table
from counterplay.poker.vector.board import PLACE, Board, find_groups, new_board
from counterplay.poker.vector.suit_permutations import Renamings, keep_renamings, times

MOST_TURNS, MOST_RIVERS = 49, 49 * 48
ON_FLOP, ON_TURN, ON_RIVER = 1176, 1128, 1081  # holdings of the full deck
LAST = 1 << 11  # marks the last holding of a group of equals


class Scratch(NamedTuple):
    """What listing needs; n = 1,326 holdings."""

    board: Board
    chance: Deal
    code: np.ndarray  # int64[2, 4, n]: of both tables
    kept: np.ndarray  # int64[3, 24]: renamings, those that leave the flop as it is, and the turn
    low: np.ndarray  # int64[n]
    high: np.ndarray  # int64[n]


def new_scratch() -> Scratch:
    return Scratch(
        board=new_board((1,)),
        chance=new_deal(),
        code=np.zeros((2, 4, N_HOLDINGS), dtype=np.int64),
        kept=np.zeros((3, 24), dtype=np.int64),
        low=HOLDING_CARDS[:, 0].astype(np.int64),
        high=HOLDING_CARDS[:, 1].astype(np.int64),
    )


class Listing(NamedTuple):
    """t turns, r rivers of one flop up to suits."""

    size: np.ndarray  # int64[2]: t and r
    held: np.ndarray  # int64[3]: holdings on the flop, the turn and the river
    turn_times: np.ndarray  # int32[t]: how many cards each turn stands for
    kept: np.ndarray  # int32[t, 24]: renamings that leave the turn as it is
    n_kept: np.ndarray  # int32[t]
    flop_kept: np.ndarray  # int32[25]: the same of the flop, their number in front
    first_river: np.ndarray  # int32[t + 1]
    river_times: np.ndarray  # int32[r]
    start_code: np.ndarray  # uint16[2, 1326]: of both tables
    flop_pair: np.ndarray  # uint16[1176]: holdings
    flop_code: np.ndarray  # uint16[2, 1326]
    turn_pair: np.ndarray  # uint16[t, 1128]: holdings
    turn_code: np.ndarray  # uint16[2, t, 1326]: of both tables
    river_pair: np.ndarray  # uint16[r, 1081]: holdings, weakest first, with LAST
    river_code: np.ndarray  # uint16[2, r, 1081]: of both tables, in the same order


def new_listing() -> Listing:
    def ints(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int32)

    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return Listing(
        size=np.zeros(2, dtype=np.int64),
        held=np.zeros(3, dtype=np.int64),
        turn_times=ints(MOST_TURNS),
        kept=ints(MOST_TURNS, 24),
        n_kept=ints(MOST_TURNS),
        flop_kept=ints(25),
        first_river=ints(MOST_TURNS + 1),
        river_times=ints(MOST_RIVERS),
        start_code=shorts(2, N_HOLDINGS),
        flop_pair=shorts(ON_FLOP),
        flop_code=shorts(2, N_HOLDINGS),
        turn_pair=shorts(MOST_TURNS, ON_TURN),
        turn_code=shorts(2, MOST_TURNS, N_HOLDINGS),
        river_pair=shorts(MOST_RIVERS, ON_RIVER),
        river_code=shorts(2, MOST_RIVERS, ON_RIVER),
    )


@jit(inline=True)
def on_board(chance: Deal, cards: Any, card: Any) -> bool:
    found = False
    for k in range(index(cards)):
        found |= chance.deck[index(FIRST_OF_BOARD) + k] == card
    return found


@jit(inner=True)
def set_codes(table: Table, scratch: Scratch, who: int, street: int) -> None:
    """Codes of all holdings on a street of the board; those of the street before are there."""
    row = find_board(table.cards, scratch.chance, street)
    code, carry = scratch.code[who], table.carry[street]
    for h in range(index(N_HOLDINGS)):
        a, b = scratch.low[h], scratch.high[h]
        if street > 0:
            a, b = rename(a, scratch.chance.renaming[0]), rename(b, scratch.chance.renaming[0])
            a, b = min(a, b), max(a, b)
        bucket = np.int64(bucket_at(table.cards, street, row, b * (b - 1) // 2 + a))
        before = code[street - 1, h] if street > 0 else 0
        code[street, h] = before * carry + bucket


@jit(inner=True)
def list_holdings(deck: np.ndarray, scratch: Scratch, cards: int, by_strength: bool) -> None:
    """Holdings without a card of the board (its first `cards`), weakest first on the river."""
    board, chance = scratch.board, scratch.chance
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
    find_groups(board, scratch.low, scratch.high)


@jit(inner=True)
def keep_flop(names: Renamings, flop: np.ndarray, scratch: Scratch) -> int:
    """Number the renamings that leave a flop as it is in `scratch.kept[1]`; how many."""
    every = len(names.card)
    for k in range(index(every)):
        scratch.kept[0, k] = k
    return keep_renamings(names.card, scratch.kept[0], flop, every, scratch.kept[1])


@jit(inner=True)
def keep_turn(names: Renamings, on_flop: int, scratch: Scratch) -> int:
    """The same of a turn, among those of its flop, in `scratch.kept[2]`."""
    turn = scratch.chance.deck[FIRST_OF_BOARD + 3 : FIRST_OF_BOARD + 4]
    return keep_renamings(names.card, scratch.kept[1], turn, on_flop, scratch.kept[2])


@jit(inner=True)
def _list_river(
    deck: np.ndarray, first: Table, second: Table, r: int, scratch: Scratch, out: Listing
) -> None:
    board = scratch.board
    list_holdings(deck, scratch, 5, True)
    for street in range(1, 4):
        set_codes(first, scratch, 0, street)
    for street in range(1, 4):
        set_codes(second, scratch, 1, street)
    row = index(r)
    out.held[2] = board.size[0]
    for k in range(index(board.size[0])):
        pair = board.pair[k]
        out.river_pair[row, k] = pair
        out.river_code[0, row, k] = scratch.code[0, 3, index(pair)]
        out.river_code[1, row, k] = scratch.code[1, 3, index(pair)]
    for g in range(index(1), index(board.size[1]) + ONE):
        out.river_pair[row, index(board.group[g]) - ONE] |= LAST


@jit
def list_flop(
    deck: np.ndarray,
    names: Renamings,
    flop: np.ndarray,
    first: Table,
    second: Table,
    scratch: Scratch,
    out: Listing,
) -> None:
    """Fill `out` for a flop. `first` is the opponent's table, `second` that of the player."""
    chance, board, kept = scratch.chance, scratch.board, scratch.kept
    for k in range(index(3)):
        chance.deck[index(FIRST_OF_BOARD) + k] = flop[k]
    on_flop = keep_flop(names, flop, scratch)
    out.flop_kept[0] = on_flop
    for k in range(index(on_flop)):
        out.flop_kept[k + ONE] = kept[1, k]
    for street in range(2):
        set_codes(first, scratch, 0, street)
        set_codes(second, scratch, 1, street)
    for h in range(index(N_HOLDINGS)):
        for who in range(index(2)):
            out.start_code[who, h] = scratch.code[who, 0, h]
            out.flop_code[who, h] = scratch.code[who, 1, h]
    list_holdings(deck, scratch, 3, False)
    for k in range(index(board.size[0])):
        out.flop_pair[k] = board.pair[k]
    out.held[0] = board.size[0]
    t, r = index(0), index(0)
    place = index(FIRST_OF_BOARD + 3)
    for a in range(index(len(deck))):
        many = 0 if on_board(chance, 3, deck[a]) else times(names.card, kept[1], on_flop, deck[a])
        if many == 0:
            continue
        chance.deck[place] = deck[a]
        out.turn_times[t] = many
        on_turn = keep_turn(names, on_flop, scratch)
        out.n_kept[t] = on_turn
        for k in range(index(on_turn)):
            out.kept[t, k] = kept[2, k]
        list_holdings(deck, scratch, 4, False)
        for k in range(index(board.size[0])):
            out.turn_pair[t, k] = board.pair[k]
        out.held[1] = board.size[0]
        for street in range(1, 3):
            set_codes(first, scratch, 0, street)
        for street in range(1, 3):
            set_codes(second, scratch, 1, street)
        for h in range(index(N_HOLDINGS)):
            out.turn_code[0, t, h], out.turn_code[1, t, h] = (
                scratch.code[0, 2, h],
                scratch.code[1, 2, h],
            )
        out.first_river[t] = r
        for b in range(index(len(deck))):
            more = 0
            if not on_board(chance, 4, deck[b]):
                more = times(names.card, kept[2], on_turn, deck[b])
            if more == 0:
                continue
            chance.deck[place + ONE] = deck[b]
            out.river_times[r] = more
            _list_river(deck, first, second, int(r), scratch, out)
            r += ONE
        t += ONE
    out.first_river[t] = r
    out.size[0], out.size[1] = t, r
