"""Kernels of matches between two policies: whole blocks of games in one call.

The number of a deal determines its random numbers, so that deals are independent. In a duplicate
both plays of a deal start from the same random state, so that a strategy against itself wins
exactly zero in every deal.

A block is summed up in a tally: count, mean and squared deviations of payoffs. Sums are pairwise,
as NumPy's (eight partial sums, then halves), so that a match gives the same bits however it is
split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import play_once, utility
from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import seed_state

SERIES = 5  # deals played twice, their two seats, and the seats of deals played once
COUNT, MEAN, SQUARES = ZERO, ONE, index(2)  # rows of an array of tallies
_BOTH, _FIRST, _SECOND, _FIRST_ONCE, _SECOND_ONCE = (index(k) for k in range(SERIES))
_EIGHT, _MOST = index(8), index(128)  # NumPy's: partial sums, longest range that is not halved
_PARTS = tuple(index(k) for k in range(8))
_TWO, _THREE = index(2), index(3)


@dataclass(frozen=True)
class Tally:
    """Count, mean and sum of squared deviations of five series: deals played twice, their two
    seats, and the seats of deals played once. float64[5] each."""

    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, other: Tally) -> Tally:
        return merge_tallies([self, other])


def tally(won: np.ndarray) -> Tally:
    """The tally of `won` (float64[deals, 2]), the payoffs of `a` as player 1 and as player 2 in
    each deal, NaN where it was not played."""
    rows = np.empty((3, SERIES))
    tally_block(np.ascontiguousarray(won, dtype=np.float64), np.empty(len(won)), rows)
    return Tally(*rows)


def merge_tallies(parts: Sequence[Tally]) -> Tally:
    """The tally of all parts, added in order."""
    rows = np.array([(part.count, part.mean, part.squares) for part in parts])
    whole = np.zeros((3, SERIES))
    add_tallies(rows.reshape(-1, 3, SERIES), whole)
    return Tally(*whole)


@jit
def add_tallies(parts: np.ndarray, whole: np.ndarray) -> None:
    """Adds `parts` (float64[n, 3, 5]) to `whole` (float64[3, 5]) by Chan, Golub & LeVeque."""
    for k in range(index(len(parts))):
        for s in range(index(SERIES)):
            n, m = whole[COUNT, s], parts[k, COUNT, s]
            share = m / max(n + m, 1.0)
            delta = parts[k, MEAN, s] - whole[MEAN, s] if n > 0.0 and m > 0.0 else 0.0
            if n > 0.0:
                whole[MEAN, s] += delta * share
            else:
                whole[MEAN, s] = parts[k, MEAN, s]
            whole[COUNT, s] = n + m
            whole[SQUARES, s] = whole[SQUARES, s] + parts[k, SQUARES, s] + delta * delta * n * share


@jit
def tally_block(won: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """Fills `out` (float64[3, 5]) from `won` (float64[n, 2]). `values`: scratch, float64[n]."""
    for s in range(index(SERIES)):
        n = _pick(won, s, values)
        out[COUNT, s] = float(n)
        out[MEAN, s] = out[SQUARES, s] = 0.0
        if n > ZERO:
            mean = _sum(values, ZERO, n) / float(n)
            for k in range(n):
                values[k] = (values[k] - mean) * (values[k] - mean)
            out[MEAN, s] = mean
            out[SQUARES, s] = _sum(values, ZERO, n)


@jit(inner=True)
def _pick(won: np.ndarray, series: int, values: np.ndarray) -> int:
    """Copies a series to the front of `values`; returns its length."""
    n = ZERO
    for k in range(index(len(won))):
        one, two = won[k, ZERO], won[k, ONE]
        first, second = not np.isnan(one), not np.isnan(two)
        if series < _FIRST_ONCE:
            if first and second:
                values[n] = (
                    (one + two) / 2.0 if series == _BOTH else one if series == _FIRST else two
                )
                n += ONE
        elif first != second and first == (series == _FIRST_ONCE):
            values[n] = one if first else two
            n += ONE
    return n


@jit(inner=True)
def _sum(values: np.ndarray, low: int, n: int) -> float:
    """values[low] + ... + values[low + n - 1], in the order of `np.sum`."""
    if n < _EIGHT:
        total = 0.0
        for k in range(low, low + n):
            total += values[k]
        return total
    if n <= _MOST:
        return _sum_by_eight(values, low, n)
    half = n // index(2)
    half -= half % _EIGHT
    return _sum(values, low, half) + _sum(values, low + half, n - half)


@jit(inline=True)
def _sum_by_eight(values: np.ndarray, low: int, n: int) -> float:
    a, b, c, d = values[low], values[low + ONE], values[low + _PARTS[2]], values[low + _PARTS[3]]
    e, f = values[low + _PARTS[4]], values[low + _PARTS[5]]
    g, h = values[low + _PARTS[6]], values[low + _PARTS[7]]
    k = low + _EIGHT
    end = low + n
    while k + _EIGHT <= end:
        a += values[k]
        b += values[k + ONE]
        c += values[k + _PARTS[2]]
        d += values[k + _PARTS[3]]
        e += values[k + _PARTS[4]]
        f += values[k + _PARTS[5]]
        g += values[k + _PARTS[6]]
        h += values[k + _PARTS[7]]
        k += _EIGHT
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while k < end:
        total += values[k]
        k += ONE
    return float(total)


class NumberedDeals(NamedTuple):
    """Deals number `first`, `first` + 1, ... of a seed, each in both seats if `duplicate`."""

    seed: int
    first: int
    duplicate: bool


class Blocks(NamedTuple):
    """b consecutive blocks of a seed, from number `first` on."""

    seed: int
    first: int
    length: int  # deals in a whole block, which number the deals
    deals: np.ndarray  # uint64[b]: deals played of each block
    duplicate: bool
    idle: int  # the seat of `a` that does not count; 2 for none


class MatchWorkspace(NamedTuple):
    """Arrays of one thread for one block of at most n deals, and the tallies of b blocks."""

    rng: np.ndarray  # uint64[4]
    won: np.ndarray  # float64[n, 2]
    ends: np.ndarray  # int32[n, 2]
    values: np.ndarray  # float64[n]
    tallies: np.ndarray  # float64[b, 3, 5]


def new_workspace(blocks: list[tuple[int, int]]) -> MatchWorkspace:
    """For consecutive blocks (number, deals)."""
    n = max(n for _, n in blocks)
    return MatchWorkspace(
        cache_aligned(np.empty(4, dtype=np.uint64)),
        np.empty((n, 2)),
        np.empty((n, 2), dtype=np.int32),
        np.empty(n),
        np.empty((len(blocks), 3, SERIES)),
    )


@jit(inline=True)
def deal_state(seed: int, deal: int, rng: np.ndarray) -> None:
    """Seeds `rng` for the players of a deal: odd streams. The even ones are for the cards."""
    seed_state(seed, _TWO * deal + ONE, rng)


@jit(inline=True)
def begin_deal(deals: NumberedDeals, k: int, rng: np.ndarray, won: np.ndarray) -> tuple[bool, bool]:
    """Seeds `rng` for the players of deal k and sets its row of `won` to NaN. Returns whether `a`
    plays it as player 1 and as player 2; without duplicates the seats alternate."""
    deal = deals.first + k
    even = deal & ONE == ZERO
    won[k, ZERO] = won[k, ONE] = np.nan
    deal_state(deals.seed, deal, rng)
    return deals.duplicate or even, deals.duplicate or not even


@jit(inner=True)
def play_policies(
    form: Any,
    chance: Any,
    a: Any,
    b: Any,
    deals: NumberedDeals,
    rng: np.ndarray,
    won: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Plays a deal for each row. Fills `won` (float64[n, 2]), the payoff of `a` as player 1 and as
    player 2, NaN where it is not played; and `ends` (int32[n, 2]), the terminal nodes. Without
    duplicates the seats alternate. Chance is sampled while playing."""
    for k in range(index(len(won))):
        as_first, as_second = begin_deal(deals, k, rng, won)
        begin = rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE]
        if as_first:
            end = play_once(form, chance, a, b, rng)
            won[k, ZERO], ends[k, ZERO] = utility(form, chance, end, 0), end
        if as_second:
            rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE] = begin
            end = play_once(form, chance, b, a, rng)
            won[k, ONE], ends[k, ONE] = utility(form, chance, end, 1), end


@jit(inner=True)
def count_block(blocks: Blocks, k: int, workspace: MatchWorkspace, n: int) -> None:
    """Fills the tally of the k-th block from `workspace.won`, without the idle seat."""
    if blocks.idle < _TWO:
        for deal in range(n):
            workspace.won[deal, blocks.idle] = np.nan
    tally_block(workspace.won[:n], workspace.values, workspace.tallies[k])


@jit
def play_policy_blocks(
    form: Any, chance: Any, a: Any, b: Any, blocks: Blocks, workspace: MatchWorkspace
) -> None:
    """Plays whole blocks. Fills `workspace.tallies`; other arrays are of the last block."""
    for k in range(index(len(blocks.deals))):
        n = blocks.deals[k]
        deals = NumberedDeals(blocks.seed, (blocks.first + k) * blocks.length, blocks.duplicate)
        won, ends = workspace.won[:n], workspace.ends[:n]
        play_policies(form, chance, a, b, deals, workspace.rng, won, ends)
        count_block(blocks, k, workspace, n)
