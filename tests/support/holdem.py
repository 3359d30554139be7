"""Buckets and strategies of hold'em without links: by the canonical board of the whole board, the
permuted holding and whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import counterplay as cp
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.cards.canonical import boards, find_canonical
from counterplay.poker.cards.cards import holding
from counterplay.poker.cards.strength import (
    FLOP_TOTAL,
    PREFLOP_TOTAL,
    RIVER_TOTAL,
    TURN_TOTAL,
    Strengths,
    strengths,
)

NAME = "holdem(buckets=10)"
TREE = betting_tree(LIMIT)
TOTAL = {3: FLOP_TOTAL, 4: TURN_TOTAL, 5: RIVER_TOTAL}


def class_of(board: list[int]) -> tuple[int, list[int]]:
    """Returns the canonical board of 3, 4 or 5 cards and the image of each suit there."""
    masks = np.zeros(4, dtype=np.int64)
    for c in board:
        masks[c % 4] |= 1 << (c // 4)
    link = int(find_canonical(boards(len(board)), masks))
    return link >> 8, [link >> 2 * suit & 3 for suit in range(4)]


def bucket(own: list[int], board: list[int], n: int) -> int:
    """Returns the equal-width bucket floor(n · EHS), with EHS 1 in the last bucket."""
    tables = strengths()
    if not board:
        count, total = int(tables.preflop[holding(own)]), PREFLOP_TOTAL
    else:
        row, suit_to = class_of(board)
        permuted = holding([c // 4 * 4 + suit_to[c % 4] for c in own])
        street, total = {
            3: (tables.flop, FLOP_TOTAL),
            4: (tables.turn, TURN_TOTAL),
            5: (tables.river, RIVER_TOTAL),
        }[len(board)]
        count = int(street[row, permuted])
    return min(n * count // total, n - 1)


def bucket_of(buckets: Buckets, own: list[int], board: list[int]) -> int:
    """Returns the bucket of a holding by the canonical board; `board` in the order of dealing."""
    if not board:
        return int(buckets.preflop[holding(own)])
    row, suit_to = class_of(board)
    image = holding([c // 4 * 4 + suit_to[c % 4] for c in own])
    if len(board) == 3:
        return int(buckets.flop[row, image])
    entry = (buckets.turn if len(board) == 4 else buckets.river_entry)[row, image]
    after = buckets.turn_after if len(board) == 4 else buckets.river
    if after.ndim == 2:
        return int(after[bucket_of(buckets, own, board[:-1]), entry])
    return int(after[entry] if len(board) == 5 else entry)


def policy_of(
    strategy: cp.Strategy, n: int
) -> Callable[[str, list[int], list[int]], tuple[float, float, float]]:
    """Returns a strategy of n equal-width buckets as a function of betting, own cards and board."""
    tree, actions = TREE.nodes, TREE.actions
    nodes = {letters: node for node, letters in enumerate(TREE.histories)}
    first = strategy.game.form.first

    def shares(letters: str, own: list[int], board: list[int]) -> tuple[float, float, float]:
        node = nodes[letters]
        slot = first[int(tree.decision[node]) * n + bucket(own, board, n)]
        policy = {
            action: float(strategy.probabilities[slot + k])
            for k, action in enumerate(actions[node])
        }
        return policy.get("fold", 0.0), policy["call"], policy.get("raise", 0.0)

    return shares


def random_deals(seed: int, n: int) -> np.ndarray:
    """Returns uint8[n, 9]: two cards, two cards, five of the board."""
    return np.argsort(np.random.default_rng(seed).random((n, 52)), axis=1)[:, :9].astype(np.uint8)


def seldom_folding(game: cp.Game, seed: int) -> cp.Strategy:
    """Returns random probabilities with few folds, so that hands reach every round and stake."""
    form = game.form
    weights = np.random.default_rng(seed).exponential(size=game.n_slots)
    weights[form.first[:-1][form.passive == 1]] *= (
        0.1  # where a fold is legal it comes first, then the call
    )
    return cp.Strategy.from_weights(game, weights)


def ehs(table: Strengths, hand: list[int], board: list[int]) -> float:
    row, suit_to = class_of(board)
    own = holding([c // 4 * 4 + suit_to[c % 4] for c in hand])
    street = {3: table.flop, 4: table.turn, 5: table.river}[len(board)]
    return float(street[row, own]) / TOTAL[len(board)]
