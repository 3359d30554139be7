"""The cards of one deal, and what was looked up about them: the scratch of chance in hold'em.

All cards are dealt at the start. The class of the board is followed from street to street
(`find_board`), and a bucket is looked up in a view where it is needed (`bucket_of`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import uniform
from counterplay.poker.cards.canonical import compose, flop_number, rename
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.evaluator import strength_of_masks

N_DEALT = 9  # player 1's two cards, player 2's two, five of the board
UNKNOWN = -9  # a bucket or a winner that was not looked up yet
LOOKED_UP = 17  # places of a deal in one array behind its deck, as files keep it
FIRST_OF_BOARD = 4  # the place of the board's first card in the deck


class Deal(NamedTuple):
    """Parts of one array."""

    deck: np.ndarray  # int64[52]: the dealt cards in front; fewer in a short deck
    bucket: np.ndarray  # int64[4, 2]: of each street and player, or UNKNOWN
    winner: np.ndarray  # int64[1]: +1, 0 or -1 at a showdown, for player 1; or UNKNOWN
    masks: np.ndarray  # int64[4]: the cards of each suit that are being compared
    board: np.ndarray  # int64[1]: class of the board so far, flops before turns before rivers
    renaming: np.ndarray  # int64[1]: what each suit is called in that class, two bits each
    pair: np.ndarray  # int64[2]: both players' holdings as they are called there


def deal_on(buffer: np.ndarray, cards: np.ndarray) -> Deal:
    """A fresh deck of `cards` over an array: int64[len(cards) + LOOKED_UP]."""
    buffer[:] = UNKNOWN
    buffer[: len(cards)] = cards
    ends = np.cumsum([len(cards), 8, 1, 4, 1, 1])
    deck, bucket, winner, masks, board, renaming, pair = np.split(buffer, ends)
    return Deal(deck, bucket.reshape(4, 2), winner, masks, board, renaming, pair)


class Deals(NamedTuple):
    """w deals at once: the same, each array with one place for every deal in front."""

    deck: np.ndarray
    bucket: np.ndarray
    winner: np.ndarray
    masks: np.ndarray
    board: np.ndarray
    renaming: np.ndarray
    pair: np.ndarray


def deals_on(buffer: np.ndarray, cards: np.ndarray) -> Deals:
    """Fresh decks over an array: int64[w · (len(cards) + LOOKED_UP)]."""
    shapes = ((len(cards),), (4, 2), (1,), (4,), (1,), (1,), (2,))
    many = len(buffer) // (len(cards) + LOOKED_UP)
    buffer[:] = UNKNOWN
    buffer[: many * len(cards)] = np.tile(cards, many)
    ends = many * np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = np.split(buffer, ends)
    return Deals(*(p.reshape(many, *shape) for p, shape in zip(parts, shapes, strict=True)))


def new_deal() -> Deal:
    """A deal of the full deck."""
    return deal_on(np.empty(N_CARDS + LOOKED_UP, dtype=np.int64), np.arange(N_CARDS))


@jit
def draw(chance: Deal, rng: np.ndarray) -> None:
    """Nine random cards to the front of the deck, whatever order the rest is in; nothing looked
    up yet."""
    for k in range(index(N_DEALT)):
        left = index(len(chance.deck)) - k
        other = k + min(index(uniform(rng) * left), left - ONE)
        chance.deck[k], chance.deck[other] = chance.deck[other], chance.deck[k]
    for street in range(index(4)):
        chance.bucket[street, ZERO] = chance.bucket[street, ONE] = UNKNOWN
    chance.winner[ZERO] = UNKNOWN


@jit(inner=True)
def _set_masks(chance: Deal, low: int, high: int) -> None:
    """Add the cards in places low .. high - 1 to the suit masks."""
    for k in range(index(low), index(high)):
        card = chance.deck[k]
        chance.masks[index(card & 3)] |= 1 << (card >> 2)


@jit
def compare(chance: Deal) -> None:
    """Who wins at a showdown, by the real cards."""
    first, masks = 0, chance.masks
    for player in range(2):
        for suit in range(index(4)):
            masks[suit] = 0
        _set_masks(chance, FIRST_OF_BOARD, N_DEALT)
        _set_masks(chance, 2 * player, 2 * player + 2)
        value = strength_of_masks(masks[0], masks[1], masks[2], masks[3])
        if player == 0:
            first = value
        else:
            chance.winner[ZERO] = (1 if first > value else 0) - (1 if first < value else 0)


@jit(inner=True)
def pair_of(chance: Deal, player: int, renamed: bool) -> int:
    """Number of a player's holding, its suits renamed as in the class of the board."""
    a, b = chance.deck[index(2 * player)], chance.deck[index(2 * player + 1)]
    if renamed:
        a, b = rename(a, chance.renaming[ZERO]), rename(b, chance.renaming[ZERO])
    a, b = min(a, b), max(a, b)
    return int(b * (b - 1) // 2 + a)


@jit
def find_board(cards: Any, chance: Deal, street: int) -> int:
    """Class of the board of a street; the streets before it come first. Before the flop there is
    none: 0."""
    if street == 0:
        return 0
    if street == 1:
        a, b, c = chance.deck[index(4)], chance.deck[index(5)], chance.deck[index(6)]
        link = cards.flops[index(flop_number(a, b, c))]
        renaming = link & 255
    else:
        card = rename(chance.deck[index(5 + street)], chance.renaming[ZERO])
        link = cards.next_boards[index(chance.board[ZERO]), index(card)]
        renaming = compose(chance.renaming[ZERO], link & 255)
    chance.board[ZERO] = link >> 8
    chance.renaming[ZERO] = renaming
    return int(link >> 8)


@jit(inline=True)
def bucket_at(cards: Any, street: Any, board: Any, pair: Any) -> Any:
    """The bucket of a holding on a street, both as they are called in the class of the board."""
    if street == 0:
        bucket = cards.preflop[index(pair)]
    elif street < 3:
        bucket = cards.early[index(board), index(pair)]
    else:
        entry = cards.river_entry[index(board - len(cards.early)), index(pair)]
        bucket = cards.river[index(entry)]
    return bucket


@jit(inline=True)
def bucket_of(cards: Any, chance: Deal, board: int, player: int, street: Any) -> Any:
    """A player's bucket of a street; `board`: the class that `find_board` has just found."""
    return bucket_at(cards, street, board, pair_of(chance, player, street > 0))
