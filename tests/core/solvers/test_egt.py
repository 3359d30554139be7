"""The excessive gap technique: twin, optimality of the prox mapping, the condition and its bound
at every step, 1/T."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.common import to_slots
from reference.egt import ExcessiveGap as NaiveExcessiveGap
from reference.egt import project
from reference.games import game_and_root
from support.games import BATTLE

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.rules import TERMINAL
from counterplay.core.forms.sequence import SequenceForm, Side, best_reply, plan_from_policy
from counterplay.core.parallel.full_width import KernelThreads
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.egt import ExcessiveGap
from counterplay.core.solvers.prox import ProxTables, smoothed_reply


@dataclass(frozen=True)
class Forgetful:
    """Player 1 puts a coin down, forgets how, player 2 calls it, player 1 calls it too."""

    played: tuple[int, ...] = ()
    n_players: int = 2

    def root(self) -> Forgetful:
        return self

    def player(self) -> int:
        return (0, 1, 0, TERMINAL)[len(self.played)]

    def actions(self) -> list[int]:
        return [0, 1]

    def child(self, action: int) -> Forgetful:
        return Forgetful((*self.played, action))

    def infoset(self) -> str:
        return f"move {len(self.played)}"

    def payoffs(self) -> tuple[float, float]:
        gain = float(self.played[2] == self.played[0]) - float(self.played[1] == self.played[0])
        return gain, -gain


FORGETFUL = Game("forgetful", Forgetful())
PROXES = ("entropy", "euclidean")
seeds = st.integers(0, 2**32 - 1)


def infosets(side: Side) -> list[tuple[int, slice]]:
    """(sequence above, slots) of every information set."""
    return [
        (int(above), slice(a, b))
        for above, a, b in zip(side.parent, side.first[:-1], side.first[1:], strict=True)
    ]


def prox(side: Side, half: ProxTables, policy: np.ndarray, kind: str) -> float:
    """d at the plan with behaviour `policy`, by its definition."""
    plan, total = plan_of(side, policy), 0.0
    for beta, (above, slots) in zip(half.beta, infosets(side), strict=True):
        b = policy[slots]
        played = b[b > 0]
        omega = (
            played @ np.log(played) + np.log(len(b))
            if kind == "entropy"
            else 0.5 * ((b - 1 / len(b)) ** 2).sum()
        )
        total += beta * plan[above] * omega
    return total


def plan_of(side: Side, policy: np.ndarray) -> np.ndarray:
    plan = np.empty(side.n_sequences)
    plan_from_policy(side, policy, plan)
    return plan


def prox_gradient(side: Side, half: ProxTables, policy: np.ndarray, kind: str) -> np.ndarray:
    """∇d by hand: d is a sum of x(p) ω(x_I / x(p)), homogeneous of degree one."""
    out = np.zeros(side.n_sequences)
    for beta, (above, slots) in zip(half.beta, infosets(side), strict=True):
        b, n = policy[slots], slots.stop - slots.start
        slope = np.log(b) + 1.0 if kind == "entropy" else b - 1.0 / n
        omega = b @ np.log(b) + np.log(n) if kind == "entropy" else 0.5 * slope @ slope
        out[slots.start + 1 : slots.stop + 1] += beta * slope
        out[above] += beta * (omega - b @ slope)
    return out


@pytest.mark.parametrize("kind", PROXES)
@pytest.mark.parametrize(
    ("name", "iterations"), [("toy", 60), ("kuhn", 60), ("leduc(suits=False)", 20)]
)
def test_twin(name: str, iterations: int, kind: str) -> None:
    """Replies to payoffs over μ magnify rounding, so the twin goes on from the kernel's plans
    once these agree."""
    game, root = game_and_root(name)
    solver = ExcessiveGap(Problem(game), 0, prox=kind)
    twin = NaiveExcessiveGap(root, kind, float(np.abs(game.tree.payoff).max()))
    np.testing.assert_allclose(solver._largest, [prox.largest for prox in twin.prox], rtol=1e-12)
    for t in range(iterations + 1):
        if t > 0:
            solver.step(1)
            twin.iterate(t, solver._slack)
        np.testing.assert_allclose(solver.tables()["schedule"], [*twin.mu, twin.k], rtol=1e-12)
        plans = twin.point[0] | twin.point[1]
        order = {
            key: [plans[key, a] for a in range(n)]
            for prox in twin.prox
            for key, (_, n) in prox.plex.items()
        }
        np.testing.assert_allclose(solver.weights(), to_slots(game, order), rtol=0, atol=1e-12)
        names = {
            key: [(key, a) for a in range(n)]
            for prox in twin.prox
            for key, (_, n) in prox.plex.items()
        }
        places = [
            names[int(game.tree.owner[i]), label] for i, label in enumerate(game.labels.infoset)
        ]
        mine = dict(zip([q for row in places for q in row], solver.weights().tolist(), strict=True))
        twin.point = [{q: mine.get(q, 1.0) for q in plan} for plan in twin.point]


@pytest.mark.parametrize("kind", PROXES)
@pytest.mark.parametrize(
    "name", ["kuhn", pytest.param("leduc(suits=False)", marks=pytest.mark.slow), "bluff(1,1,3)"]
)
@settings(max_examples=15, deadline=None)
@given(seed=seeds, mu=st.floats(0.02, 20.0))
def test_smoothed_reply_is_optimal(name: str, kind: str, seed: int, mu: float) -> None:
    """It attains the value it reports, no plan does better, and it passes the first-order test,
    which is sufficient."""
    solver, rng = ExcessiveGap(Problem(cp.load(name)), 0, prox=kind), np.random.default_rng(seed)
    group = KernelThreads(solver._form).group
    for side, half, part in zip(solver._form, solver._tables, group[:2], strict=True):
        payoff = rng.normal(size=side.n_sequences)
        value = smoothed_reply(side, half, mu, kind == "euclidean", payoff, part, group, 0)
        policy = half.policy.copy()
        for _, slots in infosets(side):
            assert policy[slots].min() >= 0.0
            assert policy[slots].sum() == pytest.approx(1.0, abs=1e-12)
        plan = plan_of(side, policy)
        scale = max(1.0, abs(value))
        assert plan @ payoff - mu * prox(side, half, policy, kind) == pytest.approx(
            value, abs=1e-11 * scale
        )
        for _ in range(5):
            other = np.concatenate(
                [
                    rng.dirichlet(np.full(s.stop - s.start, rng.choice([0.2, 1.0])))
                    for _, s in infosets(side)
                ]
            )
            assert (
                plan_of(side, other) @ payoff - mu * prox(side, half, other, kind)
                <= value + 1e-11 * scale
            )
        if kind == "euclidean" or policy.min() > 1e-200:
            slope = payoff - mu * prox_gradient(side, half, policy, kind)
            assert (
                best_reply(side, slope.copy(), np.empty_like(policy))
                <= slope @ plan + 1e-10 * scale
            )


@given(seed=seeds, n=st.integers(1, 12), size=st.sampled_from([1e-3, 1.0, 1e3, 1e9]))
@settings(max_examples=100, deadline=None)
def test_projection_agrees_with_sorting(seed: int, n: int, size: float) -> None:
    """One information set: the nearest point of the simplex, however far away, with ties."""
    v = np.round(np.random.default_rng(seed).normal(size=n), 1) * size
    nothing = np.zeros(0)
    side = Side(
        np.zeros(1, np.int32),
        np.array([0, n], np.int32),
        np.zeros(n + 2, np.int64),
        np.zeros(0, np.int32),
        nothing,
    )
    half = ProxTables(np.ones(1), *(np.zeros(n + 1) for _ in range(8)), np.zeros(1), np.zeros(1))
    group = KernelThreads(SequenceForm(side, side)).group
    smoothed_reply(side, half, 1.0, True, np.concatenate([[0.0], v]), group.one, group, 0)
    half = half._replace(policy=half.policy[:n])
    np.testing.assert_allclose(half.policy, project(1 / n + v - v.max()), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", PROXES)
def test_largest_prox_is_attained_by_a_pure_strategy(kind: str) -> None:
    solver = ExcessiveGap(Problem(cp.load("kuhn")), 0, prox=kind)
    for side, half, largest in zip(solver._form, solver._tables, solver._largest, strict=True):
        pure = product(*(np.eye(slots.stop - slots.start) for _, slots in infosets(side)))
        assert max(prox(side, half, np.concatenate(rows), kind) for rows in pure) == pytest.approx(
            largest, rel=1e-12
        )


@pytest.mark.parametrize("kind", PROXES)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "bluff(1,1,3)", "goofspiel(4)"])
def test_gap_condition_and_its_bound_at_every_step(name: str, kind: str) -> None:
    game = cp.load(name)
    solver = ExcessiveGap(Problem(game), 0, prox=kind)
    for _ in range(150):
        assert solver.excess() <= solver._slack
        assert policy_exploitability(game, solver.policy()) <= solver.bound + 1e-12
        before = solver.bound
        solver.step(1)
        assert solver.bound < before


@pytest.mark.parametrize("kind", PROXES)
@pytest.mark.parametrize(
    ("name", "value"), [("kuhn", -1 / 18), ("leduc", -0.085606424078), ("goofspiel(4)", 0.0)]
)
def test_one_over_t(name: str, value: float, kind: str) -> None:
    """Two decades: slope about -1 in the log-log plane, T times the bound bounded; the value is
    within the exploitability.

    Slopes measured: -0.98 to -1.10, except -0.863 on Leduc with the Euclidean prox, whose first μ
    prove too small at iteration 2,170: halving τ there makes the constant in front of 1/T larger,
    once. Values: Kuhn (Section 2.2), Leduc (OpenSpiel's tests), Goofspiel is symmetric. Nothing is
    random.
    """
    game = cp.load(name)
    solver = ExcessiveGap(Problem(game), 0, prox=kind)
    times = np.unique(np.geomspace(100, 10_000, 25).astype(int))
    gaps, bounds = [], []
    for t in times:
        solver.step(int(t) - solver.iterations)
        gaps.append(policy_exploitability(game, solver.policy()))
        bounds.append(solver.bound)
    slopes = [np.polyfit(np.log(times), np.log(numbers), 1)[0] for numbers in (gaps, bounds)]
    flattest = -0.85 if (name, kind) == ("leduc", "euclidean") else -0.9
    assert max(slopes) <= flattest
    assert (times * bounds).max() <= 2.0 * 100 * bounds[0]
    assert abs(cp.expected_value(game, solver.strategy())[0] - value) <= gaps[-1]
    assert solver.excess() <= solver._slack


def test_a_players_own_form_gives_the_same_bits() -> None:
    game = cp.load("kuhn")
    own, given_form = (
        ExcessiveGap(Problem(game), 0),
        ExcessiveGap(Problem(game, game.sequence_form), 0),
    )
    for solver in (own, given_form):
        solver.step(50)
    assert np.array_equal(own.weights(), given_form.weights())


def test_refusals() -> None:
    game = cp.load("kuhn")
    one, two = game.sequence_form
    floor = np.full(int(one.first[-1]), 0.1)
    with pytest.raises(BadParameter, match="prox must be one of"):
        ExcessiveGap(Problem(game), 0, prox="hope")
    with pytest.raises(BadParameter, match="two players"):
        ExcessiveGap(Problem(cp.load("kuhn(players=3)")), 0)
    with pytest.raises(BadParameter, match="zero"):
        ExcessiveGap(Problem(BATTLE), 0)
    with pytest.raises(BadParameter, match="zero"):
        ExcessiveGap(Problem(game, SequenceForm(one, two._replace(value=2.0 * two.value))), 0)
    with pytest.raises(BadParameter, match="lower bounds on action probabilities"):
        ExcessiveGap(Problem(game, SequenceForm(one._replace(floor=floor), two)), 0)
    with pytest.raises(BadParameter, match="perfect recall"):
        ExcessiveGap(Problem(FORGETFUL), 0)
