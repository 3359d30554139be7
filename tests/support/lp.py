"""The value of a two-player zero-sum game by linear programming over the sequence form (Koller,
Megiddo and von Stengel 1996).

Independent of every solver of the package: it reads only `game.sequence_form` and hands the program
to HiGHS.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack

from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import Side


def constraints(side: Side) -> csr_matrix:
    """One row per information set and one for the root: weights below an information set add up
    to the weight above it."""
    rows, columns, values = [0], [0], [1.0]
    for i, parent in enumerate(side.parent):
        slots = range(side.first[i], side.first[i + 1])
        rows += [i + 1] * (len(slots) + 1)
        columns += [int(parent), *(slot + 1 for slot in slots)]
        values += [-1.0, *[1.0] * len(slots)]
    return csr_matrix((values, (rows, columns)), shape=(len(side.parent) + 1, side.n_sequences))


def payoff_matrix(game: Game) -> csr_matrix:
    """Player 1's payoffs over (his sequence, the other's sequence)."""
    one, two = game.sequence_form
    return csr_matrix((one.value, one.column, one.row), shape=(one.n_sequences, two.n_sequences))


def lp_value(game: Game) -> float:
    """What player 1 gets under optimal play: maximise q_0 subject to F'q <= A'x, Ex = e, x >= 0."""
    one, two = game.sequence_form
    mine, others = constraints(one), constraints(two)
    n, m = one.n_sequences, others.shape[0]
    goal = np.zeros(n + m)
    goal[n] = -1.0
    plan = np.zeros(mine.shape[0])
    plan[0] = 1.0
    result = linprog(
        goal,
        A_ub=hstack([-payoff_matrix(game).T, others.T], format="csr"),
        b_ub=np.zeros(two.n_sequences),
        A_eq=hstack([mine, csr_matrix((mine.shape[0], m))], format="csr"),
        b_eq=plan,
        bounds=[(0, None)] * n + [(None, None)] * m,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.success, result.message
    return -float(result.fun)
