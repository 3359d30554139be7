"""Exact effective hand strength (EHS) of every holding on every board (Section 3.1; Billings 2006).

EHS here is the probability to win at a showdown, a tie counting half, over all boards still to come
and all holdings of an opponent with uniform cards: hand strength with both potentials. It is
counted in whole numbers, without rounding: an entry is twice the wins plus the ties, and the
largest possible entry of a street is its `..._TOTAL`.

Rivers are counted by two passes over the holdings sorted by strength, with inclusion-exclusion for
card removal; entries of turns, flops and the first street are sums over the next card or cards.
The tables (457 MB) are built once, stored with checksums (`core/base/store.py`), and mapped into
memory afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress, part
from counterplay.core.base.store import cached_arrays
from counterplay.core.kernels.jit import jit
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import current
from counterplay.poker.cards.canonical import (
    Boards,
    Links,
    boards,
    find_canonical,
    make_links,
    permuted_holding,
)
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strength_of_masks

#: Largest possible entry: twice the number of ways to deal the remaining cards. On the river the
#: opponent has one of 45 · 44 / 2 = 990 holdings.
RIVER_TOTAL = 2 * 990
TURN_TOTAL = RIVER_TOTAL * 46
FLOP_TOTAL = TURN_TOTAL * 47
PREFLOP_TOTAL = FLOP_TOTAL * 19_600
_CARDS = HOLDING_CARDS.astype(np.int64)


class Workspace(NamedTuple):
    """Buffers of one thread."""

    order: np.ndarray  # int64[1326]: strength and holding in one number, sorted
    stack: np.ndarray  # int64[128]: for sorting
    below: np.ndarray  # int64[52]: weaker holdings that contain each card
    level: np.ndarray  # int64[52]: equally strong holdings that contain each card
    masks: np.ndarray  # int64[4]: suit masks of a board with further cards
    board: np.ndarray  # int64[4]: suit masks of a board


def new_workspace() -> Workspace:
    sizes = (N_HOLDINGS, 128, N_CARDS, N_CARDS, 4, 4)
    return Workspace(*(np.zeros(size, dtype=np.int64) for size in sizes))


@jit(inner=True)
def sort_numbers(values: np.ndarray, n: int, stack: np.ndarray) -> None:
    """Sorts `values[:n]`: quicksort with a stack of ranges, insertion sort for short ranges."""
    depth = 2
    stack[0], stack[1] = 0, n - 1
    while depth > 0:
        depth -= 2
        low, high = stack[depth], stack[depth + 1]
        while high - low > 16:
            pivot = values[(low + high) >> 1]
            i, j = low, high
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while values[j] > pivot:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - low < high - i:  # the larger part is stacked, so the stack stays short
                stack[depth], stack[depth + 1] = i, high
                high = j
            else:
                stack[depth], stack[depth + 1] = low, j
                low = i
            depth += 2
        for i in range(low + 1, high + 1):
            value = values[i]
            j = i - 1
            while j >= low and values[j] > value:
                values[j + 1] = values[j]
                j -= 1
            values[j + 1] = value


@jit(inner=True)
def _blocked(masks: np.ndarray, a: int, b: int) -> bool:
    """Returns whether one of two cards is on the board with these suit masks."""
    return bool((masks[a & 3] >> (a >> 2) | masks[b & 3] >> (b >> 2)) & 1)


@jit(inner=True)
def _count_river(masks: np.ndarray, work: Workspace, out: np.ndarray) -> None:
    """Fills `out[holding]` for one board, the last, given by its suit masks; 0 where a card of the
    holding is on the board."""
    n = 0
    for holding in range(N_HOLDINGS):
        a, b = _CARDS[holding, 0], _CARDS[holding, 1]
        out[holding] = 0
        if _blocked(masks, a, b):
            continue
        for suit in range(4):
            work.masks[suit] = masks[suit]
        work.masks[a & 3] |= 1 << (a >> 2)
        work.masks[b & 3] |= 1 << (b >> 2)
        value = strength_of_masks(work.masks[0], work.masks[1], work.masks[2], work.masks[3])
        work.order[n] = (np.int64(value) << 11) + holding
        n += 1
    sort_numbers(work.order, n, work.stack)
    work.below[:] = 0
    weaker = 0
    start = 0
    while start < n:  # a group of equal strength at a time
        value = work.order[start] >> 11
        stop = start
        while stop < n and work.order[stop] >> 11 == value:
            holding = work.order[stop] & 2047
            work.level[_CARDS[holding, 0]] = 0
            work.level[_CARDS[holding, 1]] = 0
            stop += 1
        for k in range(start, stop):
            holding = work.order[k] & 2047
            work.level[_CARDS[holding, 0]] += 1
            work.level[_CARDS[holding, 1]] += 1
        for k in range(start, stop):
            holding = work.order[k] & 2047
            a, b = _CARDS[holding, 0], _CARDS[holding, 1]
            wins = weaker - work.below[a] - work.below[b]
            # the holding itself was subtracted twice
            ties = (stop - start) - work.level[a] - work.level[b] + 1
            out[holding] = 2 * wins + ties
        for k in range(start, stop):
            holding = work.order[k] & 2047
            work.below[_CARDS[holding, 0]] += 1
            work.below[_CARDS[holding, 1]] += 1
        weaker += stop - start
        start = stop


@jit
def _count_rivers(table: Boards, work: Workspace, low: int, high: int, out: np.ndarray) -> None:
    """Fills rows low .. high - 1 of the river table."""
    for k in range(low, high):
        for suit in range(4):
            work.board[suit] = table.masks[k, suit]
        _count_river(work.board, work, out[k])


@jit
def _add_next_card(
    table: Boards, longer: Boards, work: Workspace, counts: Any, low: int, high: int, out: Any
) -> None:
    """Fills rows low .. high - 1: an entry is the sum of `counts` over the next card."""
    for k in range(low, high):
        out[k] = 0
        for suit in range(4):
            work.board[suit] = table.masks[k, suit]
        for card in range(52):
            suit, bit = card & 3, 1 << (card >> 2)
            if work.board[suit] & bit:
                continue
            for s in range(4):
                work.masks[s] = work.board[s]
            work.masks[suit] |= bit
            link = find_canonical(longer, work.masks)
            row, permutation = link >> 8, link & 255
            for holding in range(N_HOLDINGS):
                a, b = _CARDS[holding, 0], _CARDS[holding, 1]
                if a != card and b != card:
                    out[k, holding] += counts[row, permuted_holding(a, b, permutation)]
        for holding in range(N_HOLDINGS):
            if _blocked(work.board, _CARDS[holding, 0], _CARDS[holding, 1]):
                out[k, holding] = 0


@jit
def _add_flops(flops: Boards, work: Workspace, counts: np.ndarray, out: np.ndarray) -> None:
    """Fills `out[holding]` with the sum of `counts` over all flops; `counts` is 0 where the holding
    shares a card with the flop."""
    out[:] = 0
    for c in range(52):
        for b in range(c):
            for a in range(b):
                work.masks[:] = 0
                for card in (a, b, c):
                    work.masks[card & 3] |= 1 << (card >> 2)
                link = find_canonical(flops, work.masks)
                row, permutation = link >> 8, link & 255
                for holding in range(N_HOLDINGS):
                    x, y = _CARDS[holding, 0], _CARDS[holding, 1]
                    out[holding] += counts[row, permuted_holding(x, y, permutation)]


PIECES = 256  # of a table, so that one takes seconds at most


def in_pieces(
    task: Callable[[Workspace, int, int], None], n: int, threads: int, progress: ShareCallback
) -> None:
    """Runs `task` on pieces of n rows in threads; kernels hold no interpreter lock."""
    piece = max(1, n // PIECES)
    rows = [(low, min(low + piece, n)) for low in range(0, n, piece)]
    map_in_threads(lambda some: task(new_workspace(), *some), rows, threads, progress)


REMOTE_ROWS = 1_024  # boards in one task of a remote worker


def rivers_of(_: None, piece: tuple[int, int]) -> np.ndarray:
    """Returns uint16[boards, 1326]: a piece of the rows of `count_rivers`, for a remote worker."""
    low, high = piece
    table = boards(5)
    part = table._replace(masks=np.ascontiguousarray(table.masks[low:high]))
    out = np.empty((high - low, N_HOLDINGS), dtype=np.uint16)
    _count_rivers(part, new_workspace(), 0, high - low, out)
    return out


def count_rivers(threads: int = 1, progress: ShareCallback = no_progress) -> np.ndarray:
    """Returns uint16[134459, 1326]: twice the wins plus the ties, of 1,980."""
    table = boards(5)
    out = np.empty((len(table.masks), N_HOLDINGS), dtype=np.uint16)
    cluster = current()
    if cluster is not None:
        pieces = [
            (low, min(low + REMOTE_ROWS, len(out))) for low in range(0, len(out), REMOTE_ROWS)
        ]
        cluster.check_room(4 * REMOTE_ROWS * N_HOLDINGS, "pieces of the river's table")
        for (low, high), rows in zip(pieces, cluster.spread(rivers_of, pieces), strict=True):
            out[low:high] = rows
            progress(high / len(out))
        return out

    def count(work: Workspace, low: int, high: int) -> None:
        _count_rivers(table, work, low, high, out)

    in_pieces(count, len(out), threads, progress)
    return out


def count_flops() -> np.ndarray:
    """Returns uint16[1755, 1326]: the same on flops, for hands of five cards: of 2,162."""
    table = boards(3)
    out = np.empty((len(table.masks), N_HOLDINGS), dtype=np.uint16)
    _count_rivers(table, new_workspace(), 0, len(out), out)
    return out


def count_earlier(
    size: int, later: np.ndarray, threads: int = 1, progress: ShareCallback = no_progress
) -> np.ndarray:
    """Returns uint32[boards, 1326] for boards of `size` cards (3 or 4), from the table of boards
    with one card more."""
    table, longer = boards(size), boards(size + 1)
    out = np.empty((len(table.masks), N_HOLDINGS), dtype=np.uint32)

    def count(work: Workspace, low: int, high: int) -> None:
        _add_next_card(table, longer, work, later, low, high, out)

    in_pieces(count, len(out), threads, progress)
    return out


def count_preflop(flops: np.ndarray) -> np.ndarray:
    """Returns uint64[1326], from the table of flops."""
    sums = np.empty(N_HOLDINGS, dtype=np.int64)
    _add_flops(boards(3), new_workspace(), flops, sums)
    return sums.astype(np.uint64)


# --- the tables

#: Version of the meaning of the tables; part of the key of a hold'em game.
VERSION = 2


class Strengths(NamedTuple):
    """EHS of every holding on every board, as counts."""

    preflop: np.ndarray  # uint64[1326]
    flop: np.ndarray  # uint32[1755, 1326]
    turn: np.ndarray  # uint32[16432, 1326]
    river: np.ndarray  # uint16[134459, 1326]
    flops: np.ndarray  # int32[22100]: of `Links`, cached because making them takes a second
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`


SHAPES = {
    "preflop": ((N_HOLDINGS,), np.uint64),
    "flop": ((1_755, N_HOLDINGS), np.uint32),
    "turn": ((16_432, N_HOLDINGS), np.uint32),
    "river": ((134_459, N_HOLDINGS), np.uint16),
    "flops": ((22_100,), np.int32),
    "next_boards": ((18_187, 52), np.int32),
}


def strengths(progress: ProgressCallback = no_progress) -> Strengths:
    """Returns the tables from memory or disk, or builds them (about half a minute on two cores)."""
    return TABLES.get(progress)


def board_links() -> Links:
    """Returns how canonical boards follow each other."""
    return Links(strengths().flops, strengths().next_boards)


def _make(progress: ProgressCallback) -> Strengths:
    threads = cores()
    river = count_rivers(threads, part(progress, 0.0, 0.7, "hold'em tables, rivers"))
    turn = count_earlier(4, river, threads, part(progress, 0.7, 0.95, "hold'em tables, turns"))
    flop = count_earlier(3, turn, threads, part(progress, 0.95, 0.99, "hold'em tables, flops"))
    return Strengths(count_preflop(flop), flop, turn, river, *make_links())


TABLES = cached_arrays(
    "the hold'em tables stay", "holdem-strengths", (__name__,), _make, SHAPES, Strengths._make
)
