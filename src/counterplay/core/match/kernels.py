"""Two policies of one game against each other: whole blocks of games in one call.

Every deal has its own random numbers, by its number. In a duplicate both plays of a deal begin with
the same ones, so that a strategy against itself comes to exactly zero, deal by deal; and no deal
uses those of another, so that deals are independent.
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
    """Which deals: numbers `first`, `first` + 1, ... of a seed, each played in both seats if
    `duplicate`."""

    seed: int
    first: int
    duplicate: bool


class Blocks(NamedTuple):
    """Blocks `first`, `first` + 1, ... of a seed: b of them."""

    seed: int
    first: int
    length: int  # deals in a whole block, by which deals are numbered
    deals: np.ndarray  # uint64[b]: how many of each are played
    duplicate: bool
    idle: int  # the seat of `a` that does not count; 2 for none


class MatchWorkspace(NamedTuple):
    """Arrays of one thread for one block of at most n deals, and the tallies of b blocks."""

    rng: np.ndarray  # uint64[4]
    won: np.ndarray  # float64[n, 2]
    ends: np.ndarray  # int32[n, 2]
    values: np.ndarray  # float64[n]
    tallies: np.ndarray  # float64[b, 3, 5]


def new_workspace(run: list[tuple[int, int]]) -> MatchWorkspace:
    """For a run of blocks (number, deals)."""
    n = max(n for _, n in run)
    return MatchWorkspace(
        cache_aligned(np.empty(4, dtype=np.uint64)),
        np.empty((n, 2)),
        np.empty((n, 2), dtype=np.int32),
        np.empty(n),
        np.empty((len(run), 3, SERIES)),
    )


@jit(inline=True)
def deal_state(seed: int, deal: int, rng: np.ndarray) -> None:
    """The random numbers of the players in a deal. Odd streams: the even ones are the cards'."""
    seed_state(seed, _TWO * deal + ONE, rng)


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
    """Play a deal for each row of `won` (float64[n, 2]) and fill it: what `a` wins as player 1 and
    as player 2, NaN where it is not played; and `ends` (int32[n, 2]): the nodes where games end.
    Without duplicates the seats alternate. Chance is drawn while playing."""
    for k in range(index(len(won))):
        deal = deals.first + k
        even = deal & ONE == ZERO
        won[k, ZERO] = won[k, ONE] = np.nan
        deal_state(deals.seed, deal, rng)
        begin = rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE]
        if deals.duplicate or even:
            end = play_once(form, chance, a, b, rng)
            won[k, ZERO], ends[k, ZERO] = utility(form, chance, end, 0), end
        if deals.duplicate or not even:
            rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE] = begin
            end = play_once(form, chance, b, a, rng)
            won[k, ONE], ends[k, ONE] = utility(form, chance, end, 1), end


@jit(inner=True)
def count_block(blocks: Blocks, k: int, workspace: MatchWorkspace, n: int) -> None:
    """The tally of the k-th block from `workspace.won`, without the seat that does not count."""
    if blocks.idle < _TWO:
        for deal in range(n):
            workspace.won[deal, blocks.idle] = np.nan
    tally_block(workspace.won[:n], workspace.values, workspace.tallies[k])


@jit
def play_policy_blocks(
    form: Any, chance: Any, a: Any, b: Any, blocks: Blocks, workspace: MatchWorkspace
) -> None:
    """Play and count whole blocks. Fills `workspace.tallies`; the rest is left as the last block
    left it."""
    for k in range(index(len(blocks.deals))):
        n = blocks.deals[k]
        deals = NumberedDeals(blocks.seed, (blocks.first + k) * blocks.length, blocks.duplicate)
        won, ends = workspace.won[:n], workspace.ends[:n]
        play_policies(form, chance, a, b, deals, workspace.rng, won, ends)
        count_block(blocks, k, workspace, n)
