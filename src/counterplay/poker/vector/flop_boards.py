"""All turns and rivers of a flop, one of each class of suit-isomorphic boards: the holdings, by
strength on the river, and their codes in two tables, for the traversal on a CUDA device
(`cuda_traversal.py`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.cards.canonical import permuted_holding
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_at, find_board, new_deal
from counterplay.poker.holdem.table import Table
from counterplay.poker.vector.board import HIGH, LOW, Board, list_holdings, new_board
from counterplay.poker.vector.suit_permutations import (
    SuitPermutations,
    find_stabilizer,
    orbit_size,
)

MOST_TURNS, MOST_RIVERS = 49, 49 * 48
ON_FLOP, ON_TURN, ON_RIVER = 1176, 1128, 1081  # holdings of the full deck
LAST = 1 << 11  # marks the last holding of a group of equal strength


class ListingWorkspace(NamedTuple):
    """Buffers of one thread for `list_boards`; n = 1,326 holdings."""

    board: Board
    chance: Deal
    code: np.ndarray  # int64[2, 4, n]: codes in both tables
    stabilizer: np.ndarray  # int64[3, 24]: all suit permutations, those of the flop, of the turn


def new_listing_workspace() -> ListingWorkspace:
    return ListingWorkspace(
        board=new_board((1,)),
        chance=new_deal(),
        code=np.zeros((2, 4, N_HOLDINGS), dtype=np.int64),
        stabilizer=np.zeros((3, 24), dtype=np.int64),
    )


class FlopBoards(NamedTuple):
    """t turns and r rivers of one flop. Codes are those of the opponent's table and the player's
    own table."""

    size: np.ndarray  # int64[2]: t and r
    n_holdings: np.ndarray  # int64[3]: on the flop, the turn and the river
    turn_weight: np.ndarray  # int32[t]: number of suit-isomorphic turns
    stabilizer: np.ndarray  # int32[t, 24]: suit permutations that map the turn to itself
    n_stabilizer: np.ndarray  # int32[t]: their number
    flop_stabilizer: np.ndarray  # int32[25]: those of the flop, after their number
    first_river: np.ndarray  # int32[t + 1]
    river_weight: np.ndarray  # int32[r]
    start_code: np.ndarray  # uint16[2, 1326]: before the flop
    flop_holding: np.ndarray  # uint16[1176]
    flop_code: np.ndarray  # uint16[2, 1326]
    turn_holding: np.ndarray  # uint16[t, 1128]
    turn_code: np.ndarray  # uint16[2, t, 1326]
    river_holding: np.ndarray  # uint16[r, 1081]: weakest first, marked with LAST
    river_code: np.ndarray  # uint16[2, r, 1081]: in the same order


def new_flop_boards() -> FlopBoards:
    def ints(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int32)

    def shorts(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint16)

    return FlopBoards(
        size=np.zeros(2, dtype=np.int64),
        n_holdings=np.zeros(3, dtype=np.int64),
        turn_weight=ints(MOST_TURNS),
        stabilizer=ints(MOST_TURNS, 24),
        n_stabilizer=ints(MOST_TURNS),
        flop_stabilizer=ints(25),
        first_river=ints(MOST_TURNS + 1),
        river_weight=ints(MOST_RIVERS),
        start_code=shorts(2, N_HOLDINGS),
        flop_holding=shorts(ON_FLOP),
        flop_code=shorts(2, N_HOLDINGS),
        turn_holding=shorts(MOST_TURNS, ON_TURN),
        turn_code=shorts(2, MOST_TURNS, N_HOLDINGS),
        river_holding=shorts(MOST_RIVERS, ON_RIVER),
        river_code=shorts(2, MOST_RIVERS, ON_RIVER),
    )


@jit(inline=True)
def on_board(chance: Deal, cards: Any, card: Any) -> bool:
    """Returns whether a card is among the board's first `cards`."""
    dealt = False
    for k in range(index(cards)):
        dealt |= chance.deck[index(FIRST_OF_BOARD) + k] == card
    return dealt


@jit(inner=True)
def _card_weight(
    group: SuitPermutations, work: ListingWorkspace, cards: int, n_stabilizer: int, card: int
) -> int:
    """Returns the number of cards suit-isomorphic to `card` after the board's first `cards`, or 0
    if it is on the board or not the lowest of them. The board has `n_stabilizer` permutations."""
    if on_board(work.chance, cards, card):
        return 0
    return int(orbit_size(group.card, work.stabilizer[cards - 2], n_stabilizer, card))


