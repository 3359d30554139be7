"""Counterfactual values and regrets of information sets, compared with a naive twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.evaluation.exact import infoset_values
from counterplay.core.forms.registry import load
from counterplay.core.forms.rules import CHANCE


def _naive(game: Any, policy: np.ndarray) -> tuple[dict[int, float], dict[int, float]]:
    """Σ π_-i v_i(ha) by slot, and Σ π_-i by information set; recursive."""
    tree = game.tree
    top: dict[int, float] = {}
    weight: dict[int, float] = {}

    def value(node: int, player: int) -> float:
        first, n = int(tree.first_child[node]), int(np.diff(tree.first_child)[node])
        if n == 0:
            return float(tree.payoff[tree.row[node], player])
        return sum(share(node, k) * value(first + k, player) for k in range(n))

    def share(node: int, k: int) -> float:
        row = int(tree.row[node])
        if tree.player[node] == CHANCE:
            return float(tree.chance_probability[tree.chance_first[row] + k])
        return float(policy[tree.first[row] + k])

    def walk(node: int, reach: tuple[float, ...]) -> None:
        first, n = int(tree.first_child[node]), int(np.diff(tree.first_child)[node])
        actor, row = int(tree.player[node]), int(tree.row[node])
        for k in range(n):
            if actor >= 0:
                slot = int(tree.first[row]) + k
                top[slot] = top.get(slot, 0.0) + reach[actor] * value(first + k, actor)
            more = [r * (1.0 if who == actor else share(node, k)) for who, r in enumerate(reach)]
            walk(first + k, tuple(more))
        if n and actor >= 0:
            weight[row] = weight.get(row, 0.0) + reach[actor]

    walk(0, (1.0, 1.0))
    return top, weight


@pytest.mark.parametrize("name", ["kuhn", "goofspiel(2)", "bluff(1,1,2)"])
def test_values_and_regrets_are_those_of_a_naive_twin(name: str) -> None:
    game = load(name)
    policy = cp.Strategy.random(game, 5).probabilities
    found, (top, weight) = infoset_values(game, policy), _naive(game, policy)
    for i in range(game.n_infosets):
        low, high = int(game.tree.first[i]), int(game.tree.first[i + 1])
        q = [top[slot] / weight[i] for slot in range(low, high)]
        assert found.action_value[low:high] == pytest.approx(q, abs=1e-12)
        mean = float(np.dot(q, policy[low:high]))
        assert found.value[i] == pytest.approx(mean, abs=1e-12)
        assert found.regret[i] == pytest.approx(max(q) - mean, abs=1e-12)


def test_an_equilibrium_has_no_regret_and_its_value_at_the_root() -> None:
    game = load("kuhn")
    run = cp.solve(game, "lp")
    found = infoset_values(game, run.strategy.probabilities)
    reached = found.reach > 1e-9
    assert np.nanmax(found.regret[reached]) < 1e-6
    first = [i for i, name in enumerate(game.infoset_names) if name in "JQK"]
    assert np.mean(found.value[first]) == pytest.approx(-1 / 18, abs=1e-6)
