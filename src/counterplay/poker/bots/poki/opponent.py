"""The model of the opponent: action frequencies by context, and the weight table over holdings.

A re-creation from published descriptions: Billings 2006, Section 2.5.2.4; Davidson 2002, Section
3.3 (System B, noise, the last 40 actions).

Frequencies of fold, call and raise are kept in twelve contexts: a round, and 0, 1, or 2 and more
bets faced. Deviation: heads-up no player ever has two whole bets to call, so the bets faced are the
bets of the round where there is something to call (the big blind is the first) [guess]. At the cap
nothing is counted, since a call there may stand for a raise.

Symbols: WT[h] → `weights`; PT(h)[a] → `probability`; mu → a threshold. WT[h] *= PT(h)[a]. The
opponent folds below one threshold of EHS and raises above another. System B takes them from the
frequencies: of all holdings on this board the best f(raise) raise, the worst f(fold) fold. A draw
whose PPot covers the pot odds does not fold (Papp).

Choices [guess]: a threshold is smoothed linearly over Papp's half width sigma (`sigma_at`), and
moved by up to sigma at the ends so that frequencies of 0 and 1 mean never and always. Before the
flop EHS is the equity of the holding, hence its IR_2. After each action the weights are scaled so
that the largest is 1.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from counterplay.core.kernels.jit import index, jit
from counterplay.poker.bots.poki.potential import SCALE
from counterplay.poker.bots.poki.strategy import PokiSettings, Triple
from counterplay.poker.bots.poki.strength import set_masks
from counterplay.poker.cards.canonical import find_canonical, permuted_holding
from counterplay.poker.cards.cards import N_HOLDINGS

FOLDED, CALLED, RAISED = 0, 1, 2
N_BINS = 2048
BLOCKED = -1.0  # EHS of a holding that shares a card with the board or with the own hand


def bets_faced(to_call: float, bets: int) -> int:
    """0, 1 or 2: the column of a context."""
    return 0 if to_call <= 0.0 else min(max(bets, 1), 2)


class ActionFrequencies:
    """Frequencies of one opponent's actions by context."""

    def __init__(self, settings: PokiSettings) -> None:
        self._settings = settings
        self._recent = [[deque[int](maxlen=settings.memory) for _ in range(3)] for _ in range(4)]
        self._counts = [[[0, 0, 0] for _ in range(3)] for _ in range(4)]

    def add(self, round: int, faced: int, action: int) -> None:
        """Adds an action; the oldest one of a full context is dropped."""
        recent, counts = self._recent[round][faced], self._counts[round][faced]
        if len(recent) == self._settings.memory:
            counts[recent[0]] -= 1
        recent.append(action)
        counts[action] += 1

    def triple(self, round: int, faced: int) -> Triple:
        """Frequencies of fold, call and raise. Contexts with few observations borrow from the
        round before, and finally from the defaults."""
        fold, call, rise = self._settings.defaults[faced]
        for r in range(round + 1):
            n = len(self._recent[r][faced])
            if n == 0:
                continue
            trust = min(1.0, n / self._settings.enough)
            rest, (folds, calls, raises) = 1.0 - trust, self._counts[r][faced]
            fold = trust * folds / n + rest * fold
            call = trust * calls / n + rest * call
            rise = trust * raises / n + rest * rise
        return fold, call, rise


class OpponentStrengths(NamedTuple):
    """The opponent's holdings on one board, as the opponent rates them; a workspace."""

    ehs: np.ndarray  # float64[1326]: HS + (1 - HS) · PPot1 against a uniform opponent, or BLOCKED
    ppot: np.ndarray  # float64[1326]
    bins: np.ndarray  # int64[2049]: numbers of holdings by EHS; the last one is their total
    masks: np.ndarray  # int64[4]: workspace


def new_opponent_strengths() -> OpponentStrengths:
    longs = [np.zeros(n, dtype=np.int64) for n in (N_BINS + 1, 4)]
    return OpponentStrengths(np.zeros(N_HOLDINGS), np.zeros(N_HOLDINGS), *longs)


