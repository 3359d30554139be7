"""Numbered deals of hold'em, and kernels that play two strategy tables on them, whole blocks of
hands in one call.

A seed determines cards and random numbers, independently of the players and the number of cores;
both are numbered as in `core/match/kernels.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.kernels.cache_lines import cache_aligned, cache_aligned_fields
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import check_seed, seed_state, uniform
from counterplay.core.match.kernels import (
    Blocks,
    MatchWorkspace,
    NumberedDeals,
    begin_deal,
    count_block,
    deal_state,
    new_workspace,
)
from counterplay.core.match.play import BLOCK, DEFAULT_HANDS
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, BettingRules, PublicNodes, row_of
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.deal import (
    N_DEALT,
    Deal,
    bucket_of,
    compare,
    draw,
    find_board,
    new_deal,
)
from counterplay.poker.holdem.table import Table

_TWO, _THREE = index(2), index(3)
_1 = np.uint64(1)


class SessionDeals(NamedTuple):
    """n consecutive deals for bots, from number `first` on."""

    first: int
    cards: np.ndarray  # uint8[n, 9]: player 1's two cards, player 2's two, the board
    seeds: np.ndarray  # uint64[n, 4]: of the bots; see `start_seeds` and `deal_seeds`
    betting: BettingRules = LIMIT

    @property
    def start_seeds(self) -> tuple[int, int]:
        """The seeds of the session for the bot in the first seat and the other."""
        return int(self.seeds[0, 0]), int(self.seeds[0, 1])

    @property
    def deal_seeds(self) -> list[tuple[int, int]]:
        """The seeds of both seats in each deal."""
        seeds: list[tuple[int, int]] = self.seeds[:, 2:].tolist()
        return seeds


@jit
def _seed_many(seed: int, first: int, rng: np.ndarray, out: np.ndarray) -> None:
    for k in range(index(len(out))):
        deal_state(seed, first + k, rng)
        for j in range(index(4)):
            out[k, j] = rng[j] >> _1  # fits a signed 64-bit integer


def deal_block(seed: int, block: int, n: int) -> np.ndarray:
    """uint8[n, 9]: player 1's two cards, player 2's, the board, of a block's first n deals."""
    out = np.empty((n, N_DEALT), dtype=np.uint8)
    rng = np.empty(4, dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the jit NumPy warns of overflow
        deal_cards(check_seed(seed), index(block), new_deal(), rng, out)
    return out


def session_deals(
    seed: int, block: int, n: int, size: int = BLOCK, betting: BettingRules = LIMIT
) -> SessionDeals:
    """The first n deals of a block; blocks have `size` deals."""
    seeds = deal_seeds(seed, block * size, n)
    return SessionDeals(block * size, deal_block(seed, block, n), seeds, betting)


def deal_seeds(seed: int, first: int, n: int) -> np.ndarray:
    """uint64[n, 4]: the seeds of n deals, as in `SessionDeals`."""
    seeds = np.empty((n, 4), dtype=np.uint64)
    with np.errstate(over="ignore"):
        _seed_many(check_seed(seed), index(first), np.empty(4, dtype=np.uint64), seeds)
    return seeds


def check_deals(cards: np.ndarray | None, hands: int, duplicate: bool) -> int:
    """The number of hands, of the seed's cards or of the caller's; `BadParameter` if invalid."""
    if cards is None:
        return hands
    valid = isinstance(cards, np.ndarray) and cards.ndim == 2 and cards.shape[1] == N_DEALT
    if not valid or len(cards) == 0 or not np.issubdtype(cards.dtype, np.integer):
        raise BadParameter(f"cards are whole numbers in an array of deals by {N_DEALT}")
    ordered = np.sort(cards, axis=1)
    if ordered.min() < 0 or ordered.max() >= N_CARDS or (ordered[:, 1:] == ordered[:, :-1]).any():
        raise BadParameter(f"the cards of a deal are different numbers from 0 to {N_CARDS - 1}")
    most = len(cards) * (2 if duplicate else 1)
    if hands not in (DEFAULT_HANDS, most):
        raise BadParameter(f"these cards are {most:,} hands; leave out hands, or say so")
    return most


class HandWorkspace(NamedTuple):
    """Arrays of one thread for one hand."""

    chance: Deal
    code: np.ndarray  # int64[2]: each player's buckets so far, as one number
    rng: np.ndarray  # uint64[4]


class HoldemWorkspace(NamedTuple):
    """Arrays of one thread for one block of at most n deals."""

    hand: HandWorkspace
    deck: Deal  # for dealing
    cards: np.ndarray  # uint8[n, 9]
    match: MatchWorkspace  # shares its rng with `hand`


def new_holdem_workspace(blocks: list[tuple[int, int]]) -> HoldemWorkspace:
    """For consecutive blocks (number, deals)."""
    match = new_workspace(blocks)
    code = cache_aligned(np.zeros(2, dtype=np.int64))
    hand = HandWorkspace(cache_aligned_fields(new_deal()), code, match.rng)
    cards = np.empty((len(match.won), N_DEALT), dtype=np.uint8)
    return HoldemWorkspace(hand, cache_aligned_fields(new_deal()), cards, match)


@jit
def deal_cards(seed: int, block: int, chance: Deal, rng: np.ndarray, out: np.ndarray) -> None:
    """Fills `out` (uint8[n, 9]) with the first n deals of a block. Changes `chance` and `rng`."""
    seed_state(seed, _TWO * block, rng)
    for k in range(index(len(chance.deck))):
        chance.deck[k] = k
    for k in range(index(len(out))):
        draw(chance, rng)
        for j in range(index(N_DEALT)):
            out[k, j] = chance.deck[j]


@jit(inline=True)
def reach_street(
    table: Table, chance: Deal, board: int, player: int, street: int, code: np.ndarray
) -> None:
    """Appends a player's bucket of this street to its code."""
    bucket = np.int64(bucket_of(table.cards, chance, board, player, street, code[player]))
    code[player] = code[player] * table.carry[street] + bucket


@jit
def _draw(table: Table, row: int, facing: bool, rng: np.ndarray) -> int:
    """Samples an action of a row as a child index; folding comes first where it is legal."""
    u = uniform(rng)
    fold, call = table.policy[index(row), index(0)], table.policy[index(row), index(1)]
    if u < fold:
        return 0
    shift = 1 if facing else 0
    return shift if u < fold + call or table.policy[index(row), index(2)] == 0.0 else shift + 1


@jit(inner=True)
def play_hand(
    nodes: PublicNodes,
    one: Table,
    two: Table,
    start: int,
    chance: Deal,
    code: np.ndarray,
    rng: np.ndarray,
) -> tuple[float, int]:
    """Plays the cards of `chance` from the node `start` on; returns the payoff of player 1 and the
    terminal node."""
    code[0] = code[1] = 0
    street = -1
    node = index(start)
    player = nodes.player[node]
    while player >= 0:
        while street < nodes.street[node]:
            street += 1
            board = find_board(one.cards, chance, street)
            reach_street(one, chance, board, 0, street, code)
            reach_street(two, chance, board, 1, street, code)
        facing = nodes.passive[index(nodes.decision[node])] == 1
        if player == 0:
            action = _draw(one, row_of(one.first_row, node, code[0]), facing, rng)
        else:
            action = _draw(two, row_of(two.first_row, node, code[1]), facing, rng)
        node = index(nodes.first_child[node]) + index(action)
        player = nodes.player[node]
    folded = nodes.folded[node]
    if folded != NO_FOLD:
        return float(nodes.stake[node] * (-1 if folded == 0 else 1)), node
    compare(chance)
    return float(nodes.stake[node] * chance.winner[ZERO]), node


@jit
def play_tables(
    nodes: PublicNodes,
    a: Table,
    b: Table,
    deals: NumberedDeals,
    cards: np.ndarray,
    workspace: HandWorkspace,
    won: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Plays every deal of `cards` (uint8[n, 9]). Fills `won` (float64[n, 2]), the payoff of `a` as
    player 1 and as player 2, NaN where it is not played; and `ends` (int32[n, 2]), the terminal
    nodes. Without duplicates the seats alternate."""
    chance, code, rng = workspace.chance, workspace.code, workspace.rng
    for k in range(index(len(cards))):
        for j in range(index(N_DEALT)):
            chance.deck[j] = cards[k, j]
        as_first, as_second = begin_deal(deals, k, rng, won)
        begin = rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE]
        if as_first:
            won[k, ZERO], ends[k, ZERO] = play_hand(nodes, a, b, ZERO, chance, code, rng)
        if as_second:
            rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE] = begin
            lost, ends[k, ONE] = play_hand(nodes, b, a, ZERO, chance, code, rng)
            won[k, ONE] = -lost


@jit
def play_table_blocks(
    nodes: PublicNodes, a: Table, b: Table, blocks: Blocks, workspace: HoldemWorkspace
) -> None:
    """Deals and plays whole blocks. Fills `workspace.match.tallies`; the other arrays are those of
    the last block."""
    match = workspace.match
    for k in range(index(len(blocks.deals))):
        n = blocks.deals[k]
        number = blocks.first + k
        cards, won, ends = workspace.cards[:n], match.won[:n], match.ends[:n]
        deal_cards(blocks.seed, number, workspace.deck, match.rng, cards)
        deals = NumberedDeals(blocks.seed, number * blocks.length, blocks.duplicate)
        play_tables(nodes, a, b, deals, cards, workspace.hand, won, ends)
        count_block(blocks, k, match, n)
