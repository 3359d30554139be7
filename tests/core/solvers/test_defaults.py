"""The default solver of a game."""

from __future__ import annotations

import pytest

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.solvers.algorithms import ALGORITHMS, default_solver


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("kuhn", "cfr+"),
        ("kuhn(players=3)", "mccfr-external"),
        ("holdem(buckets=10)", "mccfr-external"),
        ("holdem(buckets=100)", "mccfr-public"),
        ("holdem(preflop=169,flop=10,turn=10,river=10)", "mccfr-external"),
        ("holdem(preflop=10,flop=10,turn=100,river=10)", "mccfr-public"),
    ],
)
def test_every_game_has_one_that_plays_it(name: str, solver: str) -> None:
    game = cp.load(name)
    assert default_solver(game) == solver
    assert ALGORITHMS[solver].plays(game)


def test_solve_takes_it_and_says_so() -> None:
    assert cp.solve("kuhn", iterations=2).algorithm == "cfr+"
    assert cp.solve("kuhn(players=3)", iterations=2).algorithm == "mccfr-external"


def test_an_error_names_only_what_plays_the_game() -> None:
    with pytest.raises(BadParameter, match="take one of mccfr, mccfr-chance, mccfr-external, mcts"):
        cp.solve("kuhn(players=3)", "egt", iterations=2)
