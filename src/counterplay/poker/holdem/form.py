"""`BettingGame`: hold'em as a form for sampling kernels, a betting tree and a card abstraction.

All cards are dealt at the start; buckets are looked up when a street is reached. An information set
is a decision of the betting tree and the acting player's bucket: a row (`rows.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import (
    answers,
    chance_buffer,
    chance_workspace,
    child,
    infoset_at,
    lane_buffer,
    lane_chance,
    lane_infoset,
    player_at,
    prefetch_node,
    start,
    start_lane,
    utility,
)
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.core.kernels.prefetch import prefetch
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, BettingTree, PublicNodes
from counterplay.poker.betting.rows import buckets_at, first_rows, first_slots, row_of
from counterplay.poker.cards.deal import (
    DERIVED,
    UNKNOWN,
    Deal,
    bucket_at,
    compare,
    deal_on,
    deals_on,
    draw,
    find_board,
    holding_of,
)


class BettingGame(NamedTuple):
    """n public nodes, m information sets."""

    nodes: PublicNodes
    cards: Cards
    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]
    owner: np.ndarray  # int8[m]
    passive: np.ndarray  # int16[m]
    on_board: int  # cards of the board at a showdown

    @property
    def n_nodes(self) -> int:
        """Number of public nodes."""
        return len(self.nodes.player)

    @property
    def n_infosets(self) -> int:
        return len(self.owner)

    @property
    def n_slots(self) -> int:
        return int(self.first[-1])


def betting_game(
    tree: BettingTree, cards: Cards, counts: tuple[int, ...], on_board: int = LIMIT.board[-1]
) -> BettingGame:
    """Returns the form of a card abstraction with `counts` buckets on the streets."""
    nodes, n = tree.nodes, buckets_at(tree, counts)
    return BettingGame(
        nodes,
        cards,
        first_rows(tree, counts),
        first_slots(tree, counts),
        np.repeat(nodes.player[nodes.node], n),
        np.repeat(nodes.passive, n),
        on_board,
    )


@answers(chance_buffer, BettingGame)
def _chance_buffer(form: Any) -> Any:
    return np.empty(len(form.cards.deck) + DERIVED, dtype=np.int64)


@answers(lane_buffer, BettingGame)
def _lane_buffer(form: Any, many: int) -> Any:
    return np.empty(many * (len(form.cards.deck) + DERIVED), dtype=np.int64)


@answers(chance_workspace, BettingGame)
def _chance_on(form: Any, buffer: Any) -> Any:
    one = len(form.cards.deck) + DERIVED
    return (deal_on if len(buffer) == one else deals_on)(buffer, form.cards.deck)


@answers(lane_chance, BettingGame)
def _chance_in(form: Any, chance: Any, lane: Any) -> Any:
    return Deal(
        chance.deck[lane],
        chance.bucket[lane],
        chance.winner[lane],
        chance.masks[lane],
        chance.board[lane],
        chance.permutation[lane],
        chance.holding[lane],
    )


@jit
def _look_up(cards: Any, chance: Deal, street: Any) -> None:
    """Fills both players' buckets of a street and prefetches those of the next street, so that
    memory latency overlaps with the betting."""
    board = chance.board[ZERO]
    for player in range(index(2)):
        holding = holding_of(chance, player, False) if street == 0 else chance.holding[player]
        chance.bucket[index(street), player] = bucket_at(cards, street, board, holding)
    if street < 3:
        board = find_board(cards, chance, street + 1)
        for player in range(index(2)):
            holding = holding_of(chance, player, True)
            chance.holding[player] = holding
            if street < 2:
                prefetch(cards.early, index(board), index(holding))
            else:
                prefetch(cards.river_entry, index(board - len(cards.early)), index(holding))


@answers(start, BettingGame)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    draw(chance, rng)
    return ZERO


@answers(start_lane, BettingGame)
def _start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    draw(lane_chance(form, chance, lane), rng)
    return ZERO


@answers(prefetch_node, BettingGame)
def _ask_node(form: Any, chance: Any, node: Any) -> Any:
    return None  # the betting tree stays in the cache


@answers(child, BettingGame)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return index(form.nodes.first_child[node]) + action


@answers(player_at, BettingGame)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return form.nodes.player[node]


@answers(infoset_at, BettingGame)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    street, player = np.int64(form.nodes.street[node]), index(form.nodes.player[node])
    if chance.bucket[index(street), player] == UNKNOWN:
        _look_up(form.cards, chance, street)
    return index(row_of(form.first_row, node, chance.bucket[index(street), player]))


@answers(lane_infoset, BettingGame)
def _infoset_in(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    street, player = np.int64(form.nodes.street[node]), index(form.nodes.player[node])
    if chance.bucket[lane, index(street), player] == UNKNOWN:
        _look_up(form.cards, lane_chance(form, chance, lane), street)
    return index(row_of(form.first_row, node, chance.bucket[lane, index(street), player]))


@answers(utility, BettingGame)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    stake = form.nodes.stake[node]
    folded = form.nodes.folded[node]
    if folded != NO_FOLD:
        won = -1 if folded == player else 1
    else:
        if chance.winner[ZERO] == UNKNOWN:
            compare(chance, form.on_board)
        won = chance.winner[ZERO] if player == 0 else -chance.winner[ZERO]
    return stake * won
