"""Strategies to OpenSpiel and back: the same exploitability in both libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.games.openspiel import openspiel_game, pairs

pyspiel = pytest.importorskip("pyspiel")

GAMES = [
    "kuhn",
    "kuhn(players=3)",
    "bluff(1,1,3)",
    "goofspiel(3)",
    "open_spiel:kuhn_poker",
    "open_spiel:liars_dice(dice_sides=3)",
    "open_spiel:matrix_rps",
    "open_spiel:tiny_hanabi",
]
LARGE = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("leduc", "open_spiel:leduc_poker", "bluff(1,1,5)", "goofspiel(4)")
]


def nash_conv(game: cp.Game, policy: Any) -> float:
    """By OpenSpiel, in C++ or Python."""
    spiel = openspiel_game(game)[0]
    if isinstance(policy, pyspiel.TabularPolicy):
        return float(pyspiel.nash_conv(spiel, policy))
    from open_spiel.python.algorithms import exploitability

    return float(exploitability.nash_conv(spiel, policy))


@pytest.mark.parametrize("name", [*GAMES, *LARGE])
def test_there_and_back(name: str) -> None:
    game = cp.load(name)
    strategy = cp.Strategy.random(game, 1)
    there = {kind: strategy.to_openspiel(kind) for kind in ("python", "cpp")}
    forced = np.repeat(np.diff(game.form.first) == 1, np.diff(game.form.first))
    for kind, policy in there.items():
        if kind == "cpp" or game.n_nodes < 400:  # their Python takes its time
            assert nash_conv(game, policy) == pytest.approx(
                cp.exploitability(game, strategy), abs=1e-9
            )
        back = cp.Strategy.from_openspiel(game, policy)
        assert np.allclose(back.probabilities, strategy.probabilities, atol=1e-12)
    asked = {infoset for infoset, _ in pairs(game)}
    missing = set(range(game.n_infosets)) - asked
    assert all(forced[game.form.first[i]] for i in missing)


def test_what_their_solver_found_is_measured_alike() -> None:
    """Their CFR in C++, in their game and in our twin of it."""
    spiel = pyspiel.load_game("kuhn_poker")
    solver = pyspiel.CFRSolver(spiel)
    for _ in range(3):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    theirs = pyspiel.nash_conv(spiel, policy)
    for game in ("kuhn", "open_spiel:kuhn_poker", spiel):
        strategy = cp.Strategy.from_openspiel(game, policy)
        assert cp.exploitability(strategy.game, strategy) == pytest.approx(theirs, abs=1e-9)


def test_a_table_is_a_policy_too() -> None:
    table = {"0": {0: 0.25, 1: 0.75}} | {
        key: [(0, 0.5), (1, 0.5)]
        for key in ("1", "2", "0p", "1p", "2p", "0b", "1b", "2b", "0pb", "1pb", "2pb")
    }
    assert cp.Strategy.from_openspiel("kuhn", table).at("J") == {"pass": 0.25, "bet": 0.75}
    del table["2pb"]
    with pytest.raises(cp.CounterplayError, match="nothing for '2pb'"):
        cp.Strategy.from_openspiel("kuhn", table)
    table["2pb"] = [(0, 0.5), (1, 0.7)]
    with pytest.raises(cp.CounterplayError, match=r"sum to 1\.2"):
        cp.Strategy.from_openspiel("kuhn", table)


def test_mistakes_are_sentences() -> None:
    uniform = cp.Strategy.uniform("kuhn")
    for given, words in (
        ("ocp(5)", "no twin"),
        ("leduc(suits=False)", "no twin"),
        (3, "a game is"),
    ):
        with pytest.raises(cp.CounterplayError, match=words):
            cp.Strategy.from_openspiel(given, {})
    with pytest.raises(cp.CounterplayError, match="action_probabilities"):
        cp.Strategy.from_openspiel("kuhn", 3)
    with pytest.raises(cp.CounterplayError, match="python or cpp"):
        uniform.to_openspiel("rust")
