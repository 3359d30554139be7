"""One contract for every solver: probabilities, reproducible, resumable bit for bit, and it
improves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.solvers.algorithms import ALGORITHMS, options_of

# Iterations that take each algorithm well below half of the uniform profile's exploitability on
# Leduc (4.747).
ENOUGH = {"mccfr": 400_000, "mccfr-external": 20_000, "mccfr-chance": 5_000, "mcts": 400_000}
# MCTS gives no guarantee; C on the scale of Leduc's payoffs (13) makes it explore enough to be
# reasonable.
OPTIONS = {"mcts": {"c": 13.0}}
SOLVED_AT_ONCE = {"lp"}  # one iteration does everything
FITTING = [name for name, solver in ALGORITHMS.items() if solver.plays(cp.load("leduc"))]
SAMPLED = [name for name in FITTING if ALGORITHMS[name].sampled]


def _solve(game: str, name: str, iterations: int, seed: int = 1, **more: object) -> cp.Run:
    return cp.solve(game, name, iterations=iterations, seed=seed, **OPTIONS.get(name, {}), **more)


@pytest.mark.parametrize("name", FITTING)
def test_improves_and_gives_probabilities(name: str) -> None:
    game = cp.load("leduc")
    uniform = cp.exploitability(game, cp.Strategy.uniform(game))
    run = _solve("leduc", name, ENOUGH.get(name, 200))
    assert run.iterations == (1 if name in SOLVED_AT_ONCE else ENOUGH.get(name, 200))
    sums = np.add.reduceat(run.strategy.probabilities, run.game.tree.first[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-12)
    assert cp.exploitability(game, run.strategy) < 0.5 * uniform
    assert run.exploitability == pytest.approx(cp.exploitability(game, run.strategy), abs=1e-12)


@pytest.mark.parametrize("name", FITTING)
def test_same_seed_same_bits_however_it_is_cut(name: str, tmp_path: Path) -> None:
    whole = _solve("leduc", name, 3000, measure_every=3000)
    cut = _solve("leduc", name, 1234, measure_every=77, folder=tmp_path / "run")
    assert cut.iterations == (1 if name in SOLVED_AT_ONCE else 1234)
    resumed = cp.resume(tmp_path / "run", iterations=3000)
    assert resumed.iterations == (1 if name in SOLVED_AT_ONCE else 3000)
    for key, array in whole._solver.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[key]), key
    saved = cp.Strategy.load(tmp_path / "run")
    assert np.array_equal(saved.probabilities, whole.strategy.probabilities)


@pytest.mark.parametrize("name", SAMPLED)
def test_another_seed_gives_other_numbers(name: str) -> None:
    a, b = (_solve("kuhn", name, 500, seed=seed).strategy.probabilities for seed in (1, 2))
    assert not np.array_equal(a, b)


@pytest.mark.parametrize("name", SAMPLED)
def test_sampling_solvers_take_more_players(name: str) -> None:
    game = cp.load("kuhn(players=3)")
    uniform = cp.exploitability(game, cp.Strategy.uniform(game))
    run = _solve("kuhn(players=3)", name, 50_000)
    assert run.exploitability < 0.25 * uniform


@pytest.mark.parametrize("name", ["egt", "lp"])
def test_solvers_of_two_players_refuse_more(name: str) -> None:
    with pytest.raises(cp.CounterplayError, match=r"two.player"):
        cp.solve("kuhn(players=3)", name, iterations=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mccfr", {"epsilon": 0.0}),
        ("mccfr", {"epsilon": 1.5}),
        ("mccfr", {"epsilon": float("nan")}),
        ("mccfr", {"averaging": "hopeful"}),
        ("mccfr", {"c": 2}),
        ("mcts", {"c": -1.0}),
        ("mcts", {"simulation": "none"}),
        ("cfr", {"alternating": "perhaps"}),
        ("dcfr", {"alpha": float("inf")}),
        ("lucky", {}),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, object]) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.solve("kuhn", name, iterations=10, **options)


def test_call_rollouts_need_a_betting_game() -> None:
    with pytest.raises(cp.CounterplayError, match="no check or call"):
        cp.solve("goofspiel(3)", "mcts", iterations=10, simulation="call")
    run = cp.solve("leduc", "mcts", iterations=10_000, simulation="call", c=13.0)
    assert run.iterations == 10_000


def test_stochastic_averaging_converges_too() -> None:
    run = cp.solve("leduc", "mccfr", iterations=400_000, seed=1, averaging="stochastic")
    assert run.exploitability < 1.0


def test_every_option_has_a_default() -> None:
    for name in ALGORITHMS:
        assert all(default is not None for default in options_of(name).values())


@pytest.mark.parametrize(
    ("game", "value"), [("kuhn", -1 / 18), ("leduc", -0.085606424078), ("bluff(1,1,3)", 1 / 9)]
)
def test_full_width_values(game: str, value: float) -> None:
    """Constants: Kuhn (Section 2.2), Leduc (OpenSpiel's tests), Bluff (facts/02)."""
    for name in ("cfr+", "dcfr", "pcfr+"):
        run = cp.solve(game, name, target=1e-3, seconds=30)
        assert run.stopped_by == "target"
        # each player's value is within the exploitability of the game's
        assert abs(cp.expected_value(run.game, run.strategy)[0] - value) <= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "iterations", "bound"),
    [("mccfr", 200_000_000, 0.05), ("mccfr-external", 5_000_000, 0.02)],
)
def test_sampling_reaches_leducs_equilibrium(name: str, iterations: int, bound: float) -> None:
    assert cp.solve("leduc", name, iterations=iterations, seed=3).exploitability < bound