@jit(inner=True)
def _set_codes(table: Table, work: ListingWorkspace, which: int, street: int) -> None:
    """Fills the codes of all holdings on a street from those of the street before."""
    row = find_board(table.cards, work.chance, street)
    code, carry = work.code[which], table.carry[street]
    for h in range(index(N_HOLDINGS)):
        holding: Any = np.int64(h)
        if street > 0:
            holding = permuted_holding(LOW[h], HIGH[h], work.chance.permutation[0])
        before = code[street - 1, h] if street > 0 else 0
        bucket = np.int64(bucket_at(table.cards, street, row, holding, before))
        code[street, h] = before * carry + bucket


@jit(inner=True)
def list_live_holdings(
    deck: np.ndarray, work: ListingWorkspace, cards: int, by_strength: bool
) -> int:
    """Lists the holdings without a card of the board's first `cards`, weakest first if
    `by_strength`; returns their number."""
    live = index(0)
    for k in range(index(len(deck))):
        if not on_board(work.chance, cards, deck[k]):
            work.board.live[live] = deck[k]
            live += ONE
    list_holdings(work.chance, cards, live, by_strength, work.board)
    return int(work.board.size[0])


@jit(inner=True)
def _list_river(
    deck: np.ndarray, first: Table, second: Table, r: int, work: ListingWorkspace, out: FlopBoards
) -> None:
    board, row = work.board, index(r)
    out.n_holdings[2] = list_live_holdings(deck, work, 5, True)
    for street in range(1, 4):
        _set_codes(first, work, 0, street)
    for street in range(1, 4):
        _set_codes(second, work, 1, street)
    for k in range(index(board.size[0])):
        holding = board.holding[k]
        out.river_holding[row, k] = holding
        out.river_code[0, row, k] = work.code[0, 3, index(holding)]
        out.river_code[1, row, k] = work.code[1, 3, index(holding)]
    for g in range(ONE, index(board.size[1]) + ONE):
        out.river_holding[row, index(board.group[g]) - ONE] |= LAST


@jit
def list_boards(
    deck: np.ndarray,
    group: SuitPermutations,
    flop: np.ndarray,
    first: Table,
    second: Table,
    work: ListingWorkspace,
    out: FlopBoards,
) -> None:
    """Fills `out` for a flop. `first`: the opponent's table; `second`: the player's own."""
    chance, board, stabilizer, every = work.chance, work.board, work.stabilizer, len(group.card)
    for k in range(index(3)):
        chance.deck[index(FIRST_OF_BOARD) + k] = flop[k]
    for k in range(index(every)):
        stabilizer[0, k] = k
    on_flop = find_stabilizer(group.card, stabilizer[0], flop, every, stabilizer[1])
    out.flop_stabilizer[0] = on_flop
    for k in range(index(on_flop)):
        out.flop_stabilizer[k + ONE] = stabilizer[1, k]
    for street in range(2):
        _set_codes(first, work, 0, street)
        _set_codes(second, work, 1, street)
    for h in range(index(N_HOLDINGS)):
        for which in range(index(2)):
            out.start_code[which, h] = work.code[which, 0, h]
            out.flop_code[which, h] = work.code[which, 1, h]
    out.n_holdings[0] = list_live_holdings(deck, work, 3, False)
    for k in range(index(board.size[0])):
        out.flop_holding[k] = board.holding[k]
    t, r = index(0), index(0)
    turn = FIRST_OF_BOARD + 3
    for a in range(index(len(deck))):
        weight = _card_weight(group, work, 3, on_flop, deck[a])
        if weight == 0:
            continue
        chance.deck[index(turn)] = deck[a]
        out.turn_weight[t] = weight
        on_turn = find_stabilizer(
            group.card, stabilizer[1], chance.deck[turn : turn + 1], on_flop, stabilizer[2]
        )
        out.n_stabilizer[t] = on_turn
        for k in range(index(on_turn)):
            out.stabilizer[t, k] = stabilizer[2, k]
        out.n_holdings[1] = list_live_holdings(deck, work, 4, False)
        for k in range(index(board.size[0])):
            out.turn_holding[t, k] = board.holding[k]
        for street in range(1, 3):
            _set_codes(first, work, 0, street)
        for street in range(1, 3):
            _set_codes(second, work, 1, street)
        for h in range(index(N_HOLDINGS)):
            out.turn_code[0, t, h] = work.code[0, 2, h]
            out.turn_code[1, t, h] = work.code[1, 2, h]
        out.first_river[t] = r
        for b in range(index(len(deck))):
            weight = _card_weight(group, work, 4, on_turn, deck[b])
            if weight == 0:
                continue
            chance.deck[index(turn + 1)] = deck[b]
            out.river_weight[r] = weight
            _list_river(deck, first, second, int(r), work, out)
            r += ONE
        t += ONE
    out.first_river[t] = r
    out.size[0], out.size[1] = t, r
