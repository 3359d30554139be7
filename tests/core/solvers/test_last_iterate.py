"""The last iterate and the regrets of a run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import counterplay as cp

CFR_FAMILY = ["cfr", "cfr+", "dcfr", "pcfr+", "mccfr", "mccfr-external", "mccfr-chance"]


@pytest.mark.parametrize("solver", CFR_FAMILY)
def test_current_strategy_is_regret_matching(solver: str) -> None:
    run = cp.solve("kuhn", solver, iterations=40, seed=1)
    regrets, first = run.regrets, run.game.form.first
    assert regrets.shape == run.strategy.probabilities.shape
    current = run.current_strategy.probabilities
    if solver != "pcfr+":  # whose policy matches predicted regrets
        for low, high in pairwise(first):
            positive = np.maximum(regrets[low:high], 0.0)
            share = positive / positive.sum() if positive.any() else 1.0 / (high - low)
            np.testing.assert_allclose(current[low:high], share, atol=1e-12)
    assert not np.array_equal(current, run.strategy.probabilities)


@pytest.mark.parametrize("options", [{}, {"threads": 2}])
def test_without_a_tree(options: dict[str, Any]) -> None:
    tree, without = cp.load("goofspiel(4)"), cp.load("goofspiel(4,tree=False)")
    run = cp.solve(without, "mccfr-external", iterations=60, seed=1, **options)
    assert run.regrets.shape == run.strategy.probabilities.shape
    assert np.array_equal(run.current_strategy.keys, run.strategy.keys)
    if not options:
        same = cp.solve(tree, "mccfr-external", iterations=60, seed=1)
        assert np.array_equal(
            run.current_strategy.on(tree).probabilities, same.current_strategy.probabilities
        )


@pytest.mark.parametrize("solver", ["mcts", "lp", "egt"])
def test_others_have_no_regrets(solver: str) -> None:
    run = cp.solve("kuhn", solver, iterations=20)
    for name in ("regrets", "current_strategy"):
        with pytest.raises(cp.CounterplayError, match=f"{solver} has no regrets"):
            getattr(run, name)
