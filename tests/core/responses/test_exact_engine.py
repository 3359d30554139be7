"""The linear program answers by default where it is quick, and the question for the best
equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lp import lp_value
from support.response_lp import most_within

import counterplay as cp
from counterplay.core.solvers.lp import is_quick

LEDUC = cp.load("leduc")
UNIFORM = cp.Strategy.uniform(LEDUC)


def test_the_default_is_exact() -> None:
    for algorithm in ("rnr", "dbr"):
        found = cp.respond(LEDUC, UNIFORM, 0, 0.5, algorithm)
        assert found.engine == "lp"
        assert found.runs[0].exploitability < 1e-8
    assert cp.frontier(LEDUC, UNIFORM, (0.0, 1.0), player=0).points[0].response.engine == "lp"


@pytest.mark.parametrize(
    "asked",
    [
        {"iterations": 3},
        {"target": 0.5},
        {"callback": lambda _: True},
        {"measure_every": 2, "seconds": 0.01},
        {"threads": 2, "seconds": 0.01},
    ],
)
def test_what_needs_iterations_gets_them(asked: dict[str, Any]) -> None:
    assert cp.respond(LEDUC, UNIFORM, 0, **asked).engine == "cfr+"


def test_large_games_and_sampling_do_not_take_it() -> None:
    assert is_quick(cp.load("bluff(1,1,5)"))
    for name in ("bluff(1,1,6)", "goofspiel(3,tree=False)", "kuhn(players=3)"):
        assert not is_quick(cp.load(name)), name
    found = cp.respond(LEDUC, UNIFORM, 0, algorithm="mcrnr", seconds=0.01)
    assert found.engine == "mccfr"


def test_the_value_is_exact() -> None:
    game = cp.load("goofspiel(5)")
    assert game.n_slots > 9_000
    assert cp.game_value(game) == pytest.approx(0.0, abs=1e-9)
    bluff = cp.load("bluff(1,1,5)")
    assert cp.game_value(bluff) == pytest.approx(lp_value(bluff), abs=1e-9)


@pytest.mark.parametrize("player", [0, 1, None])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_best_equilibrium_against_a_model(name: str, player: int | None) -> None:
    game = cp.load(name)
    model = cp.Strategy.random(game, 4)
    found = cp.respond(game, model, player, max_exploitability=0)
    assert found.exploitability < 1e-7
    value, seats = lp_value(game), (0, 1) if player is None else (player,)
    best = sum(most_within(game, model, seat, (1 - 2 * seat) * value - 1e-9) for seat in seats)
    assert found.payoff == pytest.approx(best / len(seats), abs=1e-5)  # the mean of the seats
    if player is None:
        assert cp.exploitability(game, found.strategy) < 1e-7


def test_without_the_program_it_is_an_equilibrium_of_small_exploitability() -> None:
    model = cp.Strategy.random("kuhn", 4)
    exact = cp.respond("kuhn", model, 0, max_exploitability=0)
    near = cp.respond("kuhn", model, 0, engine="cfr+", max_exploitability=0)
    assert near.exploitability <= 4e-4 + 1e-12
    assert near.payoff == pytest.approx(exact.payoff, abs=0.02)


def test_p_of_a_limit_is_that_of_the_restricted_response() -> None:
    """At the reported p the response is a restricted Nash response: none does better there."""
    model = cp.Strategy.random(LEDUC, 4)
    found = cp.respond(LEDUC, model, 0, max_exploitability=0.3)
    assert found.exploitability == pytest.approx(0.3, abs=1e-6)
    assert found.p is not None
    assert 0.0 < found.p < 1.0
    other = cp.respond(LEDUC, model, 0, found.p)

    def worth(response: cp.Response) -> float:
        return float(found.p * response.payoff + (1.0 - found.p) * response.worst_case)

    assert worth(found) == pytest.approx(worth(other), abs=1e-6)
    assert np.isfinite(found.strategy.probabilities).all()
