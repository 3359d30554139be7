"""The sequence-form linear program (Section 3.1; Koller, Megiddo & von Stengel 1996), solved
exactly by HiGHS.

For each player in turn, the plan x maximises the least payoff that the other can enforce,

    maximise  c_0 + Σ_J V_J  over root information sets J of the other, where c = A'x
    V_J <= Q_Ja = c_Ja + Σ V_J' over the children J' of sequence Ja        for every action a of J
    x_0 = 1,  Σ_a x_Ia = x_parent(I),  x >= 0.

If a player's probabilities have lower bounds (`floor`, data-biased responses), its plan has x_Ia >=
floor_Ia x_parent(I); as the other, V_J = Σ_a floor_Ja Q_Ja + (1 - Σ_a floor_Ja) m_J with m_J <=
Q_Ja. The modified game of a restricted Nash response is a sequence form and needs no change.
Deviations: none. One iteration solves the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, CounterplayError, one_of
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import Side
from counterplay.core.solvers.base import Problem, Solver

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
DISTANCE_COST = 1e-5  # of a unit of distance, in units of payoff
MOST_PIVOTS, OUT_OF_PIVOTS = 30_000, 1  # of a program with distances; the status of linprog
METHODS = ("highs", "highs-ds", "highs-ipm")
#: Slots, and payoffs of the sequence form, up to which the program takes about a second at most.
QUICK_SLOTS, QUICK_ENTRIES = 15_000, 200_000


class PlanProgram(NamedTuple):
    """The program of one player. Columns: its plan x, then V and m of the other's infosets."""

    worst: np.ndarray  # float64[columns]: the payoff that the other can enforce
    a_ub: Any  # a_ub @ columns <= 0
    a_eq: Any  # a_eq @ columns = b_eq
    b_eq: np.ndarray
    in_plan: np.ndarray  # bool[columns]: those of the plan, at least 0; the others are free


def is_quick(game: Game) -> bool:
    """Whether the program of a game takes about a second at most."""
    solvable = game.capabilities.full_width and game.n_players == 2 and game.perfect_recall
    return (
        solvable
        and game.n_slots <= QUICK_SLOTS
        and game.zero_sum
        and len(game.sequence_form.one.value) <= QUICK_ENTRIES
    )


def safest_plan(mine: Side, other: Side, method: str = "highs") -> tuple[float, np.ndarray]:
    """Returns the maximin payoff of a player, and a plan that attains it: float64[sequences]."""
    program = _program(mine, other)
    columns, _ = _solve(program, program.worst, method)
    return float(program.worst @ columns), np.maximum(columns[program.in_plan], 0.0)


def best_plan_within(
    mine: Side,
    other: Side,
    against: np.ndarray,
    least: float,
    near: np.ndarray | None = None,
    trust: float = 1.0,
) -> tuple[float, np.ndarray]:
    """Returns the best plan against `against` (float64[sequences]: the payoff of each sequence)
    among those with a worst case of at least `least`: its worst case, and the plan.

    `near`: a plan; of equally good plans, (nearly) the one with the least Σ |x - near|. `trust`:
    what is best counts as in a restricted Nash response, `trust` times the payoff against
    `against` and 1 - `trust` times the worst case.
    """
    program = _program(mine, other)
    objective = (1.0 - trust) * program.worst
    objective[program.in_plan] += trust * against
    columns, _ = _solve(program, objective, "highs", least, near)
    return float(program.worst @ columns), np.maximum(columns[program.in_plan], 0.0)


