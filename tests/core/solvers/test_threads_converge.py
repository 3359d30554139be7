"""Several threads end as near the equilibrium as one."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.solvers.algorithms import new_solver

SEEDS = 6


def _mean_exploitability(game: str, name: str, iterations: int, threads: int, c: float) -> float:
    options = {"c": c} if name == "mcts" else {}
    gaps = []
    for seed in range(SEEDS):
        one = new_solver(cp.load(game), name, seed, {**options, "threads": threads})
        one.step(iterations)
        gaps.append(cp.exploitability(one.game, one.strategy()))
    return float(np.mean(gaps))


@pytest.mark.parametrize(
    ("game", "name", "iterations", "threads"),
    [
        pytest.param("leduc", "mccfr", 500_000, 2, marks=pytest.mark.slow),
        ("leduc", "mccfr-external", 100_000, 2),
        ("leduc", "mcts", 400_000, 2),
        pytest.param("bluff(1,1,4)", "mcts", 200_000, 2, marks=pytest.mark.slow),
        ("bluff(1,1,4)", "mccfr-external", 20_000, 2),
        ("goofspiel(5)", "mccfr", 400_000, 8),
        pytest.param("goofspiel(5)", "mccfr-external", 20_000, 4, marks=pytest.mark.slow),
        pytest.param("goofspiel(5)", "mcts", 300_000, 4, marks=pytest.mark.slow),
        pytest.param("ocp(500)", "mccfr-external", 60_000, 3, marks=pytest.mark.slow),
    ],
)
def test_threads_converge_like_one(game: str, name: str, iterations: int, threads: int) -> None:
    """At the same number of iterations, exactly measured.

    With one thread exploitability varies over seeds by at most 15% of its mean, so a ratio of two
    means over six seeds has a standard error of at most 0.09: a bound of 1.3 is more than three of
    them above 1. When the changes of copies that count once were added up, Goofspiel(5) and tree
    search were far outside (ratios of 2 to 6).
    """
    c = 13.0 if game == "leduc" else 1.0
    one, many = (_mean_exploitability(game, name, iterations, t, c) for t in (1, threads))
    assert many < 1.3 * one


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mccfr", "mccfr-external"])
def test_two_threads_go_on_converging(name: str) -> None:
    """Ten times the iterations make regrets about √10 smaller; half of that is asked for."""
    short = {"mccfr": 200_000, "mccfr-external": 40_000}[name]
    long = _mean_exploitability("leduc", name, 10 * short, 2, 0.0)
    assert long < 0.63 * _mean_exploitability("leduc", name, short, 2, 0.0)
