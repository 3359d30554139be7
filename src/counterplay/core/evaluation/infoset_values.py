"""Counterfactual values and regrets of every information set under one strategy profile.

`action_value[slot]` is Σ_h π_-i(h) v_i(ha) / Σ_h π_-i(h) over the histories h of the information
set: the counterfactual value of an action over the counterfactual reach Σ_h π_-i(h) of the set. The
regret of an information set is the largest action value minus their mean under the strategy. The
tree is traversed level by level with NumPy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.tree import CHANCE, HistoryTree, level_bounds


class InfosetValues(NamedTuple):
    """Values for the player who acts; NaN where the counterfactual reach is 0."""

    action_value: np.ndarray  # float64[slots]
    value: np.ndarray  # float64[information sets]
    regret: np.ndarray  # float64[information sets]
    reach: np.ndarray  # float64[information sets]: probability under the profile, all players


class _Edges(NamedTuple):
    """The edge that leads to each node; at the root slot -1 and probability 1."""

    parent: np.ndarray  # int64[n]
    slot: np.ndarray  # int64[n]: of the action; -1 after chance
    probability: np.ndarray  # float64[n]


def infoset_values(game: Game, policy: np.ndarray) -> InfosetValues:
    """Returns action values, values, regrets and reach probabilities under `policy`,
    float64[slots]."""
    tree = game.tree
    edges, bounds = _edges(tree, policy), level_bounds(tree)
    q, reach = np.zeros(tree.n_slots), np.zeros(tree.n_infosets)
    counterfactual_reach = np.zeros(tree.n_infosets)
    for player in range(tree.n_players):
        value = _node_values(tree, player, edges, bounds)
        reach_others = np.ones(tree.n_nodes)
        reach_all = np.ones(tree.n_nodes)
        own = tree.player[edges.parent] == player
        for low, high in pairwise(bounds[1:]):
            above, probability = edges.parent[low:high], edges.probability[low:high]
            factor = np.where(own[low:high], 1.0, probability)
            reach_others[low:high] = reach_others[above] * factor
            reach_all[low:high] = reach_all[above] * probability
        below = np.flatnonzero(own & (edges.slot >= 0))
        np.add.at(q, edges.slot[below], reach_others[edges.parent[below]] * value[below])
        here = np.flatnonzero(tree.player == player)
        np.add.at(counterfactual_reach, tree.row[here], reach_others[here])
        np.add.at(reach, tree.row[here], reach_all[here])
    weights = np.repeat(counterfactual_reach, np.diff(tree.first))
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(weights > 0, q / weights, np.nan)
    mean = np.add.reduceat(np.nan_to_num(q) * policy, tree.first[:-1])
    best = np.maximum.reduceat(np.where(np.isnan(q), -np.inf, q), tree.first[:-1])
    reached = counterfactual_reach > 0
    regret = np.where(reached, np.maximum(best - mean, 0.0), np.nan)
    return InfosetValues(q, np.where(reached, mean, np.nan), regret, reach)


def _edges(tree: HistoryTree, policy: np.ndarray) -> _Edges:
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    parent[1:] = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_child))
    action = np.arange(tree.n_nodes) - tree.first_child[parent]
    row, chance = tree.row[parent], tree.player[parent] == CHANCE
    slot = np.where(chance, -1, tree.first[np.where(chance, 0, row)] + action)
    slot[0] = -1
    probability = policy[np.maximum(slot, 0)]
    if chance.any():
        entry = tree.chance_first[row[chance]] + action[chance]
        probability[chance] = tree.chance_probability[entry]
    probability[0] = 1.0
    return _Edges(parent, slot, probability)


def _node_values(tree: HistoryTree, player: int, edges: _Edges, bounds: list[int]) -> np.ndarray:
    """float64[n]: expected payoff of `player` from each node on."""
    value = np.zeros(tree.n_nodes)
    terminal = np.diff(tree.first_child) == 0
    value[terminal] = tree.payoff[tree.row[terminal], player]
    for low, high in list(pairwise(bounds[1:]))[::-1]:
        parent = edges.parent[low:high]
        np.add.at(value, parent, edges.probability[low:high] * value[low:high])
    return value
