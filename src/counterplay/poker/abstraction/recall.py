"""Buckets with perfect recall in a game of four streets: percentiles within each sequence of
buckets of the streets before.

The tables have one entry for a holding on a board, whatever the order of the board's cards, and the
bucket of an entry on the turn and the river depends on the bucket of the street before. Borders are
found by counting how often each entry follows each bucket, over all deals and all orders.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress, part
from counterplay.core.base.store import cached_arrays
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.cards.canonical import SIZES, Links, boards, flop_number, permuted_holding
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.strength import (
    RIVER_TOTAL,
    Workspace,
    board_links,
    in_pieces,
    strengths,
)

TURN_ENTRIES = 4096  # percentiles of all deals; on the river a count of wins is an entry
_CARDS = HOLDING_CARDS.astype(np.int64)
_ORDERS = index(4)  # cards of a board of four cards that may have been the turn


class _Tables(NamedTuple):
    """What the buckets of a deal depend on."""

    links: Links
    flop: np.ndarray  # uint16[1755, 1326]: buckets
    turn: np.ndarray  # uint16[16432, 1326]: entries
    turn_after: np.ndarray  # uint16[flop buckets, TURN_ENTRIES], or without rows
    river: np.ndarray  # uint16[134459, 1326]: entries


class _OneBoard(NamedTuple):
    """Buffers of one thread for a board of four cards."""

    card: np.ndarray  # int64[4]
    bucket: np.ndarray  # int64[1326, 4]: of each holding, by the card that was the turn
    times: np.ndarray  # int64[1326, 4]: orders with that bucket
    different: np.ndarray  # int64[1326]: number of different buckets; 0 for a blocked holding


def _new_board() -> _OneBoard:
    shapes = ((4,), (N_HOLDINGS, 4), (N_HOLDINGS, 4), (N_HOLDINGS,))
    return _OneBoard(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


@jit(inner=True)
def _list_cards(masks: Any, card: np.ndarray) -> None:
    """Lists the four cards of a board with these suit masks."""
    n = ZERO
    for suit in range(4):
        for rank in range(13):
            if masks[index(suit)] >> rank & 1:
                card[n] = 4 * rank + suit
                n += ONE


@jit(inner=True)
def _follow_orders(tables: _Tables, k: Any, masks: Any, on_turn: bool, board: _OneBoard) -> None:
    """Fills the different buckets of each holding on turn board k over all orders: those on the
    flop, or those on the turn."""
    card = board.card
    _list_cards(masks, card)
    for h in range(index(N_HOLDINGS)):
        board.different[h] = 0
    for o in range(_ORDERS):
        a, b = card[(o + ONE) % _ORDERS], card[(o + index(2)) % _ORDERS]
        flop = flop_number(a, b, card[(o + index(3)) % _ORDERS])
        link = tables.links.flops[index(flop)]
        row, permutation = index(link >> 8), link & 255
        for h in range(index(N_HOLDINGS)):
            low, high = _CARDS[h, ZERO], _CARDS[h, ONE]
            blocked = False
            for j in range(_ORDERS):
                blocked |= card[j] == low or card[j] == high
            if blocked:
                continue
            bucket = np.int64(tables.flop[row, index(permuted_holding(low, high, permutation))])
            if on_turn:
                bucket = np.int64(tables.turn_after[index(bucket), index(tables.turn[k, h])])
            n, at = index(board.different[h]), ZERO
            while at < n and board.bucket[h, at] != bucket:
                at += ONE
            if at == n:
                board.bucket[h, n], board.times[h, n] = bucket, 0
                board.different[h] += 1
            board.times[h, at] += 1


@jit
def _count_turns(
    tables: _Tables, masks: np.ndarray, weight: np.ndarray, low: int, high: int, board: _OneBoard,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Adds the deals of turn boards low .. high - 1 to out[bucket on the flop, entry]."""
    for k in range(index(low), index(high)):
        _follow_orders(tables, k, masks[k], False, board)
        for h in range(index(N_HOLDINGS)):
            entry = index(tables.turn[k, h])
            for j in range(index(board.different[h])):
                out[index(board.bucket[h, j]), entry] += weight[k] * board.times[h, j]


