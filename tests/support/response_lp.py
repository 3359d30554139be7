"""Restricted games as linear programs written from the restricted player's side (Johanson et al.
2008, Johanson & Bowling 2009).

The package solves for the responder. Here the restricted player's plan y is a variable with lower
bounds that say what the model forces on him, and the program minimises what the responder's best
reply earns. Also: the most that can be won from a model at a given risk, straight from its
definition. Both read only `game.sequence_form`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, vstack

from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import Side
from counterplay.core.forms.strategy import Strategy
from support.lp import constraints

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def payoffs_of(game: Game, player: int) -> csr_matrix:
    """The player's payoffs over (his sequence, the other's sequence)."""
    side, other = game.sequence_form[player], game.sequence_form[1 - player]
    return csr_matrix(
        (side.value, side.column, side.row), shape=(side.n_sequences, other.n_sequences)
    )


def start(rows: int) -> np.ndarray:
    """Right side of the plan constraints: the empty sequence has weight one."""
    vector = np.zeros(rows)
    vector[0] = 1.0
    return vector


def solved(goal: np.ndarray, **program: Any) -> tuple[float, np.ndarray]:
    result = linprog(goal, method="highs", options=TIGHT, **program)
    assert result.success, result.message
    return float(result.fun), result.x


def plan_by_hand(side: Side, behaviour: np.ndarray) -> np.ndarray:
    """Realisation weights: products of behaviour along each sequence."""
    plan = np.ones(side.n_sequences)
    for i, parent in enumerate(side.parent):
        for slot in range(side.first[i], side.first[i + 1]):
            plan[slot + 1] = plan[parent] * behaviour[slot]
    return plan


def _value(game: Game, responder: int, lowest: np.ndarray, local: csr_matrix | None) -> float:
    """min over y of the responder's best reply: minimise q_0 subject to E'q >= A y, F y = f, y
    >= lowest, local y <= 0."""
    payoff = payoffs_of(game, responder)
    mine, others = (
        constraints(game.sequence_form[responder]),
        constraints(game.sequence_form[1 - responder]),
    )
    n_q, n_y = mine.shape[0], others.shape[1]
    goal = np.zeros(n_q + n_y)
    goal[0] = 1.0
    upper = [hstack([-mine.T, payoff])]
    if local is not None:
        upper.append(hstack([csr_matrix((local.shape[0], n_q)), local]))
    a_ub = vstack(upper, format="csr")
    return solved(
        goal,
        A_ub=a_ub,
        b_ub=np.zeros(a_ub.shape[0]),
        A_eq=hstack([csr_matrix((others.shape[0], n_q)), others], format="csr"),
        b_eq=start(others.shape[0]),
        bounds=[(None, None)] * n_q + [(low, None) for low in lowest],
    )[0]


def rnr_value(game: Game, model: Strategy, responder: int, p: float) -> float:
    """y >= p y_fix: the plans of mixtures of the model, with probability p, and anything."""
    restricted = 1 - responder
    plan = plan_by_hand(game.sequence_form[restricted], model.probabilities[game.slots(restricted)])
    return _value(game, responder, p * plan, None)


def dbr_value(game: Game, model: Strategy, responder: int, confidence: np.ndarray) -> float:
    """y(Ia) >= Pconf(I) σ_fix(I, a) y(parent of I). `confidence`: one number per information set
    of the game."""
    restricted = 1 - responder
    side = game.sequence_form[restricted]
    fixed = model.probabilities[game.slots(restricted)]
    own = confidence[game.tree.owner == restricted]
    rows, columns, values = [], [], []
    for i, parent in enumerate(side.parent):
        for slot in range(side.first[i], side.first[i + 1]):
            rows += [slot, slot]
            columns += [int(parent), slot + 1]
            values += [own[i] * fixed[slot], -1.0]
    local = csr_matrix((values, (rows, columns)), shape=(side.n_sequences - 1, side.n_sequences))
    return _value(game, responder, np.zeros(side.n_sequences), local)


def most_within(game: Game, model: Strategy, responder: int, least: float) -> float:
    """The most that a strategy can win from the model if nobody can hold it below `least`.

    maximise x'A y_fix over plans x with E x = e, x >= 0, F'q <= A'x, q_0 >= least.
    """
    payoff = payoffs_of(game, responder)
    mine, others = (
        constraints(game.sequence_form[responder]),
        constraints(game.sequence_form[1 - responder]),
    )
    plan = plan_by_hand(
        game.sequence_form[1 - responder], model.probabilities[game.slots(1 - responder)]
    )
    n_x, n_q = mine.shape[1], others.shape[0]
    return -solved(
        np.concatenate([-(payoff @ plan), np.zeros(n_q)]),
        A_ub=hstack([-payoff.T, others.T], format="csr"),
        b_ub=np.zeros(others.shape[1]),
        A_eq=hstack([mine, csr_matrix((mine.shape[0], n_q))], format="csr"),
        b_eq=start(mine.shape[0]),
        bounds=[(0, None)] * n_x + [(least, None)] + [(None, None)] * (n_q - 1),
    )[0]
