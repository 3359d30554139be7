"""Hand strength and hand potential of one hand against every holding of the opponent, one card
ahead.

A re-creation from published descriptions: Billings 2006, Sections 2.5.2.1-3; Papp 1998, chapter 5.

HP → `hand_potential` float64[3, 3]: rows now, columns one card later; AHEAD, TIED, BEHIND are those
of the hand. Its rows add up to T times the number of next cards, by which the published pseudo-code
divides (the factor is missing in print). HS, PPot and NPot follow from the table. The comparisons
do not depend on weights: `fill_lookahead` makes them once a round, `fill_hand_potential` is one
pass over the holdings.

Holding classes: on one board only the rank of a card matters, and whether it has the suit of a
possible flush. A board of five cards has at most one suit with three cards or more. A card has type
2 · rank + (1 if it has that suit), a holding the class of its two types. All holdings of a class
have the same strength on this board and on the board without its last card. There are 91 classes
where no flush is possible and about 260 where one is, instead of 1,081 holdings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import BITS, strength_of_masks

N_TYPES = 26
NO_SUIT = -1
NO_STRENGTH = -1  # strength of a class without holdings


class HoldingClasses(NamedTuple):
    """The holding classes of one board; a workspace of one thread."""

    left: np.ndarray  # int32[26]: cards of each type that are neither on the board nor dead
    card: np.ndarray  # int64[26, 2]: two of these cards, or one where only one is left
    strength: np.ndarray  # int32[26, 26]: of a class on the board, or NO_STRENGTH; symmetric
    masks: np.ndarray  # int64[4]: suit masks, workspace


def new_holding_classes() -> HoldingClasses:
    return HoldingClasses(
        np.zeros(N_TYPES, dtype=np.int32),
        np.zeros((N_TYPES, 2), dtype=np.int64),
        np.full((N_TYPES, N_TYPES), NO_STRENGTH, dtype=np.int32),
        np.zeros(4, dtype=np.int64),
    )


@jit(inner=True)
def flush_suit(masks: np.ndarray) -> int:
    """The suit with three cards or more on the board, or NO_SUIT."""
    for suit in range(4):
        if BITS[index(masks[index(suit)])] >= 3:
            return suit
    return NO_SUIT


@jit(inner=True)
def type_of(card: Any, suit: Any) -> Any:
    """The type of a card where `suit` is the flush suit."""
    return 2 * (card >> 2) + (1 if (card & 3) == suit else 0)


@jit(inner=True)
def fill_types(masks: np.ndarray, dead: np.ndarray, suit: int, classes: HoldingClasses) -> None:
    """Fills `left` and `card` for a board and dead cards, both as suit masks (int64[4])."""
    for t in range(index(N_TYPES)):
        classes.left[t] = 0
    for card in range(52):
        s, rank = card & 3, card >> 2
        if (masks[index(s)] | dead[index(s)]) >> rank & 1:
            continue
        t = index(type_of(card, suit))
        n = classes.left[t]
        if n < 2:
            classes.card[t, index(n)] = card
        classes.left[t] = n + 1


@jit(inner=True)
def holding_strength(masks: np.ndarray, a: Any, b: Any, scratch: np.ndarray) -> Any:
    """HandStrength of the holding (a, b) on the board. Changes `scratch` (int64[4])."""
    for suit in range(index(4)):
        scratch[suit] = masks[suit]
    scratch[index(a & 3)] |= 1 << (a >> 2)
    scratch[index(b & 3)] |= 1 << (b >> 2)
    return strength_of_masks(scratch[0], scratch[1], scratch[2], scratch[3])


@jit(inner=True)
def fill_strengths(masks: np.ndarray, suit: int, classes: HoldingClasses) -> None:
    """Fills `strength` for a board with filled types; without a flush suit only even types."""
    step = ONE if suit != NO_SUIT else ONE + ONE
    for t in range(index(0), index(N_TYPES), step):
        for u in range(index(0), t + ONE, step):
            strength = NO_STRENGTH
            if classes.left[t] > (1 if t == u else 0) and classes.left[u] > 0:
                second = classes.card[u, ONE] if t == u else classes.card[u, 0]
                strength = holding_strength(masks, classes.card[t, 0], second, classes.masks)
            classes.strength[t, u] = strength
            classes.strength[u, t] = strength


AHEAD, TIED, BEHIND = 0, 1, 2
IMPOSSIBLE = 3


class Lookahead(NamedTuple):
    """One hand against every holding on one board, now and one card later; a workspace."""

    status: np.ndarray  # int8[1326]: AHEAD, TIED or BEHIND of this holding now, or IMPOSSIBLE
    # int32[1326]: numbers of next cards after which the hand is ahead, tied, behind, one byte each,
    # from the lowest
    later: np.ndarray
    hand_potential: np.ndarray  # float64[3, 3]: HP
    board: np.ndarray  # int64[4]: suit masks
    own: np.ndarray  # int64[4]: suit masks of the own cards
    next_board: np.ndarray  # int64[4]: board with a next card
    classes: HoldingClasses
    # int32[27, 27]: 1 << 8 · status against each class; 0 in the row and column of DEALT_TYPE
    comparison: np.ndarray
    card_type: np.ndarray  # int64[52]


DEALT_TYPE = N_TYPES  # type of the next card, which no holding contains


def new_lookahead() -> Lookahead:
    board, own, next_board = (np.zeros(4, dtype=np.int64) for _ in range(3))
    return Lookahead(
        np.zeros(N_HOLDINGS, dtype=np.int8),
        np.zeros(N_HOLDINGS, dtype=np.int32),
        np.zeros((3, 3)),
        board,
        own,
        next_board,
        new_holding_classes(),
        np.zeros((DEALT_TYPE + 1, DEALT_TYPE + 1), dtype=np.int32),
        np.zeros(N_CARDS, dtype=np.int64),
    )


@jit(inner=True)
def set_masks(cards: np.ndarray, masks: np.ndarray) -> None:
    """Fills the four suit masks with cards; a negative number is no card."""
    for suit in range(index(4)):
        masks[suit] = 0
    for k in range(index(len(cards))):
        if cards[k] >= 0:
            masks[index(cards[k] & 3)] |= 1 << (cards[k] >> 2)


@jit
def _compare(masks: np.ndarray, own: np.ndarray, suit: int, lookahead: Lookahead) -> None:
    """Fills `comparison` on the board `masks` with this flush suit."""
    fill_types(masks, lookahead.own, suit, lookahead.classes)
    fill_strengths(masks, suit, lookahead.classes)
    own_strength = holding_strength(masks, own[0], own[1], lookahead.classes.masks)
    for t in range(index(N_TYPES)):
        for u in range(index(N_TYPES)):
            other = lookahead.classes.strength[t, u]
            lookahead.comparison[t, u] = (
                1 if own_strength > other else (1 << 8 if own_strength == other else 1 << 16)
            )


@jit(inner=True)
def _add_comparisons(suit: int, next_card: int, lookahead: Lookahead) -> None:
    """Adds `comparison` to `later` of all holdings, for a next card or -1."""
    for card in range(52):
        lookahead.card_type[index(card)] = DEALT_TYPE if card == next_card else type_of(card, suit)
    h = index(0)
    for b in range(index(52)):
        row = lookahead.comparison[index(lookahead.card_type[b])]
        for a in range(b):
            lookahead.later[h + a] += row[index(lookahead.card_type[a])]
        h += b


@jit
def fill_lookahead(
    board: np.ndarray, own: np.ndarray, pairs: np.ndarray, lookahead: Lookahead
) -> None:
    """Fills `status` and `later` for a board (int64[5], -1 for none) and own cards (int64[2])."""
    set_masks(board, lookahead.board)
    set_masks(own, lookahead.own)
    suit = flush_suit(lookahead.board)
    _compare(lookahead.board, own, suit, lookahead)
    lookahead.later[:] = 0
    _add_comparisons(suit, -1, lookahead)
    river = board[index(4)] >= 0
    for h in range(index(len(pairs))):
        a, b = np.int64(pairs[h, 0]), np.int64(pairs[h, 1])
        blocked = (lookahead.board[index(a & 3)] | lookahead.own[index(a & 3)]) >> (a >> 2) & 1
        blocked |= (lookahead.board[index(b & 3)] | lookahead.own[index(b & 3)]) >> (b >> 2) & 1
        now = (
            AHEAD if lookahead.later[h] == 1 else (TIED if lookahead.later[h] == 1 << 8 else BEHIND)
        )
        lookahead.status[h] = IMPOSSIBLE if blocked else now
        if not river:
            lookahead.later[h] = 0
    if not river:
        _each_next_card(own, lookahead)


@jit(inner=True)
def _each_next_card(own: np.ndarray, lookahead: Lookahead) -> None:
    """Fills `later`. Next cards of one rank outside the flush suit share their comparisons."""
    last_rank, last_suit = -1, -1
    for card in range(52):
        s, rank = card & 3, card >> 2
        if (lookahead.board[index(s)] | lookahead.own[index(s)]) >> rank & 1:
            continue
        for k in range(index(4)):
            lookahead.next_board[k] = lookahead.board[k]
        lookahead.next_board[index(s)] |= 1 << rank
        suit = flush_suit(lookahead.next_board)
        if last_rank != rank or last_suit != suit or s == suit:
            _compare(lookahead.next_board, own, suit, lookahead)
            last_rank, last_suit = rank if s != suit else -1, suit
        _add_comparisons(suit, card, lookahead)


@jit
def fill_hand_potential(weights: np.ndarray, lookahead: Lookahead) -> None:
    """Fills `hand_potential` with the transitions of all holdings, each with its weight."""
    for i in range(index(3)):
        for j in range(index(3)):
            lookahead.hand_potential[i, j] = 0.0
    for h in range(index(len(weights))):
        if lookahead.status[h] != IMPOSSIBLE:
            row = index(lookahead.status[h])
            for j in range(3):
                count = lookahead.later[h] >> (8 * j) & 255
                lookahead.hand_potential[row, index(j)] += weights[h] * count


class HandStrength(NamedTuple):
    """Strength and potential of one hand on one board."""

    hs: float  # hand strength
    ppot: float  # positive potential
    npot: float  # negative potential

    @property
    def ehs_optimistic(self) -> float:
        """EHS' = HS + (1 - HS) · PPot, Eq 2.1, for bets and raises."""
        return self.hs + (1.0 - self.hs) * self.ppot

    @property
    def ehs(self) -> float:
        """EHS = HS · (1 - NPot) + (1 - HS) · PPot, for calls that go to the showdown."""
        return self.hs * (1.0 - self.npot) + (1.0 - self.hs) * self.ppot


def hand_strength(table: np.ndarray) -> HandStrength:
    """HS, PPot and NPot from the table HP (float64[3, 3])."""
    (aa, at, ab), (ta, tt, tb), (ba, bt, bb) = table.tolist()
    ahead, tied, behind = aa + at + ab, ta + tt + tb, ba + bt + bb
    total = ahead + tied + behind
    if total <= 0.0:
        return HandStrength(0.5, 0.0, 0.0)
    weaker, stronger = behind + tied / 2, ahead + tied / 2
    return HandStrength(
        stronger / total,
        (ba + bt / 2 + ta / 2) / weaker if weaker > 0.0 else 0.0,
        (ab + tb / 2 + at / 2) / stronger if stronger > 0.0 else 0.0,
    )
