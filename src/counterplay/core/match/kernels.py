"""Kernels of matches between two policies: whole blocks of games in one call.

The number of a deal determines its random numbers, so that deals are independent. In a duplicate
both plays of a deal start from the same random state, so that a strategy against itself wins
exactly zero in every deal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import play_once, utility
from counterplay.core.kernels.cache_lines import cache_aligned
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import seed_state
from counterplay.core.match.tally import SERIES, tally_block

_TWO, _THREE = index(2), index(3)


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
