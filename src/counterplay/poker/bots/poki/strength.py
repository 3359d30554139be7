"""Hand strength and potential of one hand against every holding of the opponent, one card ahead.

A re-creation from published descriptions: Billings 2006, Sections 2.5.2.1-3; Papp 1998, chapter 5.

HP → `table` float64[3, 3]: rows now, columns one card later; AHEAD, TIED, BEHIND as seen by the
hand. Its rows add up to T times the number of next cards, which is what the published pseudo-code
divides by (it forgets the factor in print). HS, PPot and NPot are read off the table.

What each holding becomes does not depend on weights: `look_ahead` counts it once a round, `weigh`
is then one pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.bots.poki.classes import (
    N_TYPES,
    Classes,
    find_types,
    find_values,
    flush_suit,
    new_classes,
    pair_value,
    type_of,
)
from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS

AHEAD, TIED, BEHIND = 0, 1, 2
IMPOSSIBLE = 3


class Look(NamedTuple):
    """What one hand looks at on one board."""

    status: np.ndarray  # int8[1326]: AHEAD, TIED or BEHIND of this holding now, or IMPOSSIBLE
    # int32[1326]: next cards after which the hand is ahead, tied, behind, one byte each from the
    # lowest
    later: np.ndarray
    table: np.ndarray  # float64[3, 3]: HP
    board: np.ndarray  # int64[4]: suit masks
    mine: np.ndarray  # int64[4]: suit masks of the own cards
    longer: np.ndarray  # int64[4]: board with a next card
    classes: Classes
    # int32[27, 27]: 1 << 8 · status against each class; 0 in the row and column of type NO_CARD
    step: np.ndarray
    kind: np.ndarray  # int64[52]: type of each card


NO_CARD = N_TYPES  # type of the next card, which no holding has any more


def new_look() -> Look:
    board, mine, longer = (np.zeros(4, dtype=np.int64) for _ in range(3))
    return Look(
        np.zeros(N_HOLDINGS, dtype=np.int8),
        np.zeros(N_HOLDINGS, dtype=np.int32),
        np.zeros((3, 3)),
        board,
        mine,
        longer,
        new_classes(),
        np.zeros((NO_CARD + 1, NO_CARD + 1), dtype=np.int32),
        np.zeros(N_CARDS, dtype=np.int64),
    )


@jit(inner=True)
def set_masks(cards: np.ndarray, masks: np.ndarray) -> None:
    """Fill the four suit masks with cards; a card below 0 is none."""
    for suit in range(index(4)):
        masks[suit] = 0
    for k in range(index(len(cards))):
        if cards[k] >= 0:
            masks[index(cards[k] & 3)] |= 1 << (cards[k] >> 2)


@jit
def _compare(masks: np.ndarray, own: np.ndarray, suit: int, look: Look) -> None:
    """Fill `step` on the board `masks` with this flush suit."""
    find_types(masks, look.mine, suit, look.classes)
    find_values(masks, suit, look.classes)
    mine = pair_value(masks, own[0], own[1], look.classes.masks)
    for t in range(index(N_TYPES)):
        for u in range(index(N_TYPES)):
            other = look.classes.value[t, u]
            look.step[t, u] = 1 if mine > other else (1 << 8 if mine == other else 1 << 16)


@jit(inner=True)
def _advance(suit: int, next_card: int, look: Look) -> None:
    """Add `step` to `later` of all holdings, for a next card or -1."""
    for card in range(52):
        look.kind[index(card)] = NO_CARD if card == next_card else type_of(card, suit)
    h = index(0)
    for b in range(index(52)):
        row = look.step[index(look.kind[b])]
        for a in range(b):
            look.later[h + a] += row[index(look.kind[a])]
        h += b


@jit
def look_ahead(board: np.ndarray, own: np.ndarray, pairs: np.ndarray, look: Look) -> None:
    """Fill `status` and `later` of `look` for a board (int64[5], -1 for cards to come) and the
    own cards (int64[2])."""
    set_masks(board, look.board)
    set_masks(own, look.mine)
    suit = flush_suit(look.board)
    _compare(look.board, own, suit, look)
    look.later[:] = 0
    _advance(suit, -1, look)
    river = board[index(4)] >= 0
    for h in range(index(len(pairs))):
        a, b = np.int64(pairs[h, 0]), np.int64(pairs[h, 1])
        gone = (look.board[index(a & 3)] | look.mine[index(a & 3)]) >> (a >> 2) & 1
        gone |= (look.board[index(b & 3)] | look.mine[index(b & 3)]) >> (b >> 2) & 1
        now = AHEAD if look.later[h] == 1 else (TIED if look.later[h] == 1 << 8 else BEHIND)
        look.status[h] = IMPOSSIBLE if gone else now
        if not river:
            look.later[h] = 0
    if not river:
        _each_next_card(own, look)


@jit(inner=True)
def _each_next_card(own: np.ndarray, look: Look) -> None:
    """Fill `later`. Next cards of one rank outside the flush suit give the same comparisons,
    made once."""
    known_rank, known_suit = -1, -1
    for card in range(52):
        s, rank = card & 3, card >> 2
        if (look.board[index(s)] | look.mine[index(s)]) >> rank & 1:
            continue
        for k in range(index(4)):
            look.longer[k] = look.board[k]
        look.longer[index(s)] |= 1 << rank
        suit = flush_suit(look.longer)
        if known_rank != rank or known_suit != suit or s == suit:
            _compare(look.longer, own, suit, look)
            known_rank, known_suit = rank if s != suit else -1, suit
        _advance(suit, card, look)


@jit
def weigh(weights: np.ndarray, look: Look) -> None:
    """Fill `look.table` with the transitions of all holdings, each with its weight."""
    for i in range(index(3)):
        for j in range(index(3)):
            look.table[i, j] = 0.0
    for h in range(index(len(weights))):
        if look.status[h] != IMPOSSIBLE:
            row = index(look.status[h])
            for j in range(3):
                look.table[row, index(j)] += weights[h] * (look.later[h] >> (8 * j) & 255)


class Strength(NamedTuple):
    """Of one hand on one board."""

    hs: float  # hand strength
    ppot: float  # positive potential
    npot: float  # negative potential

    @property
    def optimistic(self) -> float:
        """EHS' = HS + (1 - HS) · PPot, Eq 2.1, for bets and raises."""
        return self.hs + (1.0 - self.hs) * self.ppot

    @property
    def full(self) -> float:
        """EHS = HS · (1 - NPot) + (1 - HS) · PPot, for calls that go to the showdown."""
        return self.hs * (1.0 - self.npot) + (1.0 - self.hs) * self.ppot


def read_strength(table: np.ndarray) -> Strength:
    """HS, PPot and NPot of a table HP (float64[3, 3])."""
    (aa, at, ab), (ta, tt, tb), (ba, bt, bb) = table.tolist()
    ahead, tied, behind = aa + at + ab, ta + tt + tb, ba + bt + bb
    total = ahead + tied + behind
    if total <= 0.0:
        return Strength(0.5, 0.0, 0.0)
    weaker, stronger = behind + tied / 2, ahead + tied / 2
    return Strength(
        stronger / total,
        (ba + bt / 2 + ta / 2) / weaker if weaker > 0.0 else 0.0,
        (ab + tb / 2 + at / 2) / stronger if stronger > 0.0 else 0.0,
    )
