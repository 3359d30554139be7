"""The best strategy of an abstraction against a restricted adversary without one, exactly: by
cutting planes (Kelley 1960) from what an iteration of CFR-BR computes.

An iteration at a plan x has the regrets r of the learner against the adversary's best response to
it. The objective is the least of linear functions of the plan, one for each answer of the
adversary; the one of this answer is u(x) + Σ x'(I, a) r(I, a). A linear program finds the best plan
for all answers so far, until that is no more than what one of the plans has. The next plan is half
way between the two, which needs fewer cuts (Ben-Ameur & Neto 2007), unless that cut nothing off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack

from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import BettingTree
from counterplay.poker.vector.cfr_br import VectorCfrBr
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.traversal import Step
from support.response_lp import AbstractPlans, solved, start

Place = tuple[int, tuple[int, ...]]  # a street, and an index in its table


class Best(NamedTuple):
    """The best objective, and a plan that attains it."""

    value: float
    plan: np.ndarray


def table_places(
    tree: BettingTree, streets: tuple[Street, ...], plans: AbstractPlans
) -> list[Place]:
    """Where tables have each sequence after the empty one; the information sets of the plans are
    (history, row)."""
    decisions = {}
    for k, street in enumerate(streets):
        for node in np.flatnonzero(street.player >= 0).tolist():
            for g, lane in np.argwhere(street.public_node[:, node] >= 0).tolist():
                decisions[tree.histories[street.public_node[g, node, lane]]] = k, node, g, lane
    places: list[Place] = [(0, ())] * len(plans.number)
    for (infoset, action), sequence in plans.number.items():
        history, row = infoset  # type: ignore[misc]
        k, node, g, lane = decisions[history]
        at = (int(streets[k].first_child[node]) + action) * LANES + lane
        places[sequence - 1] = k, (0, g, row, at)
    return places


def best_by_cuts(
    solver: VectorCfrBr, seat: int, plans: AbstractPlans, places: Sequence[Place], slack: float
) -> Best:
    """`solver`: with the cut at the first street, so that an iteration visits every board."""
    rows, n = plans.equal.shape
    equal = hstack([plans.equal, csr_matrix((rows, 1))], format="csr")
    plan = _uniform(plans)
    best, cuts, heights, last = Best(-np.inf, plan), [], [], plan
    while True:
        value, regrets = _evaluated(solver, seat, plan, places)
        best = max(best, Best(value, plan), key=lambda one: one.value)
        cuts.append(np.concatenate([[0.0], -regrets, [1.0]]))
        heights.append(value)
        upper, found = solved(
            np.append(np.zeros(n), -1.0), A_ub=csr_matrix(np.array(cuts)), b_ub=np.array(heights),
            A_eq=equal, b_eq=start(rows), bounds=[(0.0, None)] * n + [(None, None)],
        )  # fmt: skip
        if -upper - best.value < slack:
            return best
        same, last = np.allclose(found[:n], last, atol=1e-12), found[:n]
        plan = np.maximum(last if same else 0.5 * (last + best.plan), 0.0)


def _uniform(plans: AbstractPlans) -> np.ndarray:
    """Every action with the same probability; parents come before their children."""
    plan = np.ones(plans.equal.shape[1])
    for row in plans.equal[1:].toarray():
        below = row > 0.0
        plan[below] = plan[row < 0.0][0] / below.sum()
    return plan


def _evaluated(
    solver: VectorCfrBr, seat: int, plan: np.ndarray, places: Sequence[Place]
) -> tuple[float, np.ndarray]:
    """The objective at a plan, and the regrets of its sequences, per hand."""
    for table in solver.tables.regret:
        table[:] = 0.0
    for (k, at), weight in zip(places, plan[1:], strict=True):
        solver.tables.regret[k][at] = weight  # regret matching gives the behaviour of the plan
    solver.iterate(np.random.default_rng(0), Step(1.0, 0.0, False, 0.0))
    learnt = np.array([solver.tables.regret[k][at] for k, at in places])
    value, chance = solver._traversals[seat].mean_value(seat), solver.chance
    # on each street they are sums over its boards, and over pairs of holdings
    deals = [chance.n_pairs * prod(chance.n_deals[1 : k + 1]) for k, _ in places]
    return value, (learnt - plan[1:]) / np.array(deals, dtype=np.float64)
