"""A game whose information sets are discovered while playing, and solvers of it."""

from __future__ import annotations

import numpy as np

from counterplay.core.solvers.base import Solver

GAME = "goofspiel(4,tree=False)"
SOLVERS = ("mccfr", "mccfr-external", "mcts")
#: Iterations by which about half of the information sets are discovered.
MANY = {"mccfr": 400, "mccfr-external": 40, "mcts": 400}


def same(one: Solver, two: Solver) -> None:
    """All state of two solvers is equal."""
    left, right = one.arrays(), two.arrays()
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert np.array_equal(array, right[name]), name
