"""Restricted Nash responses in an abstraction, against an adversary without it, as linear programs.

The responder's variables are the sequences of its abstraction, which must have perfect recall; the
adversary's are those of the game. Reads only `game.sequence_form` and the abstraction's infosets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from support.lp import constraints
from support.response_lp import payoffs_of, plan_by_hand, solved, start


class AbstractPlans(NamedTuple):
    """The plans of one player in an abstraction; m of its infosets, n of its sequences."""

    real: csr_matrix  # [real sequences, n]: the real plan of an abstract one
    equal: csr_matrix  # [m + 1, n]: constraints of a plan
    number: dict[tuple[object, int], int]  # of the sequence of an abstract infoset and action


def abstract_plans(game: Game, player: int, infosets: Sequence[object]) -> AbstractPlans:
    """`infosets`: what the player distinguishes at each of its information sets in the game."""
    side = game.sequence_form[player]
    of = np.zeros(side.n_sequences, dtype=np.int64)  # the abstract sequence of each real one
    number: dict[tuple[object, int], int] = {}
    parent: dict[object, int] = {}
    for i, infoset in enumerate(infosets):
        above = int(of[side.parent[i]])
        assert parent.setdefault(infoset, above) == above, "no perfect recall"
        for a, slot in enumerate(range(side.first[i], side.first[i + 1])):
            of[slot + 1] = number.setdefault((infoset, a), len(number) + 1)
    n = len(number) + 1
    real = csr_matrix((np.ones(len(of)), (np.arange(len(of)), of)), shape=(len(of), n))
    row = {infoset: k for k, infoset in enumerate(parent, 1)}
    entries = [(0, 0, 1.0), *((row[infoset], above, -1.0) for infoset, above in parent.items())]
    entries += [(row[infoset], s, 1.0) for (infoset, _), s in number.items()]
    rows, columns, values = zip(*entries, strict=True)
    return AbstractPlans(real, csr_matrix((values, (rows, columns)), (len(row) + 1, n)), number)


def best_objective(
    game: Game, player: int, plans: AbstractPlans, model: Strategy, p: float
) -> tuple[float, np.ndarray]:
    """The most that p · (payoff against the model) + (1 - p) · (worst case) can be in the
    abstraction, and a plan that attains it: maximise p x'M'A y_fix + (1 - p) q_0 with E x = e,
    F'q <= A'M x."""
    payoff = plans.real.T @ payoffs_of(game, player)
    others = constraints(game.sequence_form[1 - player])
    fixed = model.probabilities[game.slots(1 - player)]
    goal = np.zeros(payoff.shape[0] + others.shape[0])
    goal[: payoff.shape[0]] = -p * (payoff @ plan_by_hand(game.sequence_form[1 - player], fixed))
    goal[payoff.shape[0]] = -(1.0 - p)
    n_q = others.shape[0]
    value, x = solved(
        goal,
        A_ub=hstack([-payoff.T, others.T], format="csr"),
        b_ub=np.zeros(others.shape[1]),
        A_eq=hstack([plans.equal, csr_matrix((plans.equal.shape[0], n_q))], format="csr"),
        b_eq=start(plans.equal.shape[0]),
        bounds=[(0, None)] * payoff.shape[0] + [(None, None)] * n_q,
    )
    return -value, x[: payoff.shape[0]]
