"""Every sampling solver and response on hold'em."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.holdem import NAME

import counterplay as cp
from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.holdem.grid import grid_label, preflop_grid

#: Every sampling solver with enough iterations to touch a few thousand information sets.
SOLVERS: list[tuple[str, int, dict[str, Any]]] = [
    ("mccfr", 6_000, {}),
    ("mccfr", 6_000, {"averaging": "stochastic", "epsilon": 0.4}),
    ("mccfr-external", 150, {}),
    ("mcts", 6_000, {"c": 17.0}),
    ("mcts", 6_000, {"c": 17.0, "simulation": "call"}),
    ("mcts", 6_000, {"c": 17.0, "simulation": "random"}),
    ("mccfr", 12_000, {"threads": 2}),
    ("mcts", 12_000, {"threads": 2, "c": 17.0}),
]

IDS = [
    " ".join([name, *(f"{key}={value}" for key, value in options.items())])
    for name, _, options in SOLVERS
]


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return cp.load(NAME)


def check_probabilities(strategy: cp.Strategy) -> None:
    sums = np.add.reduceat(strategy.probabilities, strategy.game.form.first[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-9)
    assert strategy.probabilities.min() >= 0.0


@pytest.mark.parametrize(("name", "iterations", "options"), SOLVERS, ids=IDS)
def test_solvers_run_and_resume_bit_for_bit(
    name: str, iterations: int, options: dict[str, Any], game: cp.Game, tmp_path: Path
) -> None:
    whole = cp.solve(game, name, iterations=iterations, seed=3, **options)
    assert whole.iterations == iterations
    assert whole.stopped_by == "iterations"
    assert np.isnan(whole.exploitability)
    check_probabilities(whole.strategy)
    assert not np.array_equal(whole.strategy.probabilities, cp.Strategy.uniform(game).probabilities)
    assert not np.array_equal(
        whole.strategy.probabilities,
        cp.solve(game, name, iterations=iterations, seed=4, **options).strategy.probabilities,
    )
    cut = cp.solve(
        game,
        name,
        iterations=iterations // 3 + 1,
        seed=3,
        measure_every=777,
        folder=tmp_path / "run",
        **options,
    )
    assert cut.iterations == iterations // 3 + 1
    resumed = cp.resume(tmp_path / "run", iterations=iterations)
    assert resumed.game.name == NAME
    for key, array in whole._solver.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[key]), key
    assert np.array_equal(
        cp.Strategy.load(tmp_path / "run").probabilities, whole.strategy.probabilities
    )


@pytest.mark.parametrize(
    ("algorithm", "engine"),
    [
        ("mcrnr", "mccfr"),
        ("mcdbr", "mccfr-external"),
        ("mcrnr", "mcts"),
        pytest.param("mcdbr", "mccfr", marks=pytest.mark.slow),
        pytest.param("mcrnr", "mccfr-external", marks=pytest.mark.slow),
        pytest.param("mcdbr", "mcts", marks=pytest.mark.slow),
    ],
)
def test_responses_run_and_resume_bit_for_bit(
    algorithm: str, engine: str, game: cp.Game, tmp_path: Path
) -> None:
    """Both seats; for mcdbr with one Pconf per information set."""
    model = simple_strategy("probe", game)
    p: Any = 0.7 if algorithm == "mcrnr" else np.linspace(0.0, 1.0, game.n_infosets)
    n = 100 if engine == "mccfr-external" else 3_000
    whole = cp.respond(game, model, None, p, algorithm, engine=engine, iterations=n, seed=2)
    check_probabilities(whole.strategy)
    assert (whole.engine, whole.player, whole.iterations) == (engine, None, n)
    for number in (whole.payoff, whole.worst_case, whole.exploitation, whole.exploitability):
        assert np.isnan(number)
    cp.respond(
        game,
        model,
        None,
        p,
        algorithm,
        engine=engine,
        iterations=n // 3,
        seed=2,
        folder=tmp_path / "run",
    )
    resumed = cp.resume_response(tmp_path / "run", iterations=n)
    assert np.array_equal(whole.strategy.probabilities, resumed.strategy.probabilities)
    for one, two in zip(whole.runs, resumed.runs, strict=True):
        for key, array in one._solver.arrays().items():
            assert np.array_equal(array, two._solver.arrays()[key]), key


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("algorithm", ["mcrnr", "mcdbr"])
def test_a_response_in_one_seat_leaves_the_other_to_the_model(
    algorithm: str, player: int, game: cp.Game
) -> None:
    model = simple_strategy("always-call", game)
    response = cp.respond(game, model, player, 0.8, algorithm, iterations=2_000, seed=1)
    other, own = game.slots(1 - player), game.slots(player)
    assert np.array_equal(response.strategy.probabilities[other], model.probabilities[other])
    assert not np.array_equal(response.strategy.probabilities[own], model.probabilities[own])
    assert response.player == player


def test_bad_trust_is_refused(game: cp.Game) -> None:
    model = simple_strategy("always-raise", game)
    with pytest.raises(BadParameter, match=r"63780|63,780"):
        cp.respond(game, model, 0, np.zeros(10), "mcdbr", iterations=10)
    with pytest.raises(BadParameter, match="one number p"):
        cp.respond(game, model, 0, np.zeros(game.n_infosets), "mcrnr", iterations=10)
    with pytest.raises(BadParameter, match="from 0 to 1"):
        cp.respond(game, model, 0, 1.5, "mcdbr", iterations=10)
    with pytest.raises(BadStrategy, match="kuhn"):
        cp.respond(game, cp.Strategy.uniform(cp.load("kuhn")), 0, 0.5, "mcdbr", iterations=10)


@pytest.mark.first
@pytest.mark.parametrize("algorithm", ["mcrnr", pytest.param("mcdbr", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("always-fold", (0.95, 0.5)),
        pytest.param("always-call", (0.5, 0.5), marks=pytest.mark.slow),
        pytest.param("always-raise", (0.5, 0.5), marks=pytest.mark.slow),
    ],
)
def test_full_trust_beats_the_model(
    algorithm: str, model: str, least: tuple[float, float], game: cp.Game
) -> None:
    """With p = 1 the response learns to take what the simple opponents give away.

    Always-fold: the big blind every time, so never fold first (half a small bet of a folding dealer
    comes by itself). Always-call and always-raise lose more than a small bet a hand to card sense;
    half of one is far outside the noise of 20,000 hands.
    """
    response = cp.respond(
        game, simple_strategy(model, game), None, 1.0, algorithm, iterations=20_000, seed=1
    )
    result = cp.play_match(game, response.strategy, model, 20_000, seed=2)
    assert result.by_seat[0] >= least[0]
    assert result.by_seat[1] >= least[1]
    if model == "always-fold":
        assert result.by_seat[1] == 0.5
        assert preflop_grid(response.strategy)[:, :, 0].max() < 0.05


def test_learning_has_card_sense(game: cp.Game) -> None:
    """External sampling, soon: aces are not folded and raise a raise, the worst hands do not raise
    one.

    Seeds 0 to 3 at 30,000 and 100,000 iterations: aces re-raise 0.85 to 0.99 of the time, 32o 0.04
    at most; uniform play a third.
    """
    strategy = cp.solve(game, "mccfr-external", iterations=40_000, seed=1).strategy
    first, facing = preflop_grid(strategy), preflop_grid(strategy, "r")
    assert first[0, 0, 0] < 0.05  # AA, fold
    assert facing[0, 0, 0] < 0.05
    assert facing[0, 0, 2] > 0.6
    for low in (7, 11):  # 72o and 32o, below the diagonal
        assert grid_label(12, low) in ("72o", "32o")
        assert facing[12, low, 2] < 0.2
        assert first[12, low, 0] > first[0, 0, 0]
    result = cp.play_match(game, strategy, "uniform", 20_000, seed=1)
    assert result.mean - 5 * result.standard_error > 0
