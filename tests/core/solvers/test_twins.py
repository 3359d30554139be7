"""Every kernel agrees with its naive twin on the same random numbers (tests/reference).

Tolerance: 1e-12 relative to the largest entry of a table, since kernel and twin add and multiply in
different orders. Regret matching magnifies such differences without bound (regrets of 0 and 1e-17
give different strategies), so twins go on from the kernel's tables once these agree.
COUNTERPLAY_TEST_ITERATIONS caps the iterations of the samplers, for runs with the jit off.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from reference import evaluation as naive
from reference.cfr import CFR as NaiveCFR
from reference.chance_sampling import ChanceSampling as NaiveChanceSampling
from reference.common import Dice, from_slots, learned, regret_matching, to_slots
from reference.external_sampling import ExternalSampling as NaiveExternalSampling
from reference.games import game_and_root
from reference.mcts import TreeSearch as NaiveTreeSearch
from reference.outcome_sampling import OutcomeSampling as NaiveOutcomeSampling

from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.solvers import mcts
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.cfr import CFR, CFRPlus, DiscountedCFR, PredictiveCFRPlus
from counterplay.core.solvers.chance import ChanceSampling
from counterplay.core.solvers.external import ExternalSampling
from counterplay.core.solvers.mccfr import OutcomeSampling
from counterplay.core.solvers.mcts import TreeSearch

CAP = int(os.environ.get("COUNTERPLAY_TEST_ITERATIONS", "1000000"))
SAMPLED_GAMES = ("toy", "kuhn", "kuhn(players=3)", "leduc")
FULL_WIDTH_GAMES = (
    "toy",
    "kuhn",
    pytest.param("leduc(suits=False)", marks=pytest.mark.slow),
)


def assert_same(kernel: np.ndarray, twin: np.ndarray) -> None:
    np.testing.assert_allclose(kernel, twin, rtol=0, atol=1e-12 * max(1.0, np.abs(twin).max()))


def run_both(solver: Solver, twin: Any, iterations: int, names: tuple[str, ...]) -> None:
    """The same iterations of both on the same random numbers.

    Tables must agree after each of the first hundred iterations (large games: every 50th), and
    after every 50th from there on.
    """
    game, dice, done = solver.game, Dice(solver.seed), 0
    while done < min(iterations, CAP):
        pace = 1 if done < 100 and game.n_slots <= 1000 else 50
        pace = min(pace, min(iterations, CAP) - done)
        solver.step(pace)
        for k in range(pace):
            twin.iterate(done + 1 + k, dice)
        done += pace
        assert np.array_equal(solver.rng, dice.state)  # both drew equally often
        for name in names:
            table = learned(solver, name)
            assert_same(table, to_slots(game, getattr(twin, name)))
            setattr(twin, name, defaultdict(list, from_slots(game, table)))


def assert_same_policy(solver: Solver, weights: dict[Any, list[float]]) -> None:
    expected = Strategy.from_weights(solver.game, to_slots(solver.game, weights))
    np.testing.assert_allclose(solver.policy(), expected.probabilities, rtol=0, atol=1e-10)


@pytest.mark.parametrize("averaging", ["optimistic", "stochastic"])
@pytest.mark.parametrize("epsilon", [0.6, 0.05])
@pytest.mark.parametrize("name", SAMPLED_GAMES)
def test_outcome_sampling(name: str, epsilon: float, averaging: str) -> None:
    game, root = game_and_root(name)
    solver = OutcomeSampling(Problem(game), seed=5, epsilon=epsilon, averaging=averaging)
    twin = NaiveOutcomeSampling(root, epsilon, averaging)
    run_both(solver, twin, 3000, ("regret", "strategy_sum"))
    assert_same_policy(solver, twin.strategy_sum)
    if averaging == "optimistic":
        assert_same(solver.tables()["last_visit"], _per_infoset(game, twin.last_visit))


@pytest.mark.parametrize("name", SAMPLED_GAMES)
def test_external_sampling(name: str) -> None:
    check_sampling(name, ExternalSampling, NaiveExternalSampling, 6, 1000)


def check_sampling(name: str, solver_type: Any, twin_type: Any, seed: int, iterations: int) -> None:
    game, root = game_and_root(name)
    solver, twin = solver_type(Problem(game), seed=seed), twin_type(root, game.n_players)
    run_both(solver, twin, iterations, ("regret", "strategy_sum"))
    assert_same_policy(solver, twin.strategy_sum)


@pytest.mark.parametrize("solver", [OutcomeSampling, ExternalSampling])
@pytest.mark.parametrize("name", ["goofspiel(3)", "bluff(1,1,2)"])
def test_forced_moves_change_nothing(name: str, solver: Any) -> None:
    """The twins learn there too: regrets of 0, and averages that are the only action. Kernels have
    nothing there, and the same everywhere else."""
    game, root = game_and_root(name)
    kernel: Solver = solver(Problem(game), seed=8)
    twin = (
        NaiveOutcomeSampling(root, 0.6, "optimistic")
        if solver is OutcomeSampling
        else NaiveExternalSampling(root, 2)
    )
    counts = np.diff(game.tree.first)
    forced, dice = np.repeat(counts == 1, counts), Dice(8)
    assert forced.any()
    for done in range(0, min(400, CAP), 20):
        kernel.step(20)
        for k in range(20):
            twin.iterate(done + 1 + k, dice)
        assert np.array_equal(kernel.rng, dice.state)
        for table in ("regret", "strategy_sum"):
            mine, theirs = learned(kernel, table).copy(), to_slots(game, getattr(twin, table))
            assert not mine[forced].any()
            assert_same(mine[~forced], theirs[~forced])
            mine[forced] = theirs[forced]
            setattr(twin, table, defaultdict(list, from_slots(game, mine)))
        assert not to_slots(game, twin.regret)[forced].any()
    assert to_slots(game, twin.strategy_sum)[forced].any()
    assert_same_policy(kernel, twin.strategy_sum)


@pytest.mark.parametrize("name", SAMPLED_GAMES)
def test_chance_sampling(name: str) -> None:
    check_sampling(name, ChanceSampling, NaiveChanceSampling, 7, 500)


@pytest.mark.parametrize("simulation", ["on-policy", "random", "call"])
@pytest.mark.parametrize("name", SAMPLED_GAMES)
def test_tree_search(name: str, simulation: str) -> None:
    game, root = game_and_root(name)
    if name == "toy" and simulation == "call":
        pytest.skip("the toy game has no call")
    solver, twin = (
        TreeSearch(Problem(game), seed=8, c=1.7, simulation=simulation),
        NaiveTreeSearch(root, 1.7, simulation),
    )
    run_both(solver, twin, 3000, ("value", "visits"))
    unseen = 1.7 * np.sqrt(np.log(2.0))
    keys = [
        (int(owner), label)
        for owner, label in zip(game.tree.owner, game.labels.infoset, strict=True)
    ]
    assert_same(solver.tables()["spread"], np.array([twin.spread.get(key, unseen) for key in keys]))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            solver.tables()["stats"][:, mcts.ROOT], 1 / np.sqrt(learned(solver, "visits"))
        )
    assert_same_policy(solver, twin.visits)
    if simulation != "on-policy":
        assert solver.tables()["in_tree"].sum() == len(twin.in_tree)


VARIANTS = {
    "cfr-simultaneous": (CFR, {}, ("cfr", False)),
    "cfr-alternating": (CFR, {"alternating": True}, ("cfr",)),
    "cfr+": (CFRPlus, {}, ("cfr+",)),
    "cfr+-simultaneous": (CFRPlus, {"alternating": False}, ("cfr+", False)),
    "dcfr": (DiscountedCFR, {}, ("dcfr",)),
    "dcfr-other-powers": (
        DiscountedCFR,
        {"alpha": 2.0, "beta": -0.5, "gamma": 1.0},
        ("dcfr", True, (2.0, -0.5, 1.0)),
    ),
    "pcfr+": (PredictiveCFRPlus, {}, ("pcfr+",)),
}  # the solver, its options, the twin's


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FULL_WIDTH_GAMES)
def test_full_width(name: str, variant: str) -> None:
    """Regrets, strategy sums and current policies after each of 50 iterations (15 in large games),
    and the average policy in the end."""
    game, root = game_and_root(name)
    make, options, naive_options = VARIANTS[variant]
    solver, twin = make(Problem(game), 0, **options), NaiveCFR(root, *naive_options)
    for t in range(1, min(50 if game.n_slots <= 1000 else 15, CAP) + 1):
        solver.step(1)
        twin.iterate(t)
        regret, strategy_sum = both_players(solver, "regret"), both_players(solver, "strategy_sum")
        assert_same(regret, to_slots(game, twin.regret))
        assert_same(strategy_sum, to_slots(game, twin.strategy_sum))
        source = regret if variant != "pcfr+" else both_players(solver, "predicted")
        assert_same(source, to_slots(game, twin.predicted))
        matched = {key: regret_matching(values) for key, values in from_slots(game, source).items()}
        assert_same(both_players(solver, "policy"), to_slots(game, matched))
        twin.regret, twin.sigma = from_slots(game, regret), matched
    np.testing.assert_allclose(solver.policy(), to_slots(game, twin.policy()), rtol=0, atol=1e-12)


def both_players(solver: Solver, name: str) -> np.ndarray:
    return np.concatenate([solver.tables()[f"{name}1"], solver.tables()[f"{name}2"]])


@pytest.mark.parametrize("name", SAMPLED_GAMES)
def test_evaluation(name: str) -> None:
    """Value, best response and exploitability of a random profile; the response really earns its
    value."""
    game, root = game_and_root(name)
    strategy = Strategy.random(game, seed=9)
    policy = from_slots(game, strategy.probabilities)
    values = [naive.expected_value(root, policy, player) for player in range(game.n_players)]
    np.testing.assert_allclose(expected_value(game, strategy), values, rtol=0, atol=1e-12)
    gains = 0.0
    for player in range(game.n_players):
        best = naive.best_response([(root, 1.0)], policy, player)
        gains += best - values[player]
        response = best_response(game, strategy, player)
        assert response.value == pytest.approx(best, abs=1e-12)
        earned = naive.expected_value(
            root, from_slots(game, response.strategy.probabilities), player
        )
        assert earned == pytest.approx(best, abs=1e-12)
    assert exploitability(game, strategy) == pytest.approx(gains, abs=1e-11)


def _per_infoset(game: Game, numbers: dict[Any, float]) -> np.ndarray:
    owner, labels = game.tree.owner, game.labels.infoset
    return np.array([numbers.get((int(owner[i]), labels[i]), 0) for i in range(game.n_infosets)])


@pytest.mark.parametrize("c", [0.0, 1e-9])
def test_tree_search_that_hardly_explores_tries_every_action(c: float) -> None:
    """An untried action comes first whatever C is."""
    search = TreeSearch(Problem(game_and_root("kuhn")[0]), seed=1, c=c)
    search.step(2_000)
    reached = np.add.reduceat(search.weights(), search.game.form.first[:-1]) >= 2
    assert np.all(search.weights()[np.repeat(reached, np.diff(search.game.form.first))] >= 1)
    assert reached.sum() > 6


@pytest.mark.parametrize("interleave", [1, 4])
def test_forced_moves_are_nodes(interleave: int) -> None:
    """A history of Goof(3) has six moves, the last two of them forced, and an end."""
    game, _ = game_and_root("goofspiel(3)")
    solver = OutcomeSampling(Problem(game), seed=1, interleave=interleave)
    solver.step(40)
    assert solver.nodes_touched == 40 * 7
