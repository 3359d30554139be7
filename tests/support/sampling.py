"""Policies to prove sampling unbiased with."""

from __future__ import annotations

import numpy as np
from reference.common import Policy, from_slots, regret_matching

from counterplay.forms.game import Game

EPSILON = 0.6


def arbitrary_regrets(game: Game) -> np.ndarray:
    """Regrets that make σ uneven, with an action never played at every third information set and
    one uniform set."""
    regret = 0.5 + (np.arange(game.n_slots) * 37 % 11) / 3.0
    regret[game.tree.first[0:-1:3]] = -2.0
    regret[game.tree.first[1] : game.tree.first[2]] = -1.0
    return regret


def policy_of(game: Game, regret: np.ndarray) -> Policy:
    policy = {key: regret_matching(values) for key, values in from_slots(game, regret).items()}
    assert any(0.0 in shares for shares in policy.values())
    assert any(len({*shares, 0.0}) > 2 for shares in policy.values())
    return policy


def explored(policy: Policy) -> Policy:
    """σ': ε-greedy, Eq 8."""
    return {
        key: [EPSILON / len(shares) + (1 - EPSILON) * p for p in shares]
        for key, shares in policy.items()
    }
