"""HS and PPot1 of every holding on every flop and turn against a uniform opponent, for the model of
the opponent.

A re-creation from published descriptions: Loki and Poki rate every holding of the opponent on the
board (Papp 1998, Section 5.3), one card ahead. Counted exactly over holding classes
(`strength.py`): two holdings of given classes meet in as many ways as their types have cards left.
T[b] + T[t] / 2 → `below` and HP[b][a] + HP[b][t] / 2 + HP[t][a] / 2 → `rising`, sums over the next
card, both doubled so that they are whole numbers.

The tables are computed once (about 15 s on two cores); they take 96 MB in the store
(`core/base/store.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import cached_arrays
from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.poker.bots.poki.strength import (
    N_TYPES,
    HoldingClasses,
    fill_strengths,
    fill_types,
    flush_suit,
    holding_strength,
    new_holding_classes,
    type_of,
)
from counterplay.poker.cards.canonical import SIZES, Boards, boards
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS

MAX_CLASSES = 351  # 26 · 27 / 2
NO_CLASS = MAX_CLASSES  # of holdings with a card of the board, in which nothing is counted
ON_BOARD = N_TYPES  # type of the cards of the board
SCALE = 65_535  # stored value of PPot1 = 1


class PotentialWorkspace(NamedTuple):
    """Arrays of one thread, by class of the board with a next card."""

    classes: HoldingClasses
    number: np.ndarray  # int32[27, 27]: of the class of two types, or NO_CLASS
    card_type: np.ndarray  # int32[52]
    types: np.ndarray  # int32[351, 2]
    size: np.ndarray  # int32[351]: holdings
    now: np.ndarray  # int32[351]: strength on the board
    then: np.ndarray  # int32[351]: strength with the next card
    below: np.ndarray  # int64[352]: of one next card
    rising: np.ndarray  # int64[352]
    sum_below: np.ndarray  # int64[1326]: over next cards
    sum_rising: np.ndarray  # int64[1326]
    board: np.ndarray  # int64[4]: suit masks
    next_board: np.ndarray  # int64[4]: board with a next card
    none: np.ndarray  # int64[4]: no dead cards


def new_potential_workspace() -> PotentialWorkspace:
    shapes = ((N_TYPES + 1, N_TYPES + 1), (52,), (MAX_CLASSES, 2), *[(MAX_CLASSES,)] * 3)
    ints = [np.zeros(shape, dtype=np.int32) for shape in shapes]
    ints[0][:] = NO_CLASS
    sizes = (NO_CLASS + 1, NO_CLASS + 1, N_HOLDINGS, N_HOLDINGS, 4, 4, 4)
    longs = (np.zeros(size, dtype=np.int64) for size in sizes)
    return PotentialWorkspace(new_holding_classes(), *ints, *longs)


@jit(inner=True)
def _list_classes(suit: int, work: PotentialWorkspace) -> int:
    """Numbers the classes of `next_board`; returns their number."""
    fill_types(work.next_board, work.none, suit, work.classes)
    fill_strengths(work.next_board, suit, work.classes)
    n = index(0)
    for t in range(index(N_TYPES)):
        for u in range(t + ONE):
            work.number[t, u] = NO_CLASS
            work.number[u, t] = NO_CLASS
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
            work.now[n] = holding_strength(
                work.board, work.classes.card[t, 0], second, work.classes.masks
            )
            work.then[n] = work.classes.strength[t, u]
            n += ONE
    return n


@jit(inline=True)
def _below(now: int, other: int) -> int:
    """2 where the other holding is ahead now, 1 where they tie."""
    return (1 if other > now else 0) + (1 if other >= now else 0)


@jit(inline=True)
def _rise(now: int, other: int, then: int, later: int) -> int:
    """Twice what PPot counts of HP: behind to ahead 2, behind to tied 1, tied to ahead 1."""
    ahead, tied = other > now, other >= now
    return (1 if ahead & (later <= then) else 0) + (1 if tied & (later < then) else 0)


@jit(inner=True)
def _compare_classes(n: int, work: PotentialWorkspace) -> None:
    """Fills `below` and `rising` of every class, corrected for the types that classes share."""
    for h in range(n):
        now, then = work.now[h], work.then[h]
        below, rising = np.int32(0), np.int32(0)  # vectors have room for twice as many
        for o in range(n):
            other, later, size = work.now[o], work.then[o], work.size[o]
            below = np.int32(below + size * _below(now, other))
            rising = np.int32(rising + size * _rise(now, other, then, later))
        more_below, more_rising = np.int64(0), np.int64(0)
        t, u = work.types[h, 0], work.types[h, 1]
        for which in range(1 if t == u else 2):
            mine = t if which == 0 else u
            for x in range(N_TYPES):
                o = work.number[index(mine), index(x)]
                if o == NO_CLASS or (
                    which == 1 and x == t
                ):  # corrected already, with the first type
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
def _blocked(masks: np.ndarray, card: Any) -> int:
    return int(masks[index(card & 3)] >> (card >> 2) & 1)


@jit
def fill_board(
    pairs: np.ndarray, work: PotentialWorkspace, hs: np.ndarray, ppot: np.ndarray
) -> None:
    """Fills `hs` (twice the wins plus the ties) and `ppot` (times SCALE) of all holdings on
    `work.board`; 0 for holdings that share a card with it.

    Next cards of one rank outside the flush suit leave the same classes, which are compared once.
    """
    for h in range(index(len(pairs))):
        work.sum_below[h] = 0
        work.sum_rising[h] = 0
    on_board, last_rank, last_suit = 0, -1, -1
    for card in range(52):
        if _blocked(work.board, card):
            on_board += 1
            continue
        for k in range(index(4)):
            work.next_board[k] = work.board[k]
        work.next_board[index(card & 3)] |= 1 << (card >> 2)
        suit = flush_suit(work.next_board)
        if last_rank != card >> 2 or last_suit != suit or (card & 3) == suit:
            _compare_classes(_list_classes(suit, work), work)
            last_rank, last_suit = card >> 2 if (card & 3) != suit else -1, suit
        for k in range(52):
            free = not _blocked(work.next_board, k)
            work.card_type[index(k)] = type_of(k, suit) if free else ON_BOARD
        for h in range(index(len(pairs))):
            t, u = work.card_type[index(pairs[h, 0])], work.card_type[index(pairs[h, 1])]
            o = index(work.number[index(t), index(u)])
            work.sum_below[h] += work.below[o]
            work.sum_rising[h] += work.rising[o]
    left = 50 - on_board  # cards unknown to the holder
    for h in range(index(len(pairs))):
        hs[h] = 0
        ppot[h] = 0
        if not (_blocked(work.board, pairs[h, 0]) or _blocked(work.board, pairs[h, 1])):
            hs[h] = left * (left - 1) - work.sum_below[h] // (left - 2)
            if work.sum_below[h] > 0:
                ppot[h] = (2 * SCALE * work.sum_rising[h] + work.sum_below[h]) // (
                    2 * work.sum_below[h]
                )


@jit
def fill_potentials(
    table: Boards,
    pairs: np.ndarray,
    work: PotentialWorkspace,
    low: int,
    high: int,
    hs: np.ndarray,
    ppot: np.ndarray,
) -> None:
    """Fills rows low .. high - 1 of both tables."""
    for k in range(index(low), index(high)):
        for suit in range(index(4)):
            work.board[suit] = table.masks[k, suit]
        fill_board(pairs, work, hs[k], ppot[k])


N_EARLY = SIZES[3] + SIZES[4]


class Potentials(NamedTuple):
    """HS and PPot1 of every holding on every canonical board: flops, then turns."""

    # uint16[18187, 1326]: twice the wins plus the ties, of 2,162 on flops and 2,070 on turns
    hs: np.ndarray
    ppot: np.ndarray  # uint16[18187, 1326]: PPot1 times SCALE


def potentials(progress: ProgressCallback = no_progress) -> Potentials:
    """The tables: from memory, from disk, or computed now."""
    return TABLES.get(progress)


def compute_potentials(threads: int = 1, progress: ProgressCallback = no_progress) -> Potentials:
    """Computes both tables."""
    tables = Potentials(*(np.zeros((N_EARLY, N_HOLDINGS), dtype=np.uint16) for _ in range(2)))
    rows = [(size, low) for size in (3, 4) for low in range(0, SIZES[size], 128)]

    def fill(start: tuple[int, int]) -> None:
        size, low = start
        first = 0 if size == 3 else SIZES[3]
        hs, ppot = (table[first : first + SIZES[size]] for table in tables)
        high = min(low + 128, SIZES[size])
        work = new_potential_workspace()
        fill_potentials(boards(size), HOLDING_CARDS, work, low, high, hs, ppot)

    map_in_threads(fill, rows, threads, lambda share: progress(share, "Poki's tables"))
    return tables


SHAPES = dict.fromkeys(Potentials._fields, ((N_EARLY, N_HOLDINGS), np.uint16))
TABLES = cached_arrays(
    "the tables of Poki stay",
    "poki-potentials",
    (__name__,),
    make=lambda progress: compute_potentials(cores(), progress),
    shapes=SHAPES,
    unpack=Potentials._make,
)