class StrengthTables(NamedTuple):
    """HS and PPot1 on all canonical boards, with h hash slots to find them."""

    key: np.ndarray  # uint64[h]
    row: np.ndarray  # int32[h]: flops, then turns, then rivers
    equity: np.ndarray  # float64[1326]: before the flop
    hs: np.ndarray  # uint16[18187, 1326]: on flops and turns
    ppot: np.ndarray  # uint16[18187, 1326]
    river: np.ndarray  # uint16[134459, 1326]


@jit
def fill_opponent_strengths(
    tables: StrengthTables,
    board: np.ndarray,
    n_board: int,
    own: np.ndarray,
    pairs: np.ndarray,
    out: OpponentStrengths,
) -> None:
    """Fills `out` for a board (int64[5], -1 for cards to come) and the own cards (int64[2])."""
    for k in range(index(len(out.bins))):
        out.bins[k] = 0
    set_masks(board, out.masks)
    link = find_canonical(tables, out.masks) if n_board > 0 else 0
    row, permutation = index(link >> 8), link & 255
    early = index(len(tables.hs))
    total = 2162.0 if n_board == 3 else 2070.0
    for h in range(index(len(pairs))):
        x, y = np.int64(pairs[h, 0]), np.int64(pairs[h, 1])
        on_board = (out.masks[index(x & 3)] >> (x >> 2) & 1) | (
            out.masks[index(y & 3)] >> (y >> 2) & 1
        )
        out.ehs[h] = BLOCKED
        out.ppot[h] = 0.0
        if on_board or x == own[0] or x == own[1] or y == own[0] or y == own[1]:
            continue
        if n_board == 0:
            ehs, ppot = tables.equity[h], 0.0
        else:
            canonical = index(permuted_holding(x, y, permutation))
            if n_board == 5:
                ehs, ppot = tables.river[row - early, canonical] / 1980.0, 0.0
            else:
                hs = tables.hs[row, canonical] / total
                ppot = tables.ppot[row, canonical] / SCALE
                ehs = hs + (1.0 - hs) * ppot
        out.ehs[h] = ehs
        out.ppot[h] = ppot
        out.bins[index(min(int(ehs * N_BINS), N_BINS - 1))] += 1
        out.bins[index(N_BINS)] += 1


@jit
def quantile(strengths: OpponentStrengths, share: float) -> float:
    """The EHS that the best `share` of the holdings reach."""
    target = share * strengths.bins[index(N_BINS)]
    above = 0.0
    k = N_BINS
    threshold = 1.0
    while k > 0:
        k -= 1
        here = strengths.bins[index(k)]
        if here > 0:
            if above + here >= target:
                threshold = (k + 1.0 - (target - above) / here) / N_BINS
                break
            above += here
            threshold = k / N_BINS
    return threshold


@jit(inner=True)
def ramp(value: float, low: float, high: float) -> float:
    """0 below `low`, 1 above `high`, linear between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


@jit
def sigma_at(mu: float, least: float, slope: float) -> float:
    """sigma of a threshold at mu."""
    return least + slope * max(0.0, 1.0 - mu)


@jit
def reweight(
    weights: np.ndarray,
    strengths: OpponentStrengths,
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
    """WT[h] *= PT(h)[action], from the opponent's frequencies of folding and raising and its pot
    odds. Changes `weights`.

    `least` and `slope` are those of `sigma_at`. `capped`: a raise was illegal, so that a call may
    stand for a raise.
    """
    call, top = quantile(strengths, 1.0 - fold), quantile(strengths, rise)
    call_width, top_width = sigma_at(call, least, slope), sigma_at(top, least, slope)
    call += call_width * (2.0 * fold - 1.0)
    top += top_width * (1.0 - 2.0 * rise)
    largest = 0.0
    for h in range(index(len(weights))):
        ehs = strengths.ehs[h]
        if ehs < 0.0:
            weights[h] = 0.0
            continue
        draw = strengths.ppot[h] >= odds
        stays = 1.0 if draw else ramp(ehs, call - call_width, call + call_width)
        raises = min(stays, ramp(ehs, top - top_width, top + top_width))
        if action == FOLDED:
            probability = 1.0 - stays
        elif action == CALLED:
            probability = stays if capped else stays - raises
        else:
            probability = raises
        weights[h] *= probability - probability * noise + noise / 3.0
        largest = max(largest, weights[h])
    for h in range(index(len(weights))):
        if weights[h] > 0.0:
            weights[h] = max(floor, weights[h] / largest)
