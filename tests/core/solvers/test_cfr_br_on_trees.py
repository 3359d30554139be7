"""CFR-BR as a solver by name, on game trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import counterplay as cp
from counterplay.app.cli import app
from counterplay.core.forms.game import Game


@pytest.mark.parametrize(("name", "bound"), [("kuhn", 0.0025), ("leduc", 0.035)])
@pytest.mark.parametrize(
    "options", [{}, {"plus": False}, {"plus": False, "ramp": 200}, {"ramp": 200}]
)
def test_converges_to_an_equilibrium(name: str, bound: float, options: dict[str, Any]) -> None:
    """With the root of the iterations: a best response is pure."""
    early, run = (cp.solve(name, "cfr-br", iterations=n, **options) for n in (2_000, 8_000))
    assert run.exploitability < min(bound, 0.6 * early.exploitability)
    assert cp.exploitability(run.game, run.strategy) == pytest.approx(run.exploitability)
    value = cp.expected_value(run.game, run.strategy)[0]
    exact = cp.expected_value(run.game, cp.solve(name, "lp").strategy)[0]
    assert abs(value - exact) <= run.exploitability + 1e-9


def test_the_ramp_is_cut_anywhere(tmp_path: Path) -> None:
    whole = cp.solve("kuhn", "cfr-br", iterations=60, ramp=40)
    cp.solve("kuhn", "cfr-br", iterations=17, ramp=40, folder=tmp_path / "run")
    resumed = cp.resume(tmp_path / "run", iterations=60)
    assert np.array_equal(resumed.strategy.probabilities, whole.strategy.probabilities)
    constant = cp.solve("kuhn", "cfr-br", iterations=60)
    assert not np.array_equal(constant.strategy.probabilities, whole.strategy.probabilities)


def test_seats_in_two_threads_give_the_same_bits() -> None:
    one, two = (
        cp.solve("leduc", "cfr-br", iterations=50, threads=n).strategy.probabilities for n in (1, 2)
    )
    assert np.array_equal(one, two)


def test_the_current_strategy_is_another_one() -> None:
    average, current = (
        cp.solve("kuhn", "cfr-br", iterations=50, current=which).strategy.probabilities
        for which in (False, True)
    )
    assert not np.array_equal(average, current)


class Nim:
    """Take one or two of three matches; whoever takes the last one wins. Nothing is hidden."""

    n_players = 2

    def root(self) -> NimState:
        return NimState("")


class NimState:
    def __init__(self, history: str) -> None:
        self.history, self.left = history, 3 - sum(map(int, history))

    def player(self) -> int:
        return len(self.history) % 2 if self.left else cp.TERMINAL

    def actions(self) -> list[str]:
        return [str(n) for n in (1, 2) if n <= self.left]

    def child(self, action: str) -> NimState:
        return NimState(self.history + action)

    def infoset(self) -> str:
        return self.history or "start"

    def chance(self) -> list[float]:
        return []

    def payoffs(self) -> list[float]:
        return [1.0, -1.0] if len(self.history) % 2 else [-1.0, 1.0]


def test_a_game_that_hides_nothing_is_refused() -> None:
    with pytest.raises(cp.CounterplayError, match="has no hidden cards"):
        cp.solve(Game("nim", Nim()), "cfr-br", iterations=1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"plus": 1}, "plus must be True or False"),
        ({"averaging": "cubic"}, "averaging must be one of"),
        ({"ramp": 0}, "ramp must be a whole number of at least 1"),
        ({"threads": 3}, "from 1 to 2"),
        ({"backend": "cuda"}, "in hold'em alone"),
        ({"backend": "gpu"}, "backend must be one of"),
        ({"pool": "threads"}, "worker pool"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(cp.CounterplayError, match=match):
        cp.solve("kuhn", "cfr-br", iterations=1, **options)


def test_a_command_solves_by_name(tmp_path: object) -> None:
    folder = f"{tmp_path}/run"
    done = CliRunner().invoke(app, ["solve", "kuhn", "-a", "cfr-br", "-n", "500", "--out", folder])
    assert done.exit_code == 0, done.output
    assert cp.exploitability("kuhn", cp.Strategy.load(folder)) < 0.01
