"""Equity histograms: how the hand strength at the showdown is distributed over the boards to come,
for every holding on every board of an earlier street; and its mean square, E[HS²].

A histogram counts the ways to deal the rest of the board by the strength then, in `BINS` bins of
equal width. As a point for k-means it is cumulated: coordinate j is the share of strengths above
bin j. The sum of the absolute differences of two such points is the earth mover's distance of the
histograms; k-means uses their squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.base.progress import ProgressCallback, ShareCallback, no_progress, part
from counterplay.core.base.store import cached_arrays
from counterplay.core.kernels.jit import index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.kmeans import SCALE
from counterplay.poker.abstraction.numbered import FINAL_FLOP_TOTAL
from counterplay.poker.cards.canonical import SIZES, boards, find_canonical, permuted_holding
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.strength import (
    RIVER_TOTAL,
    Workspace,
    count_preflop,
    in_pieces,
    new_workspace,
    strengths,
)

BINS = 20
_CARDS = HOLDING_CARDS.astype(np.int64)


@jit
def _add_last_card(
    masks: np.ndarray, longer: Any, later: np.ndarray, at: Any, amount: Any, work: Any, out: Any
) -> None:
    """Adds, for every next card, amount[e] to out[board, holding, at[e]], where e is the entry of
    `later` on the longer board."""
    for k in range(index(len(masks))):
        for card in range(52):
            if (masks[k, index(card & 3)] >> (card >> 2)) & 1:
                continue
            link = _with_card(masks, k, card, longer, work)
            row, permutation = index(link >> 8), link & 255
            for h in range(index(len(_CARDS))):
                a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
                if a != card and b != card:
                    entry = index(later[row, index(permuted_holding(a, b, permutation))])
                    out[k, h, index(at[entry])] += amount[entry]


@jit
def _add_next_card(
    masks: np.ndarray, longer: Any, later: np.ndarray, work: Any, out: np.ndarray
) -> None:
    """Adds the entries of `later`, [board, holding, d], for every next card."""
    for k in range(index(len(masks))):
        for card in range(52):
            if (masks[k, index(card & 3)] >> (card >> 2)) & 1:
                continue
            link = _with_card(masks, k, card, longer, work)
            row, permutation = index(link >> 8), link & 255
            for h in range(index(len(_CARDS))):
                a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
                if a != card and b != card:
                    image = index(permuted_holding(a, b, permutation))
                    for j in range(index(out.shape[2])):
                        out[k, h, j] += later[row, image, j]


@jit(inner=True)
def _with_card(masks: Any, k: Any, card: Any, longer: Any, work: Any) -> Any:
    """The canonical board of a board and another card, as in `find_canonical`."""
    for s in range(index(4)):
        work[s] = masks[k, s]
    work[index(card & 3)] |= 1 << (card >> 2)
    return find_canonical(longer, work)


@jit
def clear_blocked(masks: np.ndarray, out: np.ndarray) -> None:
    """Sets the entries of holdings that share a card with the board to 0."""
    for k in range(index(len(masks))):
        for h in range(index(len(_CARDS))):
            a, b = _CARDS[h, index(0)], _CARDS[h, index(1)]
            blocked = masks[k, index(a & 3)] >> (a >> 2) | masks[k, index(b & 3)] >> (b >> 2)
            if blocked & 1:
                for j in range(index(out.shape[2])):
                    out[k, h, j] = 0


@jit
def _add_flops(flops: Any, later: np.ndarray, work: np.ndarray, out: np.ndarray) -> None:
    """Adds the entries of all flops to `out`, int64[holding, d]; those of blocked holdings are
    0."""
    for c in range(52):
        for b in range(c):
            for a in range(b):
                work[:] = 0
                for card in (a, b, c):
                    work[index(card & 3)] |= 1 << (card >> 2)
                link = find_canonical(flops, work)
                row, permutation = index(link >> 8), link & 255
                for h in range(index(len(_CARDS))):
                    image = permuted_holding(_CARDS[h, index(0)], _CARDS[h, index(1)], permutation)
                    for j in range(index(out.shape[1])):
                        out[h, j] += later[row, index(image), j]


def bin_numbers(total: int) -> np.ndarray:
    """Returns the bin of each count from 0 to `total`, the last with strength 1."""
    bins: np.ndarray = np.minimum(BINS * np.arange(total + 1) // total, BINS - 1)
    return bins.astype(np.uint8)


def _over_rivers(
    at: np.ndarray, amount: np.ndarray, out: np.ndarray, threads: int, progress: ShareCallback
) -> np.ndarray:
    """Fills `out`, [16432, 1326, d], with sums over rivers."""
    masks, longer, later = boards(4).masks, boards(5), strengths().river

    def add(work: Workspace, low: int, high: int) -> None:
        _add_last_card(masks[low:high], longer, later, at, amount, work.masks, out[low:high])
        clear_blocked(masks[low:high], out[low:high])

    in_pieces(add, len(out), threads or cores(), progress)
    return out


def _over_turns(
    turn: np.ndarray, out: np.ndarray, threads: int, progress: ShareCallback
) -> np.ndarray:
    """Fills `out`, [1755, 1326, d], with sums over turns."""
    masks, longer = boards(3).masks, boards(4)

    def add(work: Workspace, low: int, high: int) -> None:
        _add_next_card(masks[low:high], longer, turn, work.masks, out[low:high])
        clear_blocked(masks[low:high], out[low:high])

    in_pieces(add, len(out), threads or cores(), progress)
    return out


def turn_histograms(threads: int = 0, progress: ShareCallback = no_progress) -> np.ndarray:
    """Returns uint8[16432, 1326, BINS]: rivers by strength, 46 in all."""
    out = np.zeros((SIZES[4], N_HOLDINGS, BINS), dtype=np.uint8)
    one = np.ones(RIVER_TOTAL + 1, dtype=np.uint8)
    return _over_rivers(bin_numbers(RIVER_TOTAL), one, out, threads, progress)


def flop_histograms(
    turn: np.ndarray, threads: int = 0, progress: ShareCallback = no_progress
) -> np.ndarray:
    """Returns uint16[1755, 1326, BINS]: turns and rivers in order by strength, 47 · 46 in all."""
    out = np.zeros((SIZES[3], N_HOLDINGS, BINS), dtype=np.uint16)
    return _over_turns(turn, out, threads, progress)


def final_flop_histograms(counts: np.ndarray) -> np.ndarray:
    """Returns uint8[1755, 1326, BINS] for a showdown on the flop: one in the bin of the strength.
    `counts`: of `count_flops`."""
    out: np.ndarray = np.eye(BINS, dtype=np.uint8)[bin_numbers(FINAL_FLOP_TOTAL)[counts]]
    clear_blocked(boards(3).masks, out)
    return out


def preflop_histograms(flop: np.ndarray) -> np.ndarray:
    """Returns int64[1326, BINS]: boards by strength, from the histograms of flops."""
    out = np.zeros((N_HOLDINGS, flop.shape[2]), dtype=np.int64)
    _add_flops(boards(3), flop, new_workspace().masks, out)
    return out


def cumulated(histograms: np.ndarray) -> np.ndarray:
    """Returns int16[..., BINS - 1]: points for k-means, the share above each bin, in `SCALE`."""
    above = np.cumsum(histograms[..., :0:-1], axis=-1, dtype=np.int64)[..., ::-1]
    total = np.maximum(histograms.sum(axis=-1, keepdims=True, dtype=np.int64), 1)
    rounded: np.ndarray = (2 * SCALE * above + total) // (2 * total)
    return rounded.astype(np.int16)


def _make_squares(progress: ProgressCallback) -> tuple[np.ndarray, ...]:
    square = np.arange(RIVER_TOTAL + 1, dtype=np.uint64) ** np.uint64(2)
    turn = np.zeros((SIZES[4], N_HOLDINGS, 1), dtype=np.uint64)
    one_bin, later = np.zeros(len(square), dtype=np.uint8), part(progress, 0.8, 0.99, "E[HS²]")
    _over_rivers(one_bin, square, turn, 0, part(progress, 0.0, 0.8, "E[HS²] on the turn"))
    flop = _over_turns(turn, np.zeros((SIZES[3], N_HOLDINGS, 1), np.uint64), 0, later)
    return count_preflop(flop[..., 0]), flop[..., 0], turn[..., 0]


SHAPES = {
    "preflop": ((N_HOLDINGS,), np.uint64),
    "flop": ((SIZES[3], N_HOLDINGS), np.uint64),
    "turn": ((SIZES[4], N_HOLDINGS), np.uint64),
}
#: Sums of squared strengths at the showdown before the flop, on the flop and on the turn.
SQUARES = cached_arrays(
    "the tables of E[HS²] stay", "holdem-squares", (__name__,), _make_squares, SHAPES, tuple
)
