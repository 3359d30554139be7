"""The decisions of hold'em that a lock names (`core/responses/locks.py`): `river`, `dealer river`,
`big blind flop`, or the betting before one decision, such as `rc/cr`.

At a decision the hands are buckets. How often each comes there is the player's own reach, from a
sample of boards with all holdings on each of them.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, LIMIT, STREETS, BettingTree, row_of
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.holdem.holdings import BOARD_SIZE, bucket_codes, canonical_board
from counterplay.poker.holdem.table import Table, strategy_table

SAMPLED_BOARDS, SEED = 20, 1
SEATS = {"dealer": 0, "button": 0, "sb": 0, "bb": 1}
SAME = {"check": "call", "bet": "raise"}
Decisions = list[tuple[np.ndarray, np.ndarray]]


def lock_decisions(strategy: Strategy, where: str, action: str) -> tuple[str, Decisions]:
    """The decisions where a lock holds, as rows with weights, and the name of its action."""
    rules = strategy.game.rules
    if rules.betting != LIMIT or not rules.abstraction.deck.full:
        raise BadParameter(f"locks are for the usual limit betting, not for {strategy.game.name}")
    action = SAME.get(action, action)
    if action not in ACTIONS:
        raise unknown("action", action, [*ACTIONS, *SAME])
    nodes = _nodes(rules.tree, where, action)
    weights = _bucket_weights(strategy, nodes)
    first = strategy.game.form.first_row
    return action, [(row_of(first, node, np.arange(len(w))), w) for node, w in weights.items()]


def _nodes(tree: BettingTree, where: str, action: str) -> list[int]:
    """The public nodes that `where` names and where the action is legal."""
    words = where.lower().replace("big blind", "bb").split()
    streets = [STREETS.index(word) for word in words if word in STREETS]
    seats = [SEATS[word] for word in words if word in SEATS]
    if len(streets) == 1 and len(seats) <= 1 and len(words) == 1 + len(seats):
        found = [
            node
            for node in tree.nodes.node.tolist()
            if tree.nodes.street[node] == streets[0]
            and (not seats or tree.nodes.player[node] == seats[0])
        ]
    else:
        found = [k for k in tree.nodes.node.tolist() if tree.histories[k] == where]
    if not found:
        raise unknown("place", where, [*STREETS, "dealer river", "rc/cr"])
    legal = [node for node in found if action in tree.actions[node]]
    if not legal:
        listed = ", ".join(tree.actions[found[0]])
        raise BadParameter(f"{action} is not legal at {where!r}; there one may {listed}")
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
