"""What the river is worth to two known hands, for u of luck adjustment: of the player who is a
table by its own probabilities, of the other one by a model in the buckets of u, with the true
winner of every showdown. A river has some ten decisions, so that it is walked whole."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD, BettingTree, PublicNodes, row_of
from counterplay.poker.cards.deal import Deal, bucket_of, compare, find_board
from counterplay.poker.holdem.table import Table

RIVER = 3
_CARD = 8  # of the river, in the deck


class RiverPlay(NamedTuple):
    """How both players play the river. n public nodes; without `below` nothing is walked."""

    first: np.ndarray  # int32[n + 1]: where the part of a node that opens the river begins
    below: np.ndarray  # int32[m]: the nodes of these parts, parents first
    table: Table  # of the known player
    rows: np.ndarray  # int32[n]: first rows of the model
    model: np.ndarray  # float64[rows, 3]: of the other one, by bucket
    value: np.ndarray  # float64[n]: workspace, the payoff of player 1 from a node on


def river_play(tree: BettingTree, table: Table, rows: np.ndarray, model: np.ndarray) -> RiverPlay:
    nodes, parts = tree.nodes, []
    opens = (nodes.street == RIVER) & (nodes.street[tree.parent] != RIVER) & (nodes.player >= 0)
    for node in range(len(opens)):
        part = [node] if opens[node] else []
        for one in part:  # which grows
            part += range(int(nodes.first_child[one]), int(nodes.first_child[one + 1]))
        parts.append(part)
    first = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    below = np.array([one for part in parts for one in part], dtype=np.int32)
    return RiverPlay(first, below, table, rows, model, np.zeros(len(opens)))


def no_river(table: Table) -> RiverPlay:
    """Rivers by u of bucket pairs."""
    none = np.zeros(0, dtype=np.int32)
    return RiverPlay(none, none, table, none, np.zeros((0, 3)), np.zeros(0))


@jit(inner=True)
def walks(river: RiverPlay) -> bool:
    return len(river.below) > 0


@jit(inner=True)
def fill_river(
    nodes: PublicNodes, river: RiverPlay, node: int, side: int, bucket: int, code: int, winner: int
) -> float:
    """Fills `river.value` from a node that opens the river on, and returns its value. `side`: the
    seat of the player with the model, in `bucket`; `code`: of the other one; `winner`: 1, 0 or -1
    for player 1."""
    k = index(river.first[index(node) + ONE])
    while k > index(river.first[index(node)]):
        k -= ONE
        here = index(river.below[k])
        if nodes.player[here] < 0:
            folded = nodes.folded[here]
            share = winner if folded == NO_FOLD else -1 if folded == 0 else 1
            river.value[here] = nodes.stake[here] * share
            continue
        low, high = index(nodes.first_child[here]), index(nodes.first_child[here + ONE])
        action = ZERO if nodes.passive[index(nodes.decision[here])] == 1 else ONE
        total = 0.0
        if int(nodes.player[here]) == side:
            row = index(row_of(river.rows, here, bucket))
            for c in range(low, high):
                total += river.model[row, action + c - low] * river.value[c]
        else:
            row = index(row_of(river.table.first_row, here, code))
            for c in range(low, high):
                total += river.table.policy[row, action + c - low] * river.value[c]
        river.value[here] = total
    return float(river.value[index(node)])


@jit(inner=True)
def river_now(
    cards: Any, nodes: PublicNodes, river: RiverPlay, chance: Deal, node: int, side: int,
    board: int, before: int, code: int,
) -> float:  # fmt: skip
    """The same for the cards of `chance`, whose winner is known; `before`: the bucket of the turn,
    `code`: that of the turn."""
    bucket = int(bucket_of(cards, chance, board, side, RIVER, before))
    other = int(bucket_of(river.table.cards, chance, board, 1 - side, RIVER, code))
    now = code * int(river.table.carry[index(RIVER)]) + other
    return float(fill_river(nodes, river, node, side, bucket, now, int(chance.winner[ZERO])))


@jit(inner=True)
def mean_river(
    cards: Any, nodes: PublicNodes, river: RiverPlay, chance: Deal, node: int, side: int,
    before: int, code: int,
) -> float:  # fmt: skip
    """The mean over all cards of the river."""
    place, total, count = index(_CARD), 0.0, 0
    card = chance.deck[place]
    board, permutation = chance.board[ZERO], chance.permutation[ZERO]
    for other in range(52):
        dealt = False
        for j in range(place):
            dealt = dealt or chance.deck[j] == other
        if dealt:
            continue
        chance.deck[place] = other
        chance.board[ZERO], chance.permutation[ZERO] = board, permutation
        seen = find_board(cards, chance, RIVER)
        compare(chance)
        total += river_now(cards, nodes, river, chance, node, side, seen, before, code)
        count += 1
    chance.deck[place] = card
    chance.board[ZERO], chance.permutation[ZERO] = board, permutation
    return total / count
