"""Restricted games as linear programs written from the restricted player's side (Johanson et al.
2008, Johanson & Bowling 2009).

The package solves for the responder. Here the restricted player's plan y is a variable with lower
bounds that say what the model forces on him, and the program minimises what the responder's best
reply earns. Also: the most that can be won from a model at a given risk, straight from its
definition. Both read only `game.sequence_form`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, vstack

from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import Side
from counterplay.core.forms.strategy import Strategy
from support.lp import constraints

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class AbstractPlans(NamedTuple):
    """The plans of a player who has an abstraction: m information sets and n sequences there."""

    real: csr_matrix  # [sequences, n]: the plan in the game of an abstract one
    equal: csr_matrix  # [m + 1, n]: constraints of a plan
    number: dict[tuple[object, int], int]  # the sequence of an abstract infoset and an action


def abstract_plans(game: Game, player: int, infosets: Sequence[object]) -> AbstractPlans:
    """`infosets`: what the player distinguishes at each of its information sets in the game; with
    perfect recall."""
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
    game: Game, model: Strategy, responder: int, p: float, plans: AbstractPlans
) -> tuple[float, np.ndarray]:
    """The most that p · (payoff against the model) + (1 - p) · (worst case) can be in an
    abstraction, and a plan that attains it: maximise p x'A y_fix + (1 - p) q_0 subject to E x = e,
    x >= 0, F'q <= A'x."""
    payoff = plans.real.T @ payoffs_of(game, responder)
    others = constraints(game.sequence_form[1 - responder])
    fixed = model.probabilities[game.slots(1 - responder)]
    n_x, n_q = payoff.shape[0], others.shape[0]
    goal = np.zeros(n_x + n_q)
    goal[:n_x] = -p * (payoff @ plan_by_hand(game.sequence_form[1 - responder], fixed))
    goal[n_x] = p - 1.0
    value, x = solved(
        goal,
        A_ub=hstack([-payoff.T, others.T], format="csr"),
        b_ub=np.zeros(others.shape[1]),
        A_eq=hstack([plans.equal, csr_matrix((plans.equal.shape[0], n_q))], format="csr"),
        b_eq=start(plans.equal.shape[0]),
        bounds=[(0, None)] * n_x + [(None, None)] * n_q,
    )
    return -value, x[:n_x]


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


def _value(
    game: Game, responder: int, lowest: np.ndarray, local: csr_matrix | None,
    plans: AbstractPlans | None = None,
) -> float:  # fmt: skip
    """min over y of the responder's best reply, of all or of those in an abstraction: minimise q_0
    subject to E'q >= A y, F y = f, y >= lowest, local y <= 0."""
    payoff = payoffs_of(game, responder)
    mine, others = (
        constraints(game.sequence_form[responder]),
        constraints(game.sequence_form[1 - responder]),
    )
    if plans is not None:
        payoff, mine = plans.real.T @ payoff, plans.equal
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


def dbr_value(
    game: Game, model: Strategy, responder: int, confidence: np.ndarray,
    plans: AbstractPlans | None = None,
) -> float:  # fmt: skip
    """y(Ia) >= Pconf(I) σ_fix(I, a) y(parent of I). `confidence`: one number per information set
    of the game. `plans`: those of the responder, who has an abstraction."""
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
    return _value(game, responder, np.zeros(side.n_sequences), local, plans)


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
