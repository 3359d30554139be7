"""The probability of each end of a hand, by enumeration."""

from __future__ import annotations

import numpy as np

import counterplay as cp
from counterplay.core.forms.tree import CHANCE
from counterplay.core.responses.terminals import ReachedTerminals


def chances_of_ends(terminals: ReachedTerminals, profile: cp.Strategy) -> np.ndarray:
    """float64[e]: of a profile of both players."""
    tree, policy = profile.game.tree, profile.probabilities
    reach = np.ones(tree.n_nodes)
    for node in range(tree.n_nodes):
        low, high = int(tree.first_child[node]), int(tree.first_child[node + 1])
        row = tree.row[node]
        if tree.player[node] == CHANCE:
            first = tree.chance_first[row]
            shares = tree.chance_probability[first : first + high - low]
        elif high > low:
            shares = policy[tree.first[row] : tree.first[row] + high - low]
        reach[low:high] = reach[node] * (shares if high > low else 1.0)
    return np.asarray(reach[terminals.node])
