"""HS and PPot1 of every holding on every flop and turn against a uniform opponent, for models of
the opponent.

A re-creation from published descriptions: Loki and Poki rate every holding of the opponent on the
board (Papp 1998, Section 5.3), one card ahead. Counted exactly over classes of holdings
(`classes.py`): two holdings of given classes meet in as many ways as their types have cards left.
T[b] + T[t] / 2 → `below` and HP[b][a] + HP[b][t] / 2 + HP[t][a] / 2 → `rising`, sums over the next
card, both doubled so that they are whole numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.poker.bots.poki.classes import (
    N_TYPES,
    Classes,
    find_types,
    find_values,
    flush_suit,
    new_classes,
    pair_value,
)
from counterplay.poker.cards.canonical import Boards
from counterplay.poker.cards.cards import N_HOLDINGS

MOST = 351  # 26 · 27 / 2 classes
SCALE = 65_535  # of a stored PPot1


class Work(NamedTuple):
    """Scratch of one thread; `n` classes of the board with a next card are in use."""

    classes: Classes
    number: np.ndarray  # int32[26, 26]: of the class of two types, or -1
    types: np.ndarray  # int32[351, 2]
    size: np.ndarray  # int32[351]: holdings
    now: np.ndarray  # int32[351]: strength on the board
    then: np.ndarray  # int32[351]: strength with the next card
    below: np.ndarray  # int64[351]: of one next card
    rising: np.ndarray  # int64[351]
    sum_below: np.ndarray  # int64[1326]: over next cards
    sum_rising: np.ndarray  # int64[1326]
    board: np.ndarray  # int64[4]: suit masks
    longer: np.ndarray  # int64[4]
    none: np.ndarray  # int64[4]: no dead cards


def new_work() -> Work:
    def ints(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.int32)

    def longs(n: int) -> np.ndarray:
        return np.zeros(n, dtype=np.int64)

    return Work(
        new_classes(),
        ints(N_TYPES, N_TYPES),
        ints(MOST, 2),
        ints(MOST),
        ints(MOST),
        ints(MOST),
        longs(MOST),
        longs(MOST),
        longs(N_HOLDINGS),
        longs(N_HOLDINGS),
        longs(4),
        longs(4),
        longs(4),
    )


@jit(inner=True)
def _list_classes(suit: int, work: Work) -> int:
    """Number the classes of the board `longer`; returns how many there are."""
    find_types(work.longer, work.none, suit, work.classes)
    find_values(work.longer, suit, work.classes)
    n = index(0)
    for t in range(index(N_TYPES)):
        for u in range(t + ONE):
            work.number[t, u] = -1
            work.number[u, t] = -1
            left, other = work.classes.left[t], work.classes.left[u]
            size = left * (left - 1) // 2 if t == u else left * other
            if size == 0:
                continue
            work.number[t, u] = n
            work.number[u, t] = n
            work.types[n, 0] = t
            work.types[n, 1] = u
            work.size[n] = size
            second = work.classes.card[u, ONE] if t == u else work.classes.card[u, 0]
            work.now[n] = pair_value(
                work.board, work.classes.card[t, 0], second, work.classes.masks
            )
            work.then[n] = work.classes.value[t, u]
            n += ONE
    return n


@jit(inline=True)
def _below(now: int, other: int) -> int:
    """2 where the other one is ahead now, 1 where they tie."""
    return (1 if other > now else 0) + (1 if other >= now else 0)


@jit(inline=True)
def _rise(now: int, other: int, then: int, later: int) -> int:
    """Twice the part of HP that PPot counts: behind to ahead 2, behind to tied 1, tied to ahead
    1."""
    ahead, tied = other > now, other >= now
    return (1 if ahead & (later <= then) else 0) + (1 if tied & (later < then) else 0)


@jit(inner=True)
def _meet(n: int, work: Work) -> None:
    """Fill `below` and `rising` of every class: first as if no cards were shared, then corrected
    where types are."""
    for h in range(n):
        now, then = work.now[h], work.then[h]
        below, rising = np.int64(0), np.int64(0)
        for o in range(n):
            other, later, size = work.now[o], work.then[o], work.size[o]
            below += size * _below(now, other)
            rising += size * _rise(now, other, then, later)
        more_below, more_rising = np.int64(0), np.int64(0)
        t, u = work.types[h, 0], work.types[h, 1]
        for which in range(1 if t == u else 2):
            mine = t if which == 0 else u
            for x in range(N_TYPES):
                o = work.number[index(mine), index(x)]
                if o < 0 or (
                    which == 1 and x == t
                ):  # the class of both types was corrected with the first
                    continue
                first = np.int64(work.classes.left[index(mine)]) - (2 if t == u else 1)
                second = np.int64(work.classes.left[index(x)]) - (1 if x in (t, u) else 0)
                ways = first * (first - 1) // 2 if x == mine else first * second
                change = ways - np.int64(work.size[index(o)])
                other, later = work.now[index(o)], work.then[index(o)]
                more_below += change * _below(now, other)
                more_rising += change * _rise(now, other, then, later)
        work.below[h] = below + more_below
        work.rising[h] = rising + more_rising


@jit(inner=True)
def _gone(masks: np.ndarray, card: Any) -> int:
    return int(masks[index(card & 3)] >> (card >> 2) & 1)


@jit
def rate_board(pairs: np.ndarray, work: Work, hs: np.ndarray, ppot: np.ndarray) -> None:
    """Fill `hs` (twice the wins plus the ties) and `ppot` (of SCALE) of all holdings on
    `work.board`; 0 where a card is gone.

    Next cards of one rank outside the flush suit leave the same classes, met once.
    """
    for h in range(index(len(pairs))):
        work.sum_below[h] = 0
        work.sum_rising[h] = 0
    cards, known_rank, known_suit = 0, -1, -1
    for card in range(52):
        if _gone(work.board, card):
            cards += 1
            continue
        for k in range(index(4)):
            work.longer[k] = work.board[k]
        work.longer[index(card & 3)] |= 1 << (card >> 2)
        suit = flush_suit(work.longer)
        if known_rank != card >> 2 or known_suit != suit or (card & 3) == suit:
            _meet(_list_classes(suit, work), work)
            known_rank, known_suit = card >> 2 if (card & 3) != suit else -1, suit
        for h in range(index(len(pairs))):
            a, b = np.int64(pairs[h, 0]), np.int64(pairs[h, 1])
            t, u = (
                2 * (a >> 2) + (1 if (a & 3) == suit else 0),
                2 * (b >> 2) + (1 if (b & 3) == suit else 0),
            )
            if not (_gone(work.longer, a) or _gone(work.longer, b)):
                o = index(work.number[index(t), index(u)])
                work.sum_below[h] += work.below[o]
                work.sum_rising[h] += work.rising[o]
    left = 50 - cards  # unseen by the holder
    for h in range(index(len(pairs))):
        hs[h] = 0
        ppot[h] = 0
        if not (_gone(work.board, pairs[h, 0]) or _gone(work.board, pairs[h, 1])):
            hs[h] = left * (left - 1) - work.sum_below[h] // (left - 2)
            if work.sum_below[h] > 0:
                ppot[h] = (2 * SCALE * work.sum_rising[h] + work.sum_below[h]) // (
                    2 * work.sum_below[h]
                )


@jit
def rate_boards(
    table: Boards,
    pairs: np.ndarray,
    work: Work,
    low: int,
    high: int,
    hs: np.ndarray,
    ppot: np.ndarray,
) -> None:
    """Rows low .. high - 1 of both tables."""
    for k in range(index(low), index(high)):
        for suit in range(index(4)):
            work.board[suit] = table.masks[k, suit]
        rate_board(pairs, work, hs[k], ppot[k])
