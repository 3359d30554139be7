"""Two tables, or two policies of one game, against each other: whole blocks of hands in one call.

Every deal has its own random numbers, by its number. In a duplicate both plays of a deal begin with
the same ones, so that a strategy against itself comes to exactly zero, deal by deal; and no deal
uses those of another, so that deals are independent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.arena.tally import tally_block
from counterplay.forms.access import play_once, utility
from counterplay.holdem.betting import NO_FOLD, PublicNodes
from counterplay.holdem.deal import N_DEALT, Deal, bucket_of, compare, draw, find_board
from counterplay.holdem.rows import row_of
from counterplay.holdem.table import Table
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.rng import seed_state, uniform

_TWO, _THREE = index(2), index(3)


class Scratch(NamedTuple):
    """What one thread plays with."""

    chance: Any  # the deal, or whatever a form keeps of a game
    code: np.ndarray  # int64[2]: what each player remembers of his buckets
    rng: np.ndarray  # uint64[4]


class Deals(NamedTuple):
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


class Desk(NamedTuple):
    """Room for one block of at most n deals, and for the tallies of b blocks."""

    scratch: Scratch
    deck: Deal  # cards are drawn from
    cards: np.ndarray  # uint8[n, 9]
    won: np.ndarray  # float64[n, 2]
    ends: np.ndarray  # int32[n, 2]
    values: np.ndarray  # float64[n]
    tallies: np.ndarray  # float64[b, 3, 5]


@jit
def deal_cards(seed: int, block: int, chance: Deal, rng: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint8[n, 9]) with the first n deals of a block. Changes `chance` and `rng`."""
    seed_state(seed, _TWO * block, rng)
    for k in range(index(len(chance.deck))):
        chance.deck[k] = k
    for k in range(index(len(out))):
        draw(chance, rng)
        for j in range(index(N_DEALT)):
            out[k, j] = chance.deck[j]


@jit(inline=True)
def deal_state(seed: int, deal: int, rng: np.ndarray) -> None:
    """The random numbers of the players in a deal. Odd streams: the even ones are the cards'."""
    seed_state(seed, _TWO * deal + ONE, rng)


@jit(inline=True)
def _reach_street(
    table: Table, chance: Deal, board: int, player: int, street: int, code: np.ndarray
) -> None:
    """Update what a player remembers of his buckets."""
    bucket = np.int64(bucket_of(table.cards, chance, board, player, street))
    code[player] = code[player] * table.carry[street] + bucket


@jit
def _draw(table: Table, row: int, facing: bool, rng: np.ndarray) -> int:
    """The child an action of a row leads to: folding comes first where it is possible."""
    u = uniform(rng)
    fold, call = table.policy[index(row), index(0)], table.policy[index(row), index(1)]
    if u < fold:
        return 0
    shift = 1 if facing else 0
    return shift if u < fold + call or table.policy[index(row), index(2)] == 0.0 else shift + 1


@jit
def _play_hand(
    nodes: PublicNodes,
    one: Table,
    two: Table,
    chance: Deal,
    code: np.ndarray,
    rng: np.ndarray,
) -> tuple[float, int]:
    """One hand with the cards of `chance`; what player 1 wins, and the node where it ends."""
    code[0] = code[1] = 0
    street = -1
    node = ZERO
    player = nodes.player[node]
    while player >= 0:
        if nodes.street[node] != street:
            street = int(nodes.street[node])
            board = find_board(one.cards, chance, street)
            _reach_street(one, chance, board, 0, street, code)
            _reach_street(two, chance, board, 1, street, code)
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
    deals: Deals,
    cards: np.ndarray,
    scratch: Scratch,
    won: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Play every deal of `cards` (uint8[n, 9]). Fills `won` (float64[n, 2]): what `a` wins as
    player 1 and as player 2, NaN where it is not played; and `ends` (int32[n, 2]): the nodes
    where the hands end. Without duplicates the seats alternate."""
    chance, code, rng = scratch.chance, scratch.code, scratch.rng
    for k in range(index(len(cards))):
        for j in range(index(N_DEALT)):
            chance.deck[j] = cards[k, j]
        deal = deals.first + k
        even = deal & ONE == ZERO
        won[k, ZERO] = won[k, ONE] = np.nan
        deal_state(deals.seed, deal, rng)
        begin = rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE]
        if deals.duplicate or even:
            won[k, ZERO], ends[k, ZERO] = _play_hand(nodes, a, b, chance, code, rng)
        if deals.duplicate or not even:
            rng[ZERO], rng[ONE], rng[_TWO], rng[_THREE] = begin
            lost, ends[k, ONE] = _play_hand(nodes, b, a, chance, code, rng)
            won[k, ONE] = -lost


@jit(inner=True)
def play_policies(
    form: Any,
    a: Any,
    b: Any,
    deals: Deals,
    scratch: Scratch,
    won: np.ndarray,
    ends: np.ndarray,
) -> None:
    """As `play_tables`, for two policies of one game; chance is drawn while playing."""
    chance, rng = scratch.chance, scratch.rng
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
def _count_block(blocks: Blocks, k: int, desk: Desk, n: int) -> None:
    """The tally of the k-th block from `desk.won`, without the seat that does not count."""
    if blocks.idle < _TWO:
        for deal in range(n):
            desk.won[deal, blocks.idle] = np.nan
    tally_block(desk.won[:n], desk.values, desk.tallies[k])


@jit
def play_table_blocks(nodes: PublicNodes, a: Table, b: Table, blocks: Blocks, desk: Desk) -> None:
    """Deal, play and count whole blocks. Fills `desk.tallies`; the rest of `desk` is left as the
    last block left it."""
    for k in range(index(len(blocks.deals))):
        n = blocks.deals[k]
        number = blocks.first + k
        cards, won, ends = desk.cards[:n], desk.won[:n], desk.ends[:n]
        deal_cards(blocks.seed, number, desk.deck, desk.scratch.rng, cards)
        deals = Deals(blocks.seed, number * blocks.length, blocks.duplicate)
        play_tables(nodes, a, b, deals, cards, desk.scratch, won, ends)
        _count_block(blocks, k, desk, n)


@jit
def play_policy_blocks(form: Any, a: Any, b: Any, blocks: Blocks, desk: Desk) -> None:
    """As `play_table_blocks`, for two policies of one game."""
    for k in range(index(len(blocks.deals))):
        n = blocks.deals[k]
        deals = Deals(blocks.seed, (blocks.first + k) * blocks.length, blocks.duplicate)
        play_policies(form, a, b, deals, desk.scratch, desk.won[:n], desk.ends[:n])
        _count_block(blocks, k, desk, n)
