"""The default solver of a game."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Signs:
    """Both choose at once, and the payoffs are multiples of `factor`."""

    factor: float
    chosen: str = ""

    n_players = 2

    def root(self) -> Signs:
        return self

    def player(self) -> int:
        return len(self.chosen) if len(self.chosen) < 2 else cp.TERMINAL

    def actions(self) -> list[str]:
        return ["a", "b", "c"]

    def child(self, action: str) -> Signs:
        return Signs(self.factor, self.chosen + action)

    def infoset(self) -> str:
        return "?"

    def chance(self) -> list[float]:
        return []

    def payoffs(self) -> list[float]:
        won = {"aa": 3.0, "bb": 1.0, "cc": 2.0}.get(self.chosen, -1.0) * self.factor
        return [won, -won]


def test_the_default_stop_does_not_depend_on_the_unit_of_payoffs() -> None:
    """Powers of two, so that the bits of all that is compared are the same."""
    one, small = (cp.solve(cp.Game("signs", Signs(factor))) for factor in (1.0, 2.0**-10))
    assert one.target == pytest.approx(1e-4 * 6.0)  # from -3 to 3, of both players
    assert small.target == pytest.approx(1e-4 * 6.0 / 1024)
    assert one.stopped_by == small.stopped_by == "target"
    assert one.iterations == small.iterations > 20
    assert small.exploitability <= 1e-4 * 6.0 / 1024
