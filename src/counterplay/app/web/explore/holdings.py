"""All 1,326 holdings on a board: which are possible, their buckets and strengths, and what a player
who is a table does with each."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.poker.cards import tables
from counterplay.poker.cards.canonical import SIZES
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL

BOARD_SIZE = (0, 3, 4, 5)
TOTALS = (PREFLOP_TOTAL, FLOP_TOTAL, TURN_TOTAL, RIVER_TOTAL)
_LOW, _HIGH = (HOLDING_CARDS[:, k].astype(np.int64) for k in (0, 1))


class Place(NamedTuple):
    """A board as the tables know it: its class, and what each suit is called there."""

    street: int
    number: int  # of the class, flops before turns before rivers; 0 before the flop
    pair: np.ndarray  # int64[1326]: every holding as it is called there
    free: np.ndarray  # bool[1326]: not blocked by the board


@lru_cache(maxsize=256)
def place_of(board: tuple[int, ...]) -> Place:
    """The class of a board of 0, 3, 4 or 5 cards."""
    street = BOARD_SIZE.index(len(board))
    if street == 0:
        return Place(0, 0, np.arange(N_HOLDINGS), np.ones(N_HOLDINGS, dtype=bool))
    links = tables.board_links()
    link = int(links.flops[_flop_number(board[:3])])
    suits = [link >> (2 * suit) & 3 for suit in range(4)]
    for card in board[3:]:
        called = (card & ~3) | suits[card & 3]
        link = int(links.next_boards[link >> 8, called])
        suits = [link >> (2 * suit) & 3 for suit in suits]
    names = np.array(suits, dtype=np.int64)
    one, two = ((cards & ~3) | names[cards & 3] for cards in (_LOW, _HIGH))
    low, high = np.minimum(one, two), np.maximum(one, two)
    free = ~(np.isin(_LOW, board) | np.isin(_HIGH, board))
    return Place(street, link >> 8, high * (high - 1) // 2 + low, free)


def _flop_number(cards: tuple[int, ...]) -> int:
    low, middle, high = sorted(cards)
    return high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low


def buckets_on(cards: Any, place: Place) -> np.ndarray:
    """int64[1326]: the bucket of every holding in a view of the cards; blocked ones have any."""
    if place.street == 0:
        found = cards.preflop[place.pair]
    elif place.street < 3:
        found = cards.early[place.number, place.pair]
    else:
        found = cards.river[cards.river_entry[place.number - len(cards.early), place.pair]]
    return np.asarray(found).astype(np.int64)


def strengths_on(place: Place) -> np.ndarray:
    """float64[1326]: chance to win at a showdown against any holding, all boards to come."""
    known = tables.strengths()
    rows = (
        known.preflop,
        known.flop[place.number] if place.street == 1 else None,
        known.turn[place.number - SIZES[3]] if place.street == 2 else None,
        known.river[place.number - SIZES[3] - SIZES[4]] if place.street == 3 else None,
    )
    row = rows[place.street]
    assert row is not None
    shares: np.ndarray = row[place.pair].astype(np.float64) / TOTALS[place.street]
    return shares


def codes_on(table: Any, board: tuple[int, ...], street: int) -> np.ndarray:
    """int64[1326]: what a table remembers of each holding's buckets up to a street."""
    code = np.zeros(N_HOLDINGS, dtype=np.int64)
    for k in range(street + 1):
        place = place_of(board[: BOARD_SIZE[k]])
        code = code * int(table.carry[k]) + buckets_on(table.cards, place)
    return code


def shares_at(table: Any, node: int, codes: np.ndarray) -> np.ndarray:
    """float64[1326, 3]: fold, call, raise of every holding at a node."""
    found: np.ndarray = table.policy[int(table.first_row[node]) + codes]
    return found
