"""How likely the opponent has each holding, changed by every action of his.

A re-creation from published descriptions: Billings 2006, Section 2.5.2.4; Davidson 2002, Section
3.3 (System B, noise).

WT[h] → `weights`; PT(h)[a] → `chance`; mu → a border. WT[h] *= PT(h)[a]. The opponent folds below
one border of EHS and raises above another. System B takes them from his frequencies: of all
holdings on this board the best f(raise) raise, the worst f(fold) fold.

A draw whose PPot covers the pot odds does not fold (Papp). Choices [guess]: a border is smoothed by
a line of Papp's half width sigma (`half_width`), and moved by up to sigma at the ends so that
frequencies of 0 and 1 mean never and always. Before the flop EHS is the equity of the holding,
hence its IR_2. After each action the weights are scaled to have 1 as the largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.bots.poki.frequencies import CALLED, FOLDED
from counterplay.poker.bots.poki.potential import SCALE
from counterplay.poker.bots.poki.strength import set_masks
from counterplay.poker.cards.canonical import hash_slot
from counterplay.poker.cards.cards import N_HOLDINGS

N_BINS = 2048
GONE = -1.0  # EHS of a holding that shares a card with the board or with the own hand


class Rating(NamedTuple):
    """The opponent's holdings on one board, seen by himself."""

    ehs: np.ndarray  # float64[1326]: HS + (1 - HS) · PPot1 against a uniform opponent, or GONE
    ppot: np.ndarray  # float64[1326]
    bins: np.ndarray  # int64[2049]: holdings by EHS; the last one is their number
    masks: np.ndarray  # int64[4]: scratch
    suit_to: np.ndarray  # int64[4]: scratch


def new_rating() -> Rating:
    longs = [np.zeros(n, dtype=np.int64) for n in (N_BINS + 1, 4, 4)]
    return Rating(np.zeros(N_HOLDINGS), np.zeros(N_HOLDINGS), *longs)


class Rates(NamedTuple):
    """Where ratings are looked up: h hash slots for all boards."""

    key: np.ndarray  # uint64[h]
    row: np.ndarray  # int32[h]: flops first, then turns, then rivers
    equity: np.ndarray  # float64[1326]: before the flop
    hs: np.ndarray  # uint16[18187, 1326]: on flops and turns
    ppot: np.ndarray  # uint16[18187, 1326]
    river: np.ndarray  # uint16[134459, 1326]


@jit
def _find_row(rates: Rates, rating: Rating) -> int:
    """Row of the board in `masks`; fills `suit_to`."""
    masks = rating.masks
    a, b, c, d = masks[0] << 2, (masks[1] << 2) + 1, (masks[2] << 2) + 2, (masks[3] << 2) + 3
    a, b = max(a, b), min(a, b)  # sorted by mask, the suit along with it
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    rating.suit_to[index(a & 3)] = 0
    rating.suit_to[index(b & 3)] = 1
    rating.suit_to[index(c & 3)] = 2
    rating.suit_to[index(d & 3)] = 3
    return int(rates.row[hash_slot(rates.key, a >> 2, b >> 2, c >> 2, d >> 2)])


@jit
def rate(
    rates: Rates,
    board: np.ndarray,
    n_board: int,
    own: np.ndarray,
    pairs: np.ndarray,
    rating: Rating,
) -> None:
    """Fill `rating` for a board of 0, 3, 4 or 5 cards (int64[5], -1 for none) and the own cards
    (int64[2])."""
    for k in range(index(len(rating.bins))):
        rating.bins[k] = 0
    set_masks(board, rating.masks)
    row = index(_find_row(rates, rating)) if n_board > 0 else index(0)
    early = index(len(rates.hs))
    total = 2162.0 if n_board == 3 else 2070.0
    for h in range(index(len(pairs))):
        x, y = np.int64(pairs[h, 0]), np.int64(pairs[h, 1])
        gone = (rating.masks[index(x & 3)] >> (x >> 2) & 1) | (
            rating.masks[index(y & 3)] >> (y >> 2) & 1
        )
        rating.ehs[h] = GONE
        rating.ppot[h] = 0.0
        if gone or x == own[0] or x == own[1] or y == own[0] or y == own[1]:
            continue
        if n_board == 0:
            ehs, ppot = rates.equity[h], 0.0
        else:
            x, y = (x & ~3) | rating.suit_to[index(x & 3)], (y & ~3) | rating.suit_to[index(y & 3)]
            x, y = min(x, y), max(x, y)
            same = index(y * (y - 1) // 2 + x)
            if n_board == 5:
                ehs, ppot = rates.river[row - early, same] / 1980.0, 0.0
            else:
                hs, ppot = rates.hs[row, same] / total, rates.ppot[row, same] / SCALE
                ehs = hs + (1.0 - hs) * ppot
        rating.ehs[h] = ehs
        rating.ppot[h] = ppot
        rating.bins[index(min(int(ehs * N_BINS), N_BINS - 1))] += 1
        rating.bins[index(N_BINS)] += 1


@jit
def quantile(rating: Rating, share: float) -> float:
    """EHS that the best `share` of the holdings reach."""
    wanted = share * rating.bins[index(N_BINS)]
    above = 0.0
    k = N_BINS
    found = 1.0
    while k > 0:
        k -= 1
        here = rating.bins[index(k)]
        if here > 0:
            if above + here >= wanted:
                found = (k + 1.0 - (wanted - above) / here) / N_BINS
                break
            above += here
            found = k / N_BINS
    return found


@jit(inner=True)
def ramp(value: float, low: float, high: float) -> float:
    """0 below `low`, 1 above `high`, a straight line between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


@jit
def half_width(mu: float, least: float, slope: float) -> float:
    """Of a border at mu: sigma."""
    return least + slope * max(0.0, 1.0 - mu)


@jit
def reweight(
    weights: np.ndarray,
    rating: Rating,
    fold: float,
    rise: float,
    least: float,
    slope: float,
    odds: float,
    action: int,
    capped: bool,
    noise: float,
    floor: float,
) -> None:
    """WT[h] *= PT(h)[action], from the opponent's frequencies of folding and raising and his pot
    odds. Changes `weights`.

    `least` and `slope` are those of `half_width`. `capped`: he could not raise, so that a call may
    stand for a raise.
    """
    call, top = quantile(rating, 1.0 - fold), quantile(rating, rise)
    call_width, top_width = half_width(call, least, slope), half_width(top, least, slope)
    call += call_width * (2.0 * fold - 1.0)
    top += top_width * (1.0 - 2.0 * rise)
    largest = 0.0
    for h in range(index(len(weights))):
        ehs = rating.ehs[h]
        if ehs < 0.0:
            weights[h] = 0.0
            continue
        stays = 1.0 if rating.ppot[h] >= odds else ramp(ehs, call - call_width, call + call_width)
        raises = min(stays, ramp(ehs, top - top_width, top + top_width))
        if action == FOLDED:
            chance = 1.0 - stays
        elif action == CALLED:
            chance = stays if capped else stays - raises
        else:
            chance = raises
        weights[h] *= chance - chance * noise + noise / 3.0
        largest = max(largest, weights[h])
    for h in range(index(len(weights))):
        if weights[h] > 0.0:
            weights[h] = max(floor, weights[h] / largest)
