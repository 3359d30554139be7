"""The decisions of hold'em that a lock names: a `Place` (`poker/betting/betting.py`) or the
betting before one decision, such as `rc/cr`.

At a decision the hands are buckets. How often each comes there is the player's own reach, from a
sample of boards with all holdings on each of them.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.locks import Lock, LockedDecision, refuse_fields
from counterplay.poker.betting.betting import (
    ACTIONS,
    LIMIT,
    STREETS,
    BettingTree,
    find_place,
    row_of,
)
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.holdem.holdings import BOARD_SIZE, bucket_codes, canonical_board
from counterplay.poker.holdem.table import Table, strategy_table

SAMPLED_BOARDS, SEED = 20, 1
SAME = {"call": ("check",), "raise": ("bet",)}


def lock_decisions(strategy: Strategy, lock: Lock) -> list[LockedDecision]:
    """The decisions where a lock holds."""
    rules = strategy.game.rules
    if rules.betting != LIMIT or not rules.abstraction.deck.full:
        raise BadParameter(f"locks are for the usual limit betting, not for {strategy.game.name}")
    refuse_fields(lock, strategy.game.name)
    names = [*ACTIONS, *(name for same in SAME.values() for name in same)]
    for action in lock.play:
        if action not in names:
            raise unknown("action", action, names)
    nodes = _nodes(rules.tree, lock)
    weights = _bucket_weights(strategy, list(nodes))
    first = strategy.game.form.first_row
    return [
        LockedDecision(row_of(first, node, np.arange(len(weights[node]))), weights[node], group)
        for node, group in nodes.items()
    ]


def _nodes(tree: BettingTree, lock: Lock) -> dict[int, np.ndarray]:
    """The public nodes that a lock names and where one of its actions is legal, with the groups of
    their actions."""
    place, found = find_place(lock.at), []
    for node in tree.nodes.node.tolist():
        state = tree.states[node]
        if place is None:
            here = state.history == lock.at
        else:
            faced = state.bets if max(state.paid) > state.paid[state.player()] else 0
            here = place.has(state.round, state.player(), faced)
        if here:
            found.append(node)
    if not found:
        raise unknown("place", lock.at, [*STREETS, "dealer river", "bb flop facing bet", "rc/cr"])
    groups = {node: lock.groups(tree.actions[node], SAME) for node in found}
    legal = {node: group for node, group in groups.items() if group.max() >= 0}
    if not legal:
        listed = ", ".join(tree.actions[found[0]])
        raise BadParameter(
            f"{next(iter(lock.play))} is not legal at {lock.at!r}; there one may {listed}"
        )
    return legal


def _bucket_weights(strategy: Strategy, nodes: list[int]) -> dict[int, np.ndarray]:
    """float64[buckets] by node: how often the acting player holds each bucket there."""
    tree, table = strategy.game.rules.tree, strategy_table(strategy)
    counts = strategy.game.rules.abstraction.counts
    parent, taken = _parents(tree)
    rng = np.random.default_rng(SEED)
    weights = {node: np.zeros(counts[int(tree.nodes.street[node])]) for node in nodes}
    for _ in range(SAMPLED_BOARDS):
        board = tuple(rng.choice(N_CARDS, size=BOARD_SIZE[-1], replace=False).tolist())
        free = canonical_board(board).free
        codes = [bucket_codes(table, board, street)[free] for street in range(len(STREETS))]
        reached: dict[tuple[int, int], np.ndarray] = {}
        for node in nodes:
            street = int(tree.nodes.street[node])
            share = _reach(tree, table, codes, parent, taken, reached, node)
            weights[node] += np.bincount(codes[street], share, minlength=len(weights[node]))
    return {
        node: w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w))
        for node, w in weights.items()
    }


def _parents(tree: BettingTree) -> tuple[np.ndarray, np.ndarray]:
    """int64[n]: the node before each node, and the number of the action between them."""
    parent, taken = (np.full(len(tree.states), -1, dtype=np.int64) for _ in range(2))
    for node, moves in enumerate(tree.moves):
        for name, child in moves.items():
            parent[child], taken[child] = node, ACTIONS.index(name)
    return parent, taken


def _reach(
    tree: BettingTree, table: Table, codes: list[np.ndarray], parent: np.ndarray,
    taken: np.ndarray, reached: dict[tuple[int, int], np.ndarray], node: int,
) -> np.ndarray:  # fmt: skip
    """The probability of the own actions of the player who acts at `node`, by holding."""
    player, path = int(tree.nodes.player[node]), [node]
    while (path[-1], player) not in reached and parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    share = reached.setdefault((path[-1], player), np.ones(len(codes[0])))
    for child in reversed(path[:-1]):
        at = int(parent[child])
        if tree.nodes.player[at] == player:
            rows = row_of(table.first_row, at, codes[int(tree.nodes.street[at])])
            share = share * table.policy[rows, taken[child]]
        reached[child, player] = share
    return share