def best_plans_within(
    sides: Sequence[tuple[Side, Side]], against: Sequence[np.ndarray], least: float
) -> tuple[list[np.ndarray], float]:
    """Returns a plan for each own side of `sides` (own, other): those that win the most `against`
    (as in `best_plan_within`), summed, among those whose worst cases add up to at least `least`.
    And how much more would be won, per unit that `least` is lower."""
    from scipy.sparse import block_diag

    programs = [_program(*pair) for pair in sides]
    joint = PlanProgram(
        np.concatenate([program.worst for program in programs]),
        block_diag([program.a_ub for program in programs], format="csr"),
        block_diag([program.a_eq for program in programs], format="csr"),
        np.concatenate([program.b_eq for program in programs]),
        np.concatenate([program.in_plan for program in programs]),
    )
    objective = np.zeros(len(joint.worst))
    objective[joint.in_plan] = np.concatenate(against)
    columns, price = _solve(joint, objective, "highs", least)
    plans = np.maximum(columns[joint.in_plan], 0.0)
    ends = np.cumsum([len(payoff) for payoff in against])[:-1]
    return np.split(plans, ends), price


def _program(mine: Side, other: Side) -> PlanProgram:
    from scipy.sparse import block_array, coo_array, csr_array, hstack

    n_x, n_own, n_other = mine.n_sequences, len(mine.parent), len(other.parent)
    # c = A'x, one row per sequence of the other
    own_row = np.repeat(np.arange(n_x), np.diff(mine.row))
    payoff = coo_array((mine.value, (mine.column, own_row)), shape=(other.n_sequences, n_x)).tocsr()
    children = coo_array(
        (np.ones(n_other), (other.parent, np.arange(n_other))), shape=(other.n_sequences, n_other)
    ).tocsr()
    owner = _slot_owner(other)  # one row per slot of the other: its information set
    floors = len(other.floor) > 0
    n_m = n_other if floors else 0
    # m_J (or V_J itself without floors) - Q_Ja <= 0; columns x, V, m
    blocks = [-payoff[1:], -children[1:]]
    if floors:
        blocks.append(owner)
    else:
        blocks[1] = blocks[1] + owner
    upper = [blocks]
    if len(mine.floor):  # floor_Ia x_parent(I) - x_Ia <= 0
        bound = csr_array(
            (mine.floor, (np.arange(n_x - 1), np.repeat(mine.parent, np.diff(mine.first)))),
            shape=(n_x - 1, n_x),
        )
        lower = bound - csr_array(
            (np.ones(n_x - 1), (np.arange(n_x - 1), np.arange(1, n_x))), shape=(n_x - 1, n_x)
        )
        upper.append([lower, None] + ([None] if floors else []))
    # the plan is a flow of 1 through the treeplex
    own_sequence = hstack([csr_array((n_own, 1)), _slot_owner(mine).T], format="csr")
    add_up = csr_array((np.ones(n_own), (np.arange(n_own), mine.parent)), shape=(n_own, n_x))
    add_up -= own_sequence
    start = csr_array(([1.0], ([0], [0])), shape=(1, n_x))
    equal = [[start, csr_array((1, n_other))] + ([csr_array((1, n_m))] if floors else [])]
    equal.append([add_up, None] + ([None] if floors else []))
    if floors:  # V_J - Σ floor Q - free m_J = 0
        total = (_diagonal(other.floor) @ owner).T
        free = np.maximum(1.0 - np.asarray(total.sum(axis=1)).ravel(), 0.0)
        identity = _diagonal(np.ones(n_other))
        equal.append([-(total @ payoff[1:]), identity - total @ children[1:], _diagonal(-free)])
    worst = np.concatenate(
        [payoff[[0]].toarray().ravel(), children[[0]].toarray().ravel(), np.zeros(n_m)]
    )
    a_ub, a_eq = block_array(upper, format="csr"), block_array(equal, format="csr")
    b_eq = np.zeros(a_eq.shape[0])
    b_eq[0] = 1.0
    return PlanProgram(worst, a_ub, a_eq, b_eq, np.arange(len(worst)) < n_x)