@jit
def _count_rivers(
    tables: _Tables, masks: np.ndarray, weight: np.ndarray, low: int, high: int, board: _OneBoard,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Adds the deals of turn boards low .. high - 1 and all rivers to out[bucket on the turn,
    entry]."""
    flops = index(len(tables.flop))
    before = np.int64(flops) + len(tables.turn)
    for k in range(index(low), index(high)):
        _follow_orders(tables, k, masks[k], True, board)
        for river in range(52):
            link = tables.links.next_boards[flops + k, index(river)]
            if link < 0:
                continue
            row, permutation = index((link >> 8) - before), link & 255
            for h in range(index(N_HOLDINGS)):
                a, b = _CARDS[h, ZERO], _CARDS[h, ONE]
                if a != river and b != river:
                    entry = index(tables.river[row, index(permuted_holding(a, b, permutation))])
                    for j in range(index(board.different[h])):
                        out[index(board.bucket[h, j]), entry] += weight[k] * board.times[h, j]


def _count(
    kernel: Callable[..., None], tables: _Tables, shape: tuple[int, int], progress: ShareCallback
) -> np.ndarray:
    """Returns int64[shape]: deals by bucket of the street before and entry."""
    total, lock = np.zeros(shape, dtype=np.int64), Lock()
    masks, weight = boards(4).masks, boards(4).weight

    def count(_: Workspace, low: int, high: int) -> None:
        some = np.zeros(shape, dtype=np.int64)
        kernel(tables, masks, weight, low, high, _new_board(), some)
        with lock:
            total[:] += some

    in_pieces(count, len(masks), cores(), progress)
    return total


def _borders(deals: np.ndarray, n: int) -> np.ndarray:
    """Returns uint16[buckets, entries]: percentiles within each bucket of the street before."""
    share = deals / np.maximum(deals.sum(axis=1, keepdims=True), 1)
    weaker = np.cumsum(share, axis=1) - share
    within = np.minimum((weaker * n + 1e-12).astype(np.int64), n - 1)
    buckets: np.ndarray = np.arange(len(deals))[:, None] * n + within
    return buckets.astype(np.uint16)


def recall_buckets(
    key: str,
    numbers: tuple[int, ...],
    first: np.ndarray,
    make: Callable[[], tuple[np.ndarray, np.ndarray]],
    progress: ShareCallback = no_progress,
) -> Buckets:
    """Returns the buckets from disk, or makes them. `first`: before the flop; `make` returns the
    buckets on the flop and the entries on the turn, less than `TURN_ENTRIES`."""
    on_flop = numbers[0] * numbers[1]
    on_turn = on_flop * numbers[2]
    shapes = {
        "flop": ((SIZES[3], N_HOLDINGS), np.uint16),
        "turn": ((SIZES[4], N_HOLDINGS), np.uint16),
        "turn_after": ((on_flop, TURN_ENTRIES), np.uint16),
        "river": ((on_turn, RIVER_TOTAL + 1), np.uint16),
    }

    def count(progress: ProgressCallback) -> tuple[np.ndarray, ...]:
        none = np.zeros((0, TURN_ENTRIES), dtype=np.uint16)
        tables = _Tables(board_links(), *make(), none, strengths().river)
        step = part(progress, 0.0, 0.2, "sequences of buckets on the turn")
        deals = _count(_count_turns, tables, (on_flop, TURN_ENTRIES), step)
        tables = tables._replace(turn_after=_borders(deals, numbers[2]))
        step = part(progress, 0.2, 0.99, "sequences of buckets on the river")
        deals = _count(_count_rivers, tables, (on_turn, RIVER_TOTAL + 1), step)
        return tables.flop, tables.turn, tables.turn_after, _borders(deals, numbers[3])

    cached = cached_arrays(
        "the buckets stay",
        "recall-buckets",
        (__name__,),
        make=count,
        shapes=shapes,
        unpack=tuple,
        recipe=lambda: {"abstraction": key},
    )
    flop, turn, *after = cached.get(lambda share, what: progress(share))
    turn_after, river = (np.array(table) for table in after)
    return Buckets(first, flop, turn, river, strengths().river, turn_after)
