"""All 1,326 holdings on one board: card removal, buckets, hand strengths, and the action
probabilities of a player given as a `Table`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.poker.cards import tables
from counterplay.poker.cards.canonical import SIZES, flop_number, permute_suit
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.poker.holdem.table import Table

BOARD_SIZE = (0, 3, 4, 5)
TOTALS = (PREFLOP_TOTAL, FLOP_TOTAL, TURN_TOTAL, RIVER_TOTAL)
_CARDS = HOLDING_CARDS.astype(np.int64)


class CanonicalBoard(NamedTuple):
    """A board as the tables know it: up to a permutation of the suits."""

    street: int
    number: int  # of the canonical board, flops before turns before rivers; 0 before the flop
    pair: np.ndarray  # int64[1326]: each holding after the suit permutation
    free: np.ndarray  # bool[1326]: the holding shares no card with the board


@lru_cache(maxsize=256)
def canonical_board(board: tuple[int, ...]) -> CanonicalBoard:
    """Returns the canonical form of a board of 0, 3, 4 or 5 cards."""
    street = BOARD_SIZE.index(len(board))
    if street == 0:
        return CanonicalBoard(0, 0, np.arange(N_HOLDINGS), np.ones(N_HOLDINGS, dtype=bool))
    links = tables.board_links()
    link = int(links.flops[flop_number(*board[:3])])
    suits = [permute_suit(suit, link & 255) for suit in range(4)]
    for card in board[3:]:
        link = int(links.next_boards[link >> 8, (card & ~3) | suits[card & 3]])
        suits = [permute_suit(suit, link & 255) for suit in suits]
    permuted = (_CARDS & ~3) | np.array(suits, dtype=np.int64)[_CARDS & 3]
    low, high = permuted.min(axis=1), permuted.max(axis=1)
    blocked = np.isin(_CARDS, board).any(axis=1)
    return CanonicalBoard(street, link >> 8, high * (high - 1) // 2 + low, np.logical_not(blocked))


def buckets_on(cards: Any, board: CanonicalBoard) -> np.ndarray:
    """int64[1326]: the bucket of every holding in a card abstraction; any number where the board
    blocks the holding."""
    if board.street == 0:
        buckets = cards.preflop[board.pair]
    elif board.street < 3:
        buckets = cards.early[board.number, board.pair]
    else:
        buckets = cards.river[cards.river_entry[board.number - len(cards.early), board.pair]]
    return np.asarray(buckets).astype(np.int64)


def strengths_on(board: CanonicalBoard) -> np.ndarray:
    """float64[1326]: expected hand strength, the probability of winning a showdown against a
    random holding over all boards to come."""
    counts = tables.strengths()
    if board.street == 0:
        row = counts.preflop
    else:
        first = sum(SIZES[size] for size in BOARD_SIZE[1 : board.street])
        row = (counts.flop, counts.turn, counts.river)[board.street - 1][board.number - first]
    strengths: np.ndarray = row[board.pair].astype(np.float64) / TOTALS[board.street]
    return strengths


def bucket_codes(table: Table, board: tuple[int, ...], street: int) -> np.ndarray:
    """int64[1326]: the code of each holding's buckets up to a street (`Table`)."""
    code = np.zeros(N_HOLDINGS, dtype=np.int64)
    for k in range(street + 1):
        buckets = buckets_on(table.cards, canonical_board(board[: BOARD_SIZE[k]]))
        code = code * int(table.carry[k]) + buckets
    return code


def action_probabilities(table: Table, node: int, codes: np.ndarray) -> np.ndarray:
    """float64[1326, 3]: fold, call and raise of every holding at a public node."""
    probabilities: np.ndarray = table.policy[int(table.first_row[node]) + codes]
    return probabilities
