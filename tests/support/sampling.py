"""Policies and histories for the proofs by enumeration that sampling is unbiased."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
import pytest
from reference.common import Node, Policy, from_slots, regret_matching
from reference.evaluation import share

from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import index
from counterplay.core.solvers.history import (
    HistoryWorkspace,
    OutcomeTables,
    new_workspace,
    update_history,
)

Step = tuple[Node, int]  # a node, and which child follows
KernelPath = tuple[HistoryWorkspace, int, int, float]
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
    end, before = 0, list[Step]()
    for node, child in steps:
        end = int(game.tree.first_child[end]) + child
        if node.player < 0 or node.count == 1:  # chance, or forced
            continue
        record_decision(path, game, policy, before, (node, child))
    return path, end, len(before), prod(share(sampling, step) for step in before)


def record_decision(
    path: HistoryWorkspace, game: Game, policy: Policy, before: list[Step], step: Step
) -> None:
    """Append a decision to `path` and to the decisions `before` it."""
    (node, child), k = step, len(before)
    keys = [(int(o), label) for o, label in zip(game.tree.owner, game.labels.infoset, strict=True)]
    infoset, sampling = keys.index(node.key), explored(policy)
    path.infoset[k], path.player[k], path.action[k] = infoset, node.player, child
    path.slot[k], path.actions[k] = game.tree.first[infoset], node.count
    path.policy[k * game.max_actions : k * game.max_actions + node.count] = policy[node.key]
    path.own[k] = prod(share(policy, one) for one in before if one[0].player == node.player)
    path.others[k] = prod(share(policy, one) for one in before if one[0].player != node.player)
    path.drawn[k] = prod(share(sampling, one) for one in before)
    before.append(step)


def expected_outcome_update(
    game: Game,
    form: Any,
    hand: np.ndarray,
    regret: np.ndarray,
    policy: Policy,
    paths: Iterable[tuple[tuple[Step, ...], KernelPath]],
    optimistic: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Σ_z q(z) times what the kernel adds to regrets and strategy sums after z, chance in q.
    `paths`: every history, and what `kernel_path` gives for it."""
    expected, total = (np.zeros(game.n_slots), np.zeros(game.n_slots)), 0.0
    for steps, (path, end, n_decisions, drawn) in paths:
        visits = np.zeros(game.n_infosets, dtype=np.int64)
        tables = OutcomeTables(regret.copy(), np.zeros(game.n_slots), visits)
        ends = (index(end), index(n_decisions))
        update_history(form, hand, tables, path, *ends, drawn, 1, optimistic, 1.0)
        q = drawn * prod(share(policy, step) for step in steps if step[0].player < 0)
        total += q
        expected[0][:] += q * (tables.regret - regret)
        expected[1][:] += q * tables.strategy_sum
    assert total == pytest.approx(1.0, abs=1e-12)
    return expected
