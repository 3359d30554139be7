"""Full-width CFR for more than two players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reference.cfr import CFR
from reference.games import game_and_root

import counterplay as cp
from counterplay.core.forms.sequence import plan_from_policy
from counterplay.core.solvers.algorithms import new_solver

pytestmark = pytest.mark.filterwarnings("ignore:.*convergence to an equilibrium")
VARIANTS = [("cfr", False), ("cfr", True), ("cfr+", True), ("dcfr", True), ("pcfr+", True)]


@pytest.mark.parametrize(("variant", "alternating"), VARIANTS)
def test_cfr_is_its_twin(variant: str, alternating: bool) -> None:
    """Against brute force over the histories of Kuhn poker for three, from a random strategy: from
    the uniform one some regrets are zero but for rounding."""
    game, root = game_and_root("kuhn(players=3)")
    first, begin = game.tree.first, cp.Strategy.random(game, 1).probabilities
    keys = [
        (int(who), label) for who, label in zip(game.tree.owner, game.labels.infoset, strict=True)
    ]
    twin = CFR(root, variant, alternating, players=3)
    twin.sigma = {key: begin[first[i] : first[i + 1]].tolist() for i, key in enumerate(keys)}
    options = {"alternating": alternating} if variant in ("cfr", "cfr+") else {}
    solver = new_solver(game, variant, 0, options)
    for player, plex in enumerate(game.treeplexes, 1):
        tables = solver.tables()
        tables[f"policy{player}"][:] = begin[game.slots(player - 1)]
        plan_from_policy(plex, tables[f"policy{player}"], tables[f"plan{player}"])
    for t in range(1, 8):
        twin.iterate(t)
        solver.step(1)
    expected = np.concatenate([twin.policy()[key] for key in keys])
    np.testing.assert_allclose(solver.policy(), expected, atol=1e-12)


def test_it_converges_and_resumes(tmp_path: Path) -> None:
    game = cp.load("kuhn(players=3)")
    with pytest.warns(UserWarning, match="not guaranteed"):
        run = cp.solve(game, "cfr+", iterations=200, folder=tmp_path / "run")
    assert run.exploitability < 0.002
    again = cp.resume(tmp_path / "run", iterations=300)
    whole = cp.solve(game, "cfr+", iterations=300)
    assert np.array_equal(again.strategy.probabilities, whole.strategy.probabilities)
    with pytest.raises(cp.CounterplayError, match="threads is for two players"):
        cp.solve(game, "cfr+", iterations=1, threads=2)


def test_two_players_by_the_tree_are_two_players() -> None:
    """Both ways to compute a player's payoffs give the same regrets."""
    from counterplay.core.solvers.cfr import RegretMinimiser, TreeRegretMinimiser
    from counterplay.core.solvers.cfr_kernels import DISCOUNTED

    game = cp.load("leduc")
    by_tree = TreeRegretMinimiser(game, DISCOUNTED)
    by_form = RegretMinimiser(game.sequence_form, DISCOUNTED)
    by_tree.run(0, 5)
    by_form.run(0, 5)
    np.testing.assert_allclose(by_tree.average(), by_form.average(), atol=1e-12)
