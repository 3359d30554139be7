"""Solving a model: discounted CFR (`core/solvers/cfr.py`) on its form, the quickest of the family
here.

The original solved a linear program; an equilibrium need not be unique, so even with the original's
buckets the strategies could differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.evaluation.exact import form_exploitability
from counterplay.core.solvers.cfr import RegretMinimiser
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.bots.sparbot.model import ThreeRounds

TARGET = 2e-4  # exploitability b_1 + b_2 over the pot at the start of the model
MOST_ITERATIONS = 3_000
MEASURE_EVERY = 25


class Solved(NamedTuple):
    policy: np.ndarray  # float64[slots of both players], player 1's first
    exploitability: float  # b_1 + b_2 in small bets
    iterations: int


def solve(
    model: ThreeRounds,
    target: float = TARGET,
    most: int = MOST_ITERATIONS,
    progress: ShareCallback = no_progress,
) -> Solved:
    """Iterate until the exploitability is at most `target` of the pot."""
    pot = starting_pot(model)
    regrets = RegretMinimiser(model.form, DISCOUNTED)
    t, epsilon, policy = 0, np.inf, regrets.average()
    while epsilon > target * pot and t < most:
        n = min(MEASURE_EVERY, most - t)
        regrets.run(t, n)
        t += n
        policy = regrets.average()
        epsilon = form_exploitability(model.form, policy)
        progress(min(1.0, target * pot / epsilon))
    return Solved(policy, epsilon, t)


def starting_pot(model: ThreeRounds) -> float:
    """What lies in the pot when the model begins, in small bets; before the flop: once the small
    blind is completed."""
    return 2.0 * max(model.start.paid)
