"""The cards of one deal, and what was derived from them: the chance state of hold'em.

All cards are dealt at the start. The canonical board is followed from street to street
(`find_board`), and a bucket is looked up in a card abstraction where it is needed (`bucket_of`).
With perfect recall the bucket on the turn and the river also depends on that of the street before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from counterplay.core.kernels.inner import INNER
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import uniform
from counterplay.poker.cards.canonical import compose, flop_number, permute_suit, permuted_holding
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.evaluator import strength_of_masks

N_DEALT = 9  # player 1's two cards, player 2's two, five of the board
UNKNOWN = -9  # a bucket or a winner that was not looked up yet
DERIVED = 17  # numbers of a deal behind its deck, in one array
RANKS = (1 << 13) - 1  # the suit mask of all ranks
FIRST_OF_BOARD = 4  # position of the board's first card in the deck


class Deal(NamedTuple):
    """One deal, in parts of one array."""

    deck: np.ndarray  # int64[52]: the dealt cards first; shorter for a short deck
    bucket: np.ndarray  # int64[4, 2]: by street and player, or UNKNOWN
    winner: np.ndarray  # int64[1]: +1, 0 or -1 for player 1 at a showdown, or UNKNOWN
    masks: np.ndarray  # int64[4]: suit masks of the cards that are being compared
    board: np.ndarray  # int64[1]: canonical board so far, numbered as in `Links`
    permutation: np.ndarray  # int64[1]: the suit permutation to the canonical board
    holding: np.ndarray  # int64[2]: both players' holdings after that permutation


def deals_on(buffer: np.ndarray, cards: np.ndarray) -> Deal:
    """Returns w new deals over an array: int64[w · (len(cards) + DERIVED)]. Every array of the
    `Deal` has a first dimension of w."""
    shapes = ((len(cards),), (4, 2), (1,), (4,), (1,), (1,), (2,))
    many = len(buffer) // (len(cards) + DERIVED)
    buffer[:] = UNKNOWN
    buffer[: many * len(cards)] = np.tile(cards, many)
    ends = many * np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = np.split(buffer, ends)
    return Deal(*(p.reshape(many, *shape) for p, shape in zip(parts, shapes, strict=True)))


def deal_on(buffer: np.ndarray, cards: np.ndarray) -> Deal:
    """Returns a new deal of `cards` over an array: int64[len(cards) + DERIVED]."""
    return Deal(*(part[0] for part in deals_on(buffer, cards)))


def new_deal() -> Deal:
    """Returns a new deal of the full deck."""
    return deal_on(np.empty(N_CARDS + DERIVED, dtype=np.int64), np.arange(N_CARDS))


@jit
def draw(chance: Deal, rng: np.ndarray) -> None:
    """Moves nine random cards to the front of the deck and clears what was derived before."""
    for k in range(index(N_DEALT)):
        left = index(len(chance.deck)) - k
        other = k + min(index(uniform(rng) * left), left - ONE)
        chance.deck[k], chance.deck[other] = chance.deck[other], chance.deck[k]
    for street in range(index(4)):
        chance.bucket[street, ZERO] = chance.bucket[street, ONE] = UNKNOWN
    chance.winner[ZERO] = UNKNOWN


@jit(inner=True)
def _packed(chance: Deal, low: int, high: int) -> int:
    """Returns the suit masks of the cards at positions low .. high - 1, 16 bits each."""
    packed = 0
    for k in range(index(low), index(high)):
        card = chance.deck[k]
        packed |= 1 << (((card & 3) << 4) + (card >> 2))
    return packed


@jit(inner=True)
def _strength_of_packed(packed: int) -> int:
    """Returns the strength of the cards in suit masks of 16 bits each."""
    suits = packed & RANKS, packed >> 16 & RANKS, packed >> 32 & RANKS, packed >> 48 & RANKS
    return int(strength_of_masks(*suits))


@jit
def compare(chance: Deal, on_board: int = N_DEALT - FIRST_OF_BOARD) -> None:
    """Finds the winner at a showdown on the first cards of the board."""
    board = _packed(chance, FIRST_OF_BOARD, FIRST_OF_BOARD + 3)  # constants: without a loop
    for k in range(3, on_board):
        board |= _packed(chance, FIRST_OF_BOARD + k, FIRST_OF_BOARD + k + 1)
    first = _strength_of_packed(board | _packed(chance, 0, 2))
    second = _strength_of_packed(board | _packed(chance, 2, 4))
    chance.winner[ZERO] = (1 if first > second else 0) - (1 if first < second else 0)


@jit(inner=True)
def holding_of(chance: Deal, player: int, permuted: bool) -> int:
    """Returns a player's holding; `permuted`: after the permutation to the canonical board."""
    a, b = chance.deck[index(2 * player)], chance.deck[index(2 * player + 1)]
    if permuted:
        return int(permuted_holding(a, b, chance.permutation[ZERO]))
    a, b = min(a, b), max(a, b)
    return int(b * (b - 1) // 2 + a)


@jit
def find_board(cards: Any, chance: Deal, street: int) -> int:
    """Returns the canonical board of a street, 0 before the flop. Look streets up in order."""
    if street == 0:
        return 0
    if street == 1:
        a, b, c = chance.deck[index(4)], chance.deck[index(5)], chance.deck[index(6)]
        link = cards.flops[index(flop_number(a, b, c))]
        permutation = link & 255
    else:
        card = permute_suit(chance.deck[index(5 + street)], chance.permutation[ZERO])
        link = cards.next_boards[index(chance.board[ZERO]), index(card)]
        permutation = compose(chance.permutation[ZERO], link & 255)
    chance.board[ZERO] = link >> 8
    chance.permutation[ZERO] = permutation
    return int(link >> 8)


def remembers(cards: Any) -> bool:
    """Returns whether a card abstraction has perfect recall; in kernels a constant."""
    return bool(cards.river.ndim == 2)


def _turn_bucket(after: Any, street: Any, before: Any, entry: Any) -> Any:
    """Returns the bucket of an entry on the flop or the turn."""
    return after[before, entry] if after is not None and street == 2 else entry


def _river_bucket(river: Any, before: Any, entry: Any) -> Any:
    """Returns the bucket of an entry on the river."""
    return river[before, entry] if river.ndim == 2 else river[entry]


@overload(remembers, jit_options=INNER)
def _remembers(cards: Any) -> Any:
    recall = cards.types[cards.fields.index("river")].ndim == 2

    def constant(cards: Any) -> Any:
        return recall

    return constant


@overload(_turn_bucket, jit_options=INNER)
def _choose_turn(after: Any, street: Any, before: Any, entry: Any) -> Any:
    def follow(after: Any, street: Any, before: Any, entry: Any) -> Any:
        return after[index(before), index(entry)] if street == 2 else entry

    def same(after: Any, street: Any, before: Any, entry: Any) -> Any:
        return entry

    return same if isinstance(after, types.NoneType) else follow


@overload(_river_bucket, jit_options=INNER)
def _choose_river(river: Any, before: Any, entry: Any) -> Any:
    def follow(river: Any, before: Any, entry: Any) -> Any:
        return river[index(before), index(entry)]

    def same(river: Any, before: Any, entry: Any) -> Any:
        return river[index(entry)]

    return follow if river.ndim == 2 else same


@jit(inline=True)
def bucket_at(cards: Any, street: Any, board: Any, holding: Any, before: Any) -> Any:
    """Returns the bucket of a holding on a street; `holding` is permuted to the canonical board,
    `before` is its bucket on the street before, which matters with perfect recall alone."""
    if street == 0:
        bucket = cards.preflop[index(holding)]
    elif street < 3:
        entry = cards.early[index(board), index(holding)]
        bucket = _turn_bucket(cards.turn_after, street, before, entry)
    else:
        entry = cards.river_entry[index(board - len(cards.early)), index(holding)]
        bucket = _river_bucket(cards.river, before, entry)
    return bucket


@jit(inline=True)
def bucket_of(cards: Any, chance: Deal, board: int, player: int, street: Any, before: Any) -> Any:
    """Returns a player's bucket on a street; `board`: the last result of `find_board`, `before`:
    as in `bucket_at`."""
    return bucket_at(cards, street, board, holding_of(chance, player, street > 0), before)
