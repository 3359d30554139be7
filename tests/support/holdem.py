"""Buckets and strategies of hold'em looked up the long way: the whole board's class, the holding
renamed, whole numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import counterplay as cp
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.cards.canonical import boards, find_class
from counterplay.poker.cards.cards import holding
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.poker.cards.tables import Strengths, strengths

NAME = "holdem(buckets=10)"
TREE = betting_tree(LIMIT)
TOTAL = {3: FLOP_TOTAL, 4: TURN_TOTAL, 5: RIVER_TOTAL}


def class_of(board: list[int]) -> tuple[int, list[int]]:
    """Class of a whole board of 3, 4 or 5 cards, and what each suit is called there."""
    masks, suit_to = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    for c in board:
        masks[c % 4] |= 1 << (c // 4)
    return int(find_class(boards(len(board)), masks, suit_to)), suit_to.tolist()


def bucket(own: list[int], board: list[int], n: int) -> int:
    """Bucket of equal width: floor(n · EHS), the best hand in the last one."""
    tables = strengths()
    if not board:
        count, total = int(tables.preflop[holding(own)]), PREFLOP_TOTAL
    else:
        row, suit_to = class_of(board)
        pair = holding([c // 4 * 4 + suit_to[c % 4] for c in own])
        street, total = {
            3: (tables.flop, FLOP_TOTAL),
            4: (tables.turn, TURN_TOTAL),
            5: (tables.river, RIVER_TOTAL),
        }[len(board)]
        count = int(street[row, pair])
    return min(n * count // total, n - 1)


def policy_of(
    strategy: cp.Strategy, n: int
) -> Callable[[str, list[int], list[int]], tuple[float, float, float]]:
    """A strategy of n buckets of equal width as a function of what a player sees."""
    tree, actions = TREE.nodes, TREE.actions
    nodes = {letters: node for node, letters in enumerate(TREE.histories)}
    first = strategy.game.form.first

    def shares(letters: str, own: list[int], board: list[int]) -> tuple[float, float, float]:
        node = nodes[letters]
        slot = first[int(tree.decision[node]) * n + bucket(own, board, n)]
        found = {
            action: float(strategy.probabilities[slot + k])
            for k, action in enumerate(actions[node])
        }
        return found.get("fold", 0.0), found["call"], found.get("raise", 0.0)

    return shares


def random_deals(seed: int, n: int) -> np.ndarray:
    """uint8[n, 9]: two cards, two cards, five of the board."""
    return np.argsort(np.random.default_rng(seed).random((n, 52)), axis=1)[:, :9].astype(np.uint8)


def seldom_folding(game: cp.Game, seed: int) -> cp.Strategy:
    """Random probabilities with little folding, so that hands reach every round and every stake."""
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