def _solve(
    program: PlanProgram,
    objective: np.ndarray,
    method: str,
    least: float | None = None,
    near: np.ndarray | None = None,
) -> tuple[np.ndarray, float]:
    """Columns that maximise the objective; `least`: with at least this worst case; `near`: and with
    the least distance from this plan. And by how much the objective falls per unit of `least`."""
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, eye_array, vstack

    a_ub, b_ub = program.a_ub, np.zeros(program.a_ub.shape[0])
    if least is not None:
        a_ub = vstack([a_ub, csr_array(-program.worst[None, :])], format="csr")
        b_ub = np.append(b_ub, -least)
    n, a_eq, b_eq, in_plan = len(program.worst), program.a_eq, program.b_eq, program.in_plan
    bounds = np.column_stack([np.where(in_plan, 0.0, -np.inf), np.full(n, np.inf)])
    if near is not None:  # d >= x - near and d >= near - x, at a small cost
        n_x = len(near)
        own = eye_array(n_x, n, format="csr")
        distance = eye_array(n_x, format="csr")
        a_ub = block_array([[a_ub, None], [own, -distance], [-own, -distance]], format="csr")
        b_ub = np.concatenate([b_ub, near, -near])
        a_eq = block_array([[a_eq, csr_array((a_eq.shape[0], n_x))]], format="csr")
        objective = np.concatenate([objective, np.full(n_x, -DISTANCE_COST)])
        bounds = np.concatenate([bounds, np.tile([0.0, np.inf], (n_x, 1))])
    constraints = {"A_ub": a_ub, "b_ub": b_ub, "A_eq": a_eq, "b_eq": b_eq, "bounds": bounds}
    limit = {} if near is None else {"maxiter": MOST_PIVOTS}
    result = linprog(-objective, **constraints, method=method, options=TOLERANCES | limit)
    if result.status == OUT_OF_PIVOTS and near is not None:  # its small costs can make it cycle
        return _solve(program, objective[:n], method, least)
    if result.status != 0:
        raise CounterplayError(f"the linear program was not solved: {result.message}")
    columns: np.ndarray = result.x[:n]
    price = 0.0 if least is None else -float(result.ineqlin.marginals[program.a_ub.shape[0]])
    return columns, price


def _diagonal(values: np.ndarray) -> Any:
    from scipy.sparse import csr_array

    entries = np.arange(len(values))
    return csr_array((values, (entries, entries)), shape=(len(values), len(values)))


def _slot_owner(side: Side) -> Any:
    """Sparse float64[slots, information sets]: 1 where the slot belongs to the information set."""
    from scipy.sparse import csr_array

    n_slots, n = int(side.first[-1]), len(side.parent)
    return csr_array(
        (np.ones(n_slots), (np.arange(n_slots), np.repeat(np.arange(n), np.diff(side.first)))),
        shape=(n_slots, n),
    )


class LinearProgram(Solver):
    """`method` of HiGHS: highs (automatic), highs-ds (simplex) or highs-ipm (interior point)."""

    name = "lp"
    summary = "the sequence-form linear program, exact"
    sampled = False

    def __init__(self, problem: Problem, seed: int, *, method: str = "highs") -> None:
        super().__init__(problem, seed, method=method)
        game = self.game
        if game.n_players != 2 or not game.zero_sum:
            raise BadParameter(
                f"lp is for two-player zero-sum games, and {game.name} is none; take a sampling "
                f"solver"
            )
        self._method = one_of(method, METHODS, "method")
        self._form = self.problem.sequence_form
        self._weights = np.zeros(game.n_slots)
        self._values = np.zeros(2)

    @property
    def finished(self) -> bool:
        return self.iterations > 0

    @property
    def values(self) -> np.ndarray:
        """The maximin payoff of each player."""
        return self._values

    def tables(self) -> dict[str, np.ndarray]:
        return {"weights": self._weights, "values": self._values}

    def weights(self) -> np.ndarray:
        return self._weights

    def _run(self, n: int) -> int:
        if n == 0 or self.finished:
            return 0
        sides = (self._form.one, self._form.two)
        plans = []
        for player in (0, 1):
            self._values[player], plan = safest_plan(sides[player], sides[1 - player], self._method)
            plans.append(plan[1:])
        self._weights[:] = np.concatenate(plans)
        return self.game.n_nodes


SOLVER = LinearProgram
