"""Solving a model with the project's regret minimisers: their update, with the model's dense product in place of a sparse one.

Discounted CFR (Brown & Sandholm 2019) as in `solvers/cfr.py`, the quickest of the family here. The original solved a linear
program; an equilibrium need not be unique, so even with the original's buckets the strategies could differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.base.progress import TellShare, untold
from counterplay.forms.sequence import Side, Treeplex, best_reply, plan_from_policy
from counterplay.kernels.policy import normalise
from counterplay.opponents.bots.sparbot.model import ThreeRounds, payoffs
from counterplay.solvers.cfr import Half, Variant, update_half

TARGET = 2e-4  # exploitability b_1 + b_2 over the pot at the start of the model
MOST_ITERATIONS = 3_000
MEASURE_EVERY = 25
VARIANT = Variant(alpha=1.5, beta=0.0, gamma=2.0, predictive=False, alternating=True)


class Solved(NamedTuple):
    policy: tuple[np.ndarray, np.ndarray]  # float64[slots] per player
    exploitability: float  # b_1 + b_2 in small bets
    iterations: int


def solve(
    model: ThreeRounds,
    target: float = TARGET,
    most: int = MOST_ITERATIONS,
    tell: TellShare = untold,
) -> Solved:
    """Iterate until the exploitability is at most `target` of the pot."""
    pot = starting_pot(model)
    sides = tuple(_bare_side(plex) for plex in model.plex)
    halves = tuple(_new_half(plex) for plex in model.plex)
    t, epsilon = 0, np.inf
    policy = (halves[0].policy, halves[1].policy)
    while epsilon > target * pot and t < most:
        t += 1
        for player in (0, 1):
            payoffs(model, player, halves[1 - player].plan, halves[player].payoff)
            update_half(sides[player], halves[player], VARIANT, t)
        if t % MEASURE_EVERY == 0 or t == most:
            policy = (_average(model.plex[0], halves[0]), _average(model.plex[1], halves[1]))
            epsilon = exploitability(model, policy)
            tell(min(1.0, target * pot / epsilon))
    return Solved(policy, epsilon, t)


def starting_pot(model: ThreeRounds) -> float:
    """What lies in the pot when the model begins, in small bets; before the flop: once the small blind is completed."""
    return 2.0 * max(model.start.paid)


def exploitability(model: ThreeRounds, policy: tuple[np.ndarray, np.ndarray]) -> float:
    """b_1 + b_2 in the model, in small bets."""
    total = 0.0
    for player, plex in enumerate(model.plex):
        other = 1 - player
        plan = np.empty(len(policy[other]) + 1)
        plan_from_policy(model.plex[other], policy[other], plan)
        payoff = np.empty(len(policy[player]) + 1)
        payoffs(model, player, plan, payoff)
        total += best_reply(plex, payoff, np.empty(len(policy[player])))
    return total


def _average(plex: Treeplex, half: Half) -> np.ndarray:
    """The average strategy; the last one where the player never comes by his own choice."""
    out = np.empty(len(half.policy))
    normalise(half.strategy_sum, plex.first, out)
    counts = np.diff(plex.first)
    never = np.repeat(np.add.reduceat(half.strategy_sum, plex.first[:-1]) <= 0.0, counts)
    return np.where(never, half.policy, out)


def _bare_side(plex: Treeplex) -> Side:
    """A side without payoffs: the model multiplies by itself."""
    n = int(plex.first[-1])
    return Side(
        plex.parent,
        plex.first,
        np.zeros(n + 2, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        np.empty(0),
    )


def _new_half(plex: Treeplex) -> Half:
    n = int(plex.first[-1])
    counts = np.diff(plex.first)
    half = Half(
        np.zeros(n),
        np.zeros(n),
        np.repeat(1.0 / counts, counts),
        np.empty(n + 1),
        np.zeros(0),
        np.empty(n + 1),
    )
    plan_from_policy(plex, half.policy, half.plan)
    return half
