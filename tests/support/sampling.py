"""Policies and histories for the proofs by enumeration that sampling is unbiased."""

from __future__ import annotations

from math import prod

import numpy as np
from reference.common import Node, Policy, from_slots, regret_matching
from reference.evaluation import share

from counterplay.core.forms.game import Game
from counterplay.core.solvers.history import HistoryWorkspace, new_workspace

EPSILON = 0.6
HAND = np.empty(0, dtype=np.int32)


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


def kernel_path(
    game: Game, policy: Policy, steps: tuple[tuple[Node, int], ...]
) -> tuple[HistoryWorkspace, int, int, float]:
    """Returns the history as the kernel's workspace, by definition: it, the terminal node,
    decisions,
    π^σ'(z) without chance."""
    path, sampling = new_workspace(game.depth, game.max_actions, game.n_players), explored(policy)
    infoset_of = {
        (int(game.tree.owner[i]), label): i for i, label in enumerate(game.labels.infoset)
    }
    end, before = 0, []
    for node, child in steps:
        end = int(game.tree.first_child[end]) + child
        if node.player < 0 or node.count == 1:  # chance, or forced
            continue
        k, infoset = len(before), infoset_of[node.key]
        path.infoset[k], path.player[k], path.action[k] = infoset, node.player, child
        path.slot[k], path.actions[k] = game.tree.first[infoset], node.count
        path.policy[k * game.max_actions : k * game.max_actions + node.count] = policy[node.key]
        path.own[k] = prod(share(policy, step) for step in before if step[0].player == node.player)
        path.others[k] = prod(
            share(policy, step) for step in before if step[0].player != node.player
        )
        path.drawn[k] = prod(share(sampling, step) for step in before)
        before.append((node, child))
    return path, end, len(before), prod(share(sampling, step) for step in before)
