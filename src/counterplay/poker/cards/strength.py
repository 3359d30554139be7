"""Exact effective hand strength (EHS) of every holding on every board (Section 3.1; Billings 2006).

EHS here is hand strength with both potentials over all boards still to come, against an opponent
whose holding is uniform: the chance to win at a showdown, a tie counting half. Everything is
counted in whole numbers, so nothing is rounded: an entry is twice the wins plus the ties over all
ways to go on, `TOTAL[street]` ways times two.

Rivers are counted by two passes over the holdings sorted by strength, with inclusion and exclusion
of shared cards; turns, flops and holdings alone are sums over the next card or cards.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.kernels.jit import jit
from counterplay.core.parallel.ray_cluster import current
from counterplay.poker.cards.canonical import Boards, boards, find_class
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.evaluator import strength_of_masks

#: Largest possible entry: twice the ways to deal the rest. Opponent holdings 45 · 44 / 2 = 990
#: after the river.
RIVER_TOTAL = 2 * 990
TURN_TOTAL = RIVER_TOTAL * 46
FLOP_TOTAL = TURN_TOTAL * 47
PREFLOP_TOTAL = FLOP_TOTAL * 19_600


class Scratch(NamedTuple):
    """For one thread: 1,326 holdings at most on a board."""

    order: np.ndarray  # int64[1326]: strength and holding in one number, sorted
    stack: np.ndarray  # int64[128]
    below: np.ndarray  # int64[52]: weaker holdings that contain each card
    level: np.ndarray  # int64[52]: equal ones
    masks: np.ndarray  # int64[4]
    suit_to: np.ndarray  # int64[4]


def new_scratch() -> Scratch:
    sizes = (N_HOLDINGS, 128, N_CARDS, N_CARDS, 4, 4)
    return Scratch(*(np.zeros(size, dtype=np.int64) for size in sizes))


@jit(inner=True)
def sort_numbers(values: np.ndarray, n: int, stack: np.ndarray) -> None:
    """Sort `values[:n]` in place: quicksort with a stack of ranges, insertion for short ones."""
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
            if j - low < high - i:  # the larger part waits, so the stack stays short
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
def _count_river(masks: np.ndarray, pairs: np.ndarray, scratch: Scratch, out: np.ndarray) -> None:
    """Fill `out[holding]` for one board of five cards given by its four suit masks; 0 where a
    card is on the board."""
    n = 0
    for holding in range(len(pairs)):
        a, b = np.int64(pairs[holding, 0]), np.int64(pairs[holding, 1])
        out[holding] = 0
        if masks[a & 3] >> (a >> 2) & 1 or masks[b & 3] >> (b >> 2) & 1:
            continue
        for suit in range(4):
            scratch.masks[suit] = masks[suit]
        scratch.masks[a & 3] |= 1 << (a >> 2)
        scratch.masks[b & 3] |= 1 << (b >> 2)
        value = strength_of_masks(
            scratch.masks[0], scratch.masks[1], scratch.masks[2], scratch.masks[3]
        )
        scratch.order[n] = (np.int64(value) << 11) + holding
        n += 1
    sort_numbers(scratch.order, n, scratch.stack)
    scratch.below[:] = 0
    weaker = 0
    start = 0
    while start < n:  # a group of equal strength at a time
        value = scratch.order[start] >> 11
        stop = start
        while stop < n and scratch.order[stop] >> 11 == value:
            holding = scratch.order[stop] & 2047
            scratch.level[pairs[holding, 0]] = 0
            scratch.level[pairs[holding, 1]] = 0
            stop += 1
        for k in range(start, stop):
            holding = scratch.order[k] & 2047
            scratch.level[pairs[holding, 0]] += 1
            scratch.level[pairs[holding, 1]] += 1
        for k in range(start, stop):
            holding = scratch.order[k] & 2047
            a, b = pairs[holding, 0], pairs[holding, 1]
            wins = weaker - scratch.below[a] - scratch.below[b]
            # the holding itself was taken off twice
            ties = (stop - start) - scratch.level[a] - scratch.level[b] + 1
            out[holding] = 2 * wins + ties
        for k in range(start, stop):
            holding = scratch.order[k] & 2047
            scratch.below[pairs[holding, 0]] += 1
            scratch.below[pairs[holding, 1]] += 1
        weaker += stop - start
        start = stop


@jit
def _count_rivers(
    table: Boards, pairs: np.ndarray, scratch: Scratch, low: int, high: int, out: np.ndarray
) -> None:
    """Rows low .. high - 1 of the river table."""
    for k in range(low, high):
        for suit in range(4):
            scratch.suit_to[suit] = table.masks[k, suit]
        _count_river(scratch.suit_to, pairs, scratch, out[k])


@jit
def _add_next_card(
    table: Boards,
    longer: Boards,
    pairs: np.ndarray,
    scratch: Scratch,
    counts: np.ndarray,
    low: int,
    high: int,
    out: np.ndarray,
) -> None:
    """Rows low .. high - 1: an entry is the sum of `counts` over the card that comes next."""
    for k in range(low, high):
        out[k] = 0
        for card in range(52):
            suit, bit = card & 3, 1 << (card >> 2)
            if table.masks[k, suit] & bit:
                continue
            for s in range(4):
                scratch.masks[s] = table.masks[k, s]
            scratch.masks[suit] |= bit
            row = find_class(longer, scratch.masks, scratch.suit_to)
            for holding in range(len(pairs)):
                a, b = np.int64(pairs[holding, 0]), np.int64(pairs[holding, 1])
                if a == card or b == card:
                    continue
                a, b = (a & ~3) | scratch.suit_to[a & 3], (b & ~3) | scratch.suit_to[b & 3]
                if a > b:
                    a, b = b, a
                out[k, holding] += counts[row, b * (b - 1) // 2 + a]
        for holding in range(len(pairs)):  # a holding that shares a card with the board is none
            a, b = np.int64(pairs[holding, 0]), np.int64(pairs[holding, 1])
            if table.masks[k, a & 3] >> (a >> 2) & 1 or table.masks[k, b & 3] >> (b >> 2) & 1:
                out[k, holding] = 0


@jit
def _add_flops(
    flops: Boards, pairs: np.ndarray, scratch: Scratch, counts: np.ndarray, out: np.ndarray
) -> None:
    """`out[holding]`: the sum of `counts` over all flops."""
    out[:] = 0
    for c in range(52):
        for b in range(c):
            for a in range(b):
                scratch.masks[:] = 0
                scratch.masks[a & 3] |= 1 << (a >> 2)
                scratch.masks[b & 3] |= 1 << (b >> 2)
                scratch.masks[c & 3] |= 1 << (c >> 2)
                row = find_class(flops, scratch.masks, scratch.suit_to)
                for holding in range(len(pairs)):
                    x, y = np.int64(pairs[holding, 0]), np.int64(pairs[holding, 1])
                    x, y = (x & ~3) | scratch.suit_to[x & 3], (y & ~3) | scratch.suit_to[y & 3]
                    if x > y:
                        x, y = y, x
                    out[holding] += counts[
                        row, y * (y - 1) // 2 + x
                    ]  # 0 where the holding is on the flop


def _in_parallel(
    work: Callable[[Scratch, int, int], None], n: int, threads: int, progress: ShareCallback
) -> None:
    """Cut n rows into pieces for all threads; kernels hold no interpreter lock."""
    piece = max(1, n // 64)
    starts = list(range(0, n, piece))
    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(work, new_scratch(), low, min(low + piece, n)) for low in starts]
        for done, job in enumerate(jobs, 1):
            job.result()
            progress(done / len(jobs))


FAR_ROWS = 1_024  # boards that a worker of a cluster counts at once


def rivers_of(_: None, piece: tuple[int, int]) -> np.ndarray:
    """uint16[boards, 1326]: those rows of `count_rivers`, in another process."""
    low, high = piece
    table = boards(5)
    part = table._replace(masks=np.ascontiguousarray(table.masks[low:high]))
    out = np.empty((high - low, N_HOLDINGS), dtype=np.uint16)
    _count_rivers(part, HOLDING_CARDS, new_scratch(), 0, high - low, out)
    return out


def count_rivers(threads: int = 1, progress: ShareCallback = no_progress) -> np.ndarray:
    """uint16[134459, 1326]: twice the wins plus the ties, of 1,980."""
    table = boards(5)
    out = np.empty((len(table.masks), N_HOLDINGS), dtype=np.uint16)
    cluster = current()
    if cluster is not None:
        pieces = [(low, min(low + FAR_ROWS, len(out))) for low in range(0, len(out), FAR_ROWS)]
        cluster.check_room(4 * FAR_ROWS * N_HOLDINGS, "pieces of the river's table")
        for (low, high), rows in zip(pieces, cluster.spread(rivers_of, pieces), strict=True):
            out[low:high] = rows
            progress(high / len(out))
        return out
    _in_parallel(
        lambda s, low, high: _count_rivers(table, HOLDING_CARDS, s, low, high, out),
        len(out),
        threads,
        progress,
    )
    return out


def count_earlier(
    size: int, later: np.ndarray, threads: int = 1, progress: ShareCallback = no_progress
) -> np.ndarray:
    """uint32[boards, 1326] for boards of `size` cards (3 or 4), from the table of boards with
    one card more."""
    table, longer = boards(size), boards(size + 1)
    out = np.empty((len(table.masks), N_HOLDINGS), dtype=np.uint32)
    _in_parallel(
        lambda s, low, high: _add_next_card(table, longer, HOLDING_CARDS, s, later, low, high, out),
        len(out),
        threads,
        progress,
    )
    return out


def count_preflop(flops: np.ndarray) -> np.ndarray:
    """uint64[1326], from the table of flops."""
    out = np.empty(N_HOLDINGS, dtype=np.uint64)
    sums = np.empty(N_HOLDINGS, dtype=np.int64)
    _add_flops(boards(3), HOLDING_CARDS, new_scratch(), flops, sums)
    out[:] = sums
    return out
