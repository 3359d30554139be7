"""CFR and CFR+ against OpenSpiel's, on OpenSpiel's own games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterplay.core.forms.registry import load
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.cfr import CFR, CFRPlus

pyspiel = pytest.importorskip("pyspiel")

ITERATIONS = 30


def average_policy(solver: Any, labels: list[str]) -> list[float]:
    """OpenSpiel's average policy in our order of information sets."""
    for _ in range(ITERATIONS):
        solver.evaluate_and_update_policy()
    policy = solver.tabular_average_policy()
    table = policy.policy_table()
    assert set(table) == set(labels)
    return [p for label in labels for _, p in sorted(table[label])]


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize(("ours", "theirs"), [(CFR, "CFRSolver"), (CFRPlus, "CFRPlusSolver")])
def test_average_policies_agree(name: str, ours: type[Solver], theirs: str) -> None:
    game = load(f"open_spiel:{name}")
    solver = ours(Problem(game), 0, alternating=True)
    solver.step(ITERATIONS)
    expected = average_policy(
        getattr(pyspiel, theirs)(pyspiel.load_game(name)), game.labels.infoset
    )
    np.testing.assert_allclose(solver.policy(), expected, rtol=0, atol=1e-9)
