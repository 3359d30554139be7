"""Values of nodes and of information sets under a strategy, level by level with NumPy.

`q[slot]` is what the player of an information set gets by an action there when everybody plays the
strategy afterwards, given that the set was reached: Σ_h π_-i(h) v_i(ha) / Σ_h π_-i(h). Its regret
is the best q of the set minus their mean under the strategy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.tree import CHANCE, HistoryTree, level_bounds


class Edges(NamedTuple):
    """For every node but the root: its parent, and the place of its action."""

    parent: np.ndarray  # int64[n]
    slot: np.ndarray  # int64[n]: of the action that leads here; -1 after chance
    share: np.ndarray  # float64[n]: its probability


def edges_of(tree: HistoryTree, policy: np.ndarray) -> Edges:
    counts = np.diff(tree.first_child)
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    parent[1:] = np.repeat(np.arange(tree.n_nodes), counts)
    place = np.arange(tree.n_nodes) - tree.first_child[parent]
    row, chance = tree.row[parent], tree.player[parent] == CHANCE
    slot = np.where(chance, -1, tree.first[np.where(chance, 0, row)] + place)
    slot[0] = -1
    entry = tree.chance_first[np.where(chance, row, 0)] + place if chance.any() else place
    share = np.where(
        chance,
        tree.chance_probability[np.where(chance, entry, 0)] if chance.any() else 1.0,
        policy[np.maximum(slot, 0)],
    )
    share[0] = 1.0
    return Edges(parent, slot, share)


def node_values(
    tree: HistoryTree, policy: np.ndarray, player: int, edges: Edges | None = None
) -> np.ndarray:
    """float64[n]: what `player` gets from each node on when all play `policy`."""
    edges = edges or edges_of(tree, policy)
    value = np.zeros(tree.n_nodes)
    ends = np.diff(tree.first_child) == 0
    value[ends] = tree.payoff[tree.row[ends], player]
    bounds = level_bounds(tree)
    for low, high in list(pairwise(bounds[1:]))[::-1]:
        np.add.at(value, edges.parent[low:high], edges.share[low:high] * value[low:high])
    return value


class SetValues(NamedTuple):
    """Of every information set."""

    q: np.ndarray  # float64[slots]: NaN where the others never let it be reached
    value: np.ndarray  # float64[information sets]
    regret: np.ndarray  # float64[information sets]
    reach: np.ndarray  # float64[information sets]: how often it is reached when all play the policy


def set_values(game: Any, policy: np.ndarray) -> SetValues:
    """What each action is worth, and what each information set misses."""
    tree = game.tree
    edges, bounds = edges_of(tree, policy), level_bounds(tree)
    q, weight = np.zeros(tree.n_slots), np.zeros(tree.n_infosets)
    reach = np.zeros(tree.n_infosets)
    for player in range(tree.n_players):
        value = node_values(tree, policy, player, edges)
        others = np.ones(tree.n_nodes)
        whole = np.ones(tree.n_nodes)
        own = tree.player[edges.parent] == player
        for low, high in pairwise(bounds[1:]):
            above = edges.parent[low:high]
            share = edges.share[low:high]
            others[low:high] = others[above] * np.where(own[low:high], 1.0, share)
            whole[low:high] = whole[above] * share
        below = np.flatnonzero(own & (edges.slot >= 0))
        np.add.at(q, edges.slot[below], others[edges.parent[below]] * value[below])
        here = np.flatnonzero(tree.player == player)
        np.add.at(weight, tree.row[here], others[here])
        np.add.at(reach, tree.row[here], whole[here])
    counts = np.diff(tree.first)
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(np.repeat(weight, counts) > 0, q / np.repeat(weight, counts), np.nan)
    mean = np.add.reduceat(np.nan_to_num(q) * policy, tree.first[:-1])
    best = np.maximum.reduceat(np.where(np.isnan(q), -np.inf, q), tree.first[:-1])
    known = weight > 0
    return SetValues(
        q,
        np.where(known, mean, np.nan),
        np.where(known, np.maximum(best - mean, 0.0), np.nan),
        reach,
    )
